//! Asks a model for one typed value, and asks once more if the reply is unusable.

use std::marker::PhantomData;
use std::sync::Arc;

use artoo_proto::{Abstention, EffectId, ModelFailure, ModelReply, ModelRequest, RecipePlan, ReplyBody, Usage, escape};
use serde::de::DeserializeOwned;

use crate::machine::Context;

/// Maximum length, in characters, of an error repeated to the model and of the excerpt of an unreadable reply. Both may
/// contain the model's own text.
const EXCERPT_CHARS: usize = 200;

/// A type that a model's JSON reply, or a plan of recipes, can be read into.
pub trait Reply: DeserializeOwned {
    /// Converts a plan of recipes from the embedded parser to this type; `None` if the role can't use recipes.
    #[must_use]
    fn from_recipes(_recipes: RecipePlan) -> Option<Self> {
        None
    }
}

/// A model request whose reply is awaited and will be read as a `T`.
#[derive(Debug)]
pub struct Ask<T> {
    effect_id: EffectId,
    request: Arc<ModelRequest>,
    /// Whether this is already the second request for the value.
    asked_again: bool,
    reply: PhantomData<fn() -> T>,
}

/// The result of reading a model's reply: a value, an abstention, a second request, or a failure.
#[derive(Debug)]
pub enum Answer<T> {
    /// The reply as a value of the requested type.
    Value(T),
    /// The embedded parser does not understand the request.
    Abstained(Abstention),
    /// The reply was unusable, and the model must be asked a second time with this request.
    Again(Ask<T>, EffectId, Arc<ModelRequest>),
    /// The model call failed and is not repeated.
    Failed(ModelFailure),
}

impl<T: Reply> Ask<T> {
    /// Starts a model request. The caller must return the effect id and the request as an effect.
    #[must_use]
    pub fn start(cx: &mut Context<'_>, request: ModelRequest) -> (Self, EffectId, Arc<ModelRequest>) {
        Self::begin(cx, Arc::new(request), false)
    }

    /// Starts a model request under a new effect id; `asked_again` says that it repeats an unusable reply's request.
    fn begin(
        cx: &mut Context<'_>,
        request: Arc<ModelRequest>,
        asked_again: bool,
    ) -> (Self, EffectId, Arc<ModelRequest>) {
        let effect_id = cx.ids.next_effect();
        (Self { effect_id, request: Arc::clone(&request), asked_again, reply: PhantomData }, effect_id, request)
    }

    /// Whether `effect_id` is the id of this model request.
    #[must_use]
    pub fn awaits(&self, effect_id: EffectId) -> bool {
        self.effect_id == effect_id
    }

    /// Reads the model's reply as a value. The first unusable reply leads to a second request, the second one to a
    /// failure. A failure that another request can't cure is returned at once.
    pub fn answer(self, cx: &mut Context<'_>, reply: Result<ModelReply, ModelFailure>) -> Answer<T> {
        let unreadable = |detail, excerpt| ModelFailure::Unreadable { detail, excerpt, usage: Usage::default() };
        let failure = match reply.map(|reply| reply.body) {
            Ok(ReplyBody::Recipes { plan }) => {
                let detail = format!("a plan of recipes where a {} was asked for", self.request.schema_name);
                return T::from_recipes(plan)
                    .map_or_else(|| Answer::Failed(unreadable(detail, String::new())), Answer::Value);
            }
            Ok(ReplyBody::Abstain { abstention }) => return Answer::Abstained(abstention),
            Ok(ReplyBody::Json { value }) => match T::deserialize(&value) {
                Ok(value) => return Answer::Value(value),
                Err(error) => unreadable(
                    format!("the value does not fit {}: {}", self.request.schema_name, excerpt(&error.to_string())),
                    excerpt(&value.to_string()),
                ),
            },
            Err(failure) => failure,
        };
        if self.asked_again || !failure.is_worth_asking_again() {
            return Answer::Failed(failure);
        }
        let mut request = Arc::unwrap_or_clone(self.request);
        // The second request asks for JSON, because the endpoint may be bad at calling tools.
        request.by_tools = None;
        request.prompt.user.push_str(&format!(
            "\n\nYour last reply could not be used: {}. Answer again with exactly one JSON object that fits the schema, \
             and nothing else.",
            excerpt(&failure.to_string())
        ));
        let (ask, effect_id, request) = Self::begin(cx, Arc::new(request), true);
        Answer::Again(ask, effect_id, request)
    }
}

/// A text on one line, shortened to `EXCERPT_CHARS` characters.
fn excerpt(text: &str) -> String {
    escape::shorten(&escape::one_line(text), EXCERPT_CHARS)
}

#[cfg(test)]
mod tests;
