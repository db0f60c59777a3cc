//! Turns queries for facts of the machine into command lines.

use super::pipeline::Pipeline;
use super::{Programs, Unsupported};
use crate::algebra::{Command, Fact};

/// Environment variables that programs started by artoo inherit; all others may hold secrets and are hidden.
const INHERITED: [&str; 7] = ["HOME", "USER", "LOGNAME", "TZ", "TMPDIR", "SHELL", "LANG"];

/// The command line that prints the value of a fact.
pub(super) fn fact(fact: &Fact, programs: Programs) -> Result<Pipeline, Unsupported> {
    let row = fact.row();
    let what = "this fact of the machine";
    let command = match row.command {
        Command::Portable(command) => command,
        Command::Gnu(command) => programs.gnu_only(what).map(|()| command)?,
        Command::Sandboxed => {
            programs.gnu_only(what)?;
            return Err(Unsupported::Sandboxed(row.english));
        }
        Command::Missing => return programs.gnu_only(what).and(Err(Unsupported::Arrangement(what))),
    };
    match (row.argument, fact) {
        (Some((_, name)), Fact::Variable { .. }) if !INHERITED.contains(&name.as_str()) => {
            Err(Unsupported::Arrangement("a variable that programs started here don't get"))
        }
        (Some(("name" | "user", name)), _) if !is_plain_name(&name) => Err(Unsupported::Arrangement(what)),
        (argument, _) => Ok(Pipeline::of_template(command, &argument.map_or_else(String::new, |(_, value)| value))),
    }
}

/// Whether a name has only ASCII letters, digits and `-_.+`, and starts with a letter or digit.
fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'))
}
