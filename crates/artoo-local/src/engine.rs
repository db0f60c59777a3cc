//! The engine: evaluates the new part of a prompt with llama.cpp, and writes a reply token by token.

use std::num::NonZeroU32;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::context::session::{LlamaStateSeqFlags, SeqState};
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::token::LlamaToken;

use crate::constraint::{Constraint, likeliest};
use crate::prefixes::{Prefixes, common};
use crate::runtime::Runtime;
use crate::vocabulary::Vocabulary;

/// Number of tokens evaluated together: enough that the weights are read rarely, few enough that a cancelled call ends
/// soon.
pub(crate) const STEP: usize = 64;

/// The id of the only token sequence in the llama.cpp context; states of other prompts are saved outside of it.
const SEQUENCE: i32 = 0;

/// A llama.cpp context, the tokens evaluated in it, and saved states of earlier prompts.
pub(crate) struct Engine<'m> {
    context: LlamaContext<'m>,
    batch: LlamaBatch<'static>,
    vocabulary: &'m Vocabulary,
    /// The tokens that are evaluated in the context, in order.
    held: Vec<i32>,
    /// Number of tokens from the beginning of `held` that were evaluated in whole steps of `STEP`.
    in_steps: usize,
    /// Saved states of the beginnings of earlier prompts.
    prefixes: Prefixes<SeqState>,
    /// Whether the context can be truncated to any of its tokens; that of a recurrent or hybrid model, which sums up
    /// what it has read, can't.
    rewinds: bool,
}

/// What the engine is to write: the prompt's tokens, the reply's constraint and maximum length.
pub(crate) struct Order<'o> {
    /// The tokens of the prompt, at least one.
    pub(crate) prompt: &'o [i32],
    /// Number of tokens at the beginning of the prompt that are the same in the next call of this kind.
    pub(crate) stable: usize,
    /// The schema that the reply must fit; `None` for any text.
    pub(crate) constraint: Option<Constraint>,
    /// Most tokens that the reply may have.
    pub(crate) max_tokens: usize,
}

/// The caller that waits for a reply: it is told of the progress and can cancel.
pub(crate) trait Reader {
    /// Whether the caller has cancelled the call, or the program is ending.
    fn is_gone(&self) -> bool;
    /// Reports how many tokens of the prompt were evaluated by earlier calls.
    fn reused(&mut self, tokens: usize);
    /// Reports how many tokens and bytes the reply has now.
    fn grown(&mut self, tokens: usize, bytes: usize);
}

/// Why the writing of a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The model ended the reply, or the reply is complete under its schema.
    Complete,
    /// The reply reached the token limit.
    Limit,
    /// The caller cancelled the call, or the program is ending.
    Abandoned,
}

/// The bytes and tokens of a written reply, and why its writing ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    /// The reply as bytes; a cut reply may end inside a character.
    pub(crate) bytes: Vec<u8>,
    /// The tokens of the reply.
    pub(crate) tokens: Vec<i32>,
    /// Why the writing ended.
    pub(crate) end: End,
}

