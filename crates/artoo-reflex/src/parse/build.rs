//! From features to a query. Every feature is taken out of the draft exactly once; one that is left is a refusal.

mod files;
mod text;

use super::draft::{Ask, Draft};
use super::item::Context;
use crate::algebra::{Depth, Kind, NameTest, Pred, Query, TypeError};
use crate::concept::Verb;
use crate::lower::{Unsupported, lower};
use crate::place::{Looks, Place, file_name, parent};

/// A query with what was assumed on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Built {
    pub(super) query: Query,
    pub(super) assumptions: Vec<String>,
    /// The path the request names itself.
    pub(super) scope: Option<String>,
}

/// Why features that were all understood don't make a request that can be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misfit {
    #[error("nothing is asked for")]
    NothingAsked,
    #[error("these words don't fit together")]
    Leftover(Box<Draft>),
    #[error("no file is named")]
    NoFile,
    #[error("{path} may be a folder or a file; say which")]
    FolderOrFile { path: String },
    #[error("{question} can't be asked of {of}")]
    Question { question: &'static str, of: &'static str },
    #[error("{0}")]
    Type(#[from] TypeError),
    #[error("{0}")]
    Unsupported(#[from] Unsupported),
}

/// Builds the query of a draft.
pub(super) fn build(context: &Context<'_>, mut draft: Draft) -> Result<Built, Misfit> {
    let assumptions: Vec<String> = std::mem::take(&mut draft.notes).into_iter().collect();
    let scope = draft.scope.as_ref().or(draft.object.as_ref()).map(|place| place.path.clone());
    let mut built = Built { query: Query::TextFile { path: String::new() }, assumptions, scope };
    let names_file = draft.object.as_ref().is_some_and(|place| place.looks == Looks::File);
    let bare_object = names_file && !draft.has_noun() && draft.contents.is_none();
    built.query = if draft.lines.is_some() || draft.needle.is_some() || draft.verb == Some(Verb::Read) {
        text::build(&mut draft)?
    } else if draft.ask == Some(Ask::WhenChanged)
        || (bare_object && (draft.ask == Some(Ask::Size) || draft.details.is_some()))
    {
        one_file(&mut draft)?
    } else if bare_object && draft.verb == Some(Verb::Find) {
        find(context, &mut draft, &mut built.assumptions)?
    } else if bare_object && draft.verb == Some(Verb::Show) {
        text::build(&mut draft)?
    } else {
        files::build(context, &mut draft, &mut built.assumptions)?
    };
    if draft != Draft::default() {
        return Err(Misfit::Leftover(Box::new(draft)));
    }
    built.query = built.query.normalise();
    built.query.ty()?;
    lower(&built.query)?;
    built.assumptions.sort();
    built.assumptions.dedup();
    Ok(built)
}

/// "how big is notes.txt", "when was ~/x/notes.txt changed": the one file with its length and time.
fn one_file(draft: &mut Draft) -> Result<Query, Misfit> {
    draft.ask = None;
    draft.verb = None;
    draft.details = None;
    draft.in_bytes = None;
    let place = draft.object.take().ok_or(Misfit::NoFile)?;
    Ok(Query::Details { of: Box::new(only(&place)) })
}

/// The one file at a path, as a selection: empty where it is not there.
fn only(place: &Place) -> Query {
    let name = file_name(&place.path).unwrap_or_default();
    let tree = Query::Tree {
        root: parent(&place.path).to_owned(),
        depth: Depth::Direct,
        hidden: name.starts_with('.'),
        kind: Kind::File,
    };
    Query::Filter { of: Box::new(tree), keep: Pred::Name(NameTest::Is(name.to_owned())) }
}

/// "find notes.txt": looked for by name; a path with folders in it is looked for there.
fn find(context: &Context<'_>, draft: &mut Draft, assumptions: &mut Vec<String>) -> Result<Query, Misfit> {
    let place = draft.object.take().ok_or(Misfit::NoFile)?;
    if !place.bare {
        draft.verb = None;
        return Ok(only(&place));
    }
    let name = file_name(&place.path).unwrap_or_default().to_owned();
    draft.preds.push(Pred::Name(NameTest::Is(name)));
    draft.noun = Some(Kind::File);
    files::build(context, draft, assumptions)
}
