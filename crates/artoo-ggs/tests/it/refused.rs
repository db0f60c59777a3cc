//! Invalid input gives a typed error that names the field, never a panic or a silent default.

use artoo_ggs::*;

use crate::build::*;

/// Checks that valid JSON is read, and that each replacement in it gives an error that begins with this message.
fn refused<T: serde::de::DeserializeOwned>(good: &str, table: &[(&str, &str, &str)]) {
    assert!(serde_json::from_str::<T>(good).is_ok(), "{good}");
    for (from, to, message) in table {
        assert!(good.contains(from), "{from} is not in {good}");
        let Err(error) = serde_json::from_str::<T>(&good.replacen(from, to, 1)) else { panic!("{to} was taken") };
        assert!(error.to_string().starts_with(message), "{to}: {error}");
    }
}

#[test]
fn invalid_profile_fields_are_named() {
    refused::<Profile>(
        &serde_json::to_string(&Profile::default()).unwrap(),
        &[
            ("\"theta\":0.8", "\"theta\":1.8", "theta is 1.8, expected 0.000001 to 1"),
            ("\"theta\":0.8", "\"theta\":-0.1", "theta is -0.1"),
            ("\"theta\":0.8", "\"theta\":null", "invalid type: null, expected theta to be a number"),
            ("\"alpha\":0.6", "\"alpha\":\"high\"", "invalid type: string \"high\", expected alpha to be a number"),
            ("\"theta\":0.8", "\"thetta\":0.8", "unknown field `thetta`"),
            ("\"rho\":0.5,", "", "missing field `rho`"),
            ("\"kill_switch\"", "\"killswitch\"", "unknown field `killswitch`"),
            ("\"kill_switch\"", "\"switches\":[\"magic\"],\"kill_switch\"", "unknown variant `magic`, expected one of"),
            ("{\"name\":\"v0.8\"", "{\"extra\":1,\"name\":\"v0.8\"", "unknown field `extra`"),
            ("\"name\":\"v0.8\"", "\"name\":\"\"", "name is empty"),
            ("\"max_replans\":3", "\"max_replans\":0", "max_replans is 0, expected 1 to 1000"),
            ("\"max_replans\":3", "\"max_replans\":-3", "invalid value: integer `-3`, expected max_replans to be"),
            ("\"max_replans\":3", "\"max_replans\":3.5", "invalid type: floating point `3.5`, expected max_replans"),
            (
                "\"kill_after\":2",
                "\"kill_after\":4294967296",
                "invalid value: integer `4294967296`, expected kill_after to be a whole number from 0 to 4294967295",
            ),
            (
                "\"time_budget_ms\":300000",
                "\"time_budget_ms\":-1",
                "invalid value: integer `-1`, expected time_budget_ms",
            ),
            ("gap_rises", "never", "unknown variant `never`, expected `gap_rises` or `loss_rises`"),
        ],
    );
}

#[test]
fn invalid_round_fields_are_named() {
    let good = serde_json::to_string(&calls(shares(1, 0, 1).subtasks.remove(0), &["read /x"])).unwrap();
    let attempts = "\"failed_attempts\":0,\"attempts\":0";
    refused::<SubtaskMeasure>(
        &good,
        &[
            (
                attempts,
                "\"failed_attempts\":-1,\"attempts\":0",
                "invalid value: integer `-1`, expected failed_attempts",
            ),
            (attempts, "\"failed_attempts\":0,\"attempts\":-2", "invalid value: integer `-2`, expected attempts to be"),
            (attempts, "\"failed_attempts\":NaN,\"attempts\":0", "expected value"),
            (attempts, "\"failed_attempts\":0", "missing field `attempts`"),
            ("\"claim\"", "\"claims\"", "unknown field `claims`"),
            ("\"calls\"", "\"call\"", "unknown field `call`"),
            ("\"infrastructure\":false,", "", "missing field `infrastructure`"),
        ],
    );
    let impossible = round(vec![subtask(vec![plausible("a", 3, 2)])]);
    let read: Round = serde_json::from_str(&serde_json::to_string(&impossible).unwrap()).unwrap();
    let error = begun(Profile::default()).observe(&1, &read, 0).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "subtask 1: failed_attempts is 3 but attempts is 2 for \"a\"");
}

