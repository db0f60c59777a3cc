//! R1, the Perceiver: carries the user's words into a [`TaskSpec`], or says that it can't.

#[cfg(test)]
#[cfg(feature = "runtime")]
mod agreement;
mod prompt;
#[cfg(test)]
mod tests;

use artoo_proto::{
    ClarificationAnswer, ClarificationRequest, Constraints, EffectId, Environment, Message, ModelFailure, ModelReply,
    ModelRequest, PerceiveContext, PerceptionFailed, PerceptionFailure, Role, RoleContext, SessionTurn, TaskSpec,
    Timestamp, Usage, UserRequest, escape,
};
use serde::Deserialize;

use crate::ask::{Answer, Ask};
use crate::limits::{CLARIFICATION_ROUNDS, LABEL_CHARS, REPLY_TOKENS, REQUEST_MAX_BYTES, SESSION_TURNS};
use crate::machine::{Completion, Context, Incoming, Machine, Misrouted, RoleEffect, Work};

/// What R1 may be told.
#[derive(Debug)]
pub enum Input {
    /// The user's words.
    Request(UserRequest),
    /// The answer to its question.
    Clarified(ClarificationAnswer),
    /// The model's reply.
    Replied(EffectId, Result<ModelReply, ModelFailure>),
    /// The task is over.
    Abort,
}

/// What R1 may do. It has no way to set criteria, choose tools or keep anything.
#[derive(Debug)]
pub enum Effect {
    /// The task, understood.
    Understood(TaskSpec),
    /// Not understood.
    Failed(PerceptionFailed),
    /// A question to the user.
    Clarify(ClarificationRequest),
    /// Ask the model.
    AskModel(EffectId, Work),
}

/// The reply R1 wants from a model. It has no field for criteria or tools.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Draft {
    task_id: String,
    intent: String,
    #[serde(default)]
    constraints: DraftConstraints,
    #[serde(default)]
    question: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct DraftConstraints {
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    deadline: Option<String>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Asking(Ask<Draft>),
    AwaitingUser(String),
    Done,
}

/// The Perceiver of one task.
#[derive(Debug)]
pub struct Perceiver {
    environment: Environment,
    request: Option<UserRequest>,
    clarifications: Vec<(String, String)>,
    questions_over: bool,
    state: State,
}

impl Perceiver {
    /// A Perceiver on this machine.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self { environment, request: None, clarifications: Vec::new(), questions_over: false, state: State::Idle }
    }

    fn ask(&mut self, cx: &mut Context<'_>, request: &UserRequest) -> Vec<Effect> {
        let rounds = u32::try_from(self.clarifications.len()).unwrap_or(u32::MAX);
        let context = PerceiveContext {
            raw_input: request.raw_input.clone(),
            session: recent(request),
            clarifications: self.clarifications.clone(),
            may_ask: request.interactive && !self.questions_over && rounds < CLARIFICATION_ROUNDS,
            environment: self.environment.clone(),
            now: cx.now,
        };
        let model_request = ModelRequest {
            role: Role::Perceiver,
            task_id: request.task_id.clone(),
            subtask_id: None,
            prompt: prompt::render(&context),
            context: RoleContext::Perceive(context),
            schema_name: "task_spec".to_owned(),
            schema: prompt::schema(),
            max_tokens: REPLY_TOKENS,
            by_tools: None,
        };
        let (ask, id, work) = Ask::start(cx, model_request);
        self.state = State::Asking(ask);
        vec![Effect::AskModel(id, work)]
    }

    fn receive(&mut self, cx: &mut Context<'_>, request: UserRequest) -> Vec<Effect> {
        if self.request.is_some() {
            return Vec::new();
        }
        self.request = Some(request.clone());
        let problem = if request.raw_input.trim().is_empty() {
            Some("the request is empty; say what you want done".to_owned())
        } else if request.raw_input.len() > REQUEST_MAX_BYTES {
            Some(format!(
                "the request is longer than {REQUEST_MAX_BYTES} bytes; put long material into a file and name the file"
            ))
        } else {
            None
        };
        match problem {
            Some(detail) => self.fail(&request, PerceptionFailure::BadInput { detail }),
            None => self.ask(cx, &request),
        }
    }

    fn fail(&mut self, request: &UserRequest, failure: PerceptionFailure) -> Vec<Effect> {
        self.state = State::Done;
        vec![Effect::Failed(PerceptionFailed {
            task_id: request.task_id.clone(),
            raw_input: request.raw_input.clone(),
            failure,
        })]
    }

    fn understood(&mut self, cx: &mut Context<'_>, request: &UserRequest, draft: Draft) -> Vec<Effect> {
        let rounds = u32::try_from(self.clarifications.len()).unwrap_or(u32::MAX);
        let question = draft.question.filter(|q| !q.trim().is_empty());
        if let Some(question) = question
            && request.interactive
            && !self.questions_over
            && rounds < CLARIFICATION_ROUNDS
        {
            self.state = State::AwaitingUser(question.clone());
            let task_id = request.task_id.clone();
            return vec![Effect::Clarify(ClarificationRequest { task_id, round: rounds + 1, question })];
        }
        self.state = State::Done;
        let intent = if draft.intent.trim().is_empty() { request.raw_input.clone() } else { draft.intent };
        // A model may only tighten time, and only to a moment that is still ahead.
        let deadline = draft.constraints.deadline.and_then(|text| Timestamp::parse(&text).ok());
        vec![Effect::Understood(TaskSpec {
            task_id: request.task_id.clone(),
            label: escape::shorten(&escape::one_line(&draft.task_id), LABEL_CHARS),
            intent,
            constraints: Constraints {
                scope: draft.constraints.scope.filter(|scope| !scope.trim().is_empty()),
                deadline: deadline.filter(|deadline| *deadline > cx.now.wall),
            },
            raw_input: request.raw_input.clone(),
            session: recent(request),
        })]
    }
}

