//! Judging a script from the outside in: lists, pipelines, blocks, redirections.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::effects::Effects;
use super::objection::Objection;
use super::scene::{New, Use};
use super::syntax::{Body, Chain, Join, Pipeline, Redirect, Stage, Word};
use super::value::{Arg, Stream, Value};
use crate::config::ToolConfig;
use crate::protect::Protected;

/// Commands judged for one text, those of loops once a value; a larger one is asked about.
const COMMANDS_MAX: usize = 256;

/// Working folders a script may be in at one place.
const FOLDERS_MAX: usize = 8;

/// What a command is judged against, and what has been found of it so far.
pub(crate) struct Judge<'a> {
    pub(crate) config: &'a ToolConfig,
    pub(crate) protected: &'a Protected,
    pub(crate) effects: Effects,
    commands: usize,
    /// How many commands stand around the one that is judged, each running the next.
    pub(crate) depth: usize,
}

/// What holds at one place of a script.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// Folders it may be in.
    pub(crate) cwds: Vec<PathBuf>,
    /// Variables it has set.
    pub(crate) variables: BTreeMap<String, Arg>,
    /// What standard input holds.
    pub(crate) stdin: Stream,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(config: &'a ToolConfig, protected: &'a Protected) -> Self {
        Self { config, protected, effects: Effects::default(), commands: 0, depth: 0 }
    }

    pub(crate) fn start(&self) -> State {
        let cwds = vec![PathBuf::from(&self.config.environment.cwd)];
        State { cwds, variables: BTreeMap::new(), stdin: Stream::Text }
    }

    /// Counts a command that is judged.
    pub(crate) fn counted(&mut self) -> Result<(), Objection> {
        self.commands += 1;
        if self.commands > COMMANDS_MAX {
            return Err(Objection::opaque(format!("it runs more than {COMMANDS_MAX} commands")));
        }
        Ok(())
    }

    /// Judges commands one after the other; what they write is names only if one command wrote it.
    pub(crate) fn list(&mut self, state: &mut State, list: &[Chain]) -> Result<Stream, Objection> {
        let mut written = Vec::new();
        for chain in list {
            written.push(self.chain(state, chain)?);
        }
        Ok(single(written))
    }

    fn chain(&mut self, state: &mut State, chain: &Chain) -> Result<Stream, Objection> {
        let mut written = vec![self.pipeline(state, &chain.first)?];
        let mut possible = vec![state.clone()];
        for (join, pipeline) in &chain.rest {
            if *join == Join::Or {
                // It may run after any of what came before, or not at all.
                *state = merged(&possible)?;
            }
            written.push(self.pipeline(state, pipeline)?);
            possible.push(state.clone());
        }
        if !chain.rest.is_empty() {
            *state = merged(&possible)?;
        }
        Ok(single(written))
    }

    fn pipeline(&mut self, state: &mut State, pipeline: &Pipeline) -> Result<Stream, Objection> {
        if let [stage] = pipeline.stages.as_slice() {
            return self.stage(state, stage);
        }
        let mut stdin = state.stdin.clone();
        for stage in &pipeline.stages {
            // Each stage is a process of its own: what it sets ends with it.
            let mut inner = State { stdin, ..state.clone() };
            stdin = self.stage(&mut inner, stage)?;
        }
        Ok(stdin)
    }

    fn stage(&mut self, state: &mut State, stage: &Stage) -> Result<Stream, Objection> {
        let outer = state.stdin.clone();
        let mut is_redirected = false;
        for redirect in &stage.redirects {
            match redirect {
                Redirect::Same => {}
                Redirect::Text(None) => state.stdin = Stream::Text,
                Redirect::Text(Some(word)) => {
                    self.expanded(state, word)?;
                    state.stdin = Stream::Text;
                }
                Redirect::Input(word) => {
                    let operand = self.single_operand(state, word)?;
                    self.reads(state, &operand, Use::Content)?;
                    state.stdin = Stream::Text;
                }
                Redirect::Output(word) => {
                    is_redirected = true;
                    if word.literal().as_deref() != Some("/dev/null") {
                        let operand = self.single_operand(state, word)?;
                        self.makes(state, &operand, New::File)?;
                    }
                }
            }
        }
        let written = match &stage.body {
            Body::Simple(simple) => self.simple(state, simple)?,
            Body::Group(list) => self.list(state, list)?,
            Body::Subshell(list) => self.list(&mut state.clone(), list)?,
            Body::If(lists) => self.branches(state, lists)?,
            Body::For { name, words, body } => self.for_loop(state, name, words, body)?,
            Body::While { condition, body } => self.while_loop(state, condition, body)?,
            Body::Test(words) => {
                super::tests_of_shell::double_bracket(self, state, words)?;
                Stream::Text
            }
        };
        state.stdin = outer;
        Ok(if is_redirected { Stream::Text } else { written })
    }

    /// A redirection's word: one name that is known.
    fn single_operand(&mut self, state: &State, word: &Word) -> Result<Arg, Objection> {
        let mut operands = self.expanded(state, word)?;
        match (operands.pop(), operands.is_empty()) {
            (Some(operand), true) => Ok(operand),
            _ => Err(Objection::opaque("a redirection to a name that is not plain")),
        }
    }

    fn branches(&mut self, state: &mut State, lists: &[Vec<Chain>]) -> Result<Stream, Objection> {
        let mut possible = vec![state.clone()];
        for list in lists {
            *state = merged(&possible)?;
            self.list(state, list)?;
            possible.push(state.clone());
        }
        *state = merged(&possible)?;
        Ok(Stream::Text)
    }

    fn for_loop(&mut self, state: &mut State, name: &str, words: &[Word], body: &[Chain]) -> Result<Stream, Objection> {
        may_be_set(name)?;
        let mut possible = vec![state.clone()];
        for value in self.arguments(state, words)? {
            // Anything an earlier turn may have left behind holds in the next.
            *state = merged(&possible)?;
            // The loop takes the words of a text one at a time.
            let value = match value.value {
                Value::Unknown { .. } => Arg::unknown(false),
                Value::Literal(_) | Value::Matches { .. } | Value::Below(_) | Value::Number => value,
            };
            state.variables.insert(name.to_owned(), value);
            // Twice, so that what a turn leaves behind is judged with what it does.
            for _ in 0..2 {
                self.list(state, body)?;
                let mut again = merged(&[possible.last().cloned().unwrap_or_else(|| state.clone()), state.clone()])?;
                if let Some(value) = state.variables.get(name) {
                    again.variables.insert(name.to_owned(), value.clone());
                }
                *state = again;
            }
            possible.push(state.clone());
        }
        *state = merged(&possible)?;
        Ok(Stream::Text)
    }

    /// `while read`: it ends with its input. No other loop is known to end.
    fn while_loop(&mut self, state: &mut State, condition: &[Chain], body: &[Chain]) -> Result<Stream, Objection> {
        let Some(name) = super::builtins::read_variable(condition) else {
            return Err(Objection::changes("a loop that may never end"));
        };
        may_be_set(&name)?;
        let value = match &state.stdin {
            Stream::Names { folders, may_be_option, .. } => {
                Arg { value: Value::Below(folders.clone()), may_be_option: *may_be_option }
            }
            Stream::Text => Arg::unknown(false),
        };
        let before = state.clone();
        state.stdin = Stream::Text;
        state.variables.insert(name, value);
        let inside = state.clone();
        self.list(state, body)?;
        *state = merged(&[inside, state.clone()])?;
        self.list(state, body)?;
        *state = merged(&[before, state.clone()])?;
        Ok(Stream::Text)
    }
}

