//! Makes new file names from a template with fields such as `{stem}`, `{n}` and `{date}`.

use std::ffi::OsStr;
use std::path::Path;

use artoo_proto::Timestamp;

/// A template for new names, and a text to replace in them.
#[derive(Debug)]
pub(crate) struct Template {
    parts: Vec<Part>,
    replacement: Option<(String, String)>,
}

/// A part of a template: a literal text, a field of the file, or its number.
#[derive(Debug)]
enum Part {
    Text(String),
    Field(Field, Case),
    /// The position in the list, from 1, with at least this many digits.
    Number(usize),
}

/// A field of a template for file names, such as the name, stem or extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Name,
    Stem,
    Extension,
    /// Day of the last change, `YYYY-MM-DD` in UTC.
    Date,
}

/// The letter case in which a field is written.
#[derive(Debug, Clone, Copy)]
enum Case {
    Unchanged,
    Lower,
    Upper,
}

impl Template {
    /// Parses a template for new file names; without one, `{name}` is used, in which `find` is replaced by `with`.
    pub(crate) fn parse(template: Option<String>, find: Option<String>, with: Option<String>) -> Result<Self, String> {
        let replacement = match (find, with) {
            (None, None) => None,
            (Some(find), Some(with)) if !find.is_empty() => Some((find, with)),
            _ => {
                return Err(
                    "a text to find and what comes in its place belong together, and the first is not empty".to_owned()
                );
            }
        };
        if template.is_none() && replacement.is_none() {
            return Err("there is neither a template nor a text to find".to_owned());
        }
        Ok(Self { parts: parts(template.as_deref().unwrap_or("{name}"))?, replacement })
    }

    /// The new name of a file by this template; `position` is that in the list, from 1. `Err` if it can't be a file
    /// name.
    pub(super) fn apply(&self, path: &Path, modified: Timestamp, position: usize) -> Result<String, String> {
        let (name, stem) = (text(path.file_name())?, text(path.file_stem())?);
        let extension = text(path.extension())?;
        let mut made = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => made.push_str(text),
                Part::Number(digits) => made.push_str(&format!("{position:0digits$}")),
                Part::Field(field, case) => {
                    let value = match field {
                        Field::Name => name.to_owned(),
                        Field::Stem => stem.to_owned(),
                        Field::Extension => extension.to_owned(),
                        Field::Date => modified.to_string().chars().take(10).collect(),
                    };
                    made.push_str(&match case {
                        Case::Unchanged => value,
                        Case::Lower => value.to_lowercase(),
                        Case::Upper => value.to_uppercase(),
                    });
                }
            }
        }
        // A file without an extension gets no dot.
        let ends_in_extension = matches!(self.parts.last(), Some(Part::Field(Field::Extension, _)));
        if extension.is_empty() && ends_in_extension {
            made.truncate(made.strip_suffix('.').unwrap_or(&made).len());
        }
        if let Some((find, with)) = &self.replacement {
            made = made.replace(find, with);
        }
        let is_usable = !made.is_empty()
            && !matches!(made.as_str(), "." | "..")
            && !made.contains('/')
            && made.len() <= 255
            && artoo_proto::escape::one_line(&made) == made;
        if is_usable { Ok(made) } else { Err(format!("the new name {made:?} can't be a name")) }
    }
}

/// A part of a file name as text, empty if it is missing; an error if it is not valid Unicode.
fn text(part: Option<&OsStr>) -> Result<&str, String> {
    part.map_or(Some(""), OsStr::to_str).ok_or_else(|| "its name is not text".to_owned())
}

/// Splits a template for new names into its literal and variable parts.
fn parts(template: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once('{') {
        let (field, after) = after.split_once('}').ok_or_else(unbalanced)?;
        parts.push(plain(text)?);
        parts.push(part(field)?);
        rest = after;
    }
    parts.push(plain(rest)?);
    parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    Ok(parts)
}

/// The error text for a template with a brace that is not closed or not opened.
fn unbalanced() -> String {
    "a brace is not closed or not opened".to_owned()
}

/// A literal part of a template; an error if the text has a `}`.
fn plain(text: &str) -> Result<Part, String> {
    if text.contains('}') { Err(unbalanced()) } else { Ok(Part::Text(text.to_owned())) }
}

