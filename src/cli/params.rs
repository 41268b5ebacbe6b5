//! The flags of kernels' parameters, made from the registry: a kernel that is added there has its flags here.

use crate::kernels::{KERNELS, KernelInfo, ParamInfo, Range, Values, spec};
use clap::{Arg, ArgMatches, Command, Error, FromArgMatches};

/// Parameters as given on the command line, by name.
#[derive(Clone, Debug, Default)]
pub struct ParamFlags(Vec<(&'static str, String)>);

/// The flag of a parameter, without its hyphens: `nibble-order`.
pub fn flag(name: &str) -> String {
    name.replace('_', "-")
}

impl ParamFlags {
    /// Whether none is given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts the flags into `values`, over what is there.
    ///
    /// # Errors
    /// If the kernel has no such parameter, or not with this value.
    pub fn apply(&self, kernel: &KernelInfo, values: &mut Values) -> anyhow::Result<()> {
        for (name, text) in &self.0 {
            let Some(param) = kernel.param(name) else {
                let flags: Vec<_> = kernel
                    .params
                    .iter()
                    .map(|param| format!("--{}", flag(param.name)))
                    .collect();
                anyhow::bail!("`{}` has no --{}; it has {}", kernel.name, flag(name), flags.join(", "));
            };
            let value = spec::parse_value(param, text);
            let Some(value) = value.filter(|value| param.range.contains(value)) else {
                anyhow::bail!("--{} is {text}; allowed: {}", flag(name), param.range);
            };
            values.set(param, value)?;
        }
        Ok(())
    }
}

impl FromArgMatches for ParamFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for (param, _) in params() {
            if let Some(text) = matches.get_one::<String>(param.name) {
                self.0.push((param.name, text.clone()));
            }
        }
        Ok(())
    }
}

impl clap::Args for ParamFlags {
    fn augment_args(command: Command) -> Command {
        params().into_iter().fold(command, |command, (param, kernels)| {
            command.arg(
                Arg::new(param.name)
                    .long(flag(param.name))
                    .value_name(value_name(&param.range))
                    .help(format!("{} [{}]", param.help.trim_end_matches('.'), kernels.join(", ")))
                    .help_heading("Parameters of kernels")
                    .allow_hyphen_values(true),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// What stands for a value in help texts.
pub fn value_name(range: &Range) -> String {
    match range {
        Range::Int { .. } => "N".to_owned(),
        Range::Float { .. } => "X".to_owned(),
        Range::Words(words) => words.join("|"),
    }
}

/// Every parameter of any kernel once, with the kernels that have it.
fn params() -> Vec<(&'static ParamInfo, Vec<&'static str>)> {
    let mut params: Vec<(&'static ParamInfo, Vec<&'static str>)> = Vec::new();
    for kernel in KERNELS {
        for param in kernel.params {
            match params.iter_mut().find(|(known, _)| known.name == param.name) {
                Some((_, kernels)) => kernels.push(kernel.name),
                None => params.push((param, vec![kernel.name])),
            }
        }
    }
    params
}
