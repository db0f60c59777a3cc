//! One tool call outside any task: the operator is asked if it needs approval, and no model takes part.

use std::path::Path;

use artoo_proto::{
    ConsentOffers, ConsentRequest, ConsentScope, EvidenceId, SubTaskId, TaskId, ToolCall, ToolOrder, ToolOutcome,
    ToolRequest,
};
use artoo_tools::{Registry, ToolConfig};
use uuid::Uuid;

use super::builder::{RuntimeError, tools_in};
use super::operator::Operator;

/// How a single call ended.
#[derive(Debug)]
pub enum SingleCall {
    /// The call ended, or was refused outright.
    Called {
        /// The record of the call.
        call: Box<ToolCall>,
        /// The task under which its changes are recorded for undo.
        task_id: TaskId,
    },
    /// The operator did not approve the call, or is not present. Nothing was changed.
    NotApproved(Box<ConsentRequest>),
}

/// Makes one call and stores what undo needs in the data folder. `label` names the call in the list of tasks.
///
/// A question offers no wider approval, since no call follows that it could cover.
///
/// # Errors
/// [`RuntimeError::DataDir`] if the data folder can't be used.
pub async fn call_once(
    tools: ToolConfig,
    data_dir: &Path,
    operator: &dyn Operator,
    request: ToolRequest,
    label: &str,
) -> Result<SingleCall, RuntimeError> {
    let registry = Registry::detect(tools_in(data_dir, tools)?);
    let task_id = TaskId::new(label, Uuid::new_v4());
    let order = ToolOrder {
        task_id: task_id.clone(),
        evidence_id: EvidenceId("e1".to_owned()),
        allowed_tools: vec![request.tool.clone()],
        request,
        blocked_tools: Vec::new(),
        blocked_targets: Vec::new(),
        confirm: false,
        consent: None,
        scope: ConsentScope::Once,
    };
    let mut grant = None;
    loop {
        let asked = match registry.call(&order, "", grant).await {
            ToolOutcome::Called { call } => return Ok(SingleCall::Called { call: Box::new(call), task_id }),
            ToolOutcome::NeedsConsent { hash, shown, effects, details, reason, .. } => ConsentRequest {
                task_id: task_id.clone(),
                subtask_id: SubTaskId(Uuid::new_v4()),
                hash,
                shown,
                effects,
                details,
                reason,
                offers: ConsentOffers::default(),
            },
        };
        if !operator.is_present() || operator.consent(&asked).await.is_none() {
            registry.refuse(&task_id, &asked.hash);
            return Ok(SingleCall::NotApproved(Box::new(asked)));
        }
        grant = Some(registry.grant(&asked.hash, ConsentScope::Once));
    }
}