/// The part of a template that the text between braces means, such as `{stem}` or `{n:3}`; an error for an unknown
/// field.
fn part(field: &str) -> Result<Part, String> {
    let unknown = || {
        let field = artoo_proto::escape::shorten(field, 40);
        format!("there is no field {{{field}}}; there are name, stem, ext, n, n:3, date, each with |lower or |upper")
    };
    if let Some(digits) = field.strip_prefix('n').and_then(|rest| match rest.strip_prefix(':') {
        Some(digits) => digits.parse::<usize>().ok().filter(|digits| (1..=9).contains(digits)),
        None => rest.is_empty().then_some(1),
    }) {
        return Ok(Part::Number(digits));
    }
    let (name, case) = match field.split_once('|') {
        None => (field, Case::Unchanged),
        Some((name, "lower")) => (name, Case::Lower),
        Some((name, "upper")) => (name, Case::Upper),
        Some(_) => return Err(unknown()),
    };
    let field = match name {
        "name" => Field::Name,
        "stem" => Field::Stem,
        "ext" => Field::Extension,
        "date" => Field::Date,
        _ => return Err(unknown()),
    };
    Ok(Part::Field(field, case))
}

/// Tests of making new file names from templates.
#[cfg(test)]
mod tests {
    use super::Template;
    use artoo_proto::Timestamp;
    use std::path::Path;

    /// The name that a template gives this file, for tests.
    fn renamed(template: &str, name: &str) -> Result<String, String> {
        let template = Template::parse(Some(template.to_owned()), None, None).unwrap();
        template.apply(&Path::new("/x").join(name), Timestamp::parse("2024-05-15T12:00:00Z").unwrap(), 7)
    }

    /// Fields such as `{stem}`, `{n:3}` and `{ext|lower}` give the expected new names.
    #[test]
    fn names_are_made_from_fields() {
        for (template, name, made) in [
            ("{stem}.md", "a.b.txt", "a.b.md"),
            ("old_{name}", "a", "old_a"),
            ("{stem}_{n:3}.{ext}", "photo.JPG", "photo_007.JPG"),
            ("{n}.{ext|lower}", "photo.JPG", "7.jpg"),
            ("{date} {name|upper}", "a.txt", "2024-05-15 A.TXT"),
            ("{stem}-copy.{ext}", "README", "README-copy"),
        ] {
            assert_eq!(renamed(template, name).unwrap(), made, "{template}");
        }
    }

    /// The template's replacement changes each occurrence of a text in a file name, and nothing else.
    #[test]
    fn part_of_a_name_is_replaced() {
        let template = Template::parse(None, Some(" ".to_owned()), Some("_".to_owned())).unwrap();
        let made = template.apply(Path::new("/x/a b c.txt"), Timestamp::from_millis(0), 1);
        assert_eq!(made.unwrap(), "a_b_c.txt");
    }

    /// A new name that would lead to another folder, is empty or has control characters is refused.
    #[test]
    fn new_names_stay_in_their_folder() {
        for (template, name) in [("../{name}", "a"), ("{ext}", "a"), ("a/b", "c"), ("\u{1b}[2J", "c"), ("..", "c")] {
            let problem = renamed(template, name).unwrap_err();
            assert!(problem.ends_with("can't be a name"), "{template}: {problem}");
        }
    }

    /// Templates with unbalanced braces or unknown fields are refused with the reason.
    #[test]
    fn invalid_templates_are_refused() {
        let problem = |text: &str| Template::parse(Some(text.to_owned()), None, None).map(|_| ()).unwrap_err();
        assert_eq!(problem("{stem"), "a brace is not closed or not opened");
        assert_eq!(problem("a}"), "a brace is not closed or not opened");
        for field in ["size", "n:0", "n:x", "name|title", ""] {
            let expected = format!("there is no field {{{field}}};");
            assert!(problem(&format!("{{{field}}}")).starts_with(&expected), "{field}");
        }
        let absent = Template::parse(None, None, None).map(|_| ()).unwrap_err();
        assert_eq!(absent, "there is neither a template nor a text to find");
        let half = Template::parse(None, Some("a".to_owned()), None).map(|_| ());
        assert!(half.unwrap_err().contains("belong together"));
    }
}
