//! `ptxgen.yaml`: what holds for all texts below the folder it stands in.
//!
//! ```yaml
//! lint:
//!   ignore: [BAR005]
//!   deny: [false-uni, ISA020]
//!   block: 256
//!   exclude: [third_party/]
//!   baseline: ptxgen-baseline.json
//! ```

use super::controls::directive;
use crate::cli::launch::{self, Size};
use crate::cli::{input, output};
use crate::kernels::Value;
use crate::kernels::spec::yaml::{self, Node, Spanned, YamlError};
use crate::ptx::lint::{Directive, Given, Selector, UnknownSelector};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the file.
pub const NAME: &str = "ptxgen.yaml";

/// The keys under `lint`.
const KEYS: &str = "`select`, `ignore`, `deny`, `warn`, `allow`, `block`, `grid`, `param`, `exclude` and `baseline`";

/// What a config file says.
#[derive(Debug, Default)]
pub struct Config {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// Which rules report.
    pub rules: Vec<(Directive, Selector)>,
    /// Threads of a block.
    pub block: Option<Size>,
    /// Blocks of the grid.
    pub grid: Option<Size>,
    /// What kernel parameters hold.
    pub params: Vec<Given>,
    /// Findings that are known.
    pub baseline: Option<PathBuf>,
    /// What is left out of folders and patterns, as written.
    pub exclude: Vec<String>,
    matcher: Option<Gitignore>,
}

impl Config {
    /// Whether a file that was found in a folder is left out.
    pub fn excludes(&self, path: &Path) -> bool {
        let Ok(path) = std::path::absolute(path) else {
            return false;
        };
        let matches = |matcher: &Gitignore| {
            path.starts_with(matcher.path()) && matcher.matched_path_or_any_parents(&path, false).is_ignore()
        };
        self.matcher.as_ref().is_some_and(matches)
    }

    /// Reads a file. The error is a report, ready to be shown.
    fn read(path: &Path) -> Result<Self, String> {
        let name = output::printable(&path.display().to_string());
        let text =
            fs::read_to_string(path).map_err(|error| format!("{name}: error: {}", input::explain(&error, path)))?;
        let folder = std::path::absolute(path).ok();
        let folder = folder.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
        let mut config = parse(&text, folder).map_err(|error| error.render(&name, &text))?;
        config.file = Some(path.to_path_buf());
        Ok(config)
    }
}

/// The configs of a run: each is read once.
#[derive(Debug)]
pub struct Configs {
    source: Source,
    by_folder: BTreeMap<PathBuf, Arc<Config>>,
}

#[derive(Debug)]
enum Source {
    /// One for all.
    Fixed(Arc<Config>),
    /// The nearest to each file.
    Upward,
}

impl Configs {
    /// Those that the arguments ask for. The error is a report, ready to be shown.
    pub fn new(file: Option<&Path>, isolated: bool) -> Result<Self, String> {
        let source = match (file, isolated) {
            (Some(file), _) => Source::Fixed(Arc::new(Config::read(file)?)),
            (None, true) => Source::Fixed(Arc::default()),
            (None, false) => Source::Upward,
        };
        Ok(Self {
            source,
            by_folder: BTreeMap::new(),
        })
    }

    /// The config of a file, whether it exists or not. The error is a report, ready to be shown.
    pub fn of(&mut self, path: &Path) -> Result<Arc<Config>, String> {
        if let Source::Fixed(config) = &self.source {
            return Ok(Arc::clone(config));
        }
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let folder = path.parent().unwrap_or(&path).to_path_buf();
        self.upward(&folder)
    }

    fn upward(&mut self, folder: &Path) -> Result<Arc<Config>, String> {
        if let Some(config) = self.by_folder.get(folder) {
            return Ok(Arc::clone(config));
        }
        let candidate = folder.join(NAME);
        let config = match folder.parent() {
            _ if candidate.is_file() => Arc::new(Config::read(&shown(&candidate))?),
            Some(parent) => self.upward(parent)?,
            None => Arc::default(),
        };
        self.by_folder.insert(folder.to_path_buf(), Arc::clone(&config));
        Ok(config)
    }
}

/// The path as people would write it: relative where it lies below the folder they are in.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
    below.unwrap_or_else(|| path.to_path_buf())
}

/// Reads the text of a config that stands in a folder.
fn parse(text: &str, folder: &Path) -> Result<Config, YamlError> {
    let root = yaml::read(text, "the configuration")?;
    let sections = match root.value {
        Node::Map(sections) => sections,
        Node::Null => Vec::new(),
        _ => {
            return Err(YamlError::new(
                "the configuration is a mapping with the key `lint`",
                root.referenced,
            ));
        }
    };
    let mut config = Config::default();
    for (key, value) in sections {
        if key.value != "lint" {
            let message = format!("unknown key `{}`; the configuration has `lint`", key.value);
            return Err(YamlError::new(message, key.referenced));
        }
        match value.value {
            Node::Map(entries) => {
                for (key, value) in entries {
                    config.set(&key, &value, folder)?;
                }
            }
            Node::Null => {}
            _ => {
                return Err(YamlError::new(
                    format!("`lint` is a mapping; it has {KEYS}"),
                    value.referenced,
                ));
            }
        }
    }
    Ok(config)
}

