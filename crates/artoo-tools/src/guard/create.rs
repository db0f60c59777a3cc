//! Programs that make something new: links, copies of a stream, temporary files.

use std::path::Path;

use super::judge::{Judge, State};
use super::objection::Objection;
use super::options::{self, Order};
use super::programs::{Operands, Program};
use super::scene::Use;
use super::value::{Arg, Stream};
use crate::paths;

static LN: Program = Program::new("ln", "srTnv", "", "symbolic relative no-target-directory verbose", Operands::Text);
static TEE: Program = Program::new("tee", "aip", "", "append ignore-interrupts", Operands::Text);
static MKTEMP: Program = Program::new("mktemp", "dqt", "p", "directory quiet suffix= tmpdir?", Operands::Text);

/// `ln -s target new`
pub(super) fn link(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&LN, arguments, Order::Any)?;
    match parsed.operands.as_slice() {
        [target, link] if parsed.has_any(&["s", "symbolic"]) => {
            judge.reads(state, target, Use::Facts)?;
            judge.makes(state, link, false)?;
            Ok(Stream::Text)
        }
        _ => Err(Objection::changes("only one symbolic link to one new name is made without asking")),
    }
}

/// `tee new`
pub(super) fn tee(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&TEE, arguments, Order::Any)?;
    for file in parsed.operands.iter().filter(|file| !matches!(file.text(), Some("-" | "/dev/null"))) {
        judge.makes(state, file, false)?;
    }
    Ok(Stream::Text)
}

/// `mktemp`: in the folder for temporary files, or in the workspace.
pub(super) fn temporary(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&MKTEMP, arguments, Order::Any)?;
    let folders = parsed.values(&["p", "tmpdir"]).map(str::to_owned);
    let is_in_folder = parsed.has_any(&["p", "t", "tmpdir"]);
    let templates = parsed.operands.iter().filter_map(|word| word.text());
    let spelled = templates.filter(|template| !is_in_folder || template.contains('/')).map(str::to_owned);
    for path in folders.chain(spelled).collect::<Vec<_>>() {
        for place in judge.places(state, &path)? {
            let real = paths::real(&place);
            let workspace = paths::real(Path::new(&judge.config.environment.workspace));
            let is_temporary = path.starts_with('/') && real.starts_with(paths::real(&std::env::temp_dir()));
            if !(is_temporary || real.starts_with(workspace)) {
                return Err(Objection::changes(format!("{} is no place for temporary files", paths::line(&place))));
            }
        }
    }
    if parsed.operands.len() > 1 || parsed.operands.iter().any(|word| word.text().is_none()) {
        return Err(Objection::changes("mktemp with a name that is not known"));
    }
    judge.effects.makes("a temporary file or folder");
    Ok(Stream::Text)
}
