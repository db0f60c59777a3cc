//! Tests that an act is shown only for exactly the files that its calls listed.

use serde_json::json;

use super::{CallStatus, ToolCall, delete, deletion, performed};

#[doc = "holds: law 1.7"]
#[test]
fn act_uses_exactly_the_listed_files() {
    let scene = deletion();
    let value = serde_json::to_value(delete()).unwrap();
    let verdict = |calls: &[ToolCall]| performed(&value, calls, &scene.fs);
    assert!(verdict(&scene.calls()).pass);
    let forge = |forge: &dyn Fn(&mut Vec<ToolCall>)| {
        let mut calls = scene.calls();
        forge(&mut calls);
        verdict(&calls)
    };
    for forged in [
        forge(&|calls| calls[0].output.push_str("/r/c.md\n")),
        forge(&|calls| calls[0].truncated = true),
        forge(&|calls| calls[0].status = CallStatus::Failed),
        forge(&|calls| calls[1].status = CallStatus::TimedOut),
        forge(&|calls| calls[1].input = json!({ "paths": ["/r/a.txt"] })),
        forge(&|calls| drop(calls.pop())),
        forge(&|calls| drop(calls.remove(0))),
        forge(&|calls| calls[0].changed = calls[1].changed.clone()),
        forge(&|calls| calls[1].changed[0].after = Some("0".to_owned())),
        forge(&|calls| {
            let again = calls[1].changed[0].clone();
            calls[1].changed.push(again);
        }),
        forge(&|calls| calls[1].changed[0].path = "relative".to_owned()),
    ] {
        assert!(!forged.pass, "{forged:?}");
    }
    // The files of each folder are listed by a call of its own: all lists must be whole and used.
    let in_two = |forge: &dyn Fn(&mut Vec<ToolCall>)| {
        let mut calls = scene.calls();
        let mut second = calls[0].clone();
        let lines: Vec<String> = calls[0].output.lines().map(str::to_owned).collect();
        calls[0].output = format!("{}\n", lines[0]);
        second.output = format!("{}\n", lines[1..].join("\n"));
        calls.insert(1, second);
        forge(&mut calls);
        verdict(&calls)
    };
    assert!(in_two(&|_| ()).pass);
    for forged in [
        in_two(&|calls| calls[0].truncated = true),
        in_two(&|calls| calls[1].truncated = true),
        in_two(&|calls| drop(calls.remove(0))),
        in_two(&|calls| drop(calls.remove(1))),
        in_two(&|calls| calls.swap(0, 1)),
        in_two(&|calls| calls[1].output.push_str("/r/c.md\n")),
    ] {
        assert!(!forged.pass, "{forged:?}");
    }
    for nonsense in [json!(null), json!({}), json!({ "act": "format_disk" })] {
        assert!(!performed(&nonsense, &scene.calls(), &scene.fs).pass);
    }
    assert!(!performed(&value, &[], &scene.fs).pass);
}
