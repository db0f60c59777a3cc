//! The words of a command line, and its simple commands without wrappers; commands inside words are read too.
//!
//! The reader accepts any text in linear time. A grammar would not: code of other languages inside quotes is no shell.

use std::collections::BTreeMap;

use super::tokens::{Redirect, Token, braced, is_name, tokens};

/// Maximum nesting of commands inside words; deeper ones are read as plain words.
const DEPTH_MAX: usize = 4;

/// Maximum number of words stored of one command line.
const WORDS_MAX: usize = 512;

/// Maximum number of wrappers, such as `sudo` and `env`, that are read around one command.
const WRAPPERS_MAX: usize = 16;

/// Programs such as `sudo` that run the command in their arguments: their options with a value, and the number of
/// operands before the command.
const WRAPPERS: [(&str, &str, usize); 21] = [
    ("builtin busybox chronic command nohup pkexec setsid toybox unbuffer", "", 0),
    ("caffeinate", "tw", 0),
    ("chroot taskset", "", 1),
    ("chrt", "TPD", 1),
    ("doas", "Cu", 0),
    ("env", "uC", 0),
    ("exec", "a", 0),
    ("flock", "wE", 1),
    ("ionice", "cnpPu", 0),
    ("ltrace", "aeElnopsux", 0),
    ("nice watch", "n", 0),
    ("nsenter", "tSG", 0),
    ("parallel", "jaSN", 0),
    ("stdbuf", "ioe", 0),
    ("strace", "abeEIoOpPsSuUX", 0),
    ("sudo", "CDghpRrTtUu", 0),
    ("systemd-run", "EHMpu", 0),
    ("time", "fo", 0),
    ("timeout", "ks", 1),
    ("unshare", "RSG", 0),
    ("xargs", "aEdILnPs", 0),
];

/// Long options of wrappers that are often given with a separate value.
const LONG_VALUES: &str = "--user --group --chdir --unset --signal --kill-after --adjustment --unit --max-args \
    --max-procs";

/// Programs that run the argument after `-c` as a command.
pub(crate) const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Programs, each with the option after which they take a whole command as one text.
const TEXT_RUNNERS: [(&str, &str); 7] = [
    ("env", "-S"),
    ("env", "--split-string"),
    ("flock", "-c"),
    ("runuser", "-c"),
    ("script", "-c"),
    ("su", "-c"),
    ("su", "--command"),
];

/// Options of `find`, such as `-exec`, that are followed by a command.
const EXECS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// Words of the shell's language, such as `then`, that a command may follow.
const KEYWORDS: [&str; 13] =
    ["!", "if", "then", "elif", "else", "while", "until", "do", "coproc", "fi", "done", "esac", "time"];

/// Options and commands, such as `cd` and `-C`, that are followed by a folder to which other paths may be relative.
const FOLDER_WORDS: [&str; 4] = ["cd", "pushd", "-C", "--directory"];

/// A word of a command line, and whether it names a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Whether it names a folder that other paths may be relative to.
    pub(crate) is_folder: bool,
}

/// A simple command: its words without redirects, its wrappers, and its redirects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    /// The name of the program without its folder, and the arguments.
    pub(crate) words: Vec<String>,
    pub(crate) redirects: Vec<(Redirect, String)>,
    /// Programs that run it, such as `sudo`.
    pub(crate) wrappers: Vec<String>,
}

/// The words and commands of a command line.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Every word, with those of nested commands.
    pub(crate) words: Vec<Word>,
    /// The simple commands in order.
    pub(crate) commands: Vec<Simple>,
    /// Whether a function calls itself without end, several times at once.
    pub(crate) is_fork_bomb: bool,
}

/// Reads a command line to its words and simple commands; `variables` are those of its environment.
pub(crate) fn read(command: &str, variables: &BTreeMap<String, String>) -> Words {
    let mut words = Words::default();
    let mut reader = Reader { variables: variables.clone(), words: &mut words, left: WORDS_MAX };
    reader.command(command, 0);
    words
}

/// Reads a command line and the commands inside its words, and collects all words and simple commands.
struct Reader<'a> {
    variables: BTreeMap<String, String>,
    words: &'a mut Words,
    /// Words that can still be stored.
    left: usize,
}

/// The shell functions whose bodies are being read, to recognise a function that pipes into itself (a fork bomb).
struct Bodies {
    /// Names, with the depth of braces outside the body.
    open: Vec<(String, usize)>,
    depth: usize,
    /// A function that was defined and whose body begins with the next brace.
    defined: Option<String>,
    /// The program that writes to the pipe which the next command reads.
    piped: Option<String>,
}

