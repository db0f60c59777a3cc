//! `env`, which runs another program: what counts is the other one.

use super::builtins;
use super::judge::{Judge, State};
use super::objection::Objection;
use super::value::{Arg, Stream};

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
