//! Values are the same after they were saved and restored.

use artoo_ggs::*;

use crate::build::*;

#[test]
fn profiles_round_trip() {
    for name in Profile::NAMES {
        let profile = Profile::named(name).unwrap();
        let text = serde_json::to_string(&profile).unwrap();
        assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), profile);
        assert_eq!(text.contains("switches"), name == "anytime", "a profile without switches is saved as before them");
    }
}

#[test]
fn switches_are_saved_by_name() {
    let names: Vec<&str> = Switch::ALL.into_iter().map(Switch::name).collect();
    let text = serde_json::to_string(&Switches::ALL).unwrap();
    assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), names);
    let some: Switches = serde_json::from_str(r#"["retry","by_subtask","retry"]"#).unwrap();
    assert_eq!(some, Switches::NONE.with(Switch::BySubtask).with(Switch::Retry));
}

/// A controller saved and restored after each round retries and releases the same as one that was never saved.
#[test]
fn saved_task_keeps_retries_and_releases() {
    let closed = round(vec![calls(subtask(vec![environmental("a")]), &["!read /x"])]);
    let flaked = SubtaskMeasure::failed_by_infrastructure(vec![CriterionMeasure::undecided("a")]);
    let flaked = round(vec![calls(flaked, &["!read /x"])]);
    let run_task = |saves: bool| {
        let mut controller = begun(Profile::anytime());
        let mut seen = Vec::new();
        for (now_ms, round) in (1..).zip([&flaked, &flaked, &closed]) {
            seen.push(controller.observe(&1, round, now_ms).unwrap().outcome);
            if saves {
                controller = serde_json::from_str(&serde_json::to_string(&controller).unwrap()).unwrap();
            }
        }
        (seen, controller.release(&1, 9).unwrap(), controller.release(&1, 9).unwrap())
    };
    assert_eq!(run_task(true), run_task(false));
    let (_, released, again) = run_task(true);
    assert_eq!((shown(&released.unwrap().released_targets), again), (vec!["*:/x".to_owned()], None));
}

/// A saved success without its list of unmet criteria can't be read.
#[doc = "holds: law 0.5; design G10"]
#[test]
fn saved_success_needs_its_unmet_list() {
    assert!(serde_json::from_str::<SuccessOutcome>("[]").is_err());
    assert!(serde_json::from_str::<Unit>("1.5").is_err());
    let decision = run(Profile::default(), 0, &[shares(0, 1, 10)]).remove(0);
    let Outcome::Success(success) = decision.outcome else { panic!("{decision}") };
    let text = serde_json::to_string(&success).unwrap();
    assert_eq!(serde_json::from_str::<SuccessOutcome>(&text).unwrap(), success);
}
