//! Bytes of files and programs as text, with a note if some are not UTF-8.

/// The bytes as text. Bytes that are not UTF-8 become U+FFFD, and a last line counts them.
pub(crate) fn from_bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let bad: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
            format!("{}\n[not text: {bad} bytes are not UTF-8 and shown as \u{fffd}]", String::from_utf8_lossy(bytes))
        }
    }
}

/// A text whole if it fits `max_chars` characters, else its head and tail in as many, with a mark of the exact number
/// of omitted bytes between them. `left_out`: bytes missing between `head` and `tail`. Also returns whether any are
/// omitted. Characters are not split.
pub(crate) fn ends(head: &[u8], left_out: u64, tail: &[u8], max_chars: usize) -> (String, bool) {
    let (half, rest) = (max_chars / 2, max_chars - max_chars / 2);
    let whole;
    let (first, last, missing) = if left_out == 0 {
        whole = [head, tail].concat();
        if characters(&whole) <= max_chars {
            return (from_bytes(&whole), false);
        }
        let (first, last) = (beginning(&whole, half), end(&whole, rest));
        (first, last, whole.len() - first.len() - last.len())
    } else {
        // A character that was split at either end counts as missing.
        let (first, last) = (beginning(without_split_end(head), half), end(without_split_start(tail), rest));
        (first, last, head.len() - first.len() + tail.len() - last.len())
    };
    let missing = left_out + missing as u64;
    let is_text = std::str::from_utf8(first).is_ok() && std::str::from_utf8(last).is_ok();
    let remark = if is_text { "" } else { "\n[not text: bytes that are not UTF-8 are shown as \u{fffd}]" };
    let (first, last) = (String::from_utf8_lossy(first), String::from_utf8_lossy(last));
    (format!("{first}\n… [{missing} bytes left out] …\n{last}{remark}"), true)
}

/// The byte positions at which characters start; each sequence that is not UTF-8 counts as one character, as it is
/// shown.
fn starts(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let mut at = 0;
    bytes.utf8_chunks().flat_map(move |chunk| {
        let base = at;
        let invalid = base + chunk.valid().len();
        at = invalid + chunk.invalid().len();
        let odd = (!chunk.invalid().is_empty()).then_some(invalid);
        chunk.valid().char_indices().map(move |(index, _)| base + index).chain(odd)
    })
}

/// The number of characters of a text given as bytes.
fn characters(bytes: &[u8]) -> usize {
    starts(bytes).count()
}

/// The first characters of a text given as bytes.
fn beginning(bytes: &[u8], characters: usize) -> &[u8] {
    let to = starts(bytes).nth(characters).unwrap_or(bytes.len());
    bytes.get(..to).unwrap_or_default()
}

/// The last characters, `wanted` of them at most.
fn end(bytes: &[u8], wanted: usize) -> &[u8] {
    let skipped = characters(bytes).saturating_sub(wanted);
    let from = starts(bytes).nth(skipped).unwrap_or(bytes.len());
    bytes.get(from..).unwrap_or_default()
}

/// The bytes without an incomplete UTF-8 character at the end.
fn without_split_end(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()).unwrap_or_default(),
        _ => bytes,
    }
}

/// The bytes without an incomplete character at the start, which has at most three bytes.
fn without_split_start(bytes: &[u8]) -> &[u8] {
    let torn = bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
    bytes.get(torn..).unwrap_or_default()
}

/// Tests of shortening text and counting characters.
#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ends;

    /// Splits a shortened text into its head, the number of omitted bytes, and its tail.
    fn parts(cut: &str) -> (&str, u64, &str) {
        let (first, rest) = cut.split_once("\n… [").unwrap();
        let (number, last) = rest.split_once(" bytes left out] …\n").unwrap();
        (first, number.parse().unwrap(), last)
    }

    proptest! {
        /// The shown parts are the true ends of the text, and the number of omitted bytes is exact, even if the text
        /// was shortened before.
        #[doc = "holds: design D21"]
        #[test]
        fn cut_keeps_characters_and_counts_exactly(
            text in "[aäß漢🦀\n]{0,80}", head in 0_usize..400, tail in 0_usize..400, max in 0_usize..60,
        ) {
            let bytes = text.as_bytes();
            let head = head.min(bytes.len());
            let tail = tail.min(bytes.len() - head);
            let left_out = (bytes.len() - head - tail) as u64;
            let (shown, is_cut) = ends(&bytes[..head], left_out, &bytes[bytes.len() - tail..], max);
            prop_assert_eq!(is_cut, left_out > 0 || text.chars().count() > max);
            if is_cut {
                let (first, missing, last) = parts(&shown);
                prop_assert!(text.starts_with(first) && text.ends_with(last));
                prop_assert_eq!(first.len() + last.len() + missing as usize, text.len());
                prop_assert!(first.chars().count() + last.chars().count() <= max);
            } else {
                prop_assert_eq!(shown, text);
            }
        }

        /// Random bytes: the shortened text has no more characters than the maximum besides its marks, and is marked as
        /// cut only if some are missing.
        #[test]
        fn arbitrary_bytes_are_counted_as_shown(bytes: Vec<u8>, max in 0_usize..40) {
            let (shown, is_cut) = ends(&bytes, 0, &[], max);
            let lossy = String::from_utf8_lossy(&bytes).chars().count();
            prop_assert_eq!(is_cut, lossy > max);
            prop_assert!(shown.chars().count() <= max + 120);
        }
    }
}
