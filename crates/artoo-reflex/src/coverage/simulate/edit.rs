//! Simulates edits of text files by applying them to the current content.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Simulator;
use crate::algebra::{Field, Query};
use crate::coverage::overlay::{Content, ModeRule, shown};
use crate::ensure::ensure;
use crate::eval::{Answer, Entry, EntryKind, FileSystem, Row, decimal, digest, text};
use crate::settings;

impl Simulator<'_> {
    /// Simulates writing the answer of a question into a new file, or into the file that it was computed from.
    pub(super) fn save(&mut self, of: &Query, to: &str) -> Result<BTreeSet<PathBuf>, String> {
        let path = self.disk.key(Path::new(to));
        ensure(!self.is_blind, || "what it is computed from is only known afterwards".to_owned())?;
        check_replacements(self, of)?;
        let texts = written(of, &self.disk.answer(of)?)?;
        if self.disk.metadata(&path).is_err() {
            return self.new_text(to, texts);
        }
        let is_source = match of.source() {
            Query::TextFile { path: source } => self.disk.key(Path::new(source)) == path,
            Query::Known { known } => known.get("path").is_some_and(|source| self.disk.key(Path::new(source)) == path),
            _ => false,
        };
        ensure(is_source, || format!("{} was there already", shown(&path)))?;
        let before = self.disk.read(&path)?;
        let texts = texts.into_iter().map(|text| with_end_of(&before, text)).collect();
        self.edited(&path, &before, texts)
    }

    /// Simulates new lines at the start or the end of a text file.
    pub(super) fn insert(&mut self, path: &str, text: &str, at_start: bool) -> Result<BTreeSet<PathBuf>, String> {
        let key = self.disk.key(Path::new(path));
        if self.disk.metadata(&key).is_err() {
            return self.new_text(path, vec![text.as_bytes().to_vec()]);
        }
        let before = self.disk.read(&key)?;
        let texts = if at_start {
            vec![[text.as_bytes(), &before].concat()]
        } else if before.is_empty() {
            with_bare_ends(vec![text.as_bytes().to_vec()])
        } else if before.ends_with(b"\n") {
            vec![[&before, text.as_bytes()].concat()]
        } else {
            with_bare_ends(vec![[&before, b"\n".as_slice(), text.as_bytes()].concat()])
        };
        self.edited(&key, &before, texts)
    }

    /// Simulates a new value for a key in a settings file.
    pub(super) fn set_value(
        &mut self,
        path: &str,
        section: Option<&str>,
        key: &str,
        value: &str,
    ) -> Result<BTreeSet<PathBuf>, String> {
        let file = self.disk.key(Path::new(path));
        let before = self.disk.read(&file)?;
        let texts = settings::set(&file, &before, section, key, value)?;
        self.edited(&file, &before, texts)
    }

    /// Simulates one of these contents in an existing file, with its permissions unchanged.
    fn edited(&mut self, path: &Path, before: &[u8], texts: Vec<Vec<u8>>) -> Result<BTreeSet<PathBuf>, String> {
        let entry = self.disk.metadata(path).map_err(|problem| format!("{}: {problem}", shown(path)))?;
        ensure(entry.kind == EntryKind::File, || format!("{} is no regular file", shown(path)))?;
        let bytes = texts.first().map_or(0, |text| text.len() as u64);
        // A file that an earlier step created keeps the rule for new files.
        let rule = self.disk.nodes.get(path).map_or(ModeRule::Exact, |node| node.mode);
        let entry = Entry { bytes, modified: self.now.modified, ..entry };
        let is_first = !self.disk.nodes.contains_key(path);
        self.put(path, Some(entry), Content::OneOf(texts), rule);
        if let Some(node) = self.disk.nodes.get_mut(path).filter(|_| is_first) {
            node.digest = Some(digest::of_bytes(before));
        }
        Ok(BTreeSet::from([path.to_path_buf()]))
    }
}

/// Each text with its final newline and without it.
pub(super) fn with_bare_ends(texts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let bare: Vec<Vec<u8>> = texts
        .iter()
        .filter_map(|text| text.strip_suffix(b"\n").filter(|bare| !bare.is_empty()).map(<[u8]>::to_vec))
        .collect();
    [texts, bare].concat()
}

/// The text, without its final newline if the file was not empty and had none before.
fn with_end_of(before: &[u8], mut text: Vec<u8>) -> Vec<u8> {
    if !before.is_empty() && !before.ends_with(b"\n") && text.ends_with(b"\n") {
        text.pop();
    }
    text
}

/// The acceptable texts of a file with the answer to a question: several if the request doesn't say the format.
fn written(of: &Query, answer: &Answer) -> Result<Vec<Vec<u8>>, String> {
    let joined = |lines: Vec<Vec<u8>>| lines.into_iter().flat_map(|line| [line, b"\n".to_vec()].concat()).collect();
    Ok(match answer {
        Answer::Lines(lines) => vec![joined(lines.iter().map(|line| line.shown()).collect())],
        Answer::Number(number) => vec![format!("{number}\n").into_bytes()],
        Answer::Decimal(number) => vec![format!("{}\n", decimal::shown(*number)).into_bytes()],
        Answer::Files(files) if matches!(of, Query::Details { .. }) => {
            let measured = |entry: &Entry| [format!("{}\t", entry.bytes).as_bytes(), entry.path_bytes()].concat();
            vec![joined(files.iter().map(measured).collect())]
        }
        Answer::Rows(rows) => {
            // `md5sum -c` expects two spaces between the hash and the name.
            let is_hash = matches!(of, Query::Field { field: Field::Md5 | Field::Sha1 | Field::Sha256, .. });
            let between = if is_hash { "  " } else { "\t" };
            let line = |row: &Row| [row.value.as_bytes(), between.as_bytes(), row.of.path_bytes()].concat();
            vec![joined(rows.iter().map(line).collect())]
        }
        Answer::Groups(groups) => {
            let line = |(name, number): &(Vec<u8>, u64)| [format!("{number}\t").as_bytes(), name].concat();
            vec![joined(groups.iter().map(line).collect())]
        }
        Answer::Files(files) => {
            let whole = files.iter().map(|entry| entry.path_bytes().to_vec()).collect();
            let below = |root: &str| {
                let relative =
                    |entry: &Entry| Some(entry.path.strip_prefix(root).ok()?.as_os_str().as_encoded_bytes().to_vec());
                files.iter().map(relative).collect::<Option<Vec<_>>>()
            };
            let short = match of.source() {
                Query::Tree { roots, .. } if let [root] = roots.as_slice() => below(root),
                _ => None,
            };
            std::iter::once(whole).chain(short).map(joined).collect()
        }
        _ => return Err("a result of this kind can't be compared with a file".to_owned()),
    })
}

/// Checks every replacement of a text in a query with [`check_words`].
fn check_replacements(simulator: &Simulator<'_>, of: &Query) -> Result<(), String> {
    if let Query::Replace { of, find, .. } = of
        && let Answer::Lines(lines) = simulator.disk.evaluate(of)?
    {
        lines.iter().try_for_each(|line| check_words(&line.text, find))?;
    }
    of.operand().map_or(Ok(()), |inner| check_replacements(simulator, inner))
}

/// Checks that a word to replace doesn't also occur inside longer words, where replacing it would be ambiguous.
pub(super) fn check_words(content: &[u8], find: &str) -> Result<(), String> {
    let is_word = find.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let count = |whole| text::occurrences(content, find.as_bytes(), false, whole).len();
    ensure(!is_word || count(true) == count(false), || format!("“{find}” also occurs inside other words"))?;
    Ok(())
}
