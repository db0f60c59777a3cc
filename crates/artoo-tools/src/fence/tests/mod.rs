//! Commands run for real in the sandbox without any other check: nothing outside the workspace may change.

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

/// Maximum characters of a command's output in the messages of failed tests.
const SHOWN_CHARS: usize = 20_000;

/// Prints a text to standard output even if the test passes, such as why a row can't be tried on this machine.
fn print_uncaptured(text: &str) {
    println!("{text}");
}
