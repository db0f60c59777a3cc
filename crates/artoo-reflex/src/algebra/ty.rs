//! Types of queries: a query that type-checks has a meaning, one that does not is refused.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not named has no meaning, whatever else there comes to be"
)]

use serde::{Deserialize, Serialize};

use super::{Field, Function, GroupKey, Key, Kind, Pred, Query, Relation};

/// What a query yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ty {
    /// Paths.
    Files,
    /// Lines of text.
    Lines,
    /// Paths, each with something about it.
    Rows,
    /// Names of groups, each with its number.
    Groups,
    /// Processes.
    Processes,
    /// One number.
    Number,
    /// A text of its own form.
    Text,
    /// Yes or no.
    Truth,
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
    /// A list that may not be empty is.
    #[error("{0} is missing")]
    Missing(&'static str),
}

impl Query {
    /// What this query yields.
    ///
    /// # Errors
    /// When an operator or a predicate does not apply to its operand.
    pub fn ty(&self) -> Result<Ty, TypeError> {
        match self {
            Self::Tree { roots: several, .. } | Self::Paths { paths: several, .. } if several.is_empty() => {
                Err(TypeError::Missing("a place"))
            }
            Self::Tree { .. } | Self::Paths { .. } => Ok(Ty::Files),
            Self::TextFile { .. } | Self::ArchiveEntries { .. } => Ok(Ty::Lines),
            Self::Processes => Ok(Ty::Processes),
            Self::System { fact } => Ok(fact.ty()),
            Self::TextOf { of } => {
                of.expect("lines of text", Ty::Files)?;
                of.of_files_only("text").map(|()| Ty::Lines)
            }
            Self::Filter { of, keep } => {
                let ty = of.ty()?;
                keep.check(ty, of.kind()).map(|()| ty)
            }
            Self::Sort { of, keys } => self.check_order(of, keys.iter().map(|key| key.by)),
            Self::Limit { of, .. } => match of.ty()? {
                ty @ (Ty::Files | Ty::Groups | Ty::Processes) => Ok(ty),
                found @ (Ty::Lines | Ty::Rows | Ty::Number | Ty::Text | Ty::Truth) => {
                    Err(TypeError::Operand { operator: "limit", found })
                }
            },
            Self::Part { of, .. } => of.expect("a stretch of lines", Ty::Lines),
            Self::Unique { of } | Self::Repeated { of } => of.expect("lines that occur twice", Ty::Lines),
            Self::Words { of } => of.expect("words", Ty::Lines),
            Self::Column { of, .. } => of.expect("a column", Ty::Lines),
            Self::Replace { of, .. } => of.expect("a replacement", Ty::Lines),
            Self::Matches { of, .. } => of.expect("occurrences of a text", Ty::Lines),
            Self::Rewritten { of, .. } => of.expect("another way to write it", Ty::Lines),
            Self::Names { of, .. } => of.expect("names", Ty::Files).map(|_| Ty::Lines),
            Self::Numbered { of } => of.numbered(),
            Self::Compare { of, with, relation } => {
                of.expect("a comparison", Ty::Lines)?;
                with.expect("a comparison", Ty::Lines)?;
                Ok(match relation {
                    Relation::Identical => Ty::Truth,
                    Relation::Difference => Ty::Text,
                    Relation::Common | Relation::OnlyFirst => Ty::Lines,
                })
            }
            Self::Details { of } => of.expect("details", Ty::Files).map(|_| Ty::Rows),
            Self::Field { of, field } => {
                of.expect("a property", Ty::Files)?;
                field.check(of)
            }
            Self::Duplicates { of } => {
                of.expect("duplicates", Ty::Files)?;
                of.of_files_only("content").map(|()| Ty::Rows)
            }
            Self::Group { of, by, function } => {
                by.check(of.ty()?)?;
                function.check(of).map(|()| Ty::Groups)
            }
            Self::Aggregate { of, function: Function::Any } => Function::Any.check(of).map(|()| Ty::Truth),
            Self::Aggregate { of, function } => function.check(of).map(|()| Ty::Number),
        }
    }

