//! Computes new file names from a [`NameChange`](crate::algebra::NameChange).

use artoo_proto::Timestamp;

use crate::algebra::NameChange;

/// The new name for a file at a position (from 1) of a list; `None` if the template has an unknown field.
pub(crate) fn new_name(change: &NameChange, name: &str, modified: Timestamp, position: usize) -> Option<String> {
    // A dot at the start of a name begins no extension.
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, extension),
        _ => (name, ""),
    };
    let with_extension = |stem: String| if extension.is_empty() { stem } else { format!("{stem}.{extension}") };
    Some(match change {
        NameChange::To(name) => name.clone(),
        NameChange::Extension(new) => format!("{stem}.{new}"),
        NameChange::Prefix(text) => format!("{text}{name}"),
        NameChange::Suffix(text) => with_extension(format!("{stem}{text}")),
        NameChange::LowerCase => name.to_lowercase(),
        NameChange::UpperCase => name.to_uppercase(),
        NameChange::Replace { find, with } => name.replace(find, with),
        NameChange::Template(template) => {
            let day: String = modified.to_string().chars().take("2024-05-15".len()).collect();
            let mut made = String::new();
            let mut rest = template.as_str();
            while let Some((text, after)) = rest.split_once('{') {
                let (field, after) = after.split_once('}')?;
                made.push_str(text);
                match field {
                    "stem" => made.push_str(stem),
                    "ext" => made.push_str(extension),
                    "name" => made.push_str(name),
                    "n" => made.push_str(&position.to_string()),
                    "date" => made.push_str(&day),
                    _ => return None,
                }
                rest = after;
            }
            made.push_str(rest);
            // A missing extension leaves no trailing dot.
            let is_bare = extension.is_empty() && template.ends_with(".{ext}");
            if is_bare { made.trim_end_matches('.').to_owned() } else { made }
        }
    })
}
