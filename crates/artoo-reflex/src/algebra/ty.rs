//! Type checking of queries: a query that does not type-check is refused.

use serde::{Deserialize, Serialize};

use super::{Field, Function, GroupKey, Key, Kind, Pred, Query, Relation};

/// The type of a query's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ty {
    /// Paths of files or folders.
    Files,
    /// Lines of text.
    Lines,
    /// Paths, each with a property of the file, such as its hash.
    Rows,
    /// Groups of elements: names, each with a number.
    Groups,
    /// A list of running processes.
    Processes,
    /// A single number.
    Number,
    /// A text that is not a list of lines, such as a date or a diff.
    Text,
    /// A yes/no answer.
    Truth,
}

/// Why a query does not type-check: an operator doesn't fit its operand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// An operator is applied to an operand of the wrong type.
    #[error("{operator} does not apply to {found:?}")]
    Operand {
        /// The name of the operator in the error message, such as "a comparison".
        operator: &'static str,
        /// The type of the operand that the operator doesn't accept.
        found: Ty,
    },
    /// A query asks for a property that its elements don't have, such as the text of a folder.
    #[error("{property} is asked of {of}, which has none")]
    Property {
        /// The name of the missing property in the error message.
        property: &'static str,
        /// The name of the elements in the error message, such as "a folder".
        of: &'static str,
    },
    /// A list that must not be empty is empty; the text names what is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
}

impl Query {
    /// The type of the query's result.
    ///
    /// # Errors
    /// `TypeError` if an operator or a predicate does not apply to its operand, or a required list is empty.
    pub fn ty(&self) -> Result<Ty, TypeError> {
        match self {
            Self::Tree { roots: several, .. } | Self::Paths { paths: several, .. } if several.is_empty() => {
                Err(TypeError::Missing("a place"))
            }
            Self::Tree { .. } | Self::Paths { .. } => Ok(Ty::Files),
            Self::TextFile { .. } | Self::ArchiveEntries { .. } => Ok(Ty::Lines),
            Self::Known { .. } => Ok(Ty::Lines),
            Self::Processes => Ok(Ty::Processes),
            Self::System { fact } => Ok(fact.ty()),
            Self::TextOf { of } => {
                of.expect("lines of text", Ty::Files)?;
                of_files_only(of.kind(), "text").map(|()| Ty::Lines)
            }
            Self::Filter { of, keep } => {
                let ty = of.ty()?;
                keep.check(ty, of.kind()).map(|()| ty)
            }
            Self::Sort { of, keys } => {
                let ty = of.ty()?;
                match keys.as_slice() {
                    [] => Err(TypeError::Missing("the key of an order")),
                    keys => keys.iter().try_for_each(|key| key.by.check(ty, of.kind())).map(|()| ty),
                }
            }
            Self::Limit { of, .. } => match of.ty()? {
                ty @ (Ty::Files | Ty::Groups | Ty::Processes) => Ok(ty),
                found => Err(TypeError::Operand { operator: "limit", found }),
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
                    Relation::Identical | Relation::Told => Ty::Truth,
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
                of_files_only(of.kind(), "content").map(|()| Ty::Rows)
            }
            Self::Group { of, by, function } => {
                by.check(of.ty()?)?;
                function.check(of).map(|()| Ty::Groups)
            }
            Self::Aggregate { of, function: Function::Any } => Function::Any.check(of).map(|()| Ty::Truth),
            Self::Aggregate { of, function } => function.check(of).map(|()| Ty::Number),
        }
    }

    /// Checks the operand of `Query::Numbered`: no operator in it may reorder, change or add lines.
    fn numbered(&self) -> Result<Ty, TypeError> {
        match self {
            Self::TextFile { .. } | Self::TextOf { .. } => self.ty(),
            Self::Filter { of, .. } | Self::Part { of, .. } => of.numbered().and_then(|_| self.ty()),
            _ => Err(TypeError::Operand { operator: "line numbers", found: self.ty()? }),
        }
    }

    /// The query's type, or an error naming the operator if the type is not the wanted one.
    fn expect(&self, operator: &'static str, wanted: Ty) -> Result<Ty, TypeError> {
        let found = self.ty()?;
        if found == wanted { Ok(found) } else { Err(TypeError::Operand { operator, found }) }
    }
}

/// Checks that elements of this kind are regular files; else an error that names the property they don't have.
fn of_files_only(kind: Kind, property: &'static str) -> Result<(), TypeError> {
    if kind == Kind::File { Ok(()) } else { Err(TypeError::Property { property, of: "a folder" }) }
}

