//! `artoo-ggs` and `artoo-mkct` together: the same states, matrix and failure classes in both, and their joint example.
//! Not part of the package, since only this repository depends on both crates.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/with_memory.rs"]
#[allow(dead_code, unreachable_pub, reason = "an example, tested through the functions its main calls")]
mod with_memory;

use artoo_ggs::{FailureMix, MacroState};
use artoo_mkct::State;
use artoo_mkct::record::quantize;

/// The name under which a value is saved as JSON.
fn saved(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn both_crates_have_the_same_matrix() {
    let of_controller = MacroState::ALL.map(|state| {
        let row = state.quantization();
        (state.name().to_owned(), row.f, row.sigma, row.k)
    });
    let of_memory = State::ALL.map(|state| {
        let row = quantize(state);
        (saved(state), row.f, row.sigma, row.k)
    });
    assert_eq!(of_controller, of_memory);
    assert_eq!(MacroState::ALL.map(with_memory::state), State::ALL);
}

#[test]
fn both_crates_name_failure_classes_alike() {
    let classes =
        [(FailureMix::Logical, "logical"), (FailureMix::Environmental, "environmental"), (FailureMix::Mixed, "mixed")];
    for (mix, name) in classes {
        assert_eq!(saved(with_memory::failure_class(mix)), name);
        assert_eq!(format!("{mix:?}").to_lowercase(), name);
    }
}

#[test]
fn second_task_starts_with_proven_tools() {
    let [first, second] = with_memory::run().unwrap();
    assert_eq!(first, ["web_search", "ask_colleague", "read_file"]);
    assert_eq!(second, ["read_file"]);
}
