//! Saved values come back as they were.

use artoo_ggs::*;

use crate::build::*;

#[test]
fn profiles_survive_the_trip() {
    for profile in [Profile::default(), Profile::strict_spec()] {
        let text = serde_json::to_string(&profile).unwrap();
        assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), profile);
    }
}

#[doc = "holds: law 0.5; design G10"]
#[test]
fn no_record_brings_back_a_success_without_its_list() {
    assert!(serde_json::from_str::<SuccessOutcome>("[]").is_err());
    assert!(serde_json::from_str::<Unit>("1.5").is_err());
    let decision = run(Profile::default(), 0, &[shares(0, 1, 10)]).remove(0);
    let Outcome::Success(success) = decision.outcome else { panic!("{decision}") };
    let text = serde_json::to_string(&success).unwrap();
    assert_eq!(serde_json::from_str::<SuccessOutcome>(&text).unwrap(), success);
}
