//! The route table compared with the specification's separation of roles, and the page that shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use artoo_proto::route::{ROUTES, route};
use artoo_proto::{MessageKind, Role};

/// Environment variable that makes the test write the message-flow page instead of comparing it.
const BLESS: &str = "ARTOO_BLESS";

/// The kinds of message that a role publishes.
fn publishes(role: Role) -> Vec<MessageKind> {
    ROUTES.iter().filter(|row| row.from == role).map(|row| row.kind).collect()
}

/// The kinds of message that a role receives, and their publishers.
fn receives(role: Role) -> BTreeSet<(Role, MessageKind)> {
    ROUTES.iter().filter(|row| row.to.contains(&role)).map(|row| (row.from, row.kind)).collect()
}

/// The roles that receive at least one kind of message from a role.
fn reaches(role: Role) -> BTreeSet<Role> {
    ROUTES.iter().filter(|row| row.from == role).flat_map(|row| row.to.iter().copied()).collect()
}

#[test]
fn every_kind_has_one_route() {
    let kinds: Vec<MessageKind> = ROUTES.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, MessageKind::ALL);
    for row in &ROUTES {
        let receivers: BTreeSet<Role> = row.to.iter().copied().collect();
        assert_eq!(receivers.len(), row.to.len(), "{}: a receiver stands twice", row.kind);
        assert!(!receivers.is_empty() && !receivers.contains(&row.from), "{}", row.kind);
        assert_eq!(route(row.kind), Some(row));
    }
}

#[doc = "holds: invariant 8, 13; design D8"]
#[test]
fn each_role_publishes_only_its_own_kinds() {
    use MessageKind as M;
    let check = |role: Role, kinds: &[MessageKind]| assert_eq!(publishes(role), kinds, "{role}");
    check(Role::Perceiver, &[M::ClarificationRequest, M::TaskSpec, M::PerceptionFailed]);
    check(Role::Planner, &[M::MemoryQuery, M::Plan, M::PlanRejected, M::Wording]);
    check(Role::Dispatcher, &[M::DispatchManifest, M::SubTask, M::SubTaskMissing]);
    check(Role::Executor, &[M::ConsentRequest, M::ExecutionResult]);
    check(Role::AgentValidator, &[M::CorrectionSignal, M::SubTaskOutcome]);
    check(Role::MetaValidator, &[M::ReadingRequest, M::ReplanRequest, M::OutcomeSummary]);
    check(Role::Memory, &[M::MemoryRecall]);
    check(
        Role::Solver,
        &[M::PlanDirective, M::WordingRequest, M::Megram, M::FinalResult, M::Abort, M::MemoryCorrection],
    );
    check(Role::Runtime, &[M::RoleFailed]);
    // R6 observes only and sends nothing to a role.
    check(Role::Auditor, &[]);
}

#[doc = "holds: invariant 7; principle 6"]
#[test]
fn separated_roles_are_not_routed() {
    let check = |role: Role, others: &[Role]| {
        assert_eq!(reaches(role), others.iter().copied().collect(), "{role}");
    };
    // R4b goes through R7, never to R2; R3 and R4a never see memory.
    check(Role::MetaValidator, &[Role::Operator, Role::Solver]);
    check(Role::Executor, &[Role::AgentValidator, Role::Operator, Role::Solver]);
    check(Role::AgentValidator, &[Role::Executor, Role::Dispatcher, Role::MetaValidator]);
    check(Role::Memory, &[Role::Planner]);
    check(Role::Planner, &[Role::Memory, Role::Dispatcher, Role::Solver]);
    check(Role::Dispatcher, &[Role::MetaValidator, Role::Solver, Role::Executor, Role::AgentValidator]);
    check(Role::Auditor, &[]);
}

#[doc = "holds: invariant 15; principle 5"]
#[test]
fn memory_auditor_operator_receive_only_their_kinds() {
    use MessageKind as M;
    let check = |role: Role, expected: &[(Role, MessageKind)]| {
        assert_eq!(receives(role), expected.iter().copied().collect(), "{role}");
    };
    // R7 is the only writer.
    check(
        Role::Memory,
        &[(Role::Planner, M::MemoryQuery), (Role::Solver, M::Megram), (Role::Solver, M::MemoryCorrection)],
    );
    // R6 reads the tap; nothing is sent to it.
    check(Role::Auditor, &[]);
    check(
        Role::Operator,
        &[
            (Role::Perceiver, M::ClarificationRequest),
            (Role::Executor, M::ConsentRequest),
            (Role::MetaValidator, M::ReadingRequest),
            (Role::Solver, M::FinalResult),
        ],
    );
    check(Role::Runtime, &[]);
}

#[test]
fn message_flow_page_shows_the_table() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/message-flow.md");
    let page = page();
    if std::env::var(BLESS).is_ok_and(|value| value == "1") {
        fs::write(&path, &page).unwrap();
    }
    let shown = fs::read_to_string(&path).unwrap_or_default();
    assert!(shown == page, "docs/message-flow.md does not match the route table; {BLESS}=1 regenerates it");
}

/// The text of the message-flow page, which shows the route table.
fn page() -> String {
    let mut page = String::from(
        "# Message flow\n\n\
         Generated from the route table in `crates/artoo-proto/src/route.rs`; a test compares the two. To regenerate it:\n\
         `ARTOO_BLESS=1 cargo test -p artoo-proto --test it message_flow_page_shows_the_table`.\n\n\
         Each kind of message has one publisher and the receivers below. The bus refuses a message without a row here, and\n\
         the auditor reports it as a boundary violation. A message names the message that caused it; only the operator and\n\
         the runtime may send one without a cause. The auditor observes every message through a tap and publishes nothing.\n\n\
         ## Table\n\n\
         | kind | from | to |\n|---|---|---|\n",
    );
    for row in &ROUTES {
        let to: Vec<String> = row.to.iter().map(|role| name(*role)).collect();
        let _ = writeln!(page, "| {} | {} | {} |", row.kind, name(row.from), to.join(", "));
    }
    let mut edges: BTreeMap<(Role, Role), Vec<String>> = BTreeMap::new();
    // Abort goes to every instance of a task, so the other edges would not be seen beside it.
    for row in ROUTES.iter().filter(|row| row.kind != MessageKind::Abort) {
        for to in row.to {
            edges.entry((row.from, *to)).or_default().push(row.kind.to_string());
        }
    }
    page.push_str("\n## Picture\n\n`Abort`, from the solver to every instance of a task, is left out.\n\n```mermaid\nflowchart LR\n");
    for role in Role::ALL {
        let _ = writeln!(page, "    {}[\"{}\"]", role.code(), name(role));
    }
    for ((from, to), kinds) in edges {
        let _ = writeln!(page, "    {} -->|\"{}\"| {}", from.code(), kinds.join("<br/>"), to.code());
    }
    page.push_str("```\n");
    page
}

/// A role's short name in the specification and its plain name.
fn name(role: Role) -> String {
    let plain = serde_json::to_value(role).unwrap().as_str().unwrap().replace('_', "-");
    if role.code() == plain { plain } else { format!("{} {plain}", role.code()) }
}
