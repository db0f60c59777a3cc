//! Pipelines: programs with their arguments, exactly as the programs receive them.

use artoo_proto::escape;
use artoo_proto::pipeline::{self, PROGRAMS_MAX, WORDS_MAX};

use super::Unsupported;
use crate::ensure::ensure;

/// Maximum length of a command; a longer one would not be read by the person who approves it.
#[doc(alias = "limit")]
const COMMAND_MAX_BYTES: usize = 4096;

/// A program call: the program with its arguments, exactly as it receives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argv {
    words: Vec<String>,
}

/// Several program calls, each reading the output of the previous one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pipeline(Vec<Argv>);

impl Argv {
    /// A program call from fixed text without user input: name and arguments, separated by spaces.
    pub(crate) fn new(fixed: &'static str) -> Self {
        Self { words: fixed.split(' ').map(str::to_owned).collect() }
    }

    /// A program call from fixed text, with `LC_ALL=C`, so that sorting and patterns work bytewise.
    pub(crate) fn bytewise(fixed: &'static str) -> Self {
        Self::new("env LC_ALL=C").and(fixed)
    }

    /// The call with fixed arguments added, separated by spaces.
    pub(crate) fn and(mut self, fixed: &'static str) -> Self {
        self.words.extend(fixed.split(' ').map(str::to_owned));
        self
    }

    /// The call with fixed arguments added if a condition holds.
    pub(crate) fn and_if(self, holds: bool, fixed: &'static str) -> Self {
        if holds { self.and(fixed) } else { self }
    }

    /// The call with one argument added, which may be any text, where the program expects a value.
    pub(crate) fn value(mut self, text: impl Into<String>) -> Self {
        self.words.push(text.into());
        self
    }

    /// The call with operands added after `--`, which may be any texts, so that none is read as an option.
    pub(crate) fn operands<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.words.push("--".to_owned());
        self.words.extend(texts.into_iter().map(Into::into));
        self
    }
}

impl Pipeline {
    /// A pipeline of one program call.
    pub(crate) fn of(first: Argv) -> Self {
        Self(vec![first])
    }

    /// A pipeline from a text written as for a shell: ` | ` between programs, single quotes around arguments with
    /// spaces, `{}` for the argument, which may be any text.
    pub(crate) fn of_template(template: &'static str, argument: &str) -> Self {
        let words = |program: &str| {
            let pieces = program.split('\'').enumerate();
            let words = pieces.flat_map(|(at, piece)| match at % 2 {
                0 => piece.split_whitespace().collect(),
                _ => vec![piece],
            });
            words.map(|word| word.replace("{}", argument)).collect()
        };
        Self(template.split(" | ").map(|program| Argv { words: words(program) }).collect())
    }

    /// The pipeline with a program added that reads the output of the last one.
    pub(crate) fn pipe(mut self, next: Argv) -> Self {
        self.0.push(next);
        self
    }

    /// The name and arguments of each program; an error if they are unprintable or too long to be read by a person.
    ///
    /// # Errors
    /// `Unsupported` if a word has control or invisible characters, or the pipeline is too long to read.
    pub(crate) fn programs(self) -> Result<Vec<Vec<String>>, Unsupported> {
        let programs: Vec<Vec<String>> = self.0.into_iter().map(|argv| argv.words).collect();
        ensure(!programs.iter().flatten().any(|word| escape::one_line(word) != *word), || {
            Unsupported::Predicate("a text with control or invisible characters")
        })?;
        if programs.len() > PROGRAMS_MAX || programs.iter().any(|words| words.len() > WORDS_MAX) {
            return Err(Unsupported::Arrangement("a command of so many programs or words"));
        }
        ensure(pipeline::command(&programs).len() <= COMMAND_MAX_BYTES, || {
            Unsupported::Arrangement("a command of more than 4096 bytes")
        })?;
        Ok(programs)
    }
}

/// The text with a backslash before each of these characters.
pub(super) fn escaped(text: &str, special: &str) -> String {
    text.chars().flat_map(|c| special.contains(c).then_some('\\').into_iter().chain([c])).collect()
}

/// The `tr` call that replaces the NUL after each path by a newline.
pub(super) fn lines_from_nul() -> Argv {
    Argv::new("tr \\0 \\n")
}

#[cfg(test)]
mod tests {
    use super::{Argv, Pipeline};

    #[test]
    fn programs_and_operands_stay_separate() {
        let pipeline = Pipeline::of(Argv::new("printf").value("%s\\n").value("b|c").value("-n"))
            .pipe(Argv::bytewise("sort -r").operands(Vec::<String>::new()));
        let expected = [vec!["printf", "%s\\n", "b|c", "-n"], vec!["env", "LC_ALL=C", "sort", "-r", "--"]];
        assert_eq!(pipeline.programs().unwrap(), expected);
    }

    #[test]
    fn unprintable_or_long_commands_are_refused() {
        for text in ["a\nb", "a\tb", "\u{1b}[2J", "\u{202e}x", "a\0"] {
            assert!(Pipeline::of(Argv::new("echo").value(text)).programs().is_err(), "{text:?}");
        }
        for text in ["x".repeat(5000), "'".repeat(1000)] {
            assert!(Pipeline::of(Argv::new("echo").value(text)).programs().is_err());
        }
        let cats = |count: usize| (1..count).fold(Pipeline::of(Argv::new("cat")), |all, _| all.pipe(Argv::new("cat")));
        assert!(cats(16).programs().is_ok() && cats(17).programs().is_err());
        let words = |count: usize| Pipeline::of((1..count).fold(Argv::new("a"), |argv, _| argv.value("b")));
        assert!(words(1024).programs().is_ok() && words(1025).programs().is_err());
    }
}