#[test]
fn invalid_event_fields_are_named() {
    let event = ControllerEvent::new(7, ControllerCall::EvictEnded::<u32> { keep_ms: 9 });
    refused::<ControllerEvent<u32>>(
        &serde_json::to_string(&event).unwrap(),
        &[
            ("\"at_ms\":7", "\"at_ms\":-7", "invalid value: integer `-7`, expected at_ms to be"),
            ("\"keep_ms\":9", "\"keep_ms\":\"9\"", "invalid type: string \"9\", expected keep_ms to be"),
            ("\"keep_ms\"", "\"keep\"", "unknown field `keep`"),
            ("\"at_ms\":7,", "", "missing field `at_ms`"),
        ],
    );
}

#[test]
fn impossible_saved_states_are_rejected_by_field() {
    let mut controller = begun(Profile::default());
    controller.observe(&1, &shares(0, 1, 2), 1_000).unwrap();
    refused::<Controller<u32>>(
        &serde_json::to_string(&controller).unwrap(),
        &[
            ("\"version\":1", "\"version\":2", "version is 2, this crate reads 1"),
            ("\"replans\":1", "\"replans\":9", "replans is 9, expected 0 to 3"),
            ("\"replans\":1", "\"replans\":-1", "invalid value: integer `-1`, expected replans to be"),
            ("\"worsening_rounds\":0", "\"worsening_rounds\":9", "worsening_rounds is 9, expected 0 to 4"),
            ("\"round\":0", "\"round\":2", "round is 2, expected 0 to 1"),
            ("\"elapsed_ms\":1000", "\"elapsed_ms\":-1", "invalid value: integer `-1`, expected elapsed_ms to be"),
            ("\"suspect\"", "\"suspected\"", "unknown field `suspected`"),
            ("\"d\":\"0.5\"", "\"d\":\"NaN\"", "d: NaN is not a number from 0 to 1"),
            ("\"l\":\"0.3005333333333333\"", "\"l\":\"inf\"", "l is inf, not a finite number"),
            ("\"l\":\"0.3005333333333333\"", "\"l\":\"x\"", "l: invalid float literal"),
        ],
    );
    let twice = serde_json::to_string(&begun(Profile::default())).unwrap();
    let (head, tasks) = twice.split_once("\"tasks\":[").unwrap();
    let task = tasks.strip_suffix("]}").unwrap();
    let error = serde_json::from_str::<Controller<u32>>(&format!("{head}\"tasks\":[{task},{task}]}}")).unwrap_err();
    assert!(error.to_string().starts_with("tasks has a duplicate key"), "{error}");
    let no_last = twice.replacen("\"replans\":0", "\"replans\":1", 1);
    let error = serde_json::from_str::<Controller<u32>>(&no_last).unwrap_err();
    assert!(error.to_string().starts_with("last is missing, but replans is 1"), "{error}");
}

#[test]
fn invalid_numbers_in_decision_inputs_are_named() {
    let decision = run(Profile::default(), 0, &[shares(0, 1, 2)]).remove(0);
    refused::<DecisionInputs>(
        &serde_json::to_string(&decision.inputs).unwrap(),
        &[
            ("\"d\":0.5", "\"d\":1.5", "d: 1.5 is not a number from 0 to 1"),
            ("\"omega\":0.0", "\"omega\":-0.1", "omega: -0.1 is not a number from 0 to 1"),
            (
                "\"worsening_before\":0",
                "\"worsening_before\":-1",
                "invalid value: integer `-1`, expected worsening_before",
            ),
        ],
    );
    let text = serde_json::to_string(&decision).unwrap();
    refused::<Decision>(
        &text,
        &[
            ("\"propensity\":1.0", "\"propensity\":2", "propensity: 2 is not a number from 0 to 1"),
            ("301a640b25cbf2d3", "301a", "config \"301a\" is not 16 hexadecimal digits in lower case"),
        ],
    );
}

/// A controller whose task keys are tuples equals itself after saving and restoring.
#[test]
fn keys_of_any_ordered_type_are_saved() {
    let mut controller = Controller::new(Profile::default());
    controller.begin(("user".to_owned(), 7_u8), 0).unwrap();
    let text = serde_json::to_string(&controller).unwrap();
    assert_eq!(serde_json::from_str::<Controller<(String, u8)>>(&text).unwrap(), controller);
}
