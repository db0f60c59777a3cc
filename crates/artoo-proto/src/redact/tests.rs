//! H7: a table of secrets by format, and ordinary text that must stay unchanged.

use proptest::prelude::*;

use super::{
    BEARER, BEARER_MIN_CHARS, Bytes, PRIVATE_KEY, SECRET_ENDS, SECRET_NAMES, SHORTEST_BYTES, is_known_name,
    is_secret_name, mark_positions, prefixes, redact, redact_keys,
};

#[doc = "holds: design H7"]
#[test]
fn secrets_are_redacted_by_their_format() {
    let check = |input: &str, expected: &str| assert_eq!(redact(input), expected);
    check("key sk-proj-abcDEF0123456789xyz end", "key [redacted] end");
    check("sk-ant-api03-AAAAAAAAAAAAAAAA_bb-cc", "[redacted]");
    check("Authorization: Bearer abc.def-ghi_123", "Authorization: [redacted]");
    check("curl -H 'bearer   abcdefgh12'", "curl -H 'bearer   [redacted]'");
    check("BEARER abcdefgh, then", "BEARER [redacted], then");
    check("AKIAIOSFODNN7EXAMPLE", "[redacted]");
    check("id=ASIAIOSFODNN7EXAMPLE;", "id=[redacted];");
    check("ghp_0123456789abcdefghijABCDEFGHIJ012345", "[redacted]");
    check("github_pat_11ABCDEFG0123456789_abc", "[redacted]");
    check("xoxb-123456789012-abc", "[redacted]");
    check("AIzaSyA0123456789012345678901234567890", "[redacted]");
    check("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.sig", "[redacted]");
    check("OPENAI_API_KEY=abc123def", "OPENAI_API_KEY=[redacted]");
    check("export DB_PASSWORD='hunter2hunter2'", "export DB_PASSWORD='[redacted]'");
    check(r#"{"api_key": "0123456789", "n": 1}"#, r#"{"api_key": "[redacted]", "n": 1}"#);
    check(r#"{\"client_secret\":\"s3cr3t!\"}"#, r#"{\"client_secret\":\"[redacted]\"}"#);
    check("https://u.example/?access_token=abcdefghi&x=1", "https://u.example/?access_token=[redacted]&x=1");
    check("git clone https://me:s3cret@host/repo", "git clone https://me:[redacted]@host/repo");
    check("two: sk-aaaaaaaaaaaaaaaaaaaa sk-bbbbbbbbbbbbbbbbbbbb", "two: [redacted] [redacted]");
    check("ключ sk-aaaaaaaaaaaaaaaaaaaa 鍵", "ключ [redacted] 鍵");
}

#[test]
fn keys_of_other_services_are_redacted() {
    let hex = "0123456789abcdef0123456789abcdef";
    for key in [
        format!("npm_{hex}"),
        format!("SG.{hex}.{hex}"),
        format!("rk_live_{hex}"),
        format!("ya29.{hex}"),
        format!("dckr_pat_{hex}"),
        format!("AGE-SECRET-KEY-1{}", hex.to_uppercase()),
        format!("xapp-1-{hex}"),
        format!("shpat_{hex}"),
        format!("AccountKey={hex}/+{hex}"),
    ] {
        let text = format!("a {key} b");
        assert_eq!((redact(&text).as_ref(), redact_keys(&text).as_ref()), ("a [redacted] b", "a [redacted] b"));
    }
}

/// `redact_keys` leaves variable names, source code and words in the format of a key unchanged, and redacts private
/// keys and keys with digits.
#[test]
fn redact_keys_takes_only_certain_keys() {
    for text in [
        "password: String,",
        "let api_key = read_key();",
        "export const sk-folding-cube-container",
        "hf_transformers_model_loader_config",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "postgres://app:password@localhost/db",
    ] {
        assert_eq!(redact_keys(text), text);
    }
    for text in [
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3",
        "key sk-proj-abcDEF0123456789xyz",
    ] {
        assert!(redact_keys(text).contains("[redacted]"), "{text}");
    }
}

#[doc = "holds: design H7"]
#[test]
fn truncated_private_keys_are_redacted() {
    let check = |input: &str, expected: &str| assert_eq!(redact(input), expected);
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END OPENSSH PRIVATE KEY-----";
    check(&format!("a\n{key}\nb\n{key}"), "a\n[redacted]\nb\n[redacted]");
    check("-----BEGIN PRIVATE KEY-----\nMIIE", "[redacted]");
    check(
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    );
}

#[doc = "holds: design H7"]
#[test]
fn ordinary_text_is_unchanged() {
    for text in [
        "",
        "41 files under /home/me/sk-notes",
        "the task-list is short",
        "disk-usage-of-everything-here",
        "a bearer of news",
        "the key: a small one",
        "monkey=banana99",
        "token: no",
        "TODO: password",
        "path C:\\Users, time 12:30:45, https://host:8080/a@b",
        "AKIA",
        "max_tokens=4096000",
        "eyJ",
        "ключ: значение-длинное",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn text_without_a_secret_is_not_copied() {
    for text in ["", "read_file", "41 files under /home/me/sk-notes", "-----BEGIN CERTIFICATE-----", "a bearer of news"]
    {
        assert!(matches!(redact(text), std::borrow::Cow::Borrowed(_)), "{text:?}");
    }
}

proptest! {
    /// The positions of a mark equal those of a plain search in the lowercase text.
    #[test]
    fn marks_ignore_case_and_never_overlap(text in "(bearer |BEARER|[bBeEaArR ä]|://|b){0,30}") {
        for mark in ["bearer ", "://", "bb"] {
            let found: Vec<usize> = mark_positions(&text, mark).collect();
            let expected: Vec<usize> = text.to_ascii_lowercase().match_indices(mark).map(|(at, _)| at).collect();
            prop_assert_eq!(found, expected);
        }
    }

    /// The filter by byte values never rules out a key prefix that the text contains.
    #[doc = "holds: design H7"]
    #[test]
    fn byte_filter_finds_every_key(before in "\\PC{0,20}", shape in 0..prefixes().count(), after in "\\PC{0,20}") {
        let text = format!("{before}{}{after}", prefixes().nth(shape).unwrap().1);
        let bytes = Bytes::of(&text);
        for (_, prefix) in prefixes() {
            prop_assert!(bytes.may_contain(prefix) || !text.contains(prefix), "{prefix} in {text:?}");
        }
    }

    #[doc = "holds: design H7"]
    #[test]
    fn secret_names_ignore_letter_case(name in "[A-Za-zäÄ_-]{0,6}(password|_key|-TOKEN|aPiKeY|secret|authorization)?") {
        prop_assert_eq!(is_secret_name(&name), is_secret_name(&name.to_ascii_lowercase()));
    }

    #[doc = "holds: design H7"]
    #[test]
    fn redaction_is_idempotent_for_any_text(text in r#"(sk-|AKIA|Bearer |[a-z_=:@/"'\\ ä鍵-]|token|KEY=|https://|-----BEGIN | PRIVATE KEY-----){0,40}"#) {
        let once = redact(&text);
        prop_assert_eq!(redact(&once), once.as_ref());
    }

    #[doc = "holds: design H7"]
    #[test]
    fn key_is_redacted_at_any_position(before in "[ \n\t.,ä鍵]{0,20}", after in "[ \n\t,ä鍵]{0,20}", key in "[A-Za-z0-9]{20,40}") {
        let secret = format!("sk-{key}");
        let text = format!("{before} {secret} {after}");
        let redacted = redact(&text);
        prop_assert!(!redacted.contains(&secret), "{}", redacted);
    }
}

/// Every known key and credential is at least as long as the length below which a text is not searched.
#[doc = "holds: design H7"]
#[test]
fn minimum_length_excludes_only_short_texts() {
    for (least, prefix) in prefixes() {
        assert!(prefix.len() + least >= SHORTEST_BYTES, "{prefix}");
    }
    assert!(BEARER.len() + BEARER_MIN_CHARS >= SHORTEST_BYTES);
    assert!(PRIVATE_KEY.len() + "PRIVATE KEY".len() >= SHORTEST_BYTES);
    // Every other secret follows one of the two characters, however short it is.
    assert_eq!(redact("key=abcdef"), "key=abcdef");
    assert_eq!(redact("a_key=abcdef"), "a_key=[redacted]");
    assert_eq!(redact("token: abcdef"), "token: [redacted]");
}

/// The filter by a name's last letter never rules out a secret name of the lists.
#[doc = "holds: design H7"]
#[test]
fn last_letter_filter_finds_every_name() {
    for name in SECRET_NAMES.iter().chain(SECRET_ENDS).chain(&["authorization"]) {
        for name in [(*name).to_owned(), format!("x{name}"), name.to_uppercase()] {
            assert_eq!(is_secret_name(&name), is_known_name(&name), "{name}");
        }
        assert!(is_secret_name(name), "{name}");
    }
}
