//! Bytes from files and programs as text, saying what could not be shown as such.

/// The bytes as text; what is not UTF-8 becomes U+FFFD, and a last line says so.
pub(crate) fn from_bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let bad: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
            format!("{}\n[not text: {bad} bytes are not UTF-8 and shown as \u{fffd}]", String::from_utf8_lossy(bytes))
        }
    }
}

/// Two ends of something longer, with how much is missing between.
pub(crate) fn with_gap(head: &[u8], left_out: u64, tail: &[u8]) -> String {
    if left_out == 0 {
        return from_bytes(&[head, tail].concat());
    }
    // Both ends may be cut inside a character; that is the cut's fault, not the data's.
    let head = String::from_utf8_lossy(head);
    let tail = String::from_utf8_lossy(tail);
    let bad = head.matches('\u{fffd}').count() + tail.matches('\u{fffd}').count();
    let remark = if bad > 2 { "\n[not text: bytes that are not UTF-8 are shown as \u{fffd}]" } else { "" };
    format!("{head}\n… [{left_out} bytes left out] …\n{tail}{remark}")
}
