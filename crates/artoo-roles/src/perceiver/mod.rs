//! R1, the Perceiver: turns the user's request into a [`TaskSpec`], or reports that it can't.

#[cfg(test)]
#[cfg(feature = "runtime")]
mod agreement;
mod prompt;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use artoo_proto::{
    ClarificationAnswer, ClarificationRequest, Constraints, EffectId, Environment, ModelFailure, ModelReply,
    ModelRequest, PerceiveContext, PerceptionFailed, PerceptionFailure, Reading, Role, RoleContext, SessionTurn,
    TaskSpec, Timestamp, UserRequest, escape,
};
use serde::Deserialize;

use crate::ask::{Answer, Ask, Reply};
use crate::limits::{
    CLARIFICATION_ROUNDS, LABEL_CHARS, MATERIAL_MAX_BYTES, REPLY_TOKENS, REQUEST_MAX_BYTES, SESSION_TURNS,
};
use crate::machine::{Completion, Context, Machine, ReadOrder, Start, adapters};

/// An input of R1 (the Perceiver): the request, the user's answer, a model's reply, a reading by code, or the abort.
#[derive(Debug)]
pub enum Input {
    /// The user's request.
    Request(UserRequest),
    /// The user's answer to a question that R1 asked.
    Clarified(ClarificationAnswer),
    /// The reply of the model, or why there is none, with the id of the effect.
    Replied(EffectId, Result<ModelReply, ModelFailure>),
    /// The clauses and steps that code read in the request, or why a required check can't be read, with the effect's id.
    Read(EffectId, Result<Reading, String>),
    /// The task has ended; nothing more is done for it.
    Abort,
}

/// An effect of R1 (the Perceiver): the task, a failure, a question to the user, a model call or a reading by code.
/// None sets criteria, chooses tools or stores anything.
#[derive(Debug)]
pub enum Effect {
    /// Publishes the request as a task.
    Understood(TaskSpec),
    /// Reports that the request is not valid or could not be understood.
    Failed(PerceptionFailed),
    /// Asks the user a question about the request.
    Clarify(ClarificationRequest),
    /// Asks the model to read the request.
    AskModel(EffectId, Arc<ModelRequest>),
    /// Has code read the request, before anything changes.
    Read(EffectId, ReadOrder),
}

/// The reply that R1 (the Perceiver) wants from a model: an intent, a question, limits. It has no field for criteria or
/// tools.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Draft {
    /// A short label of the task for display.
    task_id: String,
    /// What the user wants, in one or two sentences.
    intent: String,
    #[serde(default)]
    constraints: DraftConstraints,
    /// A question to the user, if the request is unclear.
    #[serde(default)]
    question: Option<String>,
}

impl Reply for Draft {}

/// The limits of the task that a model read from the request.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct DraftConstraints {
    /// Where the task may look or act, for example a folder.
    #[serde(default)]
    scope: Option<String>,
    /// A time limit as a timestamp; ignored if it can't be parsed or is in the past.
    #[serde(default)]
    deadline: Option<String>,
}

/// What R1 waits for: a model's reply, the user's answer, or the reading by code; or it is done.
#[derive(Debug, Default)]
enum Phase {
    /// The model's reply.
    Asking(Ask<Draft>),
    /// The user's answer to this question.
    AwaitingUser(String),
    /// The reading of the request by code; the model has answered.
    AwaitingReading(Draft),
    /// Nothing: the task was published, failed or was aborted.
    #[default]
    Done,
}

/// R1, the Perceiver: the state machine that turns the request of one task into a [`TaskSpec`].
#[derive(Debug)]
pub struct Perceiver {
    environment: Environment,
    request: UserRequest,
    /// The questions asked so far, each with the user's answer.
    clarifications: Vec<(String, String)>,
    /// Whether the user's last answer was empty, after which no more questions are asked.
    questions_over: bool,
    /// The clauses and steps that code read in the request, once they have arrived.
    reading: Option<Reading>,
    phase: Phase,
}

