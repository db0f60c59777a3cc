//! The embedded parser as a model: no language model, no network, no tokens.

use artoo_llm::Model;
use artoo_proto::{
    Abstention, CoverageState, Environment, ModelFailure, ModelReply, ModelRequest, Now, PerceiveContext, ReplyBody,
    RoleContext, SessionTurn, Usage,
};
use async_trait::async_trait;

use super::files::RealFiles;

/// The default model: an embedded parser that answers common requests with recipes and abstains from all others.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reflex;

#[async_trait]
impl Model for Reflex {
    fn name(&self) -> String {
        "reflex".to_owned()
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let mut body = artoo_reflex::respond(&request.context, &RealFiles);
        if let (ReplyBody::Abstain { abstention }, RoleContext::Perceive(context)) = (&mut body, &request.context)
            && let Some(words) = for_a_model(context)
        {
            // Which of its words are unknown helps nobody to say it otherwise.
            abstention.not_understood.clear();
            abstention.remedy = format!("I can't do this: {words} needs a language model. {}", Abstention::SETUP);
        }
        Ok(reply(body))
    }
}

/// The words, in quotes, with which a request asks for a text or a judgement, such as a summary; `None` without any.
fn for_a_model(context: &PerceiveContext) -> Option<String> {
    let PerceiveContext { raw_input, session, environment, now, .. } = context;
    let clauses = artoo_reflex::clauses(raw_input, session, environment, *now, &RealFiles);
    let mut unread = clauses.into_iter().filter_map(|clause| clause.read.err());
    let found = unread.find(|it| matches!(it.state, CoverageState::Words | CoverageState::Judged))?;
    found.why.split_once(':').map(|(words, _)| words.to_owned())
}

/// A model reply of the embedded parser.
fn reply(body: ReplyBody) -> ModelReply {
    ModelReply { body, usage: Usage::default(), model: Reflex.name() }
}

/// The embedded parser's reply to a request for a model, if it explains the whole task.
///
/// This depends on the request and the disk alone, so that a resumed task is decided again in the same way.
pub(super) fn reply_in_full(request: &ModelRequest) -> Option<ModelReply> {
    artoo_reflex::respond_in_full(&request.context, &RealFiles).map(reply)
}

/// Whether the embedded parser would carry out a request in full, without a language model.
#[must_use]
pub fn is_answered_in_full(request: &str, session: &[SessionTurn], environment: &Environment, now: Now) -> bool {
    let context = PerceiveContext {
        raw_input: request.to_owned(),
        session: session.to_vec(),
        material: None,
        clarifications: Vec::new(),
        may_ask: false,
        environment: environment.clone(),
        now,
    };
    artoo_reflex::respond_in_full(&RoleContext::Perceive(Box::new(context)), &RealFiles).is_some()
}

/// Whether the embedded parser can read a request, in this environment and without earlier requests.
#[must_use]
pub fn is_readable(request: &str, environment: &Environment, now: Now) -> bool {
    artoo_reflex::parse(request, &[], environment, now, &RealFiles).is_ok()
}
