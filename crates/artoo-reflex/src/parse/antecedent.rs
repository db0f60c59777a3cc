//! Resolves "those", "it" and "there" to the result of the step before.

use crate::algebra::{Act, Function, Kind, NameChange, Pred, Query, Relation, Step, Target, Ty};
use crate::concept::{Concept, Reference};
use crate::eval::{Answer, Entry, EntryKind, FileSystem, evaluate};
use crate::kinds;
use crate::lex::{Class, Token};
use crate::lexicon::{Meaning, lexicon};
use crate::place::{PathKind, Place, file_name, is_archive, parent};

use super::clauses::asks_whether;

/// The earlier step that "those" and "it" refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Antecedent {
    /// All steps of the previous request; empty if the antecedent is an earlier step of the same request.
    pub(super) steps: Vec<Step>,
    pub(super) last: Step,
    /// Path of the file that the step found, if the step asked for a single one: "the newest file".
    pub(super) found: Option<String>,
    /// Whether the step asks if something is so: what is said after it may depend on the answer.
    is_condition: bool,
    /// Whether the step lists several first elements without a number: "the newest files".
    is_unnumbered: bool,
}

impl Antecedent {
    /// The result that "those" means after a whole request with these steps; `None` if it has none.
    pub(super) fn of_request(steps: &[Step]) -> Option<Self> {
        let last = steps.last()?.clone();
        Some(Self { steps: steps.to_vec(), last, found: None, is_condition: false, is_unnumbered: false })
    }

    /// The antecedent with the path of the file found, if the step asked for a single file.
    pub(super) fn with_found(self, fs: &dyn FileSystem) -> Self {
        let is_question = matches!(self.last, Step::Ask(_));
        let Some(query @ Query::Limit { count: 1, .. }) = self.elements().filter(|_| is_question) else { return self };
        let Ok(Answer::Files(files)) = evaluate(&query, fs) else { return self };
        let [Entry { kind: EntryKind::File, path, .. }] = files.as_slice() else { return self };
        Self { found: path.to_str().map(str::to_owned), ..self }
    }

    /// The result that "those" means after a step of the same request, which was said in these words.
    pub(super) fn of_step(step: &Step, said: &[Token]) -> Self {
        let is_yes_or_no = match step {
            Step::Ask(Query::Aggregate { function: Function::Any, .. }) => true,
            Step::Ask(Query::Compare { relation, .. }) => {
                matches!(relation, Relation::Identical | Relation::Told | Relation::Difference)
            }
            Step::Ask(query) => kinds::asked_of(query).is_some() || asks_whether(said),
            Step::Do(_) => false,
        };
        let is_number = |meaning: &Meaning| matches!(meaning, Meaning::Concept(Concept::Number(_)));
        let counts = |token: &Token| {
            matches!(token.class, Class::Number(_)) || lexicon().meanings(&token.folded).iter().any(is_number)
        };
        let is_limited = matches!(step, Step::Ask(of) if matches!(without_counts(of), Query::Limit { count: 2.., .. }));
        let is_unnumbered = is_limited && !said.iter().any(counts);
        Self { steps: Vec::new(), last: step.clone(), found: None, is_condition: is_yes_or_no, is_unnumbered }
    }

