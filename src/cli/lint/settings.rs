//! What holds for a file: its configuration, and the command line over it.

use super::Args;
use super::config::{Config, Configs};
use super::controls::RuleFlags;
use crate::cli::input::STDIN;
use crate::cli::launch::LaunchArgs;
use crate::ptx::lint::{Options, Selection};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What holds for a file.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the linter is asked for.
    pub options: Arc<Options>,
    /// Findings that are known.
    pub baseline: Option<PathBuf>,
    /// What standard input is called.
    pub stdin_name: Option<PathBuf>,
    /// Where it is from.
    pub config: Arc<Config>,
}

/// Where settings come from.
pub struct Source<'a> {
    /// The configs.
    pub configs: Configs,
    flags: &'a RuleFlags,
    launch: &'a LaunchArgs,
    relocatable: bool,
    baseline: Option<&'a Path>,
    stdin_name: Option<&'a Path>,
    /// The last that were made: most files share theirs.
    last: Option<Settings>,
}

impl<'a> Source<'a> {
    /// The settings that the arguments ask for. The error is a report on a config file, ready to be shown.
    pub fn new(args: &'a Args) -> Result<Self, String> {
        Ok(Self {
            configs: Configs::new(args.config.config.as_deref(), args.config.isolated)?,
            flags: &args.rules,
            launch: &args.launch,
            relocatable: args.relocatable,
            baseline: args.baseline.baseline.as_deref(),
            stdin_name: args.stdin_filename.as_deref(),
            last: None,
        })
    }

    /// The settings of a file, or of standard input. The error is a report on a config file, ready to be shown.
    pub fn of(&mut self, path: &Path) -> Result<Settings, String> {
        let place = match path.as_os_str() == STDIN {
            true => self.stdin_name.unwrap_or(path),
            false => path,
        };
        let config = self.configs.of(place)?;
        if let Some(last) = self.last.as_ref().filter(|last| Arc::ptr_eq(&last.config, &config)) {
            return Ok(last.clone());
        }
        let mut selection = Selection::default();
        selection.apply(&config.rules);
        selection.apply(&self.flags.0);
        let settings = Settings {
            options: Arc::new(Options {
                launch: self.launch.launch(config.block, config.grid, &config.params),
                selection,
                relocatable: self.relocatable,
            }),
            baseline: self.baseline.map(Path::to_path_buf).or_else(|| config.baseline.clone()),
            stdin_name: self.stdin_name.map(Path::to_path_buf),
            config,
        };
        self.last = Some(settings.clone());
        Ok(settings)
    }
}
