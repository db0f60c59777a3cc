//! Reading one word: quotes, escapes, expansions, patterns, braces.

use super::script::Reader;
use super::{BRACES_MAX, Doubt, Part, Word};

/// Characters that end a word.
const METACHARACTERS: &str = " \t\n;&|<>()";

/// Names of variables are short; a longer one is odd.
const NAME_MAX_BYTES: usize = 64;

impl Reader<'_> {
    /// Reads a word that begins here.
    pub(super) fn word(&mut self) -> Result<Word, Doubt> {
        let start = self.at;
        let mut parts: Vec<Part> = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                c if METACHARACTERS.contains(c) => break,
                '\'' => {
                    self.bump();
                    let text = self.until('\'')?;
                    push_text(&mut parts, &text, true);
                }
                '"' => self.double_quoted(&mut parts)?,
                '\\' => self.escaped(&mut parts)?,
                '$' => self.expansion(&mut parts, false)?,
                '`' => return Err(Doubt::Syntax { c }),
                '*' | '?' => {
                    self.bump();
                    parts.push(Part::Wild(c.to_string()));
                }
                '[' => self.bracket(start, &mut parts)?,
                '{' => self.braces(&mut parts)?,
                '~' => self.tilde(start, &mut parts)?,
                c => {
                    self.bump();
                    push_text(&mut parts, c.encode_utf8(&mut [0; 4]), false);
                }
            }
        }
        Ok(Word { parts, span: start..self.at })
    }

    fn until(&mut self, end: char) -> Result<String, Doubt> {
        let rest = self.rest();
        let length = rest.find(end).ok_or(Doubt::Unclosed)?;
        let text = rest.get(..length).unwrap_or_default().to_owned();
        self.at += length + end.len_utf8();
        Ok(text)
    }

    fn escaped(&mut self, parts: &mut Vec<Part>) -> Result<(), Doubt> {
        self.bump();
        match self.bump() {
            // A letter needs no escape: whoever writes one hides a name.
            Some(c) if c.is_ascii_punctuation() || c == ' ' => push_text(parts, c.encode_utf8(&mut [0; 4]), true),
            Some(_) => return Err(Doubt::Syntax { c: '\\' }),
            None => return Err(Doubt::Unclosed),
        }
        Ok(())
    }

    fn double_quoted(&mut self, parts: &mut Vec<Part>) -> Result<(), Doubt> {
        self.bump();
        push_text(parts, "", true);
        loop {
            match self.peek().ok_or(Doubt::Unclosed)? {
                '"' => {
                    self.bump();
                    return Ok(());
                }
                '`' => return Err(Doubt::Syntax { c: '`' }),
                '$' => self.expansion(parts, true)?,
                '\\' => {
                    self.bump();
                    match self.peek().ok_or(Doubt::Unclosed)? {
                        c @ ('$' | '`' | '"' | '\\') => {
                            self.bump();
                            push_text(parts, c.encode_utf8(&mut [0; 4]), true);
                        }
                        '\n' => return Err(Doubt::Syntax { c: '\\' }),
                        _ => push_text(parts, "\\", true),
                    }
                }
                c => {
                    self.bump();
                    push_text(parts, c.encode_utf8(&mut [0; 4]), true);
                }
            }
        }
    }

    fn expansion(&mut self, parts: &mut Vec<Part>, quoted: bool) -> Result<(), Doubt> {
        self.bump();
        match self.peek() {
            Some('(') if self.rest().starts_with("((") => self.arithmetic(parts),
            Some('(') => {
                self.bump();
                let list = self.nested_list(")")?;
                parts.push(Part::Substitution { list, quoted });
                Ok(())
            }
            Some('{') => {
                self.bump();
                let name = self.until('}')?;
                if !is_name(&name) {
                    return Err(Doubt::Reserved { word: format!("${{{name}}}") });
                }
                parts.push(Part::Variable { name, quoted });
                Ok(())
            }
            Some('\'') if !quoted => self.ansi_quoted(parts),
            Some('?' | '#') => {
                self.bump();
                parts.push(Part::Number);
                Ok(())
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let length = self.rest().find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                let name = self.rest().get(..length.unwrap_or(self.rest().len())).unwrap_or_default().to_owned();
                if name.len() > NAME_MAX_BYTES {
                    return Err(Doubt::TooLong);
                }
                self.at += name.len();
                parts.push(Part::Variable { name, quoted });
                Ok(())
            }
            // A dollar sign with nothing to expand behind it is a dollar sign.
            None | Some(' ' | '\t' | '\n' | '|' | '/' | ',' | '.' | ':' | ')' | ';' | '%' | ']' | '\\') => {
                push_text(parts, "$", quoted);
                Ok(())
            }
            Some('"' | '\'') if quoted => {
                push_text(parts, "$", true);
                Ok(())
            }
            Some(_) => Err(Doubt::Syntax { c: '$' }),
        }
    }

    /// Sums of plain numbers only: a name in there is looked up and run through the same rules again.
    fn arithmetic(&mut self, parts: &mut Vec<Part>) -> Result<(), Doubt> {
        let rest = self.rest();
        let end = rest.find("))").ok_or(Doubt::Unclosed)?;
        let sum = rest.get(2..end).unwrap_or_default();
        if let Some(c) = sum.chars().find(|c| !(c.is_ascii_digit() || " +-*/%()".contains(*c))) {
            return Err(Doubt::Syntax { c });
        }
        self.at += end + 2;
        parts.push(Part::Number);
        Ok(())
    }

    fn ansi_quoted(&mut self, parts: &mut Vec<Part>) -> Result<(), Doubt> {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump().ok_or(Doubt::Unclosed)? {
                '\'' => break,
                '\\' => match self.bump().ok_or(Doubt::Unclosed)? {
                    't' => text.push('\t'),
                    'n' => text.push('\n'),
                    c @ ('\\' | '\'' | '"') => text.push(c),
                    _ => return Err(Doubt::Reserved { word: "$'…'".to_owned() }),
                },
                c => text.push(c),
            }
        }
        push_text(parts, &text, true);
        Ok(())
    }

    fn bracket(&mut self, start: usize, parts: &mut Vec<Part>) -> Result<(), Doubt> {
        let rest = self.rest();
        let is_member = |c: char| c.is_ascii_alphanumeric() || "-_.,!^+@%:".contains(c);
        let members = rest.get(1..).unwrap_or_default();
        let length = members.find(|c: char| !is_member(c)).unwrap_or(members.len());
        if length > 0 && members.get(length..).is_some_and(|after| after.starts_with(']')) {
            parts.push(Part::Wild(rest.get(..length + 2).unwrap_or_default().to_owned()));
            self.at += length + 2;
            return Ok(());
        }
        // The name of the test command; anything else may be a set that is spelled in pieces.
        let ends = |text: &str| text.chars().next().is_none_or(|c| METACHARACTERS.contains(c));
        if self.at == start && (ends(members) || members.strip_prefix('[').is_some_and(ends)) {
            self.bump();
            if self.peek() == Some('[') {
                self.bump();
                push_text(parts, "[[", false);
            } else {
                push_text(parts, "[", false);
            }
            return Ok(());
        }
        Err(Doubt::Syntax { c: '[' })
    }

    fn braces(&mut self, parts: &mut Vec<Part>) -> Result<(), Doubt> {
        let inner = self.rest().get(1..).unwrap_or_default();
        let end = inner.find('}').ok_or(Doubt::Syntax { c: '{' })?;
        let inner = inner.get(..end).unwrap_or_default().to_owned();
        if inner.is_empty() {
            push_text(parts, "{}", false);
        } else if inner.chars().all(|c| c.is_ascii_alphanumeric() || "-_./,+%@".contains(c)) {
            let alternatives = match inner.split_once("..") {
                Some((from, to)) if !inner.contains(',') => range(from, to)?,
                Some(_) | None if inner.contains(',') => inner.split(',').map(str::to_owned).collect(),
                Some(_) | None => return Err(Doubt::Syntax { c: '{' }),
            };
            if alternatives.len() > BRACES_MAX {
                return Err(Doubt::TooLong);
            }
            parts.push(Part::Braces(alternatives));
        } else {
            return Err(Doubt::Syntax { c: '{' });
        }
        self.at += end + 2;
        Ok(())
    }

    fn tilde(&mut self, start: usize, parts: &mut Vec<Part>) -> Result<(), Doubt> {
        let before = self.before();
        self.bump();
        if self.at == start + 1 {
            return match self.peek() {
                None | Some('/' | ' ' | '\t' | '\n' | ';' | '&' | '|' | ')') => {
                    parts.push(Part::Home);
                    Ok(())
                }
                Some(_) => Err(Doubt::Tilde),
            };
        }
        // A shell expands it behind these in words that look like an assignment.
        if matches!(before, Some('=' | ':')) {
            return Err(Doubt::Tilde);
        }
        push_text(parts, "~", false);
        Ok(())
    }
}

fn range(from: &str, to: &str) -> Result<Vec<String>, Doubt> {
    let doubt = || Doubt::Syntax { c: '{' };
    let plain = |text: &str| text.len() <= 4 && !(text.len() > 1 && text.starts_with('0'));
    let bounds = (from.parse::<u16>().ok(), to.parse::<u16>().ok());
    match bounds {
        (Some(first), Some(last)) if plain(from) && plain(to) && last.abs_diff(first) < BRACES_MAX as u16 => {
            let (low, high) = (first.min(last), first.max(last));
            Ok((low..=high).map(|number| number.to_string()).collect())
        }
        _ => Err(doubt()),
    }
}

/// Whether a text is the name of a variable.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= NAME_MAX_BYTES
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn push_text(parts: &mut Vec<Part>, more: &str, is_quoted: bool) {
    if let Some(Part::Text { text, quoted }) = parts.last_mut()
        && *quoted == is_quoted
    {
        text.push_str(more);
        return;
    }
    parts.push(Part::Text { text: more.to_owned(), quoted: is_quoted });
}
