//! What is known of a program: its options, what its operands are, what its exit code means.

use super::table;

/// What a program's operands are, and so what they must be for a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operands {
    /// It takes none.
    None,
    /// Texts that name nothing.
    Text,
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
    /// Only these words, options included.
    OneOf(&'static [&'static str]),
    /// `find`: folders, then an expression of known tests.
    Find,
    /// Folders to be made.
    NewFolders,
    /// Files to be made, none of which exists.
    NewFiles,
    /// A file to be read and a path to be made that does not exist.
    CopyToNew,
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
#[derive(Debug)]
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
    /// Whether the output depends on the machine's state.
    pub(crate) measures: bool,
    pub(crate) exit_one: ExitOne,
}

/// The entry of a program.
pub(crate) fn find(name: &str) -> Option<&'static Program> {
    table::PROGRAMS.iter().find(|program| program.name == name)
}