impl Perceiver {
    /// Whether R1 may ask the user another question: a user is present, fewer than the maximum were asked, and the last
    /// answer was not empty.
    fn may_ask(&self) -> bool {
        self.request.interactive && !self.questions_over && self.questions_asked() < CLARIFICATION_ROUNDS
    }

    /// Number of questions that the user was asked and has answered.
    fn questions_asked(&self) -> u32 {
        u32::try_from(self.clarifications.len()).unwrap_or(u32::MAX)
    }

    /// Asks the model to turn the request into a task.
    fn ask(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        let context = PerceiveContext {
            raw_input: self.request.raw_input.clone(),
            session: recent(&self.request),
            material: self.request.material.clone(),
            clarifications: self.clarifications.clone(),
            may_ask: self.may_ask(),
            environment: self.environment.clone(),
            now: cx.now,
        };
        let (ask, id, request) = Ask::start(
            cx,
            ModelRequest {
                role: Role::Perceiver,
                task_id: self.request.task_id.clone(),
                subtask_id: None,
                prompt: prompt::render(&context),
                context: RoleContext::Perceive(Box::new(context)),
                schema_name: "task_spec".to_owned(),
                schema: prompt::schema(),
                max_tokens: REPLY_TOKENS,
                by_tools: None,
            },
        );
        self.phase = Phase::Asking(ask);
        vec![Effect::AskModel(id, request)]
    }

    /// Rejects an empty request, and one that is too long or has too much material; otherwise has code read it, and
    /// asks the model.
    fn begin(&mut self, cx: &mut Context<'_>) -> Vec<Effect> {
        let problem = if self.request.raw_input.trim().is_empty() {
            "the request is empty; say what you want done".to_owned()
        } else if self.request.raw_input.len() > REQUEST_MAX_BYTES {
            format!(
                "the request is longer than {REQUEST_MAX_BYTES} bytes; put long material into a file and name the file"
            )
        } else if self.request.material.as_ref().is_some_and(|material| material.len() > MATERIAL_MAX_BYTES) {
            format!(
                "the text that came with the request is longer than {MATERIAL_MAX_BYTES} bytes; name its file instead"
            )
        } else {
            let order = ReadOrder {
                task_id: self.request.task_id.clone(),
                request: self.request.raw_input.clone(),
                session: recent(&self.request),
                now: cx.now,
                required: self.request.required.clone(),
                by_required: self.request.by_required,
                proposals: Vec::new(),
                confirmed: false,
            };
            let mut effects = vec![Effect::Read(cx.ids.next_effect(), order)];
            effects.extend(self.ask(cx));
            return effects;
        };
        self.fail(PerceptionFailure::BadInput { detail: problem })
    }

    /// Publishes that the request can't be understood, with the reason, so that the task ends.
    fn fail(&mut self, failure: PerceptionFailure) -> Vec<Effect> {
        vec![Effect::Failed(PerceptionFailed {
            task_id: self.request.task_id.clone(),
            raw_input: self.request.raw_input.clone(),
            failure,
        })]
    }

    /// Asks the user the model's question if that is allowed; otherwise publishes the task, once code has read it.
    fn understood(&mut self, cx: &mut Context<'_>, draft: Draft) -> Vec<Effect> {
        let task_id = self.request.task_id.clone();
        let question = draft.question.as_ref().filter(|question| !question.trim().is_empty() && self.may_ask());
        if let Some(question) = question.cloned() {
            self.phase = Phase::AwaitingUser(question.clone());
            let round = self.questions_asked() + 1;
            return vec![Effect::Clarify(ClarificationRequest { task_id, round, question })];
        }
        let Some(reading) = self.reading.take() else {
            self.phase = Phase::AwaitingReading(draft);
            return Vec::new();
        };
        let raw_input = self.request.raw_input.clone();
        // A deadline from a model counts only if it is in the future.
        let deadline = draft.constraints.deadline.and_then(|text| Timestamp::parse(&text).ok());
        vec![Effect::Understood(TaskSpec {
            task_id,
            label: escape::shorten(&escape::one_line(&draft.task_id), LABEL_CHARS),
            intent: if draft.intent.trim().is_empty() { raw_input.clone() } else { draft.intent },
            constraints: Constraints {
                scope: draft.constraints.scope.filter(|scope| !scope.trim().is_empty()),
                deadline: deadline.filter(|deadline| *deadline > cx.now.wall),
            },
            raw_input,
            session: recent(&self.request),
            material: self.request.material.clone(),
            reading,
            interactive: self.request.interactive,
        })]
    }
}

