//! `artoo check-command`: assesses the risks of a shell command from its text, without running it.

use std::io::{self, BufRead};

use artoo_proto::escape;
use artoo_tools::{Assessor, CommandAssessment};

use crate::{Exit, Failure, Line, Screen, Settings};

/// Shows the risks of one command, or with `-` of each command on standard input (a JSON string a line).
pub(crate) fn run(command: &str, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let assessor = Assessor::new(settings.tools.clone());
    if command != "-" {
        show(&assessor.assess(command), settings, screen);
        return Ok(Exit::Accepted);
    }
    for (number, line) in (1..).zip(io::stdin().lock().lines()) {
        let line = line.map_err(|source| Failure::UnreadableInput { source })?;
        if line.trim().is_empty() {
            continue;
        }
        let command: String =
            serde_json::from_str(&line).map_err(|source| Failure::NotJsonString { line: number, source })?;
        show(&assessor.assess(&command), settings, screen);
    }
    Ok(Exit::Accepted)
}

/// Shows the assessment of a command as text or JSON.
fn show(assessed: &CommandAssessment, settings: &Settings, screen: &Screen) {
    if settings.json {
        // A struct of strings can always be serialised.
        screen.json(&serde_json::to_value(assessed).unwrap_or_default());
        return;
    }
    let risks = match assessed.risks.as_slice() {
        [] => "its words show no known risk, which proves nothing".to_owned(),
        risks => format!("it may do this, as its words say: {}", risks.join(", ")),
    };
    let mut lines = vec![escape::visible(&assessed.command)];
    match &assessed.refused {
        Some(reason) => lines.push(format!("  refused: {}", escape::one_line(reason))),
        None => lines.extend([
            format!("  not refused; {risks}"),
            "  `artoo try \"<command>\"` shows what it would really change".to_owned(),
        ]),
    }
    screen.answer(&lines.into_iter().map(Line::plain).collect::<Vec<_>>());
}