impl Bodies {
    /// Removes the shell's keywords before a command, and notes which function bodies begin or end there.
    fn strip(&mut self, words: &mut Vec<String>) {
        while let Some(first) = words.first().map(String::as_str) {
            match first {
                "{" => {
                    self.open.extend(self.defined.take().map(|name| (name, self.depth)));
                    self.depth += 1;
                }
                "}" => {
                    self.depth = self.depth.saturating_sub(1);
                    self.open.retain(|(name, depth)| *depth < self.depth || name == "$0");
                }
                "function" if words.len() > 1 => self.defined = Some(words.remove(1)),
                keyword if KEYWORDS.contains(&keyword) => {}
                _ => return,
            }
            words.remove(0);
        }
    }

    /// Whether a command in a function's body starts the function again in parallel, as a fork bomb does.
    fn is_bomb(&mut self, words: &[String], end: char) -> bool {
        let program = words.first().filter(|program| self.open.iter().any(|(name, _)| name == *program)).cloned();
        let is_bomb = program.is_some() && (program == self.piped || end == '&' && words.len() == 1);
        self.piped = program.filter(|_| end == '|');
        is_bomb
    }
}

impl Reader<'_> {
    /// Reads the text of a command at this nesting depth, and collects its words and simple commands.
    fn command(&mut self, command: &str, depth: usize) {
        let mut bodies = Bodies { open: vec![("$0".to_owned(), 0)], depth: 0, defined: None, piped: None };
        let mut simple = Simple::default();
        let mut documents = Vec::new();
        let mut redirect: Option<Redirect> = None;
        let mut tokens = tokens(command, &mut self.variables).into_iter().chain([Token::End(';')]).peekable();
        while let Some(token) = tokens.next() {
            match token {
                Token::Redirect(found) => redirect = Some(found),
                Token::Word(word) => match redirect.take() {
                    Some(found) => simple.redirects.push((found, word)),
                    None => simple.words.extend(braced(&word)),
                },
                Token::Substitution(text) if depth < DEPTH_MAX => self.command(&text, depth + 1),
                Token::Substitution(text) => self.add(&text, false, depth),
                Token::Document(text) => documents.push(text),
                Token::End('(') if tokens.next_if_eq(&Token::End(')')).is_some() => {
                    bodies.strip(&mut simple.words);
                    bodies.defined = simple.words.pop().or(bodies.defined.take());
                }
                Token::End(end) => {
                    let mut simple = std::mem::take(&mut simple);
                    bodies.strip(&mut simple.words);
                    self.words.is_fork_bomb |= bodies.is_bomb(&simple.words, end);
                    self.simple(simple, &documents, depth);
                    documents.clear();
                    redirect = None;
                }
            }
        }
    }

    /// Collects the words of a simple command, and reads the commands that its program would run, as in `sh -c`.
    fn simple(&mut self, simple: Simple, documents: &[String], depth: usize) {
        let Simple { words, redirects, .. } = simple;
        let mut previous: Option<&str> = None;
        for word in &words {
            let is_folder = previous.is_some_and(|previous| FOLDER_WORDS.contains(&previous));
            self.add(word, is_folder, depth);
            previous = Some(word);
        }
        redirects.iter().map(|(_, file)| file).chain(documents).for_each(|text| self.add(text, false, depth));
        let (bare, wrappers) = unwrapped(&words);
        // The words of an inner command are stored a second time; its commands only here.
        match inner_text(bare, documents) {
            Some(inner) if depth < DEPTH_MAX => self.command(&inner, depth + 1),
            _ if bare.is_empty() && redirects.is_empty() => {}
            _ => {
                let mut words = bare.to_vec();
                if let Some(program) = words.first_mut() {
                    *program = base_name(program).to_owned();
                }
                self.words.commands.push(Simple { words, redirects, wrappers });
            }
        }
        let mut rest = bare.iter();
        while depth < DEPTH_MAX && rest.any(|word| EXECS.contains(&word.as_str())) {
            let words = rest.by_ref().take_while(|word| *word != ";" && *word != "+").cloned().collect();
            self.simple(Simple { words, ..Simple::default() }, &[], depth + 1);
        }
    }

    /// Stores a word, also the value of `name=value` and the words inside a quoted text, since they may name paths.
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

/// A command's words behind assignments and wrappers such as `sudo` and `env`, and the names of the wrappers.
fn unwrapped(words: &[String]) -> (&[String], Vec<String>) {
    let mut rest = words;
    let mut wrappers = Vec::new();
    while wrappers.len() < WRAPPERS_MAX {
        rest = words_after(rest, rest.iter().take_while(|word| is_assignment(word)).count());
        let Some((first, arguments)) = rest.split_first() else { return (rest, wrappers) };
        let found = WRAPPERS.iter().find(|(names, ..)| names.split(' ').any(|name| name == base_name(first)));
        let Some((_, letters, operands)) = found.filter(|_| inner_text(rest, &[]).is_none()) else { break };
        let mut count = 0;
        while let Some(word) = arguments.get(count).filter(|word| word.len() > 1 && word.starts_with('-')) {
            let has_value = LONG_VALUES.split(' ').any(|option| option == word)
                || !word.starts_with("--") && word.ends_with(|letter| letters.contains(letter));
            count += 1 + usize::from(has_value);
        }
        let options = arguments.get(..count).unwrap_or(arguments);
        let is_question = base_name(first) == "command" && options.iter().any(|word| word == "-v" || word == "-V");
        let count = count + operands;
        if is_question || words_after(arguments, count).is_empty() {
            break;
        }
        wrappers.push(base_name(first).to_owned());
        rest = words_after(arguments, count);
    }
    (rest, wrappers)
}

