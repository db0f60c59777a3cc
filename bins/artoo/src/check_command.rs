//! `artoo check-command`: shows how the guard classifies a command, without running it.

use std::io::{self, BufRead};

use artoo_proto::escape;
use artoo_tools::{Classification, CommandGuard};

use crate::display::Line;
use crate::display::writer::Screen;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Settings;

/// Classifies one command, or with `-` each line of standard input, which holds a command as a JSON string.
pub(crate) fn run(command: &str, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let guard = CommandGuard::new(settings.tools.clone());
    if command != "-" {
        show(&guard.check(command), settings, screen);
        return Ok(Exit::Accepted);
    }
    for (number, line) in (1..).zip(io::stdin().lock().lines()) {
        let line = line.map_err(|error| Failure::unreadable_input(&error))?;
        if line.trim().is_empty() {
            continue;
        }
        let command: String = serde_json::from_str(&line).map_err(|error| not_a_string(number, &error))?;
        show(&guard.check(&command), settings, screen);
    }
    Ok(Exit::Accepted)
}

fn not_a_string(line: usize, error: &serde_json::Error) -> Failure {
    Failure::usage(format!("line {line} of standard input is not a JSON string"))
        .caused_by(error)
        .with_remedy("write each command as one JSON string on a line of its own")
}

fn show(judged: &Classification, settings: &Settings, screen: &Screen) {
    if settings.json {
        // A struct of strings and a flag can always be serialised.
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
