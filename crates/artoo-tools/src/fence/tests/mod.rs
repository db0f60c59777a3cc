//! The fence alone: commands nobody has judged are run for real, and nothing outside the workspace may change.

#![cfg(target_os = "linux")]

mod bomb;
mod classes;
mod cost;
mod escapes;
mod grants;
mod in_view;
mod kept;
mod network;
mod reach;
mod reading;
mod stopping;
mod table;
mod test_home;
mod view;

/// Characters of what a command put out; no row puts out more.
const SHOWN_CHARS: usize = 20_000;

/// Says so, loudly, where a row can't be tried on this machine.
fn say(text: &str) {
    println!("{text}");
}