impl Config {
    fn set(&mut self, key: &Spanned<String>, value: &Spanned<Node>, folder: &Path) -> Result<(), YamlError> {
        let name = key.value.as_str();
        if let Some(directive) = directive(name) {
            for (words, at) in words(name, value)? {
                // A word may hold several, as on the command line.
                for word in words.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                    let wrong = |error: UnknownSelector| YamlError::new(error.to_string(), at);
                    self.rules.push((directive, word.parse().map_err(wrong)?));
                }
            }
            return Ok(());
        }
        match name {
            "block" => self.block = Some(size(value, launch::block)?),
            "grid" => self.grid = Some(size(value, launch::grid)?),
            "param" => self.params = params(value)?,
            "exclude" => self.set_exclude(value, folder)?,
            "baseline" => match &value.value {
                Node::Scalar(Value::Word(path)) => self.baseline = Some(shown(&folder.join(path))),
                _ => return Err(YamlError::new("`baseline` is the path of a file", value.referenced)),
            },
            unknown => {
                let message = format!("unknown key `{unknown}`; `lint` has {KEYS}");
                return Err(YamlError::new(message, key.referenced));
            }
        }
        Ok(())
    }

    fn set_exclude(&mut self, value: &Spanned<Node>, folder: &Path) -> Result<(), YamlError> {
        let mut builder = GitignoreBuilder::new(folder);
        for (line, at) in words("exclude", value)? {
            let wrong = |error: ignore::Error| YamlError::new(format!("`{line}` is no pattern: {error}"), at);
            builder.add_line(None, &line).map_err(wrong)?;
            self.exclude.push(line);
        }
        let wrong = |error: ignore::Error| YamlError::new(error.to_string(), value.referenced);
        self.matcher = Some(builder.build().map_err(wrong)?);
        Ok(())
    }
}

/// The words of a list, or the one word that stands for it.
fn words(key: &str, value: &Spanned<Node>) -> Result<Vec<(String, yaml::Location)>, YamlError> {
    let one = |value: &Spanned<Node>| match &value.value {
        Node::Scalar(Value::Word(word)) => Ok((word.clone(), value.referenced)),
        _ => {
            let message = format!("`{key}` is a word or a list of words");
            Err(YamlError::new(message, value.referenced))
        }
    };
    match &value.value {
        Node::Null => Ok(Vec::new()),
        Node::List(items) => items.iter().map(one).collect(),
        _ => Ok(vec![one(value)?]),
    }
}

/// What parameters hold: `NAME=VALUE`, a list of such, or a mapping.
fn params(value: &Spanned<Node>) -> Result<Vec<Given>, YamlError> {
    let read = |text: &str, at: yaml::Location| launch::param(text).map_err(|message| YamlError::new(message, at));
    let Node::Map(entries) = &value.value else {
        let words = words("param", value)?;
        return words.iter().map(|(word, at)| read(word, *at)).collect();
    };
    let one = |(key, value): &(Spanned<String>, Spanned<Node>)| match &value.value {
        Node::Scalar(Value::Int(number)) => read(&format!("{}={number}", key.value), value.referenced),
        Node::Scalar(Value::Word(word)) => read(&format!("{}={word}", key.value), value.referenced),
        _ => Err(YamlError::new("a parameter holds an integer", value.referenced)),
    };
    entries.iter().map(one).collect()
}

/// A size: `256`, `32,8` or `[32, 8]`.
fn size(value: &Spanned<Node>, read: fn(&str) -> Result<Size, String>) -> Result<Size, YamlError> {
    let number = |node: &Node| match node {
        Node::Scalar(Value::Int(number)) => Some(number.to_string()),
        Node::Scalar(Value::Word(word)) => Some(word.clone()),
        _ => None,
    };
    let text = match &value.value {
        Node::List(items) => {
            let numbers: Option<Vec<_>> = items.iter().map(|item| number(&item.value)).collect();
            numbers.map(|numbers| numbers.join(","))
        }
        one => number(one),
    };
    let wrong = |message: String| YamlError::new(message, value.referenced);
    let text = text.ok_or_else(|| wrong("a size is `X`, `X,Y` or `X,Y,Z`".to_owned()))?;
    read(&text).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        parse(text, Path::new("/project")).map_err(|error| error.render(NAME, text))
    }

    #[test]
    fn everything_can_be_said() {
        let text = "lint:\n  select: [BAR, false-uni]\n  ignore: BAR005, BAR006\n  block: 256\n  grid: [4, 2]\n  \
                    exclude:\n    - third_party/\n  baseline: known.json\n";
        let config = read(text).unwrap();
        let rules: Vec<_> = config.rules.iter().map(|(_, selector)| selector.to_string()).collect();
        assert_eq!(rules, ["BAR", "BAR019", "BAR005", "BAR006"]);
        assert_eq!(config.block, launch::block("256").ok());
        assert_eq!(config.grid, launch::grid("4,2").ok());
        assert_eq!(config.baseline.as_deref(), Some(Path::new("/project/known.json")));
        assert!(config.excludes(Path::new("/project/third_party/a/b.ptx")));
        assert!(
            !config.excludes(Path::new("/project/own/b.ptx")) && !config.excludes(Path::new("/x/third_party/b.ptx"))
        );
    }

    #[test]
    fn nothing_need_be_said() {
        for text in ["", "# nothing\n", "lint:\n", "lint: {}\n", "lint:\n  ignore:\n"] {
            assert!(read(text).unwrap().rules.is_empty(), "{text}");
        }
    }

    #[test]
    fn mistakes_are_shown_where_they_stand() {
        let texts = [
            "lint:\n  ignore: [BAR001, BAR0]\n",
            "lint:\n  block: 2000\n",
            "lint:\n  grid: {x: 1}\n",
            "lint:\n  colour: red\n",
            "fmt:\n  width: 80\n",
            "lint: 3\n",
            "lint:\n  exclude: 'a{b'\n",
            "lint:\n  deny: [[BAR001]]\n",
            "lint:\n  ignore: BAR001\n  ignore: BAR002\n",
        ];
        let reports: Vec<_> = texts.iter().map(|text| read(text).unwrap_err()).collect();
        insta::assert_snapshot!(reports.join("\n"));
    }
}
