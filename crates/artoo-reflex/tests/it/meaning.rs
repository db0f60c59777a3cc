//! The two meanings of a query against each other: `eval` on a tree, and the lowered programs, really run, on the
//! same tree on disk.

mod act;
mod forged;
mod queries;
mod shell;
mod trees;
