//! Asking a model for one typed value, with one second chance when the reply can't be read.

use std::marker::PhantomData;
use std::sync::Arc;

use artoo_proto::{Abstention, EffectId, ModelFailure, ModelReply, ModelRequest, RecipePlan, ReplyBody, Usage, escape};
use serde::de::DeserializeOwned;

use crate::machine::{Context, Work};

/// Characters of a problem repeated to the model, and of a reply kept as an excerpt: both may be the model's own text.
const EXCERPT_CHARS: usize = 200;

/// One question to a model, waiting for its answer.
#[derive(Debug)]
pub struct Ask<T> {
    effect_id: EffectId,
    request: Arc<ModelRequest>,
    asked_again: bool,
    reply: PhantomData<fn() -> T>,
}

/// What an answer leads to.
#[derive(Debug)]
pub enum Answer<T> {
    /// A value of the wanted type.
    Value(T),
    /// A plan of recipes from the embedded parser.
    Recipes(RecipePlan),
    /// The embedded parser declines.
    Abstained(Abstention),
    /// Not readable: it must be asked once more.
    Again(Ask<T>, EffectId, Work),
    /// It failed for good.
    Failed(ModelFailure),
}

impl<T: DeserializeOwned> Ask<T> {
    /// Starts asking; the effect must be performed.
    #[must_use]
    pub fn start(cx: &mut Context<'_>, request: ModelRequest) -> (Self, EffectId, Work) {
        Self::begin(cx, Arc::new(request), false)
    }

    fn begin(cx: &mut Context<'_>, request: Arc<ModelRequest>, asked_again: bool) -> (Self, EffectId, Work) {
        let effect_id = cx.ids.next_effect();
        let work = Work::Model { request: Arc::clone(&request) };
        (Self { effect_id, request, asked_again, reply: PhantomData }, effect_id, work)
    }

    /// Whether this completion belongs to this question.
    #[must_use]
    pub fn awaits(&self, effect_id: EffectId) -> bool {
        self.effect_id == effect_id
    }

    /// Reads the answer.
    pub fn answer(self, cx: &mut Context<'_>, reply: Result<ModelReply, ModelFailure>) -> Answer<T> {
        let failure = match reply.map(|reply| reply.body) {
            Ok(ReplyBody::Recipes { plan }) => return Answer::Recipes(plan),
            Ok(ReplyBody::Abstain { abstention }) => return Answer::Abstained(abstention),
            Ok(ReplyBody::Json { value }) => match T::deserialize(&value) {
                Ok(value) => return Answer::Value(value),
                Err(error) => ModelFailure::Unreadable {
                    detail: format!(
                        "the value does not fit {}: {}",
                        self.request.schema_name,
                        excerpt(&error.to_string())
                    ),
                    excerpt: excerpt(&value.to_string()),
                    usage: Usage::default(),
                },
            },
            Err(failure) => failure,
        };
        if self.asked_again || !failure.is_worth_asking_again() {
            return Answer::Failed(failure);
        }
        let mut request = Arc::unwrap_or_clone(self.request);
        // The second chance is another way of asking, too: an endpoint that calls its tools badly is asked for JSON.
        request.by_tools = None;
        request.prompt.user.push_str(&format!(
            "\n\nYour last reply could not be used: {}. Answer again with exactly one JSON object that fits the schema, \
             and nothing else.",
            excerpt(&failure.to_string())
        ));
        let (ask, effect_id, work) = Self::begin(cx, Arc::new(request), true);
        Answer::Again(ask, effect_id, work)
    }
}

fn excerpt(text: &str) -> String {
    escape::shorten(&escape::one_line(text), EXCERPT_CHARS)
}

#[cfg(test)]
mod tests;
