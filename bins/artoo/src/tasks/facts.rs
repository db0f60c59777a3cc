//! Facts about a task that are read from its record: calls, rounds, questions, cost.
#![expect(clippy::wildcard_enum_match_arm, reason = "facts are found among many frames")]

use std::collections::BTreeMap;

use artoo_proto::{
    CallStatus, FinalResult, Message, PlanDirective, Role, Timestamp, ToolCall, ToolOutcome, Usage, escape,
};
use artoo_roles::machine::Completion;
use artoo_roles::record::{Frame, Record};
use artoo_roles::system::Input;
use artoo_tools::undo::Entry;

use crate::display::Line;
use crate::display::result::{Questions, ResultView};
use crate::display::user_format::UserFormat;

/// Maximum length of a call's target (such as a path) in the line about the call, in characters.
const TARGET_CHARS: usize = 100;

/// The facts about a task that its record contains.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The calls that ended, with the times at which they did.
    pub(super) calls: Vec<(Timestamp, ToolCall)>,
    /// Number of calls that began and whose end is not recorded.
    pub(super) open: u64,
    /// The directives of R7 (the Solver), one for each replan.
    pub(super) directives: Vec<PlanDirective>,
    /// Number of corrections of subtasks.
    pub(super) corrections: usize,
    pub(super) questions: Questions,
    /// Model calls and tokens by role.
    pub(super) usage: BTreeMap<Role, Usage>,
    /// When the task was resumed.
    pub(super) resumed: Vec<Timestamp>,
}

impl Facts {
    /// The facts in a record.
    pub(super) fn of(record: &Record) -> Self {
        let mut facts = Self::default();
        let (mut begun, mut ended) = (0_u64, 0_u64);
        for frame in &record.frames {
            match frame {
                Frame::Input { now, input } => match &**input {
                    Input::Completed { completion: Completion::Tool(outcome), .. } => {
                        ended += 1;
                        if let ToolOutcome::Called { call } = &**outcome {
                            facts.calls.push((now.wall, call.clone()));
                        }
                    }
                    Input::Completed { completion: Completion::Model(reply), .. } => {
                        // The role is not recorded with a reply; the last frame has the cost by role.
                        let usage = reply.as_ref().map_or_else(|failure| failure.usage(), |reply| reply.usage);
                        *facts.usage.entry(Role::Runtime).or_default() += usage;
                    }
                    Input::Operator { message: Message::ConsentAnswer(answer) } if answer.note.is_none() => {
                        facts.questions.asked += 1;
                        facts.questions.denied += u64::from(!answer.allowed);
                    }
                    Input::Operator { .. } | Input::Completed { .. } | Input::MemoryChanged { .. } => {}
                },
                Frame::Did { effects } => {
                    begun += effects.iter().filter(|did| did.what.starts_with("tool call")).count() as u64;
                }
                Frame::Said { message, .. } => match &**message {
                    Message::PlanDirective(directive) => facts.directives.push(directive.clone()),
                    Message::CorrectionSignal(_) => facts.corrections += 1,
                    _ => {}
                },
                Frame::Resumed { at } => facts.resumed.push(*at),
                _ => {}
            }
        }
        facts.open = if record.result().is_some() { 0 } else { begun.saturating_sub(ended) };
        if let Some((_, usage)) = record.ended() {
            facts.usage = usage.iter().copied().collect();
        }
        facts.usage.retain(|_, usage| *usage != Usage::default());
        facts
    }

    /// Numbers of tool calls: those that ended, and those whose outcome the record does not contain.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.calls.len() as u64, self.open)
    }

    /// The parts of the recorded task from which the text of its result is made.
    pub(super) fn shown<'a>(
        &'a self,
        result: &'a FinalResult,
        undo: Option<&'a Entry>,
        user_format: &'a UserFormat,
    ) -> ResultView<'a> {
        ResultView {
            result,
            usage: &self.usage,
            undo,
            is_journal_read: true,
            questions: self.questions,
            with_material: false,
            cost: None,
            saved: None,
            user_format,
        }
    }

    /// One line for each tool call: time, tool, target and status.
    pub(super) fn call_lines(&self) -> Vec<Line> {
        let line = |(at, call): &(Timestamp, ToolCall)| {
            let target = escape::shorten(&escape::one_line(&call.target), TARGET_CHARS);
            let text = format!("  {at} {} {}: {target}", call.tool, status(call.status));
            if call.status == CallStatus::Ok { Line::faint(text) } else { Line::warning(text) }
        };
        let mut lines: Vec<Line> = self.calls.iter().map(line).collect();
        if self.open > 0 {
            lines.push(Line::warning(format!("  {} more began, and how they ended is not recorded", self.open)));
        }
        lines
    }
}

/// The word for how a tool call ended, such as "ok", "failed" or "denied".
pub(super) fn status(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Ok => "ok",
        CallStatus::Failed => "failed",
        CallStatus::Denied => "denied",
        CallStatus::TimedOut => "timed out",
        CallStatus::Cut => "cut off",
        CallStatus::Uncertain => "outcome unknown",
    }
}