    fn check_order(&self, of: &Self, keys: impl Iterator<Item = Key>) -> Result<Ty, TypeError> {
        let ty = of.ty()?;
        let mut keys = keys.peekable();
        if keys.peek().is_none() {
            return Err(TypeError::Missing("the key of an order"));
        }
        keys.try_for_each(|key| key.check(ty, of.kind())).map(|()| ty)
    }

    /// Numbers are those of lines in their files, so nothing between may change, reorder or drop text.
    fn numbered(&self) -> Result<Ty, TypeError> {
        match self {
            Self::TextFile { .. } | Self::TextOf { .. } => self.ty(),
            Self::Filter { of, .. } | Self::Part { of, .. } => of.numbered().and_then(|_| self.ty()),
            _ => Err(TypeError::Operand { operator: "line numbers", found: self.ty()? }),
        }
    }

    fn of_files_only(&self, property: &'static str) -> Result<(), TypeError> {
        of_files_only(self.kind(), property)
    }

    fn expect(&self, operator: &'static str, wanted: Ty) -> Result<Ty, TypeError> {
        let found = self.ty()?;
        if found == wanted { Ok(found) } else { Err(TypeError::Operand { operator, found }) }
    }
}

fn of_files_only(kind: Kind, property: &'static str) -> Result<(), TypeError> {
    match kind {
        Kind::File => Ok(()),
        Kind::Folder | Kind::Link | Kind::Any => Err(TypeError::Property { property, of: "a folder" }),
    }
}

fn of_folders_only(kind: Kind, property: &'static str) -> Result<(), TypeError> {
    match kind {
        Kind::Folder => Ok(()),
        Kind::File | Kind::Link | Kind::Any => Err(TypeError::Property { property, of: "a file" }),
    }
}

impl Key {
    fn check(self, ty: Ty, kind: Kind) -> Result<(), TypeError> {
        match (self, ty) {
            (Self::Size, Ty::Files) => of_files_only(kind, "a size"),
            (Self::Extension, Ty::Files) => of_files_only(kind, "a file type"),
            (Self::TotalSize, Ty::Files) => of_folders_only(kind, "a total size"),
            (Self::Modified | Self::Name | Self::Path, Ty::Files)
            | (Self::Text | Self::Numeric | Self::Length, Ty::Lines)
            | (Self::Value | Self::Name, Ty::Groups)
            | (Self::Memory | Self::Cpu | Self::Name, Ty::Processes) => Ok(()),
            (_, found) => Err(TypeError::Operand { operator: "this order", found }),
        }
    }
}

impl Field {
    fn check(self, of: &Query) -> Result<Ty, TypeError> {
        match self {
            Self::Sha256 | Self::Sha1 | Self::Md5 => of.of_files_only("a hash")?,
            Self::FileType => of.of_files_only("a file type")?,
            Self::Lines | Self::Words => of.of_files_only("text")?,
            Self::TotalSize => of_folders_only(of.kind(), "a total size")?,
            Self::Permissions | Self::Owner | Self::Modified => {}
        }
        Ok(Ty::Rows)
    }
}

impl GroupKey {
    fn check(self, ty: Ty) -> Result<(), TypeError> {
        match (self, ty) {
            (Self::Text, Ty::Lines) => Ok(()),
            (
                Self::Extension | Self::Folder | Self::Day | Self::Month | Self::Year | Self::Kind | Self::Owner,
                Ty::Files,
            ) => Ok(()),
            (_, found) => Err(TypeError::Operand { operator: "this grouping", found }),
        }
    }
}

