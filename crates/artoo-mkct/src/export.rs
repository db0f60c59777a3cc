//! Export and import of a memory as JSON lines: a header, then one line for each frame (change of the memory).

use std::{
    io::{self, BufRead, Read as _, Write},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    engine::{Engine, RuleSlot},
    journal::MAX_FRAME_BYTES,
    record::{
        ApplyError, DeletionReason, Frame, Level, Megram, MegramId, ReadError, RuleKind, Watermark,
        frame::MAX_IDS_PER_FRAME,
    },
};

/// Version of the export format that this library writes; it reads every version up to this one.
pub const EXPORT_VERSION: u32 = 1;

/// Name of the export format, written in the header line.
const FORMAT: &str = "artoo-mkct";

/// The first line of an export: format and version.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
}

/// Why a memory could not be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The text of a record could not be read back from the journal.
    #[error("a record cannot be read: {0}")]
    Read(#[from] ReadError),
    /// A line could not be written.
    #[error("the export cannot be written: {0}")]
    Io(#[from] io::Error),
    /// A frame cannot be written as JSON.
    #[error("a record cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
}

/// Why an export could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The first line is not the header of an export.
    #[error("the first line does not say that this is an export of artoo-mkct")]
    NotAnExport,
    /// The export was written by a newer version of this library.
    #[error("the export has version {found}, this library knows {EXPORT_VERSION}")]
    NewerVersion {
        /// The version of the export format.
        found: u32,
    },
    /// A line of the export could not be read.
    #[error("line {line} cannot be read: {source}")]
    Io {
        /// Number of the line that could not be read, from 1.
        line: u64,
        /// Why the line could not be read.
        source: io::Error,
    },
    /// A line of the export is longer than any frame can be.
    #[error("line {line} has more than {max_bytes} bytes")]
    TooLong {
        /// Number of the line that is too long, from 1.
        line: u64,
        /// Most bytes that a line may have.
        max_bytes: usize,
    },
    /// A line of the export is not a frame.
    #[error("line {line} is not a record: {source}")]
    Malformed {
        /// Number of the line that is not a frame, from 1.
        line: u64,
        /// Why the line is not a frame.
        source: serde_json::Error,
    },
    /// The frame in a line cannot be applied to this memory.
    #[error("line {line} cannot be applied: {source}")]
    Refused {
        /// Number of the line that cannot be applied, from 1.
        line: u64,
        /// Why the frame cannot be applied.
        source: ApplyError,
    },
}

/// Counts of frames that an import applied or skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ImportReport {
    /// Number of frames applied.
    pub applied: u64,
    /// Number of frames skipped, because their record exists already or was deleted on request here.
    pub skipped: u64,
}

impl Engine {
    /// The frames that rebuild the present memory: laws, records by id, rules, used evidence, ids deleted on request.
    pub fn state_frames(&self) -> impl Iterator<Item = Result<Frame, ReadError>> {
        let whole = |level| self.rules.values().filter(move |megram| megram.level == level);
        let written = |megram: &Arc<Megram>| Ok(Frame::Written { megram: Megram::clone(megram) });
        let live = self.rows.by_id().filter_map(|(id, _)| self.get(id).transpose());
        let rules = whole(Level::C).filter_map(|rule| self.promoted(rule)).map(Ok);
        let mut marks: Vec<(String, String, RuleKind, Watermark)> =
            self.rule_slots.iter().filter_map(|(key, slot)| self.mark_of(*key, *slot)).collect();
        // Tags have different numbers in each memory, but the same names.
        marks.sort();
        let marks = marks
            .into_iter()
            .map(|(space, entity, rule_kind, watermark)| Ok(Frame::Marked { space, entity, rule_kind, watermark }));
        let forgotten: Vec<MegramId> = self.forgotten.iter().copied().collect();
        let forgotten: Vec<Frame> = forgotten
            .chunks(MAX_IDS_PER_FRAME)
            .map(|ids| Frame::Deleted { ids: ids.to_vec(), at_ms: 0, reason: DeletionReason::Forgotten })
            .collect();
        whole(Level::T)
            .map(written)
            .chain(live.map(|megram| megram.map(|megram| Frame::Written { megram })))
            .chain(rules)
            .chain(marks)
            .chain(forgotten.into_iter().map(Ok))
    }

