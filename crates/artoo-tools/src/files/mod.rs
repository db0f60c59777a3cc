//! `files`: folders and files made, copied, moved, renamed, packed, unpacked and thrown away; nothing is overwritten.

mod act;
mod copy;
mod pack;
mod perform;
mod plan;
mod reach;
mod rename;
mod survey;
mod unpack;

pub(crate) use act::{Act, schema};
pub(crate) use perform::{hindered, rename, run};
pub(crate) use plan::{Plan, plan};
pub(crate) use survey::Obstacle;