impl Function {
    fn check(self, of: &Query) -> Result<(), TypeError> {
        let found = of.ty()?;
        match (self, found) {
            (Self::Count | Self::Any, Ty::Files | Ty::Lines | Ty::Processes | Ty::Groups) => Ok(()),
            (Self::Count | Self::Any, Ty::Rows) if matches!(of, Query::Duplicates { .. }) => Ok(()),
            (Self::TotalBytes | Self::AverageBytes | Self::LargestBytes | Self::SmallestBytes, Ty::Files) => {
                of.of_files_only("a size")
            }
            (Self::Words | Self::Characters | Self::Sum | Self::Average | Self::Minimum | Self::Maximum, Ty::Lines) => {
                Ok(())
            }
            (Self::Count, found) => Err(TypeError::Operand { operator: "a count", found }),
            (Self::TotalBytes, found) => Err(TypeError::Operand { operator: "a sum of sizes", found }),
            (_, found) => Err(TypeError::Operand { operator: "this number", found }),
        }
    }
}

impl Pred {
    fn check(&self, ty: Ty, kind: Kind) -> Result<(), TypeError> {
        match ty {
            Ty::Files => self.check_on_files(kind),
            Ty::Lines => self.check_on_lines(),
            Ty::Processes => self.check_on_processes(),
            Ty::Rows | Ty::Groups | Ty::Number | Ty::Text | Ty::Truth => {
                Err(TypeError::Operand { operator: "filter", found: ty })
            }
        }
    }

    fn check_on_files(&self, kind: Kind) -> Result<(), TypeError> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().try_for_each(|part| part.check_on_files(kind)),
            // A folder is never a PDF, so "everything except PDFs" has a meaning.
            Self::Not(inner) if matches!(**inner, Self::Extension(_)) && kind == Kind::Any => Ok(()),
            Self::Not(inner) => inner.check_on_files(kind),
            Self::MinBytes(_) | Self::MaxBytes(_) => of_files_only(kind, "a size"),
            Self::Contains { .. } | Self::Word { .. } => of_files_only(kind, "text"),
            Self::Extension(_) => of_files_only(kind, "a file type"),
            Self::Executable => of_files_only(kind, "the right to be executed"),
            Self::EmptyFolder => of_folders_only(kind, "emptiness of a folder"),
            Self::Name(_) | Self::NameIgnoringCase(_) | Self::Below(_) | Self::Inside(_) | Self::NewerThan(_) => Ok(()),
            Self::Mode(_) | Self::ModeAll(_) | Self::Owner(_) | Self::Group(_) => Ok(()),
            Self::AccessedFrom(_) | Self::AccessedBefore(_) | Self::ModifiedFrom(_) | Self::ModifiedBefore(_) => Ok(()),
            _ => Err(TypeError::Property { property: "a line's form", of: "a file" }),
        }
    }

    fn check_on_lines(&self) -> Result<(), TypeError> {
        let property = match self {
            Self::All(parts) | Self::Any(parts) => return parts.iter().try_for_each(Self::check_on_lines),
            Self::Not(inner) => return inner.check_on_lines(),
            Self::Contains { .. } | Self::Word { .. } => return Ok(()),
            Self::Line(_) | Self::Blank | Self::MinLength(_) | Self::MaxLength(_) => return Ok(()),
            Self::MinBytes(_) | Self::MaxBytes(_) => "a file size",
            Self::Extension(_) | Self::Name(_) | Self::NameIgnoringCase(_) | Self::Below(_) | Self::Inside(_) => {
                "a name"
            }
            Self::EmptyFolder | Self::Executable | Self::Mode(_) | Self::ModeAll(_) => "permissions",
            Self::Owner(_) | Self::Group(_) => "permissions",
            _ => "a time of change",
        };
        Err(TypeError::Property { property, of: "a line of text" })
    }

    fn check_on_processes(&self) -> Result<(), TypeError> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().try_for_each(Self::check_on_processes),
            Self::Not(inner) => inner.check_on_processes(),
            Self::Name(_) | Self::Owner(_) => Ok(()),
            _ => Err(TypeError::Property { property: "this", of: "a process" }),
        }
    }
}
