//! Finds brackets, strings and reasoning tags in a model's reply that contains JSON.

/// Names of the tags, such as `<think>`, that models put around reasoning.
const REASONING_TAGS: [&str; 4] = ["think", "thinking", "thought", "reasoning"];

/// The first character after the opening bracket (the text's first character), white space skipped.
pub(super) fn first_inside(text: &str) -> Option<char> {
    text.get(1..).and_then(|inside| inside.trim_start().chars().next())
}

/// Length in bytes of the reasoning tag at the start of `text`, `None` if there is none; `lead` is `<` or `</`.
pub(super) fn reasoning_tag(text: &str, lead: &str) -> Option<usize> {
    let name_on = text.strip_prefix(lead)?;
    let name = REASONING_TAGS.into_iter().find(|name| {
        name_on.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && name_on.get(name.len()..).is_some_and(|on| on.starts_with('>'))
    })?;
    Some(lead.len() + name.len() + 1)
}

/// The text from the opening bracket at its start to the matching closing one; brackets in strings don't count. `None`
/// if none closes it.
pub(super) fn region(text: &str, open: char, close: char) -> Option<&str> {
    let mut depth = 0_usize;
    outside_strings(text).find_map(|(at, c)| {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
        }
        (c == close && depth == 0).then(|| text.get(..at + c.len_utf8()))?
    })
}

/// Position after the first closing reasoning tag that is not inside a JSON string.
pub(super) fn reasoning_end_outside_strings(text: &str) -> Option<usize> {
    outside_strings(text)
        .filter(|(_, c)| *c == '<')
        .find_map(|(at, _)| reasoning_tag(text.get(at..)?, "</").map(|len| at + len))
}

/// The characters of a text that are outside JSON strings, with their byte positions.
fn outside_strings(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut in_string, mut escaped) = (false, false);
    text.char_indices().filter(move |(_, c)| {
        let inside = in_string;
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ => {}
        }
        !inside && *c != '"'
    })
}
