//! Lowers predicates on files to expressions of `find`.

use artoo_proto::Timestamp;

use super::pipeline::Argv;
use super::{Programs, Unsupported};
use crate::algebra::{Depth, Kind, NameTest, Pred, Query};

/// A call of `find` without its print action, and the conditions on content that `grep` must test.
pub(super) struct Found<'a> {
    /// The call of `find` without its print action.
    pub(super) argv: Argv,
    /// Conditions on the content of the files.
    pub(super) contents: Vec<Content<'a>>,
}

/// A condition on the content of files, tested by `grep`.
pub(super) struct Content<'a> {
    /// The text to look for in the files.
    pub(super) text: &'a str,
    /// Whether the search ignores case.
    pub(super) ignore_case: bool,
    /// Whether the text must be a whole word.
    pub(super) whole_word: bool,
    /// Whether the content must contain the text (`true`) or must not (`false`).
    pub(super) is_wanted: bool,
}

/// The call of `find` for a source and its predicates.
pub(super) fn find<'a>(source: &Query, keep: &'a [Pred], programs: Programs) -> Result<Found<'a>, Unsupported> {
    let argv = Argv::bytewise("find");
    let (mut argv, roots, kind) = match source {
        Query::Tree { roots, depth, hidden, kind } => {
            no_root_in_another(roots)?;
            // A root that is a link is followed, as in every tool here.
            let argv = roots.iter().fold(argv.and("-H"), |argv, root| argv.value(root.as_str()));
            let argv = argv.and("-mindepth 1");
            let argv = if *depth == Depth::Direct { argv.and("-maxdepth 1") } else { argv };
            let argv = if *hidden { argv } else { argv.and("-name .* -prune -o") };
            // A search through everything skips the file systems that the kernel generates on each read.
            let through_all = *depth == Depth::Whole && roots.iter().any(|root| root == "/");
            let argv = if through_all { argv.and("-path /proc -prune -o -path /sys -prune -o") } else { argv };
            (argv, roots.as_slice(), *kind)
        }
        Query::Paths { paths, kind } => {
            let argv = paths.iter().fold(argv, |argv, path| argv.value(path.as_str())).and("-maxdepth 0");
            (argv, &[][..], *kind)
        }
        _ => return Err(Unsupported::Arrangement("this combination")),
    };
    argv = match kind {
        Kind::File => argv.and("-type f"),
        Kind::Folder => argv.and("-type d"),
        Kind::Link => argv.and("-type l"),
        Kind::Any => argv,
    };
    let mut contents = Vec::new();
    let expression = Expression { roots, programs };
    for pred in keep {
        match content(pred) {
            Some(content) => contents.push(content),
            None => argv = expression.add(pred, argv)?,
        }
    }
    Ok(Found { argv, contents })
}

/// The predicate as a condition on file content; `None` if it tests anything else.
fn content(pred: &Pred) -> Option<Content<'_>> {
    match pred {
        Pred::Contains { text, ignore_case } | Pred::Word { text, ignore_case } => {
            let whole_word = matches!(pred, Pred::Word { .. });
            Some(Content { text, ignore_case: *ignore_case, whole_word, is_wanted: true })
        }
        Pred::Not(inner) => content(inner).map(|content| Content { is_wanted: !content.is_wanted, ..content }),
        _ => None,
    }
}

/// Checks that no root is inside another, so that each file is found once.
pub(super) fn no_root_in_another(roots: &[String]) -> Result<(), Unsupported> {
    let is_inside = |inner: &String, outer: &String| {
        inner != outer && std::path::Path::new(inner).starts_with(std::path::Path::new(outer))
    };
    match roots.iter().any(|inner| roots.iter().any(|outer| is_inside(inner, outer))) {
        true => Err(Unsupported::Arrangement("a folder and another inside it, both at once,")),
        false => Ok(()),
    }
}

/// The settings on which the translation of a predicate to `find` depends.
pub(super) struct Expression<'a> {
    /// The search roots of the query.
    pub(super) roots: &'a [String],
    /// The program family, GNU or macOS.
    pub(super) programs: Programs,
}