impl<'m> Engine<'m> {
    /// An engine with an empty context and at most `prefix_bytes` of saved states; `None` if there is not enough
    /// memory.
    pub(crate) fn new(runtime: &'m Runtime, prefix_bytes: usize) -> Option<Self> {
        let step = u32::try_from(STEP).unwrap_or(u32::MAX);
        let threads = i32::try_from(runtime.facts.threads).unwrap_or(1);
        let parameters = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(runtime.facts.context_tokens))
            .with_n_batch(step)
            .with_n_ubatch(step)
            .with_n_seq_max(1)
            .with_swa_full(true)
            .with_n_threads(threads)
            .with_n_threads_batch(threads);
        let context = runtime.model.new_context(runtime.backend, parameters).ok()?;
        Some(Self {
            context,
            batch: LlamaBatch::new(STEP, 1),
            vocabulary: &runtime.vocabulary,
            held: Vec::new(),
            in_steps: 0,
            prefixes: Prefixes::new(prefix_bytes),
            rewinds: !runtime.model.is_recurrent() && !runtime.model.is_hybrid(),
        })
    }

    /// Evaluates the prompt and writes the reply. The caller has checked that both fit the context.
    pub(crate) fn write(&mut self, order: Order<'_>, reader: &mut dyn Reader) -> Result<Output, String> {
        let known = self.go_back_to(order.prompt);
        reader.reused(known);
        let mut output = Output { bytes: Vec::new(), tokens: Vec::new(), end: End::Abandoned };
        if !self.evaluate_prompt(&order, known, reader)? {
            return Ok(output);
        }
        let mut constraint = order.constraint;
        output.end = loop {
            if reader.is_gone() {
                break End::Abandoned;
            }
            let mut next = constraint.as_mut().map_or_else(|| Ok(Vec::new()), Constraint::forced)?;
            if next.is_empty() {
                if constraint.as_ref().is_some_and(Constraint::is_complete) {
                    break End::Complete;
                }
                let token = self.choose(constraint.as_mut())?;
                if self.vocabulary.is_end(token) {
                    break End::Complete;
                }
                next.push(token);
            }
            for token in &next {
                output.bytes.extend(self.vocabulary.piece(*token));
            }
            output.tokens.extend(&next);
            reader.grown(output.tokens.len(), output.bytes.len());
            if constraint.as_ref().is_some_and(Constraint::is_complete) && output.tokens.len() <= order.max_tokens {
                break End::Complete;
            }
            if output.tokens.len() >= order.max_tokens {
                break End::Limit;
            }
            for part in next.chunks(STEP) {
                self.evaluate(part, true)?;
            }
        };
        Ok(output)
    }

    /// Truncates the context to the part shared with the prompt, or loads a longer saved beginning; returns how many of
    /// the prompt's tokens it then has. At least one token is left to evaluate.
    fn go_back_to(&mut self, prompt: &[i32]) -> usize {
        let most = common(&self.held, prompt).min(self.in_steps).min(prompt.len().saturating_sub(1));
        let live = if self.rewinds || most == self.held.len() { most / STEP * STEP } else { 0 };
        if let Some((known, state)) = self.prefixes.longest(prompt).filter(|(known, _)| *known > live) {
            self.context.clear_kv_cache();
            if self.context.state_seq_set(state, SEQUENCE).is_ok() {
                self.held = prompt.get(..known).unwrap_or_default().to_owned();
                self.in_steps = known;
                return known;
            }
            self.forget();
            return 0;
        }
        if live < self.held.len() {
            let from = u32::try_from(live).ok();
            if live == 0 || !matches!(self.context.clear_kv_cache_seq(Some(0), from, None), Ok(true)) {
                self.forget();
                return 0;
            }
            self.held.truncate(live);
            self.in_steps = live;
        }
        live
    }

    /// Empties the context, so that the next prompt is evaluated from its start.
    fn forget(&mut self) {
        self.context.clear_kv_cache();
        self.held.clear();
        self.in_steps = 0;
    }

    /// Evaluates the prompt's tokens from number `known` on; false if the call was cancelled before the end.
    fn evaluate_prompt(&mut self, order: &Order<'_>, known: usize, reader: &dyn Reader) -> Result<bool, String> {
        let stable = order.stable / STEP * STEP;
        let mut rest = order.prompt.get(known..).unwrap_or_default();
        while !rest.is_empty() {
            if reader.is_gone() {
                return Ok(false);
            }
            let (now, then) = rest.split_at(rest.len().min(STEP));
            self.evaluate(now, then.is_empty())?;
            rest = then;
            if now.len() == STEP {
                self.in_steps = self.held.len();
            }
            if self.held.len() == stable {
                self.save_prefix();
            }
        }
        Ok(true)
    }

    /// Saves the state of the context, which now holds the beginning that all prompts of this kind share.
    fn save_prefix(&mut self) {
        let bytes = self.context.state_seq_get_size_ext(SEQUENCE, LlamaStateSeqFlags::empty());
        if !self.prefixes.wants(&self.held, bytes) {
            return;
        }
        // If saving fails, the beginning is evaluated again by the next call.
        if let Ok(state) = self.context.state_seq_get(SEQUENCE, LlamaStateSeqFlags::empty()) {
            let bytes = state.byte_len();
            self.prefixes.save_prefix(&self.held, state, bytes);
        }
    }

    /// Evaluates at most `STEP` tokens; with `last`, the reply's next token may be chosen after them.
    fn evaluate(&mut self, tokens: &[i32], last: bool) -> Result<(), String> {
        self.batch.clear();
        for (at, token) in (self.held.len()..).zip(tokens) {
            let position = i32::try_from(at).map_err(|error| error.to_string())?;
            let shows = last && at + 1 == self.held.len() + tokens.len();
            let added = self.batch.add(LlamaToken::new(*token), position, &[SEQUENCE], shows);
            added.map_err(|error| error.to_string())?;
        }
        let evaluated = self.context.decode(&mut self.batch);
        if let Err(error) = evaluated {
            // It is unknown what the context contains now.
            self.forget();
            return Err(error.to_string());
        }
        self.held.extend(tokens);
        Ok(())
    }

    /// Chooses the next token of the reply: the most likely one that the constraint allows.
    fn choose(&mut self, constraint: Option<&mut Constraint>) -> Result<i32, String> {
        let logits = self.context.get_logits_ith(self.batch.n_tokens() - 1);
        let Some(constraint) = constraint else {
            return likeliest(logits, |_| true).ok_or_else(|| "the model gives no token a likelihood".to_owned());
        };
        let token = constraint.choose(logits)?.ok_or_else(|| "no token may come next".to_owned())?;
        constraint.take(token)?;
        Ok(token)
    }
}
