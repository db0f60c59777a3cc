//! Programs that make something new: links, copies of a stream, temporary files.

use super::judge::{Judge, State};
use super::objection::Objection;
use super::options::{self, Order};
use super::programs::{Operands, Program};
use super::scene::{New, Use};
use super::value::{Arg, Stream};

static LN: Program = Program::new("ln", "srTnv", "", "symbolic relative no-target-directory verbose", Operands::Text);
static TEE: Program = Program::new("tee", "aip", "", "append ignore-interrupts", Operands::Text);
static MKTEMP: Program = Program::new("mktemp", "dqt", "", "directory quiet suffix=", Operands::Text);

/// `ln -s target new`
pub(super) fn link(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&LN, arguments, Order::Any)?;
    match parsed.operands.as_slice() {
        [target, link] if parsed.has_any(&["s", "symbolic"]) => {
            judge.reads(state, target, Use::Facts)?;
            judge.makes(state, link, New::Links)?;
            Ok(Stream::Text)
        }
        _ => Err(Objection::changes("only one symbolic link to one new name is made without asking")),
    }
}

/// `tee new`
pub(super) fn tee(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&TEE, arguments, Order::Any)?;
    // GNU tee writes a file named `-`; it doesn't take it for standard output.
    for file in parsed.operands.iter().filter(|file| file.text() != Some("/dev/null")) {
        judge.makes(state, file, New::File)?;
    }
    Ok(Stream::Text)
}

/// `mktemp`: in the command's own folder for temporary files; elsewhere its name is not known before it runs.
pub(super) fn temporary(judge: &mut Judge<'_>, _state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&MKTEMP, arguments, Order::Any)?;
    let is_name = |word: &&Arg| word.text().is_some_and(|name| !name.contains('/')) && parsed.has("t");
    if !parsed.operands.iter().all(is_name) {
        return Err(Objection::changes("mktemp outside its folder, with a name that is not known before it runs"));
    }
    judge.effects.makes("a temporary file or folder");
    Ok(Stream::Text)
}