/// Names of variables a script may set: none that a shell or a program acts on.
pub(crate) fn may_be_set(name: &str) -> Result<(), Objection> {
    let is_own = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') && name != "_";
    // A shell takes these two from a script in small letters as well; proxies reach the network.
    if is_own && name != "histchars" && name != "auto_resume" && !name.ends_with("_proxy") {
        return Ok(());
    }
    let is_plain = ["FILE", "DIR", "F", "D", "N", "I", "COUNT", "NAME", "SIZE", "TOTAL", "X", "Y", "ROOT", "FOLDER"];
    if is_plain.contains(&name) {
        return Ok(());
    }
    Err(Objection::opaque(format!("setting {name} may change what a program does")))
}

/// What holds if any of these states may hold.
fn merged(states: &[State]) -> Result<State, Objection> {
    let Some((first, others)) = states.split_first() else {
        return Err(Objection::opaque("nothing is known here"));
    };
    let mut merged = first.clone();
    for state in others {
        for cwd in &state.cwds {
            if !merged.cwds.contains(cwd) {
                merged.cwds.push(cwd.clone());
            }
        }
        let names: Vec<String> = merged.variables.keys().chain(state.variables.keys()).cloned().collect();
        for name in names {
            if merged.variables.get(&name) != state.variables.get(&name) {
                merged.variables.insert(name, Arg::unknown(true));
            }
        }
    }
    if merged.cwds.len() > FOLDERS_MAX {
        return Err(Objection::opaque("it goes through too many folders"));
    }
    Ok(merged)
}

fn single(mut written: Vec<Stream>) -> Stream {
    match (written.pop(), written.is_empty()) {
        (Some(stream), true) => stream,
        _ => Stream::Text,
    }
}
