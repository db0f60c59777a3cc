//! The words of a command line: quotes and escapes removed, its own variables expanded, commands inside words read too.
//!
//! The reader accepts any text in linear time. A grammar would not: code of other languages inside quotes is no shell.

use std::collections::BTreeMap;

/// Nesting of commands inside words; deeper ones are read as plain words.
const DEPTH_MAX: usize = 4;

/// Words stored of one command line.
const WORDS_MAX: usize = 512;

/// Words that one brace expansion may give.
const BRACES_MAX: usize = 64;

/// Programs that run the command in their arguments.
const WRAPPERS: [&str; 18] = [
    "command", "builtin", "exec", "env", "nohup", "nice", "ionice", "time", "timeout", "stdbuf", "setsid", "sudo",
    "doas", "xargs", "busybox", "chronic", "unbuffer", "eval",
];

/// Programs that run the argument after `-c` as a command.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Words followed by a folder that other paths may be relative to.
const FOLDER_WORDS: [&str; 4] = ["cd", "pushd", "-C", "--directory"];

/// A word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Whether it names a folder that other paths may be relative to.
    pub(crate) is_folder: bool,
}

/// The words and commands of a command line.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Every word, with those of nested commands.
    pub(crate) words: Vec<Word>,
    /// The simple commands in order, without wrappers.
    pub(crate) commands: Vec<Vec<String>>,
}

/// Reads a command line; `variables` are those of its environment.
pub(crate) fn read(command: &str, variables: &BTreeMap<String, String>) -> Words {
    let mut words = Words::default();
    let mut reader = Reader { variables: variables.clone(), words: &mut words, left: WORDS_MAX };
    reader.command(command, 0);
    words
}

struct Reader<'a> {
    variables: BTreeMap<String, String>,
    words: &'a mut Words,
    /// Words that can still be stored.
    left: usize,
}

/// A word, or the end of a simple command.
#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    End,
}

impl Reader<'_> {
    fn command(&mut self, command: &str, depth: usize) {
        let mut simple: Vec<String> = Vec::new();
        for token in tokens(command, &mut self.variables) {
            match token {
                Token::End => self.simple(std::mem::take(&mut simple), depth),
                Token::Word(word) => simple.extend(braced(&word)),
            }
        }
        self.simple(simple, depth);
    }

    fn simple(&mut self, words: Vec<String>, depth: usize) {
        let mut previous: Option<&str> = None;
        for word in &words {
            let is_folder = previous.is_some_and(|previous| FOLDER_WORDS.contains(&previous));
            self.add(word, is_folder, depth);
            previous = Some(word);
        }
        let bare = unwrapped(&words);
        let inner = bare.split_first().and_then(|(program, rest)| {
            let at = rest.iter().position(|word| word == "-c" || is_cluster_with_c(word))?;
            SHELLS.contains(&base_name(program)).then(|| rest.get(at + 1)).flatten()
        });
        match inner {
            Some(inner) if depth < DEPTH_MAX => {
                let inner = inner.clone();
                // The words of this text are stored a second time; its commands only here.
                self.command(&inner, depth + 1);
            }
            _ if bare.is_empty() => {}
            _ => {
                let mut bare = bare.to_vec();
                if let Some(program) = bare.first_mut() {
                    *program = base_name(program).to_owned();
                }
                self.words.commands.push(bare);
            }
        }
    }

    /// Stores a word, the value of `name=value`, and the words inside a quoted text.
    fn add(&mut self, word: &str, is_folder: bool, depth: usize) {
        if self.left == 0 || word.is_empty() {
            return;
        }
        self.left -= 1;
        self.words.words.push(Word { text: word.to_owned(), is_folder });
        if let Some((name, value)) = word.split_once('=') {
            self.add(value, matches!(name, "--directory" | "--chdir"), depth);
        }
        let is_text = word.contains(|c: char| c.is_whitespace() || "'\"`$;|&()<>[],".contains(c));
        if is_text && depth < DEPTH_MAX {
            let mut inner = Words::default();
            let mut reader = Reader { variables: self.variables.clone(), words: &mut inner, left: self.left };
            reader.command(&word.replace(['[', ']', ','], " "), depth + 1);
            self.left = reader.left;
            self.words.words.extend(inner.words);
        }
    }
}