    /// Writes the memory as JSON lines. Exporting an imported memory gives the same lines again.
    ///
    /// # Errors
    /// [`ExportError`] when the text of a record cannot be read or a line cannot be written.
    pub fn export(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        let header = Header { format: FORMAT.to_owned(), version: EXPORT_VERSION };
        serde_json::to_writer(&mut *out, &header)?;
        for frame in self.state_frames() {
            out.write_all(b"\n")?;
            serde_json::to_writer(&mut *out, &frame?)?;
        }
        Ok(out.write_all(b"\n")?)
    }

    /// Applies what [`Engine::export`] wrote, line by line; `keep` is called with each applied frame, e.g. to store it
    /// in a journal.
    ///
    /// Records that exist already, or were deleted on request here, are skipped. Every line is checked like a write.
    ///
    /// # Errors
    /// [`ImportError`] at the first line that is not valid; the lines before it stay applied.
    pub fn import(
        &mut self,
        input: &mut dyn BufRead,
        keep: &mut dyn FnMut(Frame),
    ) -> Result<ImportReport, ImportError> {
        let mut report = ImportReport::default();
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            let bound = MAX_FRAME_BYTES as u64 + 1;
            let read = (&mut *input).take(bound).read_until(b'\n', &mut text);
            if read.map_err(|source| ImportError::Io { line, source })? == 0 && line > 1 {
                break;
            }
            if text.len() > MAX_FRAME_BYTES {
                return Err(ImportError::TooLong { line, max_bytes: MAX_FRAME_BYTES });
            }
            if line == 1 {
                check_header(&text)?;
                continue;
            }
            let frame = serde_json::from_slice(&text).map_err(|source| ImportError::Malformed { line, source })?;
            match self.apply(&frame) {
                Ok(()) => {
                    report.applied += 1;
                    keep(frame);
                }
                Err(ApplyError::Duplicate { .. } | ApplyError::Forgotten { .. }) => report.skipped += 1,
                Err(source) => return Err(ImportError::Refused { line, source }),
            }
        }
        Ok(report)
    }

    /// The frame that adds a rule of level C again; `None` if its tag is not indexed, or no watermark of used evidence is
    /// stored for its tag and kind.
    fn promoted(&self, rule: &Megram) -> Option<Frame> {
        let tag = self.index.number(&rule.space, &rule.entity)?;
        let rule_kind = RuleKind::of_sigma(rule.sigma);
        let watermark = self.rule_slots.get(&(tag, rule_kind))?.used?;
        Some(Frame::Promoted { rule: rule.clone(), rule_kind, watermark, supersedes: None })
    }

    /// Space, entity, kind and newest used evidence of a slot without a rule; `None` for a slot with a rule.
    fn mark_of(&self, (tag, kind): (u32, RuleKind), slot: RuleSlot) -> Option<(String, String, RuleKind, Watermark)> {
        let tag = self.index.tag(tag).filter(|_| slot.rule.is_none())?;
        Some((tag.space().to_owned(), tag.entity().to_owned(), kind, slot.used?))
    }
}

/// Checks the first line of an export.
fn check_header(text: &[u8]) -> Result<(), ImportError> {
    match serde_json::from_slice(text) {
        Ok(Header { format, version: 1..=EXPORT_VERSION }) if format == FORMAT => Ok(()),
        Ok(Header { format, version: found }) if format == FORMAT && found > 0 => {
            Err(ImportError::NewerVersion { found })
        }
        Ok(_) | Err(_) => Err(ImportError::NotAnExport),
    }
}
