//! Archives: listing them, and packing into a new one. Unpacking overwrites and is never proven.

use super::judge::{Judge, State};
use super::objection::Objection;
use super::options::{self, Order};
use super::programs::{Operands, Program};
use super::scene::{New, Use};
use super::value::{Arg, Stream};

static TAR: Program = Program::new(
    "tar",
    "tczjJvahp",
    "fCX",
    "list create gzip gunzip bzip2 xz zstd lzma verbose auto-compress file= directory= exclude= wildcards no-wildcards \
        anchored no-anchored strip-components= sort= full-time utc numeric-owner quoting-style= one-file-system \
        exclude-vcs dereference occurrence?",
    Operands::Text,
);

static ZIP: Program = Program::new("zip", "rqvj0123456789Ty", "x", "recurse-paths quiet verbose", Operands::Text);

/// Judges `tar`: `-t`, or `-c` into an archive that is not there yet.
pub(super) fn tar(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    // The first word may be letters without a dash, whose values follow in order; only an archive may be among them.
    let mut words = arguments.to_vec();
    if let Some(first) = words.first_mut()
        && let Some(letters) = first.text()
        && !letters.starts_with('-')
    {
        if letters.matches('f').count() > 1
            || letters.contains(['C', 'X'])
            || (letters.contains('f') && !letters.ends_with('f'))
        {
            return Err(Objection::opaque("letters of tar in an order that is not judged"));
        }
        *first = Arg::literal(format!("-{letters}"));
    }
    let parsed = options::parse(&TAR, &words, Order::Any)?;
    let lists = parsed.has_any(&["t", "list"]);
    let creates = parsed.has_any(&["c", "create"]);
    for file in parsed.values(&["X"]) {
        judge.reads(state, &Arg::literal(file), Use::Content)?;
    }
    // Behind a change of folder relative names mean something else.
    let moved = parsed.has_any(&["C", "directory"]);
    let mut archives = 0;
    for archive in parsed.values(&["f", "file"]) {
        archives += 1;
        if archive.contains(':') {
            return Err(Objection::reveals("an archive on another machine"));
        }
        let archive = Arg::literal(archive);
        match (lists, creates, archive.text()) {
            (true, false, _) => judge.reads(state, &archive, Use::Content)?,
            (false, true, Some("-")) => {}
            (false, true, Some(text)) if !moved || text.starts_with('/') => judge.makes(state, &archive, New::File)?,
            _ => return Err(Objection::changes("tar other than listing or packing into a new archive")),
        }
    }
    match (lists, creates) {
        (true, false) => Ok(Stream::Text),
        (false, true) if archives == 1 && !moved => {
            parsed.operands.iter().try_for_each(|word| judge.reads(state, word, Use::Everything))?;
            Ok(Stream::Text)
        }
        _ => Err(Objection::changes("tar unpacks over files that are there, or changes an archive")),
    }
}

/// Judges `zip`: into an archive that is not there yet.
pub(super) fn zip(judge: &mut Judge<'_>, state: &State, arguments: &[Arg]) -> Result<Stream, Objection> {
    let parsed = options::parse(&ZIP, arguments, Order::Any)?;
    let (archive, files) = parsed.operands.split_first().ok_or_else(|| Objection::opaque("zip without an archive"))?;
    if parsed.has("T") || files.is_empty() {
        return Err(Objection::opaque("zip runs a test program or reads names from its input"));
    }
    let text = archive.text().ok_or_else(|| Objection::changes("an archive whose name is not known"))?;
    let name = text.rsplit('/').next().unwrap_or(text);
    // Without an ending of its own the archive gets one.
    let made = if name.contains('.') { text.to_owned() } else { format!("{text}.zip") };
    judge.makes(state, &Arg::literal(made), New::File)?;
    files.iter().try_for_each(|word| judge.reads(state, word, Use::Everything))?;
    Ok(Stream::Text)
}