/// The command without assignments and wrappers before it.
fn unwrapped(words: &[String]) -> &[String] {
    let mut rest = words;
    let mut is_behind_wrapper = false;
    while let Some((first, behind)) = rest.split_first() {
        let is_own = WRAPPERS.contains(&base_name(first));
        let is_of_wrapper = is_behind_wrapper && (first.starts_with('-') || first.parse::<f64>().is_ok());
        if !(is_own || is_of_wrapper || is_assignment(first)) {
            break;
        }
        is_behind_wrapper |= is_own;
        rest = behind;
    }
    rest
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_cluster_with_c(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| {
        !flags.is_empty() && flags.chars().all(|flag| flag.is_ascii_alphabetic()) && flags.ends_with('c')
    })
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Splits a command line into words. An open quote ends with the text.
fn tokens(command: &str, variables: &mut BTreeMap<String, String>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        let mut end = |word: &mut Option<String>, is_end: bool| {
            if let Some(word) = word.take() {
                if let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) {
                    variables.insert(name.to_owned(), value.to_owned());
                }
                tokens.push(Token::Word(word));
            }
            if is_end {
                tokens.push(Token::End);
            }
        };
        match c {
            '\n' | ';' | '|' | '&' | '(' | ')' | '`' => end(&mut word, true),
            '<' | '>' => end(&mut word, false),
            c if c.is_whitespace() => end(&mut word, false),
            '#' if word.is_none() => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '"' => double_quoted(&mut chars, word.get_or_insert_default(), variables),
            '\\' => match chars.next() {
                None | Some('\n') => {}
                Some(c) => word.get_or_insert_default().push(c),
            },
            '$' if chars.peek() == Some(&'\'') => {
                chars.next();
                word.get_or_insert_default().push_str(&ansi_quoted(&mut chars));
            }
            '$' if chars.peek() == Some(&'(') => end(&mut word, true),
            '$' => word.get_or_insert_default().push_str(&variable(&mut chars, variables)),
            c => word.get_or_insert_default().push(c),
        }
    }
    if let Some(word) = word {
        tokens.push(Token::Word(word));
    }
    tokens
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn double_quoted(chars: &mut Chars<'_>, word: &mut String, variables: &BTreeMap<String, String>) {
    while let Some(c) = chars.next() {
        match c {
            '"' => return,
            '\\' => match chars.next() {
                Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                Some('\n') | None => {}
                Some(c) => word.extend(['\\', c]),
            },
            '$' if chars.peek() == Some(&'(') => word.push('$'),
            '$' => word.push_str(&variable(chars, variables)),
            c => word.push(c),
        }
    }
}

/// The value of a variable; an unknown one is left as it is.
fn variable(chars: &mut Chars<'_>, variables: &BTreeMap<String, String>) -> String {
    let is_braced = chars.next_if_eq(&'{').is_some();
    let mut name = String::new();
    while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
        name.push(c);
    }
    if is_braced {
        // Operators on the value are ignored.
        let _operator: String = chars.by_ref().take_while(|c| *c != '}').collect();
    }
    variables.get(&name).cloned().unwrap_or(format!("${name}"))
}

