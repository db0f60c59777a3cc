//! The columns of an answer's lines, for people who read them on a terminal.

use artoo_proto::Column;

use super::{Fact, Field, Function, GroupKey, NamePart, Query, Ty};

impl Query {
    /// The columns of the lines that answer the query; empty if the lines are text without columns.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        match self {
            Self::Details { .. } => vec![Column::Bytes, Column::Time, Column::Path],
            Self::Field { field, .. } => vec![of_field(*field), Column::Path],
            Self::Duplicates { .. } => vec![Column::Text, Column::Path],
            Self::Group { by, function, .. } => {
                let name = if *by == GroupKey::Folder { Column::Path } else { Column::Text };
                vec![of_function(*function), name]
            }
            Self::Aggregate { function, .. } => vec![of_function(*function)],
            Self::Names { part: NamePart::Folder, .. } => vec![Column::Path],
            Self::System { fact } if is_in_bytes(fact) => vec![Column::Bytes],
            Self::Sort { of, .. } | Self::Limit { of, .. } if self.ty() != Ok(Ty::Lines) => of.columns(),
            _ if self.ty() == Ok(Ty::Files) => vec![Column::Path],
            _ => Vec::new(),
        }
    }
}

/// The column that shows a property of files.
fn of_field(field: Field) -> Column {
    match field {
        Field::Modified => Column::Time,
        Field::TotalSize => Column::Bytes,
        Field::Lines | Field::Words => Column::Count,
        _ => Column::Text,
    }
}

/// The column that shows a number computed from elements.
fn of_function(function: Function) -> Column {
    match function {
        Function::Count | Function::Words | Function::Characters => Column::Count,
        Function::Any | Function::Sum | Function::Average | Function::Minimum | Function::Maximum => Column::Text,
        _ => Column::Bytes,
    }
}

/// Whether the value of a fact of the machine, such as the free memory, is a number of bytes.
fn is_in_bytes(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::DiskFree { .. }
            | Fact::DiskUsed { .. }
            | Fact::DiskTotal { .. }
            | Fact::DiskUsage { .. }
            | Fact::MemoryFree
            | Fact::MemoryUsed
            | Fact::MemoryTotal
            | Fact::SwapTotal
            | Fact::SwapUsed
            | Fact::SwapFree
    )
}
