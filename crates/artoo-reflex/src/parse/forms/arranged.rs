//! Acts whose files or names are found by a rule: sorted, numbered, dated, without duplicates, under another name.

use std::collections::BTreeSet;

use super::acts::Form;
use crate::algebra::{Act, Depth, Kind, NameChange, NamePart, NameTest, Pred, Query, Step, Target};
use crate::eval::{Answer, Row, evaluate};
use crate::place::{file_name, parent};

/// Maximum number of files or folders that a request can mean without listing them, as in "week1 to week20".
const MAX_LISTED: usize = 50;

impl Form<'_> {
    /// Whether a new file or folder can be made at a path; always for an earlier request, which may have made it.
    pub(super) fn is_free(&self, path: &str) -> bool {
        !self.matcher.context.is_taken(path)
    }

    /// The query for the names of the selected files.
    pub(super) fn names(&self) -> Option<Query> {
        let of = self.query("selection").filter(|of| !matches!(of.source(), Query::Paths { .. }))?;
        Some(Query::Names { of: Box::new(of), part: NamePart::Name })
    }

    /// The steps for an act of this module, by its name; the outer `None` if it is built elsewhere, the inner one if
    /// the values don't fit.
    pub(super) fn arranged(&self, act: &str) -> Option<Option<Vec<Step>>> {
        let one = |act: Option<Act>| act.map(|act| vec![Step::Do(act)]);
        Some(match act {
            "copy_here" | "copy_named" | "move_named" | "rename_from" => one(self.renamed_place(act)),
            "duplicates" => self.duplicates(),
            "sorted_in" => self.sorted_in(),
            "numbered" => {
                one(self.numbered().filter(|paths| self.are_new(paths)).map(|paths| Act::CreateFolder { paths }))
            }
            "dated" | "dated_archive" => one(self.dated(act)),
            _ => return None,
        })
    }

    /// The path of the folder that the request names; `None` if it names none.
    fn named_folder(&self) -> Option<String> {
        Some(self.places("folder")?.first()?.path.clone())
    }

    /// The query for the files below the named folder whose names contain a text.
    pub(super) fn names_holding(&self, text: &str) -> Option<Query> {
        let roots = vec![self.named_folder()?];
        let of = Box::new(Query::Tree { roots, depth: Depth::Whole, hidden: true, kind: Kind::File });
        Some(Query::Filter { of, keep: Pred::Name(NameTest::Has(text.to_owned())) })
    }

    /// The paths of those selected files that contain a text; `None` if there are none or more than 20.
    pub(super) fn holding(&self, text: &str) -> Option<Vec<String>> {
        /// Maximum number of files that one request edits.
        const FILES: usize = 20;
        let of = Box::new(self.query("selection").filter(|of| !matches!(of.source(), Query::Paths { .. }))?);
        let keep = Pred::Contains { text: text.to_owned(), ignore_case: false };
        let Ok(Answer::Files(files)) = evaluate(&Query::Filter { of, keep }, self.fs()) else { return None };
        let paths: Option<Vec<String>> = files.iter().map(|file| Some(file.path.to_str()?.to_owned())).collect();
        paths.filter(|paths| (1..=FILES).contains(&paths.len()))
    }

    /// The act that copies, moves or renames one file to a new name, perhaps in another folder.
    fn renamed_place(&self, act: &str) -> Option<Act> {
        let one = |path: String| Query::Paths { paths: vec![path], kind: Kind::File };
        match act {
            "copy_here" => {
                // The file may lie in the folder that is named.
                let (path, to) = (self.path("file")?, self.path("to")?);
                let other = format!("{to}/{}", file_name(&path)?);
                let fits = self.places("file")?.first()?.bare && self.is_there(&path) && !self.is_there(&other);
                fits.then(|| Act::Copy { of: one(path), to: Target::Into(to) })
            }
            "rename_from" => {
                let (path, old) = (self.path("file")?, self.path("old")?);
                let new = self.places("new")?.first().filter(|new| new.bare && path == old)?;
                let change = NameChange::To(file_name(&new.path)?.to_owned());
                Some(Act::Rename { of: one(path), change })
            }
            _ => {
                let of = self.query("selection")?;
                let new = self.places("new")?.first().filter(|new| new.bare)?;
                let to = Target::As(format!("{}/{}", self.path("to")?, file_name(&new.path)?));
                let is_one = matches!(&of, Query::Paths { paths, .. } if paths.len() == 1);
                is_one.then(|| if act == "copy_named" { Act::Copy { of, to } } else { Act::Move { of, to } })
            }
        }
    }

    /// The query for the files in the named folder, to this depth.
    fn files_in(&self, depth: Depth) -> Option<Query> {
        let is_whole = depth == Depth::Whole;
        Some(Query::Tree { roots: vec![self.named_folder()?], depth, hidden: is_whole, kind: Kind::File })
    }

    /// Steps that list files with equal content and delete all but one of each: the one with the shortest name, since a
    /// copy is called "x (1)" or "copy of x".
    fn duplicates(&self) -> Option<Vec<Step>> {
        let of = Query::Duplicates { of: Box::new(self.files_in(Depth::Whole)?) };
        let Ok(Answer::Rows(rows)) = evaluate(&of, self.fs()) else { return None };
        let mut paths = Vec::new();
        // Empty files are equal, and no copies of each other.
        for same in rows.chunk_by(|one, other| one.value == other.value).filter(|same| same.iter().all(is_filled)) {
            let kept = same.iter().min_by_key(|row| (row.of.name_bytes().len(), &row.of.path))?;
            for row in same.iter().filter(|row| row.of.path != kept.of.path) {
                paths.push(row.of.path.to_str()?.to_owned());
            }
        }
        paths.sort();
        let delete = (!paths.is_empty() && paths.len() <= MAX_LISTED)
            .then_some(Act::Delete { of: Query::Paths { paths, kind: Kind::File } });
        Some(vec![Step::Ask(of), Step::Do(delete?)])
    }

    /// Steps that move the files of a folder into subfolders named after their extensions.
    fn sorted_in(&self) -> Option<Vec<Step>> {
        let of = self.files_in(Depth::Direct)?;
        let folder = self.named_folder()?;
        let names = Query::Names { of: Box::new(of.clone()), part: NamePart::Extension };
        let Ok(Answer::Lines(lines)) = evaluate(&names, self.fs()) else { return None };
        let extensions: BTreeSet<String> =
            lines.into_iter().map(|line| String::from_utf8(line.text).ok()).collect::<Option<_>>()?;
        let step = |extension: String| {
            let to = Target::Into(format!("{}/{extension}", folder.trim_end_matches('/')));
            Step::Do(Act::Move { of: Query::Filter { of: Box::new(of.clone()), keep: Pred::Extension(extension) }, to })
        };
        (1..=MAX_LISTED).contains(&extensions.len()).then(|| extensions.into_iter().map(step).collect())
    }

    /// The paths of folders numbered from one to another, as in "week1 to week4".
    fn numbered(&self) -> Option<Vec<String>> {
        let (first, last) = (self.path("first")?, self.path("last")?);
        let split = |path: &str| {
            let stem = path.trim_end_matches(|c: char| c.is_ascii_digit());
            Some((stem.to_owned(), path.get(stem.len()..)?.parse::<usize>().ok()?, path.len() - stem.len()))
        };
        let ((stem, from, width), (other, to, _)) = (split(&first)?, split(&last)?);
        let is_padded = first.get(stem.len()..)?.starts_with('0');
        let name =
            |number: usize| if is_padded { format!("{stem}{number:0width$}") } else { format!("{stem}{number}") };
        (stem == other && from < to && to - from < MAX_LISTED).then(|| (from..=to).map(name).collect())
    }

    /// The act that copies or packs a file under its name with today's date.
    fn dated(&self, act: &str) -> Option<Act> {
        let of = self.query("selection")?;
        let Query::Paths { paths, .. } = &of else { return None };
        let [path] = paths.as_slice() else { return None };
        let name = file_name(path)?;
        let (stem, ending) = match name.rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() && act == "dated" => (stem, format!(".{ending}")),
            _ => (name, String::new()),
        };
        let today = self.matcher.context.clock.today()?;
        let ending = if act == "dated_archive" { ".tar.gz".to_owned() } else { ending };
        let to = format!("{}/{stem}-{today}{ending}", parent(path).trim_end_matches('/'));
        let is_free = self.is_free(&to);
        let act = if act == "dated" { Act::Copy { of, to: Target::As(to) } } else { Act::Archive { of, to } };
        is_free.then_some(act)
    }
}

/// Whether a row's file has content.
fn is_filled(row: &Row) -> bool {
    row.of.bytes > 0
}
