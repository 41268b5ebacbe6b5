//! `--target` and `--ptx`: a header for texts that have none.

use super::input::{self, Modules, Unreadable};
use crate::ptx::ir::Header;
use crate::ptx::parse::{self, Parsed};
use crate::ptx::source::Source;
use crate::ptx::target::{PtxVersion, Target};
use std::path::Path;

/// What stands for a header that is not there.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct HeaderArgs {
    /// Read texts without a header too, as for this target: parts of modules, also bare instructions
    #[arg(long, value_name = "sm_XX")]
    target: Option<Target>,

    /// PTX version of texts without a header [default: the newest]
    #[arg(long, value_name = "X.Y", requires = "target", value_parser = version)]
    ptx: Option<PtxVersion>,
}

impl HeaderArgs {
    /// That of a target, for the newest version.
    pub fn of(target: Option<Target>) -> Self {
        Self { target, ptx: None }
    }

    /// The modules of an argument: a file, or `-`.
    ///
    /// # Errors
    /// When it cannot be read or is not PTX text.
    pub fn read(&self, path: &Path) -> Result<Vec<Source>, Unreadable> {
        Ok(self.read_as(path, None)?.sources)
    }

    /// The same; standard input is called `stdin_name`, if there is one.
    ///
    /// # Errors
    /// When it cannot be read or is not PTX text.
    pub fn read_as(&self, path: &Path, stdin_name: Option<&Path>) -> Result<Modules, Unreadable> {
        input::modules(path, stdin_name, self.target.is_some())
    }

    /// Whether texts without a header are to be read.
    pub fn is_given(&self) -> bool {
        self.target.is_some()
    }

    /// Parses a module, or a part of one where there is a header for it.
    pub fn parse(&self, text: &str) -> Parsed {
        match self.target {
            Some(_) => self.parse_part(text),
            None => parse::parse(text),
        }
    }

    /// Parses a module or a part of one, also where no header was given: what the text needs does not matter then, only
    /// what stands in it.
    pub fn parse_part(&self, text: &str) -> Parsed {
        let target = self.target.map_or("sm_80".to_owned(), |target| target.to_string());
        let version = self.ptx.unwrap_or(PtxVersion::NEWEST);
        let header = Header {
            version: Some(version.to_string().into()),
            target: vec![target.into()],
            address_size: Some(64),
        };
        parse::parse_fragment(text, &header)
    }
}

fn version(text: &str) -> Result<PtxVersion, String> {
    let version: PtxVersion = text
        .parse()
        .map_err(|error: crate::ptx::version::ParsePtxVersionError| error.to_string())?;
    if version.is_known() {
        return Ok(version);
    }
    let nearest = version.nearest();
    Err(format!("there is no PTX version {version}; the nearest is {nearest}"))
}