/// The text of `$'…'`, its escapes decoded.
fn ansi_quoted(chars: &mut Chars<'_>) -> String {
    let mut bytes = Vec::new();
    while let Some(c) = chars.next() {
        match c {
            '\'' => break,
            '\\' => match chars.next() {
                Some('n') => bytes.push(b'\n'),
                Some('t') => bytes.push(b'\t'),
                Some('x') => bytes.extend(coded(chars, 16, 2).and_then(|code| u8::try_from(code).ok())),
                Some(kind @ ('u' | 'U')) => {
                    let code = coded(chars, 16, if kind == 'u' { 4 } else { 8 });
                    let c = code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                    bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                }
                Some(first @ '0'..='7') => {
                    let rest = coded(chars, 8, 2);
                    let digits = first.to_digit(8).unwrap_or_default();
                    let code = rest.map_or(digits, |rest| digits * 64 + rest);
                    bytes.push(u8::try_from(code & 0xff).unwrap_or_default());
                }
                Some(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
                None => break,
            },
            c => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn coded(chars: &mut Chars<'_>, radix: u32, max: usize) -> Option<u32> {
    let mut digits = String::new();
    while digits.len() < max
        && let Some(c) = chars.next_if(|c| c.is_digit(radix))
    {
        digits.push(c);
    }
    u32::from_str_radix(&digits, radix).ok()
}

/// The words that `a{b,c}d` expands to; the word itself if it has no such braces or expands to too many.
fn braced(word: &str) -> Vec<String> {
    let mut open = vec![word.to_owned()];
    let mut done = Vec::new();
    while let Some(word) = open.pop() {
        if done.len() + open.len() > BRACES_MAX {
            return vec![word];
        }
        let inner = word.rfind('{').and_then(|start| {
            let (before, rest) = word.split_at(start);
            let (inside, after) = rest.get(1..)?.split_once('}')?;
            inside.contains(',').then_some((before, inside, after))
        });
        match inner {
            Some((before, inside, after)) => {
                open.extend(inside.split(',').map(|part| format!("{before}{part}{after}")));
            }
            None => done.push(word),
        }
    }
    done.sort();
    done
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::read;

    fn commands(command: &str) -> Vec<String> {
        let variables = BTreeMap::from([("HOME".to_owned(), "/home/u".to_owned())]);
        read(command, &variables).commands.iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn one_command_is_read_the_same_however_it_is_spelled() {
        for spelled in [
            "rm keep.txt",
            "  rm   keep.txt ; ",
            "'rm' \"keep.txt\"",
            "r\\m ke'ep'.t\"x\"t",
            "/bin/rm keep.txt",
            "command rm keep.txt",
            "env A=1 rm keep.txt",
            "nice -n 5 rm keep.txt",
            "timeout 5 sudo -n rm keep.txt",
            "sh -c 'rm keep.txt'",
            "bash -ec \"rm keep.txt\"",
            "/bin/sh -c 'sh -c \"rm keep.txt\"'",
            "X=keep.txt; rm $X",
            "X=keep rm ${X}.txt",
            "rm $'keep\\x2etxt'",
            "rm $'\\153eep.txt'",
            "rm \\\nkeep.txt",
            "rm keep.txt # and no more",
            "(rm keep.txt)",
            "eval 'rm' keep.txt",
        ] {
            assert!(commands(spelled).contains(&"rm keep.txt".to_owned()), "{spelled}: {:?}", commands(spelled));
        }
        assert_eq!(commands("rm $HOME/{a,b}.txt"), ["rm /home/u/a.txt /home/u/b.txt"]);
        assert_eq!(commands("a | b && c"), ["a", "b", "c"]);
    }

    #[test]
    fn what_is_named_inside_a_text_is_seen() {
        for (command, name) in [
            ("python3 -c \"import os; os.remove('keep.txt')\"", "keep.txt"),
            ("perl -e 'unlink \"keep.txt\"'", "keep.txt"),
            ("dd if=/dev/zero of=keep.txt", "keep.txt"),
            ("find . -name x -exec rm keep.txt ;", "keep.txt"),
            ("echo $(rm keep.txt)", "keep.txt"),
            ("echo `rm keep.txt`", "keep.txt"),
            ("> keep.txt", "keep.txt"),
            (":>keep.txt", "keep.txt"),
            ("ruby -e 'File.delete(%w[a keep.txt])'", "keep.txt"),
        ] {
            let read = read(command, &BTreeMap::new());
            assert!(read.words.iter().any(|word| word.text == name), "{command}: {:?}", read.words);
        }
    }

    #[test]
    fn bombs_end() {
        for bomb in ["{a,b}".repeat(40), "'\"".repeat(2_000), "$(".repeat(3_000), "x ".repeat(100_000)] {
            let found = read(&bomb, &BTreeMap::new());
            assert!(found.words.len() <= super::WORDS_MAX);
        }
    }
}