/// The newest earlier turns of the session, at most [`SESSION_TURNS`], oldest first.
fn recent(request: &UserRequest) -> Vec<SessionTurn> {
    let older = request.session.len().saturating_sub(SESSION_TURNS);
    request.session.iter().skip(older).cloned().collect()
}

impl Start for Perceiver {
    type Setup = Environment;
    const ABORT: Input = Input::Abort;

    fn start(environment: &Environment, cx: &mut Context<'_>, first: Input) -> Result<(Self, Vec<Effect>), Input> {
        let Input::Request(request) = first else { return Err(first) };
        let mut perceiver = Self {
            environment: environment.clone(),
            request,
            clarifications: Vec::new(),
            questions_over: false,
            reading: None,
            phase: Phase::Done,
        };
        let effects = perceiver.begin(cx);
        Ok((perceiver, effects))
    }
}

impl Machine for Perceiver {
    type Input = Input;
    type Effect = Effect;

    fn step(&mut self, cx: &mut Context<'_>, input: Input) -> Vec<Effect> {
        match (std::mem::take(&mut self.phase), input) {
            (Phase::Asking(ask), Input::Replied(id, reply)) if ask.awaits(id) => match ask.answer(cx, reply) {
                Answer::Value(draft) => self.understood(cx, draft),
                Answer::Again(ask, id, request) => {
                    self.phase = Phase::Asking(ask);
                    vec![Effect::AskModel(id, request)]
                }
                Answer::Abstained(abstention) => self.fail(PerceptionFailure::Abstained { abstention }),
                Answer::Failed(failure) => self.fail(PerceptionFailure::Model { failure }),
            },
            (Phase::AwaitingUser(question), Input::Clarified(answer)) => {
                self.questions_over = answer.answer.trim().is_empty();
                self.clarifications.push((question, answer.answer));
                self.ask(cx)
            }
            (_, Input::Abort) => Vec::new(),
            // The model failed, or the task was aborted, before code had read the request.
            (Phase::Done, Input::Read(..)) => Vec::new(),
            (_, Input::Read(_, Err(detail))) => self.fail(PerceptionFailure::BadInput { detail }),
            (phase, Input::Read(_, Ok(reading))) => {
                self.reading = Some(reading);
                match phase {
                    Phase::AwaitingReading(draft) => self.understood(cx, draft),
                    Phase::Asking(_) | Phase::AwaitingUser(_) | Phase::Done => {
                        self.phase = phase;
                        Vec::new()
                    }
                }
            }
            (phase, Input::Request(_) | Input::Replied(..) | Input::Clarified(_)) => {
                self.phase = phase;
                cx.ignore()
            }
        }
    }
}

adapters! {
    messages {
        UserRequest(request) => Input::Request(request.clone()),
        ClarificationAnswer(answer) => Input::Clarified(answer.clone()),
        Abort(_) => Input::Abort,
    }
    completions {
        (id, Completion::Model(reply)) => Input::Replied(id, reply),
        (id, Completion::Read(reading)) => Input::Read(id, reading),
    }
    publishes { Understood, Failed, Clarify }
    performs { AskModel, Read }
}
