//! `artoo check-command`: what the guard makes of a command, without running anything.

use std::io::{self, BufRead};

use artoo_proto::escape;
use artoo_tools::{Classification, CommandGuard};

use crate::display::Line;
use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Settings;

/// Judges one command, or with `-` each line of standard input, which is a command as a JSON string.
pub(crate) fn run(command: &str, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let guard = CommandGuard::new(settings.tools.clone());
    if command != "-" {
        show(&guard.check(command), settings, screen);
        return Ok(Exit::Accepted);
    }
    for (number, line) in (1..).zip(io::stdin().lock().lines()) {
        let line = line.map_err(|source| Failure::Input { source })?;
        if line.trim().is_empty() {
            continue;
        }
        let command: String =
            serde_json::from_str(&line).map_err(|source| Failure::NoJsonString { line: number, source })?;
        show(&guard.check(&command), settings, screen);
    }
    Ok(Exit::Accepted)
}

fn show(judged: &Classification, settings: &Settings, screen: &Screen) {
    if settings.json {
        // A value of texts and a flag always has a JSON form.
        screen.json(&serde_json::to_value(judged).unwrap_or_default());
        return;
    }
    let verdict = if judged.ask { "asks" } else { "runs without asking" };
    let class = serde_json::to_value(judged.class).unwrap_or_default();
    let mut lines = vec![
        Line::plain(escape::visible(&judged.command)),
        Line::plain(format!(
            "  {verdict} ({}): {}",
            class.as_str().unwrap_or_default(),
            escape::one_line(&judged.reason)
        )),
    ];
    lines.extend(judged.effects.iter().map(|effect| Line::plain(format!("  {}", escape::one_line(effect)))));
    screen.answer(&lines);
}
