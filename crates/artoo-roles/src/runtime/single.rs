//! One tool call outside any task: the operator is asked if it needs approval, and no model takes part.

use std::path::Path;

use artoo_audit::{AuditError, AuditService, Note};
use artoo_proto::{
    ConsentOffers, ConsentRequest, ConsentScope, EvidenceId, SubTaskId, TaskId, ToolCall, ToolOrder, ToolOutcome,
    ToolRequest,
};
use artoo_tools::{Registry, ToolConfig};
use uuid::Uuid;

use super::error::{RuntimeError, or_disk_full};
use super::operator::Operator;
use super::stores::{audit_in, tools_in};

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

/// Makes one call, stores what undo needs in the data folder, and records the call in the audit log there. `label`
/// names the call in the list of tasks. The second value is the error if the end of the audit log is not on the disk.
///
/// A question offers no wider approval, since no call follows that it could cover.
///
/// # Errors
/// [`RuntimeError::DataDir`], [`RuntimeError::DiskFull`] or [`RuntimeError::Audit`] if the data folder or its audit log
/// can't be used; then nothing ran.
pub async fn call_once(
    tools: ToolConfig,
    data_dir: &Path,
    operator: &dyn Operator,
    request: ToolRequest,
    label: &str,
) -> Result<(SingleCall, Option<AuditError>), RuntimeError> {
    let tools = tools_in(data_dir, tools)?;
    let task_id = TaskId::new(label, Uuid::new_v4());
    let audit = begun(data_dir, &task_id, &request).map_err(|error| or_disk_full(error.into(), data_dir))?;
    let ended = call(&Registry::detect(tools), operator, request, task_id, &audit).await;
    let closed = tokio::task::spawn_blocking(|| audit.close()).await;
    Ok((ended, closed.unwrap_or(Err(AuditError::Gone)).err()))
}

/// Opens the audit log and records that the call begins.
fn begun(data_dir: &Path, task_id: &TaskId, request: &ToolRequest) -> Result<AuditService, AuditError> {
    let (_bus, tap) = artoo_bus::tap(1);
    let audit = audit_in(data_dir, tap)?;
    audit.note(Note::CallStarted { task_id: task_id.clone(), request: request.clone() })?;
    Ok(audit)
}

/// Makes the call, asking until it is approved or denied; records each answer and the end of the call.
async fn call(
    registry: &Registry,
    operator: &dyn Operator,
    request: ToolRequest,
    task_id: TaskId,
    audit: &AuditService,
) -> SingleCall {
    // If the auditor has ended, closing it reports that.
    let note = |note| drop(audit.note(note));
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
            ToolOutcome::Called { call } => {
                let call = Box::new(call);
                note(Note::CallEnded { task_id: task_id.clone(), call: call.clone() });
                return SingleCall::Called { call, task_id };
            }
            ToolOutcome::NeedsConsent { hash, shown, effects, details, reason, .. } => ConsentRequest {
                task_id: task_id.clone(),
                subtask_id: SubTaskId(Uuid::new_v4()),
                hash,
                shown,
                effects,
                details,
                reason,
                offers: ConsentOffers::default(),
                readings: Vec::new(),
            },
        };
        let is_approved = operator.is_present() && operator.consent(&asked).await.is_some();
        note(Note::CallAsked { task_id: task_id.clone(), effects: asked.effects.clone(), is_approved });
        if !is_approved {
            registry.refuse(&task_id, &asked.hash);
            return SingleCall::NotApproved(Box::new(asked));
        }
        grant = Some(registry.grant(&asked.hash, ConsentScope::Once));
    }
}
