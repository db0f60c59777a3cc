//! `files` and `trash`: create, copy, move, rename, edit, pack, unpack and delete files. Only the act `write` replaces
//! content.

mod act;
mod copy;
mod edit;
mod pack;
mod perform;
mod plan;
mod reach;
mod rename;
mod survey;
mod tool;
mod unpack;

pub(crate) use act::{Act, schema, trash_schema};
pub(crate) use copy::{copy, copy_until_deadline, inventory};
pub(crate) use perform::{Side, move_item, remove, rename, run};
pub(crate) use plan::{Plan, plan};
pub(crate) use tool::Files;
