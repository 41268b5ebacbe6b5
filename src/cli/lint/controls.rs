//! `--select`, `--ignore`, `--deny`, `--warn`, `--allow`: which rules report, in the order in which they are given.

use crate::ptx::lint::{Directive, Selector};
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches};

/// The flags with their directives and helps.
const FLAGS: [(&str, Directive, &str); 5] = [
    (
        "select",
        Directive::Select,
        "Report these and no others; syntax errors still are",
    ),
    ("ignore", Directive::Ignore, "Do not report these"),
    ("deny", Directive::Deny, "Report these, as errors"),
    ("warn", Directive::Warn, "Report these, as warnings"),
    ("allow", Directive::Allow, "Do not report these; the same as --ignore"),
];

/// What the flags say, in their order.
#[derive(Clone, Debug, Default)]
pub struct RuleFlags(pub Vec<(Directive, Selector)>);

/// The directive that a key of the configuration stands for.
pub fn directive(name: &str) -> Option<Directive> {
    FLAGS.iter().find(|(flag, ..)| *flag == name).map(|flag| flag.1)
}

impl FromArgMatches for RuleFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let mut given = Vec::new();
        for (name, directive, _) in FLAGS {
            let places = matches.indices_of(name).into_iter().flatten();
            let selectors = matches.get_many::<Selector>(name).into_iter().flatten();
            given.extend(places.zip(selectors).map(|(at, one)| (at, (directive, one.clone()))));
        }
        given.sort_by_key(|(at, _)| *at);
        self.0 = given.into_iter().map(|(_, rule)| rule).collect();
        Ok(())
    }
}

impl clap::Args for RuleFlags {
    fn augment_args(command: Command) -> Command {
        FLAGS.into_iter().fold(command, |command, (name, _, help)| {
            command.arg(
                Arg::new(name)
                    .long(name)
                    .help(help)
                    .help_heading("Rules (CODE is a code, a name, a group such as BAR, or ALL)")
                    .value_name("CODE,...")
                    .value_delimiter(',')
                    .value_parser(|word: &str| word.trim().parse::<Selector>())
                    .action(ArgAction::Append),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
