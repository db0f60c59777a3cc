//! R3: calls that need consent, and calls that were refused.

use super::*;

#[doc = "holds: design D10"]
#[test]
fn a_refused_call_fails_the_step_at_once_and_is_listed() {
    let (mut bench, effects) = assigned(step());
    let effects =
        replied(&mut bench, &effects, wants(json!([{"tool": "shell", "input": {"command": "rm x"}}, glob(1)]), true));
    let result = report(&called(&mut bench, &effects, |order| ToolOutcome::Called {
        call: ToolCall { status: CallStatus::Denied, target: "rm x".to_owned(), ..call_of(order, "[LAW1] no") },
    }));
    assert_eq!((result.status, result.denied[0].action.as_str()), (ExecutionStatus::Failed, "shell: rm x"));
    assert_eq!(result.tool_calls.len(), 1);
}

#[doc = "holds: design D10"]
#[test]
fn a_plans_own_must_not_is_no_refused_consent() {
    let mut blocked = step();
    blocked.blocked_targets = vec!["*:/home/u/docs/**".to_owned()];
    let (mut bench, effects) = assigned(blocked);
    let effects = replied(&mut bench, &effects, wants(json!([glob(1)]), true));
    assert_eq!(ordered(&effects).1.blocked_targets, ["glob:/home/u/docs/"], "in the form the tools read");
    let effects = called(&mut bench, &effects, |order| ToolOutcome::Called {
        call: ToolCall { status: CallStatus::Denied, target: "/home/u/docs/a".to_owned(), ..call_of(order, "blocked") },
    });
    let (_, request) = asked(&effects);
    assert_eq!(request.role, artoo_proto::Role::Executor, "it may try another way");
    let result = report(&replied(&mut bench, &effects, says("failed", "")));
    assert!(result.denied.is_empty());
}

#[doc = "holds: law 1.3"]
#[test]
fn a_yes_runs_exactly_that_call_once() {
    let (mut bench, effects) = assigned(step());
    let rm = json!([{"tool": "shell", "input": {"command": "rm x"}}]);
    let effects = replied(&mut bench, &effects, wants(rm, true));
    assert!(ordered(&effects).1.consent.is_none());
    let effects = called(&mut bench, &effects, |_| needs_consent("h"));
    let Message::ConsentRequest(request) = only(&effects) else { panic!() };
    assert_eq!((request.hash.0.as_str(), request.shown.as_str()), ("h", "rm x"));
    assert!(bench.step(answer("another", true)).is_empty(), "a yes to something else is no yes");
    let effects = bench.step(answer("h", true));
    let (_, order) = ordered(&effects);
    assert_eq!((order.consent, order.request.input), (Some(ConsentHash("h".to_owned())), json!({"command": "rm x"})));
    assert!(bench.step(answer("h", true)).is_empty(), "h11: a yes is used once");
    let result = report(&called(&mut bench, &effects, |order| ok_call(order, "gone")));
    assert_eq!(result.status, ExecutionStatus::Completed);
}

#[doc = "holds: design H11"]
#[test]
fn a_yes_is_not_stretched_to_what_changed_since() {
    let (mut bench, effects) = assigned(step());
    let effects = replied(&mut bench, &effects, wants(json!([glob(1)]), true));
    called(&mut bench, &effects, |_| needs_consent("h"));
    let effects = bench.step(answer("h", true));
    let result = report(&called(&mut bench, &effects, |_| needs_consent("other")));
    assert_eq!((result.status, result.denied.len()), (ExecutionStatus::Failed, 1));
}

#[doc = "holds: law 1"]
#[test]
fn a_no_ends_the_step_marked_and_listed() {
    let (mut bench, effects) = assigned(step());
    let effects = replied(&mut bench, &effects, wants(json!([glob(1), glob(2)]), true));
    called(&mut bench, &effects, |_| needs_consent("h"));
    let result = report(&bench.step(answer("h", false)));
    assert_eq!(result.status, ExecutionStatus::Failed);
    assert_eq!(result.denied[0].action, "glob: rm x");
    let [call] = result.tool_calls.as_slice() else { panic!() };
    assert_eq!((call.status, call.class, call.measures), (CallStatus::Denied, EffectClass::Unproven, false));
    assert_eq!((call.environmental, call.output_bytes), (true, 0), "it put out nothing itself");
    assert!(call.output.starts_with("[LAW1] not run"));
}

#[doc = "holds: design D22"]
#[test]
fn under_caution_the_first_yes_is_owed_until_it_is_given() {
    let (mut bench, effects) = assigned(SubTask { confirm: true, ..step() });
    let effects = replied(&mut bench, &effects, wants(json!([glob(1), glob(2), glob(3)]), true));
    assert!(ordered(&effects).1.confirm);
    let effects = called(&mut bench, &effects, |order| ok_call(order, "read"));
    assert!(ordered(&effects).1.confirm, "a read-only call settles nothing");
    called(&mut bench, &effects, |_| needs_consent("h"));
    let effects = bench.step(answer("h", true));
    let effects = called(&mut bench, &effects, |order| ok_call(order, "made"));
    assert!(!ordered(&effects).1.confirm);
}
