//! A model's answer while it is received, independent of the protocol.

use serde_json::Value;

use super::Fault;
use super::calls::Calls;
use crate::usage::Counts;

/// Why the model stopped writing its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The model finished its answer.
    Complete,
    /// The model called a tool.
    Tool,
    /// The token limit was reached.
    Length,
    /// Another reason, as the endpoint names it.
    Other(String),
}

impl End {
    /// Parses the finish reason that an endpoint reports, in the words of OpenAI and other servers.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "stop_token" | "completed" => Self::Complete,
            "tool_calls" | "function_call" | "tool_use" => Self::Tool,
            "length" | "max_tokens" | "max_output_tokens" | "model_context_window_exceeded" => Self::Length,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// A model's answer, as far as it was received: text, tool calls, token counts, and how it ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// The text of the answer, without separate reasoning.
    pub(crate) content: String,
    pub(crate) calls: Calls,
    /// Length of separate reasoning, in bytes of UTF-8.
    pub(crate) reasoning_chars: usize,
    pub(crate) end: Option<End>,
    /// Whether the protocol's end marker was received.
    pub(crate) closed: bool,
    /// Whether the protocol always sends an end marker, so that its absence means truncation.
    pub(crate) must_close: bool,
    pub(crate) counts: Counts,
    /// Name of the model that answers, as the endpoint reports it.
    pub(crate) model: Option<String>,
    /// The model's refusal to answer, if it refused.
    pub(crate) refusal: Option<String>,
}

impl Draft {
    /// Adds the token counts at JSON pointers of a usage object; counts that it doesn't contain stay.
    pub(crate) fn count(&mut self, usage: Option<&Value>, prompt: &str, completion: &str, cached: &[&str]) {
        let count = |pointer: &str| usage?.pointer(pointer).and_then(Value::as_u64);
        self.counts.prompt = count(prompt).or(self.counts.prompt);
        self.counts.completion = count(completion).or(self.counts.completion);
        self.counts.cached = cached.iter().find_map(|pointer| count(pointer)).or(self.counts.cached);
    }

    /// Checks that the answer is complete; an error if it was cut off or the model refused.
    pub(crate) fn ended(&self) -> Result<(), Fault> {
        if let Some(refusal) = &self.refusal {
            return Err(Fault::Unreadable(format!("the model refused: {refusal}")));
        }
        let problem = match &self.end {
            None => "the answer has no finish_reason".to_owned(),
            Some(End::Length) => "the token limit was reached (finish_reason length)".to_owned(),
            Some(End::Other(word)) => format!("finish_reason is {word:?}, not stop"),
            Some(End::Complete | End::Tool) if self.must_close && !self.closed => {
                "the answer lacks its closing mark".to_owned()
            }
            Some(End::Complete | End::Tool) => return Ok(()),
        };
        Err(Fault::Cut(problem))
    }

    /// The text of a complete answer, or with `by_tool` the input of its forced tool call; an error if the answer is
    /// not complete.
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

    /// Length in bytes of everything the model wrote, reasoning included, for an estimate of the cost.
    pub(crate) fn written_chars(&self) -> usize {
        self.content.len() + self.calls.written_chars() + self.reasoning_chars
    }
}
