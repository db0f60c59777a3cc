//! Resolves "those", "it" and "there" to the result of the step before.

use crate::algebra::{Act, Kind, NameChange, Query, Step, Target, Ty};
use crate::place::{file_name, parent};

/// The earlier step that "those" and "it" refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Antecedent {
    /// All steps of the previous request; empty if the antecedent is an earlier step of the same request.
    pub(super) steps: Vec<Step>,
    pub(super) last: Step,
}

impl Antecedent {
    /// The antecedent for a request that follows a whole request.
    pub(super) fn of_request(steps: &[Step]) -> Option<Self> {
        Some(Self { steps: steps.to_vec(), last: steps.last()?.clone() })
    }

    /// The antecedent for a step that follows a step of the same request.
    pub(super) fn of_step(step: &Step) -> Self {
        Self { steps: Vec::new(), last: step.clone() }
    }

    /// The query for the files or lines that "those" refers to; `None` if ambiguous, as after a copy.
    pub(super) fn selection(&self) -> Option<Query> {
        match &self.last {
            Step::Ask(query) => Some(things(query)),
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

    /// The single file that "it" refers to.
    pub(super) fn file(&self) -> Option<String> {
        if let Step::Ask(query) = &self.last
            && let Query::TextFile { path } = query.source()
        {
            return Some(path.clone());
        }
        match self.selection()? {
            Query::Paths { paths, kind: Kind::File | Kind::Any } if paths.len() == 1 => paths.into_iter().next(),
            _ => None,
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

    /// Whether "those" refers to lines of text rather than files.
    pub(super) fn is_text(&self) -> bool {
        self.selection().is_some_and(|query| query.ty() == Ok(Ty::Lines))
    }
}

/// The elements that a question is about, without counts or properties.
fn things(query: &Query) -> Query {
    match query {
        Query::Details { of }
        | Query::Field { of, .. }
        | Query::Group { of, .. }
        | Query::Aggregate { of, .. }
        | Query::Numbered { of } => things(of),
        other => other.clone(),
    }
}
