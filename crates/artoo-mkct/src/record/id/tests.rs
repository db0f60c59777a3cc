//! Tests of the text form and the order of record ids.

use super::MegramId;

/// A record id is written as a lowercase UUID; an uppercase one, one with a sign and other texts are rejected.
#[test]
fn ids_have_one_spelling() {
    let id = MegramId::compose(1_772_000_000_000, 5, u64::MAX);
    assert_eq!(id.to_string(), "019c936e-3800-8000-8017-ffffffffffff");
    assert_eq!(id.to_string().parse(), Ok(id));
    assert_eq!(serde_json::to_string(&id).unwrap(), "\"019c936e-3800-8000-8017-ffffffffffff\"");
    for wrong in ["", "7", "019C936E-3800-8000-8017-FFFFFFFFFFFF", "+19c936e-7800-8000-8017-ffffffffffff"] {
        assert!(wrong.parse::<MegramId>().is_err(), "{wrong}");
    }
}

#[doc = "holds: design K4"]
#[test]
fn ids_of_one_millisecond_keep_their_order() {
    let ids: Vec<MegramId> =
        (0..10_000).map(|sequence: u64| MegramId::compose(7, sequence, sequence.wrapping_mul(u64::MAX / 7))).collect();
    assert!(ids.is_sorted());
    assert!(MegramId::compose(8, 0, 0) > ids[9_999]);
    assert!(MegramId::compose(-5, 0, 0) < MegramId::compose(i64::MAX, 0, 0));
}