impl Expression<'_> {
    /// Appends the `find` expression of a predicate to the arguments.
    pub(super) fn add(&self, pred: &Pred, argv: Argv) -> Result<Argv, Unsupported> {
        Ok(match pred {
            Pred::All(parts) if parts.is_empty() => argv.and("-name *"),
            Pred::Any(parts) if parts.is_empty() => argv.and("! -name *"),
            Pred::All(parts) => {
                let inner = parts.iter().try_fold(argv.and("("), |argv, part| self.add(part, argv))?;
                inner.and(")")
            }
            Pred::Any(parts) => {
                let mut inner = argv.and("(");
                for (index, part) in parts.iter().enumerate() {
                    inner = if index == 0 { inner } else { inner.and("-o") };
                    inner = self.add(part, inner)?;
                }
                inner.and(")")
            }
            // A leading dot is written as a character class, as the pattern excludes a folder and is no path to open.
            Pred::Not(part) => match part.as_ref() {
                Pred::Inside(folder) => {
                    argv.and("! -path").value(format!("{}/*", literal(folder).replace("/.", "/[.]")))
                }
                part => self.add(part, argv.and("!"))?,
            },
            Pred::Extension(extension) => argv.and("-iname").value(format!("*.{}", literal(extension))),
            Pred::Name(test) => argv.and("-name").value(pattern(test)?),
            Pred::NameIgnoringCase(test) => argv.and("-iname").value(pattern(test)?),
            Pred::Inside(folder) => argv.and("-path").value(format!("{}/*", literal(folder.trim_end_matches('/')))),
            Pred::NewerThan(path) => argv.and("-newer").value(path.as_str()),
            Pred::AccessedFrom(moment) => self.since("-newerat", *moment, argv)?,
            Pred::AccessedBefore(moment) => self.since("-newerat", *moment, argv.and("!"))?,
            Pred::ModeAll(bits) => argv.and("-perm").value(format!("-{bits:04o}")),
            Pred::Group(name) if name.is_empty() || name.chars().all(|c| c.is_ascii_digit()) => {
                return Err(Unsupported::Predicate("a group without a name"));
            }
            Pred::Group(name) => argv.and("-group").value(name.as_str()),
            Pred::Below(test) => self.below(test, argv)?,
            Pred::MinBytes(0) => argv.and("-name *"),
            Pred::MinBytes(bytes) => argv.and("-size").value(format!("+{}c", bytes - 1)),
            // `find` compares sizes in whole units, here of one byte.
            Pred::MaxBytes(bytes) => argv.and("-size").value(format!("-{}c", bytes.saturating_add(1))),
            Pred::ModifiedFrom(moment) => self.since("-newermt", *moment, argv)?,
            Pred::ModifiedBefore(moment) => self.since("-newermt", *moment, argv.and("!"))?,
            Pred::EmptyFolder => argv.and("-empty"),
            Pred::Executable => {
                self.programs.gnu_only("a test of several permission bits")?;
                argv.and("-perm /111")
            }
            Pred::Mode(mode) => argv.and("-perm").value(format!("{mode:04o}")),
            Pred::Owner(name) if name.is_empty() || name.chars().all(|c| c.is_ascii_digit()) => {
                return Err(Unsupported::Predicate("an owner without a name"));
            }
            Pred::Owner(name) => argv.and("-user").value(name.as_str()),
            Pred::Contains { .. } | Pred::Word { .. } => {
                return Err(Unsupported::Predicate("a text in files, either that or something else,"));
            }
            Pred::Line(_) | Pred::Blank | Pred::MinLength(_) | Pred::MaxLength(_) => {
                return Err(Unsupported::Predicate("a line's form"));
            }
        })
    }

    /// Appends a test for a time at or after a moment, written as "later than the nanosecond before".
    fn since(&self, test: &'static str, moment: Timestamp, argv: Argv) -> Result<Argv, Unsupported> {
        self.programs.gnu_only("a time of change to the millisecond")?;
        let ms = moment.as_millis();
        let (seconds, rest) = (ms.div_euclid(1000), ms.rem_euclid(1000));
        let before = match rest {
            0 => format!("@{}.999999999", seconds - 1),
            rest => format!("@{seconds}.{:09}", rest * 1_000_000 - 1),
        };
        if seconds < 1 {
            return Err(Unsupported::Predicate("a time before 1970"));
        }
        Ok(argv.and(test).value(before))
    }

    /// Appends a test that some folder between a search root and the file has a name that passes the test.
    fn below(&self, test: &NameTest, argv: Argv) -> Result<Argv, Unsupported> {
        if matches!(test, NameTest::Glob(_)) {
            return Err(Unsupported::Predicate("a folder's name by pattern"));
        }
        let name = pattern(test)?;
        let mut argv = argv.and("(");
        for (index, root) in self.roots.iter().enumerate() {
            let root = literal(root.trim_end_matches('/'));
            // A star matches slashes too, so a name that begins with one is found at any depth.
            let deeper = (!name.starts_with('*')).then(|| format!("{root}/*/{name}/*"));
            for (inner, pattern) in [format!("{root}/{name}/*")].into_iter().chain(deeper).enumerate() {
                argv = if index + inner == 0 { argv } else { argv.and("-o") };
                argv = argv.and("-path").value(pattern);
            }
        }
        if self.roots.is_empty() {
            return Err(Unsupported::Predicate("a folder above things named one by one"));
        }
        Ok(argv.and(")"))
    }
}

/// A test of a name as a pattern of `find`, matched bytewise; `?` and classes are refused.
fn pattern(test: &NameTest) -> Result<String, Unsupported> {
    Ok(match test {
        NameTest::Is(text) => literal(text),
        NameTest::Starts(text) => format!("{}*", literal(text)),
        NameTest::Ends(text) => format!("*{}", literal(text)),
        NameTest::Has(text) => format!("*{}*", literal(text)),
        NameTest::Glob(pattern) if pattern.contains(['?', '[', '\\', '/']) => {
            return Err(Unsupported::Predicate("this pattern"));
        }
        NameTest::Glob(pattern) => pattern.clone(),
    })
}

/// A pattern of `find` that matches exactly this text.
pub(super) fn literal(text: &str) -> String {
    let escape = |c: char| if matches!(c, '*' | '?' | '[' | ']' | '\\') { vec!['\\', c] } else { vec![c] };
    text.chars().flat_map(escape).collect()
}
