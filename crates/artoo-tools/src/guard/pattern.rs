//! Patterns of file names: what they match on the disk now, and whether they could ever reach a protected place.

use std::fs;
use std::path::{Path, PathBuf};

use super::judge::{Judge, State};
use super::objection::Objection;

/// Entries of folders looked at for one pattern; more are not proven.
const ENTRIES_MAX: usize = 8192;

/// One element of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Element {
    Char(char),
    /// `*`
    Any,
    /// `?`
    One,
    /// `[…]`: its members are not told apart, so it fits every character.
    Set,
}

/// A pattern as elements, in order.
pub(crate) type Pattern = Vec<Element>;

/// Elements of a part that is a wild one.
pub(crate) fn wild(text: &str) -> Element {
    match text {
        "*" => Element::Any,
        "?" => Element::One,
        _ => Element::Set,
    }
}

/// The pattern as it is written.
pub(crate) fn written(pattern: &[Element]) -> String {
    pattern
        .iter()
        .map(|element| match element {
            Element::Char(c) => *c,
            Element::Any => '*',
            Element::One | Element::Set => '?',
        })
        .collect()
}

/// Names the pattern fits now, as a shell would pass them; sets are read as any character, so there may be more.
pub(crate) fn found(pattern: &[Element], cwd: &Path) -> Result<Vec<String>, Objection> {
    let mut budget = ENTRIES_MAX;
    let is_absolute = pattern.first() == Some(&Element::Char('/'));
    let mut found = vec![if is_absolute { "/".to_owned() } else { String::new() }];
    let components: Vec<&[Element]> = pattern.split(|element| *element == Element::Char('/')).collect();
    let last = components.len().saturating_sub(1);
    for (index, component) in components.into_iter().enumerate() {
        if component.is_empty() {
            continue;
        }
        let end = if index == last { "" } else { "/" };
        let mut next = Vec::new();
        for prefix in found {
            if component.iter().all(|element| matches!(element, Element::Char(_))) {
                next.push(format!("{prefix}{}{end}", written(component)));
                continue;
            }
            let Ok(entries) = fs::read_dir(cwd.join(&prefix)) else { continue };
            for entry in entries.flatten() {
                budget =
                    budget.checked_sub(1).ok_or_else(|| Objection::opaque("a pattern goes over too many names"))?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let shows_hidden = component.first() == Some(&Element::Char('.'));
                if (shows_hidden || !name.starts_with('.')) && fits(component, &name) {
                    next.push(format!("{prefix}{name}{end}"));
                }
            }
        }
        found = next;
    }
    Ok(found)
}

/// Whether a name fits; linear in both but for one step back per `*`.
pub(crate) fn fits(pattern: &[Element], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut in_name) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while in_name < name.len() {
        let is_fit = match (pattern.get(at), name.get(in_name)) {
            (Some(Element::Char(wanted)), Some(c)) => wanted == c,
            (Some(Element::One | Element::Set), Some(_)) => true,
            (Some(Element::Any), Some(_)) => {
                back = Some((at, in_name));
                at += 1;
                continue;
            }
            _ => false,
        };
        if is_fit {
            at += 1;
            in_name += 1;
        } else if let Some((star, begun)) = back {
            back = Some((star, begun + 1));
            at = star + 1;
            in_name = begun + 1;
        } else {
            return false;
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|element| *element == Element::Any)
}

/// Objects to a pattern that fits a protected place or something in one, even if nothing of it is there now.
pub(crate) fn must_not_reach(judge: &Judge<'_>, state: &State, pattern: &str) -> Result<(), Objection> {
    let elements: Vec<char> = pattern.chars().collect();
    let pattern: String = elements.into_iter().collect();
    for cwd in &state.cwds {
        let whole = if pattern.starts_with('/') { PathBuf::from(&pattern) } else { cwd.join(&pattern) };
        let components: Vec<Pattern> =
            whole.components().map(|part| compiled(&part.as_os_str().to_string_lossy())).collect();
        let is_reached = |place: &PathBuf| {
            let parts: Vec<_> = place.components().collect();
            parts.len() <= components.len()
                && parts
                    .iter()
                    .zip(&components)
                    .all(|(part, pattern)| fits(pattern, &part.as_os_str().to_string_lossy()))
        };
        // A leading dot is matched by a dot only, and every protected place in a home folder has one.
        if let Some(place) =
            judge.protected.places().iter().find(|place| is_reached(place) && !hides(&components, place))
        {
            return Err(Objection::reveals(format!("the pattern reaches {}, which is protected", place.display())));
        }
    }
    Ok(())
}

fn hides(components: &[Pattern], place: &Path) -> bool {
    place.components().zip(components).any(|(part, pattern)| {
        part.as_os_str().to_string_lossy().starts_with('.') && pattern.first() != Some(&Element::Char('.'))
    })
}

pub(crate) fn compiled(part: &str) -> Pattern {
    let as_element = |c| match c {
        '*' => Element::Any,
        '?' => Element::One,
        c => Element::Char(c),
    };
    part.chars().map(as_element).collect()
}

/// What a path with `*` and `?` matches now; `None` for sets and braces, which are not told apart here, and for too much.
pub(crate) fn matches_now(path: &Path) -> Option<Vec<PathBuf>> {
    let text = path.to_str().filter(|text| !text.contains(['[', '{']))?;
    let names = found(&compiled(text), Path::new("/")).ok()?;
    Some(names.into_iter().map(PathBuf::from).collect())
}
