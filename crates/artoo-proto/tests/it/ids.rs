//! Task ids from hostile words, and timestamps at the limits of their range.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use artoo_proto::{TaskId, Timestamp};
use proptest::prelude::*;
use uuid::Uuid;

const UUID: &str = "0197a1c0-0000-4000-8000-000000000001";

/// A UUID.
fn uuid() -> Uuid {
    Uuid::parse_str(UUID).unwrap()
}

#[doc = "holds: design D16"]
#[test]
fn task_ids_are_safe_for_any_words() {
    let check = |words: &str, slug: &str| assert_eq!(TaskId::new(words, uuid()).as_str(), format!("{slug}-{UUID}"));
    check("Count the PDF files", "count_the_pdf_files");
    check("", "task");
    check("../../etc/passwd", "etc_passwd");
    check("-rf --no-preserve-root", "rf_no_preserve_root");
    check("a\0b\nc\u{1b}[2Jd", "a_b_c_2jd");
    check("\u{202e}abc\u{200b}", "abc");
    check("日本語の文書を数えて", "日本語の文書を数えて");
    check("Größe der Straße", "größe_der_straße");
    check("İ", "i");
    check("!!!", "task");
    check(&"ab ".repeat(40), "ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_a");
    check(&"鍵".repeat(500), &"鍵".repeat(40));
}

#[test]
fn invalid_task_ids_are_rejected() {
    let check = |text: &str, taken: bool| {
        assert_eq!(TaskId::try_from(text.to_owned()).is_ok(), taken, "{text:?}");
    };
    check(&format!("task-{UUID}"), true);
    check(&format!("größe_3-{UUID}"), true);
    check(UUID, false);
    check(&format!("-{UUID}"), false);
    check(&format!("--{UUID}"), false);
    check(&format!("-rf-{UUID}"), false);
    check(&format!("a_{UUID}"), false);
    check(&format!("a/b-{UUID}"), false);
    check(&format!("..-{UUID}"), false);
    check(&format!("a b-{UUID}"), false);
    check(&format!("a\n-{UUID}"), false);
    check(&format!("{}-{UUID}", "a".repeat(60)), false);
    check(&format!("a-{}", &UUID[..35]), false);
    check(&format!("a-{UUID}x"), false);
    // An id that differs in letter case only would be another file on some disks and the same file on others.
    check(&format!("a-{}", UUID.to_uppercase()), false);
    check("", false);
    check("ä", false);
    check(&"鍵".repeat(20), false);
}

#[test]
fn timestamps_have_one_format() {
    let check = |text: &str, written: &str| {
        let moment = Timestamp::parse(text).unwrap();
        assert_eq!(moment.to_string(), written);
        assert_eq!(Timestamp::parse(written), Ok(moment));
    };
    check("2026-03-01T09:30:00Z", "2026-03-01T09:30:00.000Z");
    check("2026-03-01T10:30:00.1234567+01:00", "2026-03-01T09:30:00.123Z");
    check("2026-03-01t09:30:00z", "2026-03-01T09:30:00.000Z");
    // A leap second, the end of 32 bits, and before 1970.
    check("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000Z");
    check("2038-01-19T03:14:08Z", "2038-01-19T03:14:08.000Z");
    check("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500Z");
    for text in ["", "now", "2026-03-01", "2026-03-01T09:30:00", "2026-13-01T00:00:00Z", "1767225600000"] {
        assert!(Timestamp::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn system_clock_is_rounded_down() {
    let check = |time: SystemTime, ms: i64| assert_eq!(Timestamp::from(time), Timestamp::from_millis(ms), "{time:?}");
    check(UNIX_EPOCH, 0);
    check(UNIX_EPOCH + Duration::from_micros(1_999), 1);
    check(UNIX_EPOCH - Duration::from_micros(1), -1);
    check(UNIX_EPOCH - Duration::from_millis(1), -1);
    check(UNIX_EPOCH - Duration::from_micros(1_001), -2);
}

#[test]
fn timestamps_saturate() {
    for ms in [i64::MIN, i64::MAX, 0, -1, 253_402_207_200_000, -377_705_023_201_000] {
        let moment = Timestamp::from_millis(ms);
        assert_eq!(Timestamp::parse(&moment.to_string()), Ok(moment), "{ms}");
        for step in [i64::MIN, -1, 1, i64::MAX] {
            let moved = moment.plus_millis(step);
            assert_eq!(Timestamp::parse(&moved.to_string()), Ok(moved), "{ms} moved by {step}");
        }
    }
}

proptest! {
    #[doc = "holds: design D16"]
    #[test]
    fn task_ids_round_trip(words in any::<String>(), uuid in any::<u128>()) {
        let id = TaskId::new(&words, Uuid::from_u128(uuid));
        prop_assert_eq!(TaskId::try_from(id.as_str().to_owned()), Ok(id.clone()));
        prop_assert!(id.as_str().len() <= 255, "a file name: {} bytes", id.as_str().len());
        prop_assert!(!id.as_str().contains(['/', '\\', '.', '\0', '\n', ' ']));
    }

    #[test]
    fn parsing_never_panics_on_any_text(text in any::<String>(), tail in "[0-9a-f-]{0,40}") {
        let _ = TaskId::try_from(text.clone());
        let _ = TaskId::try_from(format!("{text}{tail}"));
        let _ = Timestamp::parse(&text);
    }

    #[test]
    fn timestamps_round_trip(ms in any::<i64>()) {
        let moment = Timestamp::from_millis(ms);
        prop_assert_eq!(Timestamp::parse(&moment.to_string()), Ok(moment));
    }
}
