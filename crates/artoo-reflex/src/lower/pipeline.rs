//! Command lines as lists of programs and arguments, and their quoting for a shell.

use artoo_proto::escape;

use super::Unsupported;

/// Maximum length of a command; a longer one would not be read by the person who approves it.
#[doc(alias = "limit")]
const COMMAND_MAX_BYTES: usize = 4096;

/// A program with its arguments, exactly as the program receives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argv {
    words: Vec<String>,
}

/// Several programs, each reading the output of the previous one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pipeline(Vec<Argv>);

impl Argv {
    /// A program call from text without user input: name and options, separated by spaces.
    pub(crate) fn new(fixed: &'static str) -> Self {
        Self { words: fixed.split(' ').map(str::to_owned).collect() }
    }

    /// A program call with `LC_ALL=C`, so that sorting and patterns work bytewise.
    pub(crate) fn bytewise(fixed: &'static str) -> Self {
        Self::new("env LC_ALL=C").and(fixed)
    }

    /// Adds fixed arguments, separated by spaces.
    pub(crate) fn and(mut self, fixed: &'static str) -> Self {
        self.words.extend(fixed.split(' ').map(str::to_owned));
        self
    }

    /// Adds one argument with any text, where the program expects a value.
    pub(crate) fn value(mut self, text: impl Into<String>) -> Self {
        self.words.push(text.into());
        self
    }

    /// Adds operands with any text after `--`, so that none is read as an option.
    pub(crate) fn operands<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.words.push("--".to_owned());
        self.words.extend(texts.into_iter().map(Into::into));
        self
    }

    /// The program and its arguments, quoted for a shell.
    fn print(&self) -> String {
        self.words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
    }
}

impl Pipeline {
    /// A pipeline of one program.
    pub(crate) fn of(first: Argv) -> Self {
        Self(vec![first])
    }

    /// A pipeline written as for a shell: ` | ` between programs, single quotes around arguments with spaces, `{}` for
    /// the argument, which may be any text.
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

    /// Adds a program that reads the output of the last one.
    pub(crate) fn pipe(mut self, next: Argv) -> Self {
        self.0.push(next);
        self
    }

    /// The command line for a shell.
    ///
    /// # Errors
    /// `Unsupported` if a word has control or invisible characters, or the command line is too long.
    pub(crate) fn command(&self) -> Result<String, Unsupported> {
        let is_shown_as_it_is = |word: &String| escape::one_line(word) == *word;
        if !self.0.iter().flat_map(|argv| &argv.words).all(is_shown_as_it_is) {
            return Err(Unsupported::Predicate("a text with control or invisible characters"));
        }
        let command = self.print();
        if command.len() > COMMAND_MAX_BYTES {
            return Err(Unsupported::Arrangement("a command of more than 4096 bytes"));
        }
        Ok(command)
    }

    /// The quoted programs joined by ` | `.
    fn print(&self) -> String {
        self.0.iter().map(Argv::print).collect::<Vec<_>>().join(" | ")
    }
}

/// Quotes an argument for a POSIX shell, if it needs quoting.
///
/// A single quote inside is written by closing the quotes, adding the quote in double quotes, and opening again.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ',' | ':' | '+' | '%');
    // A shell may read the text before the first `=` of a word as a variable; options and `env` need it unquoted.
    let is_assignment = word
        .split_once('=')
        .is_some_and(|(name, value)| !name.is_empty() && name.chars().all(is_plain) && value.chars().all(is_plain));
    if !word.is_empty() && (word.chars().all(is_plain) || is_assignment) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

#[cfg(test)]
mod tests {
    use super::{Argv, Pipeline, quote};
    use proptest::prelude::*;

    /// What a real shell makes of a command line.
    fn by_shell(command: &str) -> Vec<u8> {
        let ran = std::process::Command::new("sh").arg("-c").arg(command).env_clear().output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stderr), "", "{command}");
        ran.stdout
    }

    #[test]
    fn words_are_quoted_only_where_it_matters() {
        for (word, expected) in [
            ("-maxdepth", "-maxdepth"),
            ("/a/b-c_d.e", "/a/b-c_d.e"),
            ("LC_ALL=C", "LC_ALL=C"),
            ("", "''"),
            ("a b", "'a b'"),
            ("*.pdf", "'*.pdf'"),
            ("~", "'~'"),
            ("!", "'!'"),
            ("it's", "'it'\"'\"'s'"),
            ("$(x)", "'$(x)'"),
            ("=", "'='"),
            ("ä", "'ä'"),
        ] {
            assert_eq!(quote(word), expected);
        }
    }

    #[test]
    fn stages_and_operands_stay_apart() {
        let pipeline = Pipeline::of(Argv::new("printf").value("%s\\n").value("b|c").value("-n"))
            .pipe(Argv::bytewise("sort -r").operands(Vec::<String>::new()));
        assert_eq!(pipeline.command().unwrap(), "printf '%s\\n' 'b|c' -n | env LC_ALL=C sort -r --");
    }

    #[test]
    fn what_would_not_be_shown_as_it_is_makes_no_command() {
        for text in ["a\nb", "a\tb", "\u{1b}[2J", "\u{202e}x", "a\0"] {
            assert!(Pipeline::of(Argv::new("echo").value(text)).command().is_err(), "{text:?}");
        }
        assert!(Pipeline::of(Argv::new("echo").value("x".repeat(5000))).command().is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        /// Random text of every byte but NUL, and every order of quotes, comes back from a real shell byte by byte.
        #[test]
        fn random_words_come_back_equal(
            words in proptest::collection::vec(
                prop_oneof!["[\u{1}-\u{7f}]{0,16}", "['\"\\\\$`! \n~*?=#-]{0,12}", "\\PC{0,8}", "[^\0]{0,8}"],
                1..5,
            ),
        ) {
            let argv = words.iter().fold(Argv::new("printf").value("%s\\0"), |argv, word| argv.value(word.as_str()));
            let pipeline = Pipeline::of(argv).pipe(Argv::new("cat"));
            let expected: Vec<u8> = words.iter().flat_map(|word| word.bytes().chain([0])).collect();
            prop_assert_eq!(by_shell(&pipeline.print()), expected, "{}", pipeline.print());
        }
    }
}