/// The turns a request is read against.
fn recent(request: &UserRequest) -> Vec<SessionTurn> {
    let older = request.session.len().saturating_sub(SESSION_TURNS);
    request.session.iter().skip(older).cloned().collect()
}

impl Machine for Perceiver {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (std::mem::take(&mut self.state), input) {
            (state, Input::Request(request)) => {
                self.state = state;
                self.receive(cx, request)
            }
            (State::Asking(ask), Input::Replied(id, reply)) if ask.awaits(id) => {
                let Some(request) = self.request.clone() else { return Vec::new() };
                match ask.answer(cx, reply) {
                    Answer::Value(draft) => self.understood(cx, &request, draft),
                    Answer::Again(ask, id, work) => {
                        self.state = State::Asking(ask);
                        vec![Effect::AskModel(id, work)]
                    }
                    Answer::Abstained(abstention) => self.fail(&request, PerceptionFailure::Abstained { abstention }),
                    Answer::Failed(failure) => self.fail(&request, PerceptionFailure::Model { failure }),
                    Answer::Recipes(_) => {
                        let failure = ModelFailure::Unreadable {
                            detail: "a plan where a task was asked for".to_owned(),
                            excerpt: String::new(),
                            usage: Usage::default(),
                        };
                        self.fail(&request, PerceptionFailure::Model { failure })
                    }
                }
            }
            (State::AwaitingUser(question), Input::Clarified(answer)) => {
                let Some(request) = self.request.clone() else { return Vec::new() };
                self.questions_over = answer.answer.trim().is_empty();
                self.clarifications.push((question, answer.answer));
                self.ask(cx, &request)
            }
            (_, Input::Abort) => {
                self.state = State::Done;
                Vec::new()
            }
            (state, Input::Replied(..) | Input::Clarified(_)) => {
                self.state = state;
                Vec::new()
            }
        }
    }
}

impl TryFrom<Incoming> for Input {
    type Error = Misrouted;

    #[expect(clippy::wildcard_enum_match_arm, reason = "narrowing: everything else is misrouted")]
    fn try_from(incoming: Incoming) -> Result<Self, Misrouted> {
        match incoming {
            Incoming::Message(envelope) => match &envelope.message {
                Message::UserRequest(request) => Ok(Self::Request(request.clone())),
                Message::ClarificationAnswer(answer) => Ok(Self::Clarified(answer.clone())),
                Message::Abort(_) => Ok(Self::Abort),
                _ => Err(Misrouted::message(&envelope)),
            },
            Incoming::Completed(id, Completion::Model(reply)) => Ok(Self::Replied(id, reply)),
            Incoming::Completed(_, other) => Err(Misrouted::completion(&other)),
        }
    }
}

impl From<Effect> for RoleEffect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Understood(spec) => Self::Publish(spec.into()),
            Effect::Failed(failed) => Self::Publish(failed.into()),
            Effect::Clarify(question) => Self::Publish(question.into()),
            Effect::AskModel(id, work) => Self::Perform(id, work),
        }
    }
}
