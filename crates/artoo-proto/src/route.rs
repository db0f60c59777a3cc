//! The route table: who publishes each kind of message, and who receives it.

use crate::{MessageKind, Role};

/// One row of the route table: a kind of message, its only publisher, and its receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The kind of message.
    pub kind: MessageKind,
    /// The only role that may publish this kind of message.
    pub from: Role,
    /// The roles that receive this kind of message.
    pub to: &'static [Role],
}

/// Makes a row of the route table.
const fn row(kind: MessageKind, from: Role, to: &'static [Role]) -> Route {
    Route { kind, from, to }
}

/// The route table, in the order in which a task uses the messages. Each kind has one row; the bus refuses any other
/// message.
pub const ROUTES: [Route; 31] = {
    use MessageKind as M;
    use Role as R;
    [
        row(M::UserRequest, R::Operator, &[R::Perceiver, R::Solver]),
        row(M::ClarificationRequest, R::Perceiver, &[R::Operator]),
        row(M::ClarificationAnswer, R::Operator, &[R::Perceiver]),
        row(M::TaskSpec, R::Perceiver, &[R::Planner, R::MetaValidator, R::Solver]),
        row(M::PerceptionFailed, R::Perceiver, &[R::Solver]),
        row(M::MemoryQuery, R::Planner, &[R::Memory]),
        row(M::MemoryRecall, R::Memory, &[R::Planner]),
        row(M::Plan, R::Planner, &[R::Dispatcher]),
        row(M::PlanRejected, R::Planner, &[R::Solver]),
        row(M::DispatchManifest, R::Dispatcher, &[R::MetaValidator, R::Solver]),
        row(M::SubTask, R::Dispatcher, &[R::Executor, R::AgentValidator]),
        row(M::ConsentRequest, R::Executor, &[R::Operator, R::Solver]),
        row(M::ConsentAnswer, R::Operator, &[R::Executor, R::Solver]),
        row(M::ExecutionResult, R::Executor, &[R::AgentValidator]),
        row(M::CorrectionSignal, R::AgentValidator, &[R::Executor]),
        row(M::SubTaskOutcome, R::AgentValidator, &[R::Dispatcher, R::MetaValidator]),
        row(M::SubTaskMissing, R::Dispatcher, &[R::MetaValidator]),
        row(M::ReadingRequest, R::MetaValidator, &[R::Operator]),
        row(M::ReadingAnswer, R::Operator, &[R::MetaValidator]),
        row(M::ReplanRequest, R::MetaValidator, &[R::Solver]),
        row(M::OutcomeSummary, R::MetaValidator, &[R::Solver]),
        row(M::PlanDirective, R::Solver, &[R::Planner]),
        row(M::WordingRequest, R::Solver, &[R::Planner]),
        row(M::Wording, R::Planner, &[R::Solver]),
        row(M::Megram, R::Solver, &[R::Memory]),
        row(M::FinalResult, R::Solver, &[R::Operator]),
        row(M::CancelRequest, R::Operator, &[R::Solver]),
        row(
            M::Abort,
            R::Solver,
            &[R::Perceiver, R::Planner, R::Dispatcher, R::Executor, R::AgentValidator, R::MetaValidator],
        ),
        row(M::MemoryFeedback, R::Operator, &[R::Solver]),
        row(M::MemoryCorrection, R::Solver, &[R::Memory]),
        row(M::RoleFailed, R::Runtime, &[R::Solver]),
    ]
};

/// The row of the route table for a kind of message; `None` if the kind has no route.
#[must_use]
pub fn route(kind: MessageKind) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.kind == kind)
}
