//! `artoo memory`: the records of the memory, written for other programs.

use artoo_proto::escape;
use artoo_proto::units::count;
use artoo_roles::runtime::export_memory_index;
use serde_json::json;

use crate::args::MemoryCommand;
use crate::display::Line;
use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Settings;

/// Name of the schema of `artoo memory`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.memory_index/0";

/// Writes all records of the memory as a LevelDB into a new or empty folder.
pub(crate) fn run(command: &MemoryCommand, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let MemoryCommand::Index { folder } = command;
    let records = export_memory_index(&settings.data_dir, folder)?;
    let path = escape::one_line(&folder.display().to_string());
    let line = Line::plain(format!("{} written to {path}", count(records as u64, "record", "records")));
    screen.report(settings.json, SCHEMA, json!({"records": records, "path": folder}), &[line]);
    Ok(Exit::Accepted)
}
