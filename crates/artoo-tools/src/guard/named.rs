//! What an unproven command seems to name: best effort for the person who is asked, never proof.

use super::danger;
use super::objection::{CommandClass, Objection};
use super::syntax::Doubt;

/// Parts of a command that may be paths, for a command that could not be read as words.
///
/// Quoted parts are taken whole and in pieces, since a quote may hold one name with blanks or a command of its own.
pub(super) fn path_like(command: &str) -> Vec<String> {
    let between_quotes = command.split(['\'', '"']).skip(1).step_by(2);
    let pieces = command.split(|c: char| c.is_whitespace() || "|&;<>()`'\"$=".contains(c));
    let mut parts: Vec<String> = Vec::new();
    for part in pieces.chain(between_quotes) {
        let is_new = !part.is_empty() && !part.starts_with('-') && !parts.iter().any(|known| known == part);
        if is_new {
            parts.push(part.to_owned());
        }
    }
    parts
}

/// A doubt about a text, with the kind of harm its words suggest.
pub(super) fn feared(command: &str, doubt: &Doubt) -> Objection {
    let worst = path_like(command)
        .iter()
        .map(|word| danger::objection(word, &[]).class)
        .max_by_key(|class| matches!(class, CommandClass::Irreversible | CommandClass::Exfil));
    Objection { class: worst.unwrap_or(CommandClass::Opaque), reason: doubt.to_string() }
}
