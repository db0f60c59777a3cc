//! Saved state goes on where it was; files are refused by name of field.

use artoo_ggs::*;
use proptest::prelude::*;

use crate::build::*;

fn task() -> impl Strategy<Value = Vec<(u64, Round)>> {
    let share = (0_usize..5, 0_usize..5, 1_u32..4, 1_u32..8).prop_map(|(l, e, k, rest)| {
        let Round { mut subtasks, .. } = shares(l, e, 11);
        subtasks.push(calls(subtask(vec![plausible("p", k, k + rest)]), &["!read /a/b", "glob *"]));
        Round { available_tools: tools(&["read/text", "glob/files"]), ..round(subtasks) }
    });
    prop::collection::vec((0_u64..90_000, share), 1..6)
}

fn through_json(controller: &Controller<u32>) -> Controller<u32> {
    serde_json::from_str(&serde_json::to_string(controller).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn a_saved_task_goes_on_as_if_nothing_happened(rounds in task()) {
        let (mut kept, mut saved, mut now) = (begun(Profile::v0_8()), begun(Profile::v0_8()), 0);
        for (took, round) in &rounds {
            now += took;
            saved = through_json(&saved);
            prop_assert_eq!(&saved, &kept);
            let (one, other) = (kept.round(&1, now, round), saved.round(&1, now, round));
            prop_assert_eq!(&one, &other);
            if let Ok(decision) = one {
                let text = serde_json::to_string(&decision).unwrap();
                let read: Decision = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(read.outcome, decision.outcome);
            }
        }
    }
}

#[test]
fn profiles_survive_the_trip() {
    for profile in [Profile::v0_8(), Profile::literal()] {
        let text = serde_json::to_string(&profile).unwrap();
        assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), profile);
    }
}

#[test]
fn a_profile_file_is_refused_by_the_name_of_its_field() {
    let good = serde_json::to_string(&Profile::v0_8()).unwrap();
    let table = [
        ("\"theta\":0.8", "\"theta\":1.8", "theta is 1.8"),
        ("\"theta\":0.8", "\"thetta\":0.8", "unknown field `thetta`"),
        ("\"rho\":0.5,", "", "missing field `rho`"),
        ("\"kill_switch\"", "\"killswitch\"", "unknown field `killswitch`"),
        ("{\"name\":\"v0.8\"", "{\"extra\":1,\"name\":\"v0.8\"", "unknown field `extra`"),
        ("\"name\":\"v0.8\"", "\"name\":\"\"", "name is empty"),
        ("\"max_replans\":3", "\"max_replans\":0", "max_replans is 0"),
        ("gap_rises", "never", "unknown variant `never`"),
    ];
    for (from, to, message) in table {
        assert!(good.contains(from), "{good}");
        let error = serde_json::from_str::<Profile>(&good.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn g10_no_record_brings_back_a_success_without_its_list() {
    assert!(serde_json::from_str::<SuccessOutcome>("[]").is_err());
    assert!(serde_json::from_str::<Unit>("1.5").is_err());
    let decision = run(Profile::v0_8(), 0, &[shares(0, 1, 10)]).remove(0);
    let Outcome::Success(success) = decision.outcome else { panic!("{decision}") };
    let text = serde_json::to_string(&success).unwrap();
    assert_eq!(serde_json::from_str::<SuccessOutcome>(&text).unwrap(), success);
}
