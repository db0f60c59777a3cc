//! A session of the prompt: its last turns and its last task.

use std::collections::VecDeque;

use artoo_proto::{Ending, FinalResult, SessionTurn, escape, units};
use artoo_roles::runtime::TaskOutcome;

use crate::display::json::EndedTask;

/// Maximum number of earlier turns (a request and its result) that a session keeps for later requests to refer to.
#[doc(alias = "limit")]
const TURNS_MAX: usize = 5;

/// Maximum length of an answer stored with a turn, in characters.
const ANSWER_CHARS: usize = 600;

/// A session of the prompt: its last turns, the ids of its tasks, and its last task.
#[derive(Debug, Default)]
pub(crate) struct Session {
    turns: VecDeque<SessionTurn>,
    /// The ids of its tasks.
    tasks: Vec<String>,
    /// The last task with its request.
    last: Option<(String, EndedTask)>,
    /// Whether the last input was a task with an answer.
    has_answered: bool,
}

/// A finished task as a turn: its request and summary, and its answer if the result was accepted.
pub(crate) fn turn(input: &str, result: &FinalResult) -> SessionTurn {
    let answer = result.output.trim();
    // Later requests must not build on an answer that was not accepted: only its summary is stored.
    let summary = if matches!(result.ending, Ending::Accept { .. }) && !answer.is_empty() {
        format!("{}\nanswer: {}", result.summary, escape::shorten(answer, ANSWER_CHARS))
    } else {
        result.summary.clone()
    };
    let answered = matches!(result.ending, Ending::Accept { .. } | Ending::Success { .. });
    SessionTurn { input: input.to_owned(), summary, answered }
}

impl Session {
    /// Creates a session that continues an earlier one with these turns.
    pub(crate) fn of(turns: Vec<SessionTurn>) -> Self {
        let mut session = Self::default();
        turns.into_iter().for_each(|turn| session.add(turn));
        session
    }

    /// Adds a turn; drops the oldest if there are too many.
    fn add(&mut self, turn: SessionTurn) {
        if self.turns.len() == TURNS_MAX {
            self.turns.pop_front();
        }
        self.turns.push_back(turn);
    }

    /// Records a finished task as the session's last one and adds its turn.
    pub(crate) fn ended(&mut self, input: &str, task: EndedTask) {
        self.count(input, &task.outcome);
        self.has_answered = self.turns.back().is_some_and(|turn| turn.answered);
        self.last = Some((input.to_owned(), task));
    }

    /// Adds a finished task's id and turn to the session.
    fn count(&mut self, input: &str, outcome: &TaskOutcome) {
        self.tasks.push(outcome.result.task_id.as_str().to_owned());
        self.add(turn(input, &outcome.result));
    }

    /// The last task with its request; `None` before the first.
    pub(crate) fn last(&self) -> Option<&(String, EndedTask)> {
        self.last.as_ref()
    }

    /// Returns whether the last input was a task that got an answer, and resets that to false.
    pub(crate) fn take_answered(&mut self) -> bool {
        std::mem::take(&mut self.has_answered)
    }

    /// The last turns of the session, oldest first.
    pub(crate) fn turns(&self) -> Vec<SessionTurn> {
        self.turns.iter().cloned().collect()
    }

    /// The number of tasks of the session, in words.
    pub(crate) fn count_tasks(&self) -> String {
        units::count(self.tasks.len() as u64, "task", "tasks")
    }

    /// Whether a task with this id ended in the session.
    pub(crate) fn has_task(&self, id: &str) -> bool {
        self.tasks.iter().any(|task| task == id)
    }
}

/// Tests of the turns of a session.
#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use artoo_proto::{AbandonReason, Basis};

    use super::*;
    use crate::display::testing::result_with;

    /// A sample outcome of a task with this ending and output.
    fn outcome(ending: Ending, output: &str) -> TaskOutcome {
        let result =
            FinalResult { summary: "the summary".to_owned(), output: output.to_owned(), ..result_with(ending) };
        TaskOutcome { result, usage: BTreeMap::new() }
    }

    #[test]
    fn session_keeps_last_five_turns() {
        let mut session = Session::default();
        for number in 0..7 {
            session.count(&format!("request {number}"), &outcome(Ending::Accept { basis: Basis::Checked }, "42\n"));
        }
        let cancelled = Ending::Abandon { reason: AbandonReason::Cancelled, unmet: Vec::new() };
        session.count("the last", &outcome(cancelled, "half of it"));
        let turns = session.turns();
        let inputs: Vec<&str> = turns.iter().map(|turn| turn.input.as_str()).collect();
        assert_eq!(inputs, ["request 3", "request 4", "request 5", "request 6", "the last"]);
        assert_eq!(turns[0].summary, "the summary\nanswer: 42");
        assert_eq!(turns[4].summary, "the summary");
        assert_eq!(turns.iter().map(|turn| turn.answered).collect::<Vec<_>>(), [true, true, true, true, false]);
        let long = "é".repeat(10_000);
        session.count("long", &outcome(Ending::Accept { basis: Basis::Mixed }, &long));
        assert!(session.turns()[4].summary.chars().count() < 700);
        assert_eq!(session.count_tasks(), "9 tasks");
    }
}
