//! Words of a known program as known options and operands.

use super::programs::Program;

/// A program's words, told apart.
pub(super) struct Parsed<'a> {
    options: Vec<String>,
    pub(super) operands: Vec<&'a str>,
}

impl Parsed<'_> {
    /// Whether an option was given, by its letter or its long name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|option| option == name)
    }
}

/// Splits words into known options and operands; a word that is neither is the reason for doubt.
pub(super) fn parse<'a>(program: &Program, arguments: &'a [String]) -> Result<Parsed<'a>, String> {
    let unknown = |option: &str| format!("{option} of {} is not known to be harmless", program.name);
    let mut parsed = Parsed { options: Vec::new(), operands: Vec::new() };
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" {
            parsed.operands.extend(words);
            break;
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let is =
                |suffix: &str| program.long.split_whitespace().any(|known| known.strip_suffix(suffix) == Some(name));
            let plain = program.long.split_whitespace().any(|known| known == name);
            match value {
                None if plain || is("?") => {}
                None if is("=") => drop(words.next().ok_or_else(|| unknown(word))?),
                Some(_) if is("=") || is("?") => {}
                None | Some(_) => return Err(unknown(word)),
            }
            parsed.options.push(name.to_owned());
            continue;
        }
        match word.strip_prefix('-') {
            None | Some("") => parsed.operands.push(word),
            Some(cluster) => {
                if short_cluster(program, cluster, &mut parsed.options).ok_or_else(|| unknown(word))? {
                    words.next().ok_or_else(|| unknown(word))?;
                }
            }
        }
    }
    Ok(parsed)
}

/// Reads `-abc`; `true` when the last letter's value is the next word, `None` for an unknown letter.
fn short_cluster(program: &Program, cluster: &str, options: &mut Vec<String>) -> Option<bool> {
    let mut letters = cluster.chars();
    while let Some(letter) = letters.next() {
        let takes_value = program.valued.contains(letter);
        if !takes_value && !program.flags.contains(letter) {
            return None;
        }
        options.push(letter.to_string());
        if takes_value {
            return Some(letters.as_str().is_empty());
        }
    }
    Some(false)
}
