//! The program `artoo`: arguments, display and exit codes around `artoo-roles`. Decides nothing about a task.

mod abilities;
mod args;
mod audit;
mod call_monitor;
mod check_command;
mod clock;
mod config;
mod config_edit;
mod display;
mod doctor;
mod estimate;
mod evidence;
mod exit;
mod failure;
mod heap;
mod help;
mod leftovers;
mod logging;
mod memory;
mod model;
mod model_choice;
mod model_files;
mod money;
mod repl;
mod rules;
mod session;
mod settings;
mod setup;
mod shell_files;
mod show_config;
mod signals;
mod skill_use;
mod skills;
mod spending;
mod start;
mod suggest;
mod task;
mod tasks;
mod terminal;
mod texts;
mod tool_config;
mod try_command;
mod undo;
mod variables;

use std::panic::catch_unwind;
use std::process::ExitCode;

use display::Line;
use display::writer::Screen;
use exit::Exit;
use failure::Failure;
use settings::Settings;
use variables::Variables;

/// Starts artoo; a panic ends with the exit code of an internal failure.
fn main() -> ExitCode {
    heap::use_one_heap();
    // A panic at start or exit is an internal failure with its own exit code, not a crash.
    catch_unwind(start::start).unwrap_or(Exit::Internal.code()).into()
}
