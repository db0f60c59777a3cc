//! An answer while it comes in, whatever its protocol; nothing of it counts before it has ended by itself.

use super::Fault;
use super::calls::Calls;
use crate::usage::Counts;

/// How the model ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself.
    Complete,
    /// With a call of a tool.
    Tool,
    /// At a limit of tokens.
    Length,
    /// In another way, in the endpoint's word.
    Other(String),
}

/// Words for "the model ended by itself": OpenAI's, and those of servers that pass on their own.
const COMPLETE: [&str; 7] = ["stop", "eos", "eos_token", "end_turn", "stop_sequence", "stop_token", "completed"];
const TOOL: [&str; 3] = ["tool_calls", "function_call", "tool_use"];
const LENGTH: [&str; 4] = ["length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"];

impl End {
    pub(crate) fn of(word: &str) -> Self {
        match word {
            word if COMPLETE.contains(&word) => Self::Complete,
            word if TOOL.contains(&word) => Self::Tool,
            word if LENGTH.contains(&word) => Self::Length,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// An answer so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// What the model wrote; reasoning that the endpoint keeps apart is not in it.
    pub(crate) content: String,
    /// The tools it called.
    pub(crate) calls: Calls,
    /// Characters of reasoning kept apart.
    pub(crate) reasoning_chars: usize,
    pub(crate) end: Option<End>,
    /// The protocol's own mark of an end was seen: nothing more belongs to the answer.
    pub(crate) closed: bool,
    /// Whether the protocol always sends such a mark, so that its absence is a cut.
    pub(crate) must_close: bool,
    pub(crate) counts: Counts,
    /// The model that answers.
    pub(crate) model: Option<String>,
    /// The model's words for not answering.
    pub(crate) refusal: Option<String>,
}

impl Draft {
    /// Whether it is complete: it ended by itself or with calls, with every mark that its protocol has for that.
    pub(crate) fn ended(&self) -> Result<(), Fault> {
        if let Some(refusal) = &self.refusal {
            return Err(Fault::Unreadable(format!("the model refused: {refusal}")));
        }
        match &self.end {
            None => return Err(Fault::Cut("the answer has no finish_reason".to_owned())),
            Some(End::Length) => {
                return Err(Fault::Cut("the token limit was reached (finish_reason length)".to_owned()));
            }
            Some(End::Other(word)) => return Err(Fault::Cut(format!("finish_reason is {word:?}, not stop"))),
            Some(End::Complete | End::Tool) => {}
        }
        if self.must_close && !self.closed {
            return Err(Fault::Cut("the answer lacks its closing mark".to_owned()));
        }
        Ok(())
    }

    /// The text of a complete answer. `by_tool`: a forced call of a tool carries it.
    pub(crate) fn settle(&self, by_tool: bool) -> Result<&str, Fault> {
        self.ended()?;
        if self.end == Some(End::Tool) && !by_tool {
            return Err(Fault::Unreadable("the model called a tool instead of answering".to_owned()));
        }
        let input = self.calls.first_input();
        let text = if by_tool && !input.trim().is_empty() { input } else { &self.content };
        if text.trim().is_empty() {
            return Err(Fault::Unreadable("the answer has no content".to_owned()));
        }
        Ok(text)
    }

    /// Everything written so far, for an estimate of its cost.
    pub(crate) fn written_chars(&self) -> usize {
        self.content.len() + self.calls.written_chars() + self.reasoning_chars
    }
}
