//! Turns a query into one tool call ("lowering"). A query that the tools can't compute exactly is refused.

mod facts;
mod files;
mod find;
mod folders;
mod grep;
mod lines;
mod pipeline;
mod processes;
mod selection;
pub(crate) mod typed;

use artoo_proto::ToolRequest;
use serde_json::json;

use crate::algebra::{Function, Query, Relation, Ty};
use crate::ensure::ensure;

pub(crate) use pipeline::{Argv, Pipeline};

/// Why no tool call computes a query exactly; the text names the part of the query that can't be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// No single call computes this combination of operators.
    #[error("{0} is not within what the built-in tools compute")]
    Arrangement(&'static str),
    /// No call tests this predicate exactly.
    #[error("{0} can't be tested exactly")]
    Predicate(&'static str),
    /// The sandbox hides this information from programs.
    #[error("{0} can't be asked of the kernel in the sandbox that artoo runs programs in")]
    Sandboxed(&'static str),
    /// The edit can't be carried out on what the file holds; the text says why.
    #[error("{0}")]
    Edit(String),
    /// The programs of this operating system don't compute this in the same way.
    #[error("{0} is not computed in the same way on this system")]
    System(&'static str),
}

/// The command-line programs of an operating system: GNU's on Linux, BSD's on macOS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Programs {
    /// The GNU programs, on Linux.
    Gnu,
    /// The programs of macOS.
    Bsd,
}

impl Programs {
    /// The command-line programs of an operating system by its name, such as "linux"; an error for an unknown one.
    fn of(os: &str) -> Result<Self, Unsupported> {
        match os {
            "linux" => Ok(Self::Gnu),
            "macos" => Ok(Self::Bsd),
            _ => Err(Unsupported::System("this")),
        }
    }

    /// Returns an error that names `what` unless the programs are GNU's.
    fn gnu_only(self, what: &'static str) -> Result<(), Unsupported> {
        if self == Self::Gnu { Ok(()) } else { Err(Unsupported::System(what)) }
    }
}

/// The tool call that answers a query in normal form: a typed tool, else read-only programs.
///
/// `os` is [`artoo_proto::Environment::os`].
///
/// # Errors
/// `Unsupported` if no single call computes exactly this query.
pub fn lower(query: &Query, os: &str) -> Result<ToolRequest, Unsupported> {
    let typed = match typed::call(query) {
        Ok(call) => return Ok(call),
        Err(unsupported) => unsupported,
    };
    ensure(query.ty().is_ok(), || typed)?;
    Ok(ToolRequest { tool: "shell".to_owned(), input: json!({ "pipeline": programs(query, os)? }) })
}

/// The programs, with their arguments, that answer a query, even if a typed tool answers it too.
pub(crate) fn programs(query: &Query, os: &str) -> Result<Vec<Vec<String>>, Unsupported> {
    let ty = query.ty().map_err(|_| Unsupported::Arrangement("a query without meaning"))?;
    command(query, ty, Programs::of(os)?)?.programs()
}

/// The programs that print the paths of a query's files in order, each with a NUL after it.
pub(crate) fn files_to(query: &Query) -> Result<Pipeline, Unsupported> {
    selection::paths(query, Programs::Gnu)
}

/// The programs that print the lines of a query.
pub(crate) fn lines_to(query: &Query) -> Result<Pipeline, Unsupported> {
    lines::text(query, Programs::Gnu)
}

/// The programs that print the number that a query gives.
pub(crate) fn number_to(query: &Query) -> Result<Pipeline, Unsupported> {
    command(query, Ty::Number, Programs::Gnu)
}

/// The programs that answer a query whose result has this type.
fn command(query: &Query, ty: Ty, programs: Programs) -> Result<Pipeline, Unsupported> {
    match (query, ty) {
        (Query::System { fact }, _) => facts::fact(fact, programs),
        (Query::Compare { of, with, relation: Relation::Difference }, _) => {
            lines::difference(Argv::bytewise("diff -a"), of, with)
        }
        (_, Ty::Processes) => processes::shown(query, programs),
        (_, Ty::Files | Ty::Rows) => files::shown(query, programs),
        (_, Ty::Groups) => files::groups(query, programs),
        (_, Ty::Lines) => lines::shown(query, programs),
        (Query::Aggregate { of, .. }, Ty::Truth) => {
            let count = Query::Aggregate { of: of.clone(), function: Function::Count };
            let in_words = Argv::bytewise("sed -e").value("s/^ *0$/no/").and("-e").value("s/^ *[1-9][0-9]*$/yes/");
            command(&count, Ty::Number, programs).map(|count| count.pipe(in_words))
        }
        (Query::Compare { of, with, relation }, Ty::Truth) => {
            let compared = lines::difference(Argv::new("diff -q -s"), of, with)?;
            let in_words =
                Argv::bytewise("sed -e").value("s/.* are identical$/yes/").and("-e").value("s/.* differ$/no/");
            Ok(if *relation == Relation::Told { compared } else { compared.pipe(in_words) })
        }
        (Query::Aggregate { of, function }, Ty::Number) => match of.ty() {
            Ok(Ty::Files | Ty::Rows) => files::number(of, *function, programs),
            Ok(Ty::Lines) => lines::number(of, *function, programs),
            Ok(Ty::Groups) => files::groups(of, programs).map(|groups| groups.pipe(lines::count())),
            Ok(Ty::Processes) => processes::shown(of, programs).map(|rows| rows.pipe(lines::count())),
            _ => Err(Unsupported::Arrangement("this number")),
        },
        _ => Err(Unsupported::Arrangement("this combination")),
    }
}
