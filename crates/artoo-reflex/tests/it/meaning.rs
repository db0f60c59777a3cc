//! Compares `eval` on a tree in memory with the commands for the same query, run on the same tree on disk.

mod act;
mod edit;
mod forged;
mod queries;
mod shell;
pub(super) use shell::run;
mod trees;
