//! What is known of a program: its options, what its operands are, what its exit code means.

use super::judge::{Judge, State};
use super::objection::Objection;
use super::table;
use super::value::{Arg, Stream};

/// Judges the arguments of a program whose words are a language of their own.
pub(crate) type Analyser = fn(&mut Judge<'_>, &State, &[Arg]) -> Result<Stream, Objection>;

/// What a program's operands are, and so what they must be for a proof.
#[derive(Clone, Copy)]
pub(crate) enum Operands {
    /// It takes none.
    None,
    /// Texts that name nothing.
    Text,
    /// One text at most: a second one, or a first one in some programs, would be set.
    OneText,
    /// Names whose facts are read (size, type, entries of a folder), never content.
    Facts,
    /// Files whose content is read.
    Content,
    /// At most one such file: a second one would be written to.
    OneContent,
    /// A pattern, unless an option gave one, then files whose content is read.
    PatternThenContent,
    /// Words that start with `+`: anything else would set the clock.
    Format,
    /// Any words, options or not: none of them is ever acted on.
    Anything,
    /// Only these words, options included; no words at all where the list holds an empty one.
    OneOf(&'static [&'static str]),
    /// Names without a path: manuals, packages, commands.
    Names,
    /// Folders to be made.
    NewFolders,
    /// Files to be made, none of which exists.
    NewFiles,
    /// A file to be read and a path to be made that does not exist.
    CopyToNew,
    /// The next word names what it does, looked up as `program word`; `program -` is the entry for no such word.
    Subcommand,
    /// So many words of its own, then a command that it runs.
    Runs { behind: usize },
    /// It has an analyser of its own, which sees every argument.
    By(Analyser),
}

/// What exit code 1 without an error message means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitOne {
    /// It failed.
    Failure,
    /// It looked and found nothing, or found a difference: an answer.
    Answer,
}

/// One known program.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Letters of options without a value.
    pub(crate) flags: &'static str,
    /// Letters of options with a value.
    pub(crate) valued: &'static str,
    /// Long options, spelled in full, blanks between; `name=` takes a value, `name?` may take one after `=`.
    pub(crate) long: &'static str,
    pub(crate) operands: Operands,
    /// Options that open everything below a folder.
    pub(crate) recursive: &'static [&'static str],
    /// Options one of which must be there.
    pub(crate) required: &'static [&'static str],
    /// Options whose value is a file to be made.
    pub(crate) creates: &'static [&'static str],
    /// Whether no option it has at all, known here or not, writes or runs anything: then a name that looks like an
    /// option does no harm.
    pub(crate) tame: bool,
    /// Whether the output depends on the machine's state.
    pub(crate) measures: bool,
    pub(crate) exit_one: ExitOne,
    /// Whether it only picks or reorders the lines it reads.
    pub(crate) selects: bool,
}

impl Program {
    pub(crate) const fn new(
        name: &'static str,
        flags: &'static str,
        valued: &'static str,
        long: &'static str,
        operands: Operands,
    ) -> Self {
        Self {
            name,
            flags,
            valued,
            long,
            operands,
            recursive: &[],
            required: &[],
            creates: &[],
            tame: false,
            measures: true,
            exit_one: ExitOne::Failure,
            selects: false,
        }
    }

    /// It can't act whatever option it is given.
    pub(crate) const fn tame(self) -> Self {
        Self { tame: true, ..self }
    }

    /// Its output depends on its words alone.
    pub(crate) const fn computes(self) -> Self {
        Self { measures: false, ..self }
    }

    /// Exit code 1 is an answer.
    pub(crate) const fn answers(self) -> Self {
        Self { exit_one: ExitOne::Answer, ..self }
    }

    /// It picks lines.
    pub(crate) const fn selects(self) -> Self {
        Self { selects: true, ..self }
    }

    /// One of these options must be given.
    pub(crate) const fn requires(self, required: &'static [&'static str]) -> Self {
        Self { required, ..self }
    }

    /// These options go through folders.
    pub(crate) const fn recurses(self, recursive: &'static [&'static str]) -> Self {
        Self { recursive, ..self }
    }

    /// These options make a file.
    pub(crate) const fn creates(self, creates: &'static [&'static str]) -> Self {
        Self { creates, ..self }
    }
}

/// The entry of a program, or of a subcommand as `program word`.
pub(crate) fn find(name: &str) -> Option<&'static Program> {
    table::families().into_iter().flatten().find(|program| program.name == name)
}
