//! Types of queries: a query that type-checks has a meaning, one that does not is refused.

use serde::{Deserialize, Serialize};

use super::{Function, Kind, Pred, Query};

/// What a query yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ty {
    /// Paths.
    Files,
    /// Lines of text.
    Lines,
    /// Paths, each with its length and time.
    Rows,
    /// One number.
    Number,
}

/// A query without a meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// An operator over something it does not apply to.
    #[error("{operator} does not apply to {found:?}")]
    Operand {
        /// The operator.
        operator: &'static str,
        /// What it was given.
        found: Ty,
    },
    /// A predicate on something that has no such property.
    #[error("{property} is asked of {of}, which has none")]
    Property {
        /// The property.
        property: &'static str,
        /// What it was asked of.
        of: &'static str,
    },
}

impl Query {
    /// What this query yields.
    ///
    /// # Errors
    /// When an operator or a predicate does not apply to its operand.
    pub fn ty(&self) -> Result<Ty, TypeError> {
        match self {
            Self::Tree { .. } => Ok(Ty::Files),
            Self::TextFile { .. } => Ok(Ty::Lines),
            Self::Filter { of, keep } => {
                let ty = of.ty()?;
                match ty {
                    Ty::Files => keep.check_on_files(of.kind())?,
                    Ty::Lines => keep.check_on_lines()?,
                    Ty::Rows | Ty::Number => return Err(TypeError::Operand { operator: "filter", found: ty }),
                }
                Ok(ty)
            }
            Self::Sort { of, by, .. } => {
                of.expect("sort", Ty::Files)?;
                if *by == super::Key::Size && of.kind() != Kind::File {
                    return Err(TypeError::Property { property: "a size", of: "a folder" });
                }
                Ok(Ty::Files)
            }
            Self::Limit { of, .. } => of.expect("limit", Ty::Files),
            Self::Part { of, .. } => of.expect("a stretch of lines", Ty::Lines),
            Self::Details { of } => of.expect("details", Ty::Files).map(|_| Ty::Rows),
            Self::Aggregate { of, function } => match (function, of.ty()?) {
                (Function::Count, Ty::Files | Ty::Lines) => Ok(Ty::Number),
                (Function::TotalBytes, Ty::Files) if of.kind() == Kind::File => Ok(Ty::Number),
                (Function::TotalBytes, Ty::Files) => Err(TypeError::Property { property: "a size", of: "a folder" }),
                (Function::Count, found @ (Ty::Rows | Ty::Number)) => {
                    Err(TypeError::Operand { operator: "a count", found })
                }
                (Function::TotalBytes, found @ (Ty::Lines | Ty::Rows | Ty::Number)) => {
                    Err(TypeError::Operand { operator: "a sum of sizes", found })
                }
            },
        }
    }

    /// What counts as an element; files for a text.
    fn kind(&self) -> Kind {
        match self {
            Self::Tree { kind, .. } => *kind,
            Self::TextFile { .. } => Kind::File,
            Self::Filter { of, .. }
            | Self::Sort { of, .. }
            | Self::Limit { of, .. }
            | Self::Part { of, .. }
            | Self::Details { of }
            | Self::Aggregate { of, .. } => of.kind(),
        }
    }

    fn expect(&self, operator: &'static str, wanted: Ty) -> Result<Ty, TypeError> {
        let found = self.ty()?;
        if found == wanted { Ok(found) } else { Err(TypeError::Operand { operator, found }) }
    }
}

impl Pred {
    fn check_on_files(&self, kind: Kind) -> Result<(), TypeError> {
        let of_files_only = |property| match kind {
            Kind::File => Ok(()),
            Kind::Folder | Kind::Any => Err(TypeError::Property { property, of: "a folder" }),
        };
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().try_for_each(|part| part.check_on_files(kind)),
            // A folder is never a PDF, so "everything except PDFs" has a meaning.
            Self::Not(inner) if matches!(**inner, Self::Extension(_)) && kind == Kind::Any => Ok(()),
            Self::Not(inner) => inner.check_on_files(kind),
            Self::MinBytes(_) | Self::MaxBytes(_) => of_files_only("a size"),
            Self::Contains { .. } => of_files_only("text"),
            Self::Extension(_) => of_files_only("a file type"),
            Self::Name(_) | Self::ModifiedFrom(_) | Self::ModifiedBefore(_) => Ok(()),
        }
    }

    fn check_on_lines(&self) -> Result<(), TypeError> {
        let of_files = |property| Err(TypeError::Property { property, of: "a line of text" });
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().try_for_each(Self::check_on_lines),
            Self::Not(inner) => inner.check_on_lines(),
            Self::Contains { .. } => Ok(()),
            Self::MinBytes(_) | Self::MaxBytes(_) => of_files("a file size"),
            Self::Extension(_) | Self::Name(_) => of_files("a name"),
            Self::ModifiedFrom(_) | Self::ModifiedBefore(_) => of_files("a time of change"),
        }
    }
}