/// The words of a command without the first `count`.
fn words_after(words: &[String], count: usize) -> &[String] {
    words.get(count..).unwrap_or_default()
}

/// The text that a program runs as a command: that of `sh -c`, `su -c`, `eval`, `trap` or a shell's here-document;
/// `None` if it runs no text.
fn inner_text(words: &[String], documents: &[String]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let program = base_name(program);
    let after = |is_option: &dyn Fn(&str) -> bool| {
        let at = arguments.iter().position(|word| is_option(word))?;
        arguments.get(at + 1).cloned()
    };
    if SHELLS.contains(&program) {
        let is_quiet = arguments.iter().all(|word| word.starts_with('-'));
        return after(&is_cluster_with_c).or_else(|| documents.first().filter(|_| is_quiet).cloned());
    }
    match program {
        "eval" => Some(arguments.join(" ")),
        "trap" => arguments.iter().find(|word| !word.starts_with('-')).cloned(),
        _ => TEXT_RUNNERS
            .iter()
            .filter(|(name, _)| *name == program)
            .find_map(|(_, option)| after(&|word| word == *option)),
    }
}

/// Whether a word is an assignment `name=value`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Whether a word is a group of short options that ends with `c`, such as `-xc`.
fn is_cluster_with_c(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| {
        !flags.is_empty() && flags.chars().all(|flag| flag.is_ascii_alphabetic()) && flags.ends_with('c')
    })
}

/// The name of a program without its folder.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Tests of reading the words and commands of command lines.
#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::read;

    /// The simple commands of a command line, joined with blanks.
    fn commands(command: &str) -> Vec<String> {
        let variables = BTreeMap::from([("HOME".to_owned(), "/home/u".to_owned())]);
        read(command, &variables).commands.iter().map(|simple| simple.words.join(" ")).collect()
    }

    /// Different spellings of a command, with quotes, variables or wrappers, are read as the same words.
    #[test]
    fn spellings_of_a_command_read_alike() {
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
            "timeout -s KILL 5s sudo -u root --group x rm keep.txt",
            "if true; then rm keep.txt; fi",
            "while :; do rm keep.txt; done > log",
            "tidy() { rm keep.txt; }; tidy",
            "case a in a) rm keep.txt;; esac",
            "echo \"$(rm keep.txt)\" $(date) `id`",
            "rm keep.txt 2>&1 >/dev/null | cat",
            "bash <<'EOF'\nrm keep.txt\nEOF",
            "find . -exec rm keep.txt \\;",
            "env -S 'rm keep.txt'",
            "su root -c 'rm keep.txt'",
            "chroot /mnt rm keep.txt",
            "tee >(rm keep.txt) < a",
            "! rm keep.txt &>/dev/null",
        ] {
            assert!(commands(spelled).contains(&"rm keep.txt".to_owned()), "{spelled}: {:?}", commands(spelled));
        }
        assert_eq!(commands("rm $HOME/{a,b}.txt"), ["rm /home/u/a.txt /home/u/b.txt"]);
        assert_eq!(commands("a | b && c"), ["a", "b", "c"]);
        for (command, expected) in [
            ("cat <<EOF >> b\nrm a\nEOF\nls", vec!["cat", "ls"]),
            ("echo $(date) rm x", vec!["date", "echo $() rm x"]),
            ("command -v rm", vec!["command -v rm"]),
            ("for x in rm ls; do echo $x; done", vec!["for x in rm ls", "echo $x"]),
            ("ls 2>&1 3<a", vec!["ls"]),
            ("env", vec!["env"]),
        ] {
            assert_eq!(commands(command), expected, "{command}");
        }
    }

    /// File names inside program texts, substitutions and redirects of a command line are found.
    #[test]
    fn names_inside_texts_are_found() {
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

    /// Command lines that would expand to very many words give at most [`super::WORDS_MAX`].
    #[test]
    fn hostile_command_lines_are_read_in_bounds() {
        for bomb in ["{a,b}".repeat(40), "'\"".repeat(2_000), "$(".repeat(3_000), "x ".repeat(100_000)] {
            let found = read(&bomb, &BTreeMap::new());
            assert!(found.words.len() <= super::WORDS_MAX);
        }
    }
}
