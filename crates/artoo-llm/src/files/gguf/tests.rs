//! Tests of reading GGUF headers: valid ones, ones truncated anywhere, and ones with random changes.

use std::io::Cursor;

use super::{Gguf, GgufError};
use crate::files::testing::Head;

/// Reads a GGUF header from the bytes of a file.
fn read(bytes: &[u8]) -> Result<Gguf, GgufError> {
    Gguf::read_from(Cursor::new(bytes), bytes.len() as u64)
}

/// A small valid GGUF file with all metadata that the reader uses.
fn whole() -> Head {
    Head::new()
        .text("general.architecture", "llama")
        .text("general.name", "Tiny \u{1b}[2J")
        .number("general.file_type", 15)
        .text("general.license", "apache-2.0")
        .number("llama.context_length", 8192)
        .texts("tokenizer.ggml.tokens", &["a", "bb", "ccc"])
        .text("tokenizer.chat_template", &"{{ x }}".repeat(2000))
        .tensor("token_embd.weight", &[32, 4], 0)
        .tensor("output.weight", &[64], 8)
}

/// The metadata in a valid GGUF header is read.
#[test]
fn header_metadata_is_read() {
    let expected = Gguf {
        name: Some("Tiny \u{1b}[2J".to_owned()),
        architecture: "llama".to_owned(),
        parameters: 192,
        context_tokens: Some(8192),
        quantisation: "Q4_K_M".to_owned(),
        has_chat_template: true,
        licence: Some("apache-2.0".to_owned()),
    };
    assert_eq!(read(&whole().bytes()).unwrap(), expected);
    let plain = Head::new().text("general.architecture", "x").tensor("w", &[7], 1).bytes();
    let plain = read(&plain).unwrap();
    assert_eq!((plain.quantisation.as_str(), plain.has_chat_template, plain.context_tokens), ("unknown", false, None));
}

/// A file that is no usable GGUF model is refused, with the reason.
#[test]
fn unusable_files_are_refused_with_reason() {
    let check = |bytes: &[u8], expected: &str| {
        let told = read(bytes).expect_err(expected).to_string();
        assert!(told.contains(expected), "{told} instead of {expected}");
    };
    let model = || Head::new().text("general.architecture", "llama");
    let with = |head: Head| head.tensor("w", &[32], 0).bytes();
    check(b"", "not a GGUF file");
    check(b"GGU", "not a GGUF file");
    check(b"<!DOCTYPE html><html>not found", "not a GGUF file");
    check(b"GGUF", "truncated: the version");
    check(&[b"GGUF".as_slice(), &1_u32.to_le_bytes(), &[0; 64]].concat(), "version is 1,");
    check(&[b"GGUF".as_slice(), &3_u32.to_be_bytes(), &[0; 64]].concat(), "expected 2 or 3");
    check(&with(Head::new().text("general.name", "x")), "general.architecture is missing");
    check(&with(model().number("split.count", 3)), "one of 3 parts");
    check(&with(model().text("general.type", "adapter")), "not a language model but \"adapter\"");
    check(&with(Head::new().text("general.architecture", "clip")), "but \"clip\"");
    check(&with(model().text("general.architecture", "again")), "a metadata key occurs twice");
    check(&with(model().number("general.alignment", 33)), "not a power of two");
    check(&model().bytes(), "it has no tensors");
    check(&model().tensor("w", &[u64::MAX, 2], 0).head(), "larger than any file");
    check(&model().tensor("w", &[1; 5], 0).head(), "has 5 dimensions");
    check(&model().tensor("w", &[1 << 40], 0).head(), "weights would lie beyond its end");
    let weights_gone = whole().bytes();
    check(&weights_gone[..weights_gone.len() - 1], "weights would lie beyond its end");
}

/// Counts and lengths in a header that exceed limits or the file are errors that name them, and so are unknown types
/// and deep lists.
#[test]
fn lengths_are_checked_before_use() {
    let check = |after: &[&[u8]], expected: &str| {
        let head = [b"GGUF".as_slice(), &3_u32.to_le_bytes(), &1_u64.to_le_bytes()].concat();
        let bytes = [head, after.concat(), vec![0; 256]].concat();
        let told = read(&bytes).expect_err(expected).to_string();
        assert!(told.contains(expected), "{told} instead of {expected}");
    };
    let most = u64::MAX.to_le_bytes();
    let one = 1_u64.to_le_bytes();
    let key = [&1_u64.to_le_bytes()[..], b"k"].concat();
    let kind = |kind: u32| kind.to_le_bytes();
    check(&[&most], "metadata entries");
    check(&[&one, &most], "bytes of a name");
    check(&[&one, &60_000_u64.to_le_bytes()], "truncated: a name");
    check(&[&one, &key, &kind(8), &most], "truncated: a value");
    check(&[&one, &key, &kind(13)], "of an unknown type");
    check(&[&one, &key, &kind(9), &kind(8), &most], "truncated: a list");
    check(&[&one, &key, &kind(9), &kind(0), &most], "truncated: a list");
    check(&[&one, &key, &kind(9), &kind(9), &most], "truncated: a list");
    check(&[&one, &key, &kind(9), &kind(99), &one], "of an unknown type");
    let deep: Vec<u8> = (0..50).flat_map(|_| [&kind(9)[..], &one[..]].concat()).collect();
    check(&[&one, &key, &kind(9), &deep], "lists nested too deep");
    let tensors = [b"GGUF".as_slice(), &2_u32.to_le_bytes(), &most, &[0; 64]].concat();
    let told = read(&tensors).unwrap_err().to_string();
    assert!(told.contains("tensors, expected at most 65536"), "{told}");
}

#[test]
fn header_truncated_anywhere_is_an_error() {
    let bytes = whole().bytes();
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn mutated_headers_never_panic() {
    let whole = whole().bytes();
    // A fixed pseudo-random sequence (Knuth's MMIX constants), so that failures are reproducible.
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut taken, mut refused) = (0_u32, 0_u32);
    for _ in 0..100_000 {
        let mut bytes = whole.clone();
        for _ in 0..=next(4) {
            let at = next(bytes.len());
            match next(5) {
                0 => bytes[at] ^= 1 << next(8),
                1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][next(5)],
                2 => bytes.truncate(at.max(1)),
                3 => {
                    let end = (at + 8).min(bytes.len());
                    bytes[at..end].fill(0xff);
                }
                _ => {
                    let piece: Vec<u8> = bytes[at..(at + next(40)).min(bytes.len())].to_vec();
                    let to = next(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
        match read(&bytes) {
            Ok(_) => taken += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(taken > 1_000 && refused > 1_000, "both ends are met: {taken} taken, {refused} refused");
}