/// Checks that elements of this kind are folders; else an error that names the property they don't have.
fn of_folders_only(kind: Kind, property: &'static str) -> Result<(), TypeError> {
    if kind == Kind::Folder { Ok(()) } else { Err(TypeError::Property { property, of: "a file" }) }
}

impl Key {
    /// Checks that elements of this type and kind can be sorted by this key.
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
    /// Checks that the query's elements have this property; the result is always `Ty::Rows`.
    fn check(self, of: &Query) -> Result<Ty, TypeError> {
        match self {
            Self::Sha256 | Self::Sha1 | Self::Md5 => of_files_only(of.kind(), "a hash")?,
            Self::FileType => of_files_only(of.kind(), "a file type")?,
            Self::Lines | Self::Words => of_files_only(of.kind(), "text")?,
            Self::TotalSize => of_folders_only(of.kind(), "a total size")?,
            Self::Permissions | Self::Owner | Self::Modified => {}
        }
        Ok(Ty::Rows)
    }
}

impl GroupKey {
    /// Checks that elements of this type can be grouped by this key.
    fn check(self, ty: Ty) -> Result<(), TypeError> {
        let wanted = if self == Self::Text { Ty::Lines } else { Ty::Files };
        if ty == wanted { Ok(()) } else { Err(TypeError::Operand { operator: "this grouping", found: ty }) }
    }
}

impl Function {
    /// Checks that this function can be computed from the query's elements.
    fn check(self, of: &Query) -> Result<(), TypeError> {
        let found = of.ty()?;
        match (self, found) {
            (Self::Count | Self::Any, Ty::Files | Ty::Lines | Ty::Processes | Ty::Groups) => Ok(()),
            (Self::Count | Self::Any, Ty::Rows) if matches!(of, Query::Duplicates { .. }) => Ok(()),
            (Self::TotalBytes | Self::AverageBytes | Self::LargestBytes | Self::SmallestBytes, Ty::Files) => {
                of_files_only(of.kind(), "a size")
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
    /// Checks that every leaf of the predicate is a condition on elements of this type and kind.
    fn check(&self, ty: Ty, kind: Kind) -> Result<(), TypeError> {
        let of = match (ty, kind) {
            (Ty::Files, Kind::File) => "a file",
            (Ty::Files, _) => "a folder",
            (Ty::Lines, _) => "a line of text",
            (Ty::Processes, _) => "a process",
            _ => return Err(TypeError::Operand { operator: "filter", found: ty }),
        };
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().try_for_each(|part| part.check(ty, kind)),
            // A folder is never a PDF, so "everything except PDFs" has a meaning.
            Self::Not(inner) if matches!(**inner, Self::Extension(_)) && (ty, kind) == (Ty::Files, Kind::Any) => Ok(()),
            Self::Not(inner) => inner.check(ty, kind),
            leaf => {
                let (property, types, only) = leaf.tested();
                let fits = types.contains(&ty) && (ty != Ty::Files || only.is_none_or(|only| only == kind));
                if fits { Ok(()) } else { Err(TypeError::Property { property, of }) }
            }
        }
    }

    /// For a leaf (a single condition): the property it tests, the types of elements that have it, and the only kind of
    /// entry that has it.
    fn tested(&self) -> (&'static str, &'static [Ty], Option<Kind>) {
        match self {
            Self::MinBytes(_) | Self::MaxBytes(_) => ("a size", &[Ty::Files], Some(Kind::File)),
            Self::Contains { .. } | Self::Word { .. } => ("text", &[Ty::Files, Ty::Lines], Some(Kind::File)),
            Self::Extension(_) => ("a file type", &[Ty::Files], Some(Kind::File)),
            Self::Executable => ("the right to be executed", &[Ty::Files], Some(Kind::File)),
            Self::EmptyFolder => ("emptiness of a folder", &[Ty::Files], Some(Kind::Folder)),
            Self::Line(_) | Self::Blank | Self::MinLength(_) | Self::MaxLength(_) => {
                ("a line's form", &[Ty::Lines], None)
            }
            Self::Name(_) => ("a name", &[Ty::Files, Ty::Processes], None),
            Self::Owner(_) => ("an owner", &[Ty::Files, Ty::Processes], None),
            Self::NameIgnoringCase(_) | Self::Below(_) | Self::Inside(_) => ("a name", &[Ty::Files], None),
            Self::Mode(_) | Self::ModeAll(_) | Self::Group(_) => ("permissions", &[Ty::Files], None),
            _ => ("a time of change", &[Ty::Files], None),
        }
    }
}
