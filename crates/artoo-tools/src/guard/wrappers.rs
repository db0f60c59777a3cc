//! Programs that run another one: what counts is the other one.

use super::builtins;
use super::judge::{Judge, State};
use super::objection::Objection;
use super::options::{self, Order};
use super::programs::{Operands, Program};
use super::value::{Arg, Stream};

static NICE: Program = Program::new("nice", "0123456789", "n", "adjustment=", Operands::Text);
static NOHUP: Program = Program::new("nohup", "", "", "", Operands::Text);
static TIME: Program = Program::new("time", "p", "", "portability", Operands::Text);
static STDBUF: Program = Program::new("stdbuf", "", "ioe", "input= output= error=", Operands::Text);
static IONICE: Program = Program::new("ionice", "t", "cn", "class= classdata= ignore", Operands::Text);
static COMMAND: Program = Program::new("command", "p", "", "", Operands::Text);
static TIMEOUT: Program =
    Program::new("timeout", "pv", "ks", "foreground kill-after= preserve-status signal= verbose", Operands::Text);

fn inner(
    judge: &mut Judge<'_>,
    state: &State,
    program: &Program,
    arguments: &[Arg],
    own: usize,
) -> Result<Stream, Objection> {
    let parsed = options::parse(program, arguments, Order::OptionsFirst)?;
    let rest = parsed.operands.get(own..).unwrap_or_default();
    let rest: Vec<Arg> = rest.iter().map(|word| (*word).clone()).collect();
    let depth = judge.depth;
    judge.inner(state, &rest, depth)
}

pub(super) fn nice(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    inner(judge, state, &NICE, arguments, 0)
}

pub(super) fn nohup(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    inner(judge, state, &NOHUP, arguments, 0)
}

pub(super) fn time(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    inner(judge, state, &TIME, arguments, 0)
}

pub(super) fn stdbuf(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    inner(judge, state, &STDBUF, arguments, 0)
}

pub(super) fn ionice(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    inner(judge, state, &IONICE, arguments, 0)
}

/// `command name`; the looking up is judged with the shell's own commands.
pub(super) fn command(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    inner(judge, state, &COMMAND, arguments, 0)
}

pub(super) fn timeout(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    inner(judge, state, &TIMEOUT, arguments, 1)
}

/// `env NAME=value program …`; alone it shows every variable.
pub(super) fn env(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let mut words =
        arguments.iter().skip_while(|word| matches!(word.text(), Some("-" | "-i" | "--ignore-environment")));
    let mut rest: Vec<Arg> = words.by_ref().cloned().collect();
    while let Some((name, value)) = rest.first().and_then(Arg::text).and_then(|text| text.split_once('=')) {
        builtins::may_be_passed("env", name, value)?;
        rest.remove(0);
    }
    if rest.is_empty() {
        return Err(Objection::reveals("variables of the environment may hold secrets"));
    }
    if rest.first().and_then(Arg::text).is_some_and(|text| text.starts_with('-')) {
        return Err(Objection::opaque("an option of env that is not known to be harmless"));
    }
    let depth = judge.depth;
    judge.inner(state, &rest, depth)
}