    /// Whether the earlier step belongs to the same request as the words that refer to it.
    pub(super) fn is_in_same_request(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether `next` can't follow this step: it may depend on its answer, changes files of which no number is said, or
    /// deletes what this step has made.
    pub(super) fn forbids(&self, next: &Step) -> bool {
        let Step::Do(act) = next else { return false };
        let spoken_of = self.elements().map(Query::normalise);
        let is_it = |of: &Query| spoken_of.as_ref() == Some(of);
        let is_same = act.selection().is_some_and(is_it);
        let is_archive = matches!(self.last, Step::Do(Act::Archive { .. }));
        match &self.last {
            Step::Ask(_) => {
                // "are there any pdfs? delete the largest one".
                let mut chain = std::iter::successors(act.selection(), |of| of.operand());
                if chain.any(is_it) { self.is_unnumbered } else { self.is_condition }
            }
            Step::Do(_) => {
                let deletes = matches!(act, Act::Delete { .. });
                is_same && deletes && (self.is_in_same_request() || is_archive)
            }
        }
    }

    /// Whether the earlier answer is a list, so that "the third one" can mean one of its elements.
    pub(super) fn is_list(&self) -> bool {
        let is_list = |query: &Query| matches!(query.ty(), Ok(Ty::Files | Ty::Rows | Ty::Lines | Ty::Processes));
        matches!(&self.last, Step::Ask(query) if is_list(query))
    }

    /// The result with all files that "the largest file" was chosen from, for "and the smallest" after it; `None` if
    /// several were chosen, so that those may be meant.
    pub(super) fn of_all(&self) -> Option<Self> {
        match self.elements() {
            Some(Query::Limit { of, skip: 0, count: 1 }) => {
                Some(Self { last: Step::Ask(unsorted(*of)), ..self.clone() })
            }
            Some(Query::Limit { .. }) => None,
            _ => Some(self.clone()),
        }
    }

    /// The steps of the previous request, repeated by "again", or by "what about x" for another file or folder; `None`
    /// if one of them is a change or asks of something else.
    pub(super) fn repeated(&self, place: Option<&Place>) -> Option<Vec<Step>> {
        let repeated = |step: &Step| match step {
            Step::Ask(query) => {
                let mut query = query.clone();
                place.is_none_or(|place| set_place(&mut query, place)).then_some(Step::Ask(query))
            }
            Step::Do(_) => None,
        };
        self.steps.iter().map(repeated).collect::<Option<Vec<Step>>>().filter(|steps| !steps.is_empty())
    }

    /// The question of the previous request, asked of other kinds of file, as "and the jpgs" asks; `None` if it was not
    /// one question about files of some kinds.
    pub(super) fn retyped(&self, types: &[Pred]) -> Option<Vec<Step>> {
        let [Step::Ask(query)] = self.steps.as_slice() else { return None };
        let mut query = query.clone();
        (set_types(&mut query, types) == 1).then(|| vec![Step::Ask(query.normalise())])
    }

    /// Whether both steps list elements of the same type, so that `next` can leave out its verb.
    pub(super) fn is_listing_like(&self, next: &Step) -> bool {
        let (Step::Ask(last), Step::Ask(next)) = (&self.last, next) else { return false };
        let is_named = matches!(next, Query::Paths { .. });
        !is_named && last.ty() == next.ty() && matches!(next.ty(), Ok(Ty::Files | Ty::Lines))
    }

    /// The query for the files or lines that a pronoun refers to; `None` if ambiguous, as after a copy, or if the
    /// number differs: one file is not "them".
    pub(super) fn selection(&self, reference: Reference) -> Option<Query> {
        let fits = |of: &Query| match of {
            Query::Paths { paths, .. } => (reference == Reference::It) == (paths.len() == 1),
            Query::Limit { count, .. } => reference == Reference::It || *count > 1,
            _ => true,
        };
        self.elements().filter(fits)
    }

    /// The query for the files or lines that the earlier step is about; `None` if it is about neither.
    pub(super) fn elements(&self) -> Option<Query> {
        match &self.last {
            // The lines of such an answer may be a number, of which "the maximum" is none.
            Step::Ask(query) if matches!(query.source(), Query::Known { .. }) => kinds::asked_of(query),
            Step::Ask(query) => Some(without_counts(query)),
            Step::Do(Act::CreateFolder { paths }) => Some(Query::Paths { paths: paths.clone(), kind: Kind::Folder }),
            Step::Do(
                Act::CreateFile { path: made, .. }
                | Act::Archive { to: made, .. }
                | Act::Replace { to: made, .. }
                | Act::Insert { path: made, .. }
                | Act::SetValue { path: made, .. }
                | Act::Save { to: made, .. }
                | Act::Link { path: made, .. }
                | Act::Fetch { to: Some(made), .. }
                | Act::Run { to: Some(made), .. },
            ) => Some(Query::Paths { paths: vec![made.clone()], kind: Kind::File }),
            Step::Do(Act::SetMode { of, .. }) => Some(of.clone()),
            Step::Do(Act::Rename { of: Query::Paths { paths, kind }, change: NameChange::To(name) })
                if paths.len() == 1 =>
            {
                let renamed = |path: &String| format!("{}/{name}", parent(path));
                Some(Query::Paths { paths: paths.iter().map(renamed).collect(), kind: *kind })
            }
            Step::Do(Act::Move { of: Query::Paths { paths, kind }, to }) if paths.len() == 1 => {
                let moved = |path: &String| match to {
                    Target::Into(folder) => format!("{folder}/{}", file_name(path).unwrap_or_default()),
                    Target::As(path) => path.clone(),
                };
                Some(Query::Paths { paths: paths.iter().map(moved).collect(), kind: *kind })
            }
            Step::Do(_) => None,
        }
    }

    /// Whether the earlier step asks for a property, such as the size, of each of exactly these elements.
    pub(super) fn has_figures_of(&self, elements: &Query) -> bool {
        let asks = |query: &Query| matches!(query.ty(), Ok(Ty::Rows | Ty::Groups));
        matches!(&self.last, Step::Ask(query) if asks(query)) && self.elements().as_ref() == Some(elements)
    }

    /// The result that a change named by "it" is made to: the file whose lines were shown, not its lines.
    pub(super) fn changed(&self) -> Option<Self> {
        let Step::Ask(Query::TextFile { path }) = &self.last else { return None };
        let of = Query::Paths { paths: vec![path.clone()], kind: Kind::File };
        (!self.is_in_same_request()).then(|| Self { last: Step::Ask(of), ..self.clone() })
    }

    /// The single file that "it" refers to.
    pub(super) fn file(&self) -> Option<String> {
        if let Step::Ask(query) = &self.last
            && let Query::TextFile { path } = query.source()
        {
            return Some(path.clone());
        }
        match self.selection(Reference::It)? {
            Query::Paths { paths, kind: Kind::File | Kind::Any } if paths.len() == 1 => paths.into_iter().next(),
            _ => self.found.clone(),
        }
    }

    /// The path of the copy that the step has made of one file or folder.
    pub(super) fn copy(&self) -> Option<String> {
        let Step::Do(Act::Copy { of: Query::Paths { paths, .. }, to }) = &self.last else { return None };
        let [path] = paths.as_slice() else { return None };
        Some(match to {
            Target::Into(folder) => format!("{folder}/{}", file_name(path)?),
            Target::As(path) => path.clone(),
        })
    }

    /// Whether "it" is a file with text to show: one that was found, or one that a change has written.
    pub(super) fn is_text_file(&self) -> bool {
        match &self.last {
            Step::Ask(_) => self.elements().is_some_and(|of| of.ty() == Ok(Ty::Files) && of.kind() == Kind::File),
            Step::Do(Act::SetMode { .. }) => false,
            Step::Do(_) => self.file().is_some_and(|path| !is_archive(&path)),
        }
    }

    /// The folder that "there" refers to; `None` if the step has none.
    pub(super) fn folder(&self) -> Option<&str> {
        match &self.last {
            Step::Do(Act::CreateFolder { paths }) => match paths.as_slice() {
                [only] => Some(only),
                _ => None,
            },
            Step::Do(
                Act::Copy { to: Target::Into(folder), .. }
                | Act::Move { to: Target::Into(folder), .. }
                | Act::Extract { to: folder, .. },
            ) => Some(folder),
            _ => None,
        }
    }

    /// Whether a pronoun refers to lines of text rather than files.
    pub(super) fn is_text(&self) -> bool {
        self.elements().is_some_and(|query| query.ty() == Ok(Ty::Lines))
    }
}

/// The query without its sorting.
fn unsorted(query: Query) -> Query {
    if let Query::Sort { of, .. } = query { *of } else { query }
}

/// Replaces the one file or folder that a query reads; `false` if it reads none or several, or if a condition names
/// another one.
fn set_place(query: &mut Query, place: &Place) -> bool {
    match query {
        Query::Tree { roots, .. } if roots.len() == 1 && place.kind != PathKind::File => {
            *roots = vec![place.path.clone()];
            true
        }
        Query::TextFile { path } if place.kind == PathKind::File => {
            path.clone_from(&place.path);
            true
        }
        Query::Filter { keep, .. } if keep.holds(&|pred| matches!(pred, Pred::Inside(_) | Pred::NewerThan(_))) => false,
        Query::Compare { .. } | Query::Tree { .. } | Query::TextFile { .. } => false,
        other => {
            let mut operands = other.operands_mut().peekable();
            operands.peek().is_some() && operands.all(|of| set_place(of, place))
        }
    }
}

/// Replaces the kinds of file that a query selects; returns how many conditions on kinds it had.
fn set_types(query: &mut Query, types: &[Pred]) -> usize {
    let is_kind = |pred: &Pred| match pred {
        Pred::Any(parts) => parts.iter().all(|part| matches!(part, Pred::Extension(_))),
        pred => matches!(pred, Pred::Extension(_)),
    };
    let mut count = query.operands_mut().map(|of| set_types(of, types)).sum();
    if let Query::Filter { keep, .. } = query {
        let mut parts = if let Pred::All(parts) = keep { parts.clone() } else { vec![keep.clone()] };
        for part in parts.iter_mut().filter(|part| is_kind(part)) {
            *part = Pred::Any(types.to_vec());
            count += 1;
        }
        *keep = Pred::All(parts);
    }
    count
}

/// The query without its counts and properties: "how many PDFs" becomes the PDFs.
fn without_counts(query: &Query) -> Query {
    match query {
        Query::Details { of }
        | Query::Field { of, .. }
        | Query::Group { of, .. }
        | Query::Aggregate { of, .. }
        | Query::Numbered { of } => without_counts(of),
        other => other.clone(),
    }
}
