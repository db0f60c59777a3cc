//! Turns predicates on files into expressions of `find`.

use std::path::Path;

use artoo_proto::Timestamp;

use super::pipeline::{Argv, escaped};
use super::{Programs, Unsupported};
use crate::algebra::{Depth, Kind, NameTest, Pred, Query};
use crate::ensure::ensure;

/// A call of `find` without its print action, and the conditions on content that `grep` must test.
pub(super) struct Found<'a> {
    /// The call of `find` without its print action.
    pub(super) argv: Argv,
    /// Conditions on the content of the files.
    pub(super) contents: Vec<Content<'a>>,
}

/// A condition on the content of files, tested by `grep`.
pub(super) struct Content<'a> {
    /// The texts of which one is looked for in the files.
    pub(super) texts: Vec<&'a str>,
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
            // A search through everything skips the file systems that the kernel generates on each read.
            let through_all = *depth == Depth::Whole && roots.iter().any(|root| root == "/");
            let argv = argv.and("-mindepth 1").and_if(*depth == Depth::Direct, "-maxdepth 1");
            let argv = argv.and_if(!*hidden, "-name .* -prune -o");
            let argv = argv.and_if(through_all, "-path /proc -prune -o -path /sys -prune -o");
            (argv, roots.as_slice(), *kind)
        }
        Query::Paths { paths, kind } => {
            let argv = paths.iter().fold(argv, |argv, path| argv.value(path.as_str())).and("-maxdepth 0");
            (argv, &[][..], *kind)
        }
        _ => return Err(Unsupported::Arrangement("this combination")),
    };
    argv = of_kind(argv, kind);
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

/// Adds the test for a kind of entry.
pub(super) fn of_kind(find: Argv, kind: Kind) -> Argv {
    match kind {
        Kind::File => find.and("-type f"),
        Kind::Folder => find.and("-type d"),
        Kind::Link => find.and("-type l"),
        Kind::Any => find,
    }
}

/// The predicate as a condition on file content; `None` if it tests anything else.
fn content(pred: &Pred) -> Option<Content<'_>> {
    match pred {
        Pred::Contains { text, ignore_case } | Pred::Word { text, ignore_case } => {
            let whole_word = matches!(pred, Pred::Word { .. });
            Some(Content { texts: vec![text], ignore_case: *ignore_case, whole_word, is_wanted: true })
        }
        Pred::Any(parts) => {
            let mut all = parts.iter().map(content).collect::<Option<Vec<_>>>()?;
            let first = all.pop()?;
            let how = |content: &Content<'_>| (content.ignore_case, content.whole_word);
            let is_alike = |other: &Content<'_>| other.is_wanted && first.is_wanted && how(other) == how(&first);
            let texts = all.iter().chain([&first]).flat_map(|content| content.texts.clone()).collect();
            all.iter().all(is_alike).then_some(Content { texts, ..first })
        }
        Pred::Not(inner) => content(inner).map(|content| Content { is_wanted: !content.is_wanted, ..content }),
        _ => None,
    }
}

/// Checks that no root is inside another, so that each file is found once.
pub(super) fn no_root_in_another(roots: &[String]) -> Result<(), Unsupported> {
    let is_inside = |inner: &String, outer: &String| inner != outer && Path::new(inner).starts_with(outer);
    let any_inside = roots.iter().any(|inner| roots.iter().any(|outer| is_inside(inner, outer)));
    ensure(!any_inside, || Unsupported::Arrangement("a folder and another inside it, both at once,"))
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
            Pred::All(parts) => parts.iter().try_fold(argv.and("("), |argv, part| self.add(part, argv))?.and(")"),
            Pred::Any(parts) => {
                let add = |argv: Argv, (index, part)| self.add(part, argv.and_if(index > 0, "-o"));
                parts.iter().enumerate().try_fold(argv.and("("), add)?.and(")")
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
            Pred::Group(name) => argv.and("-group").value(account(name, "a group without a name")?),
            Pred::Owner(name) => argv.and("-user").value(account(name, "an owner without a name")?),
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
            Pred::Contains { .. } | Pred::Word { .. } => {
                return Err(Unsupported::Predicate("a text in files, either that or something else,"));
            }
            Pred::Line(_) | Pred::Blank | Pred::MinLength(_) | Pred::MaxLength(_) => {
                return Err(Unsupported::Predicate("a line's form"));
            }
        })
    }

    /// Appends a `find` test for a time at or after a moment, written as "later than the nanosecond before".
    fn since(&self, test: &'static str, moment: Timestamp, argv: Argv) -> Result<Argv, Unsupported> {
        self.programs.gnu_only("a time of change to the millisecond")?;
        let ms = moment.as_millis();
        let (seconds, rest) = (ms.div_euclid(1000), ms.rem_euclid(1000));
        ensure(seconds >= 1, || Unsupported::Predicate("a time before 1970"))?;
        let before = match rest {
            0 => format!("@{}.999999999", seconds - 1),
            rest => format!("@{seconds}.{:09}", rest * 1_000_000 - 1),
        };
        Ok(argv.and(test).value(before))
    }

    /// Appends a `find` test that some folder between a search root and the file has a name that passes the test.
    fn below(&self, test: &NameTest, argv: Argv) -> Result<Argv, Unsupported> {
        ensure(!matches!(test, NameTest::Glob(_)), || Unsupported::Predicate("a folder's name by pattern"))?;
        ensure(!self.roots.is_empty(), || Unsupported::Predicate("a folder above things named one by one"))?;
        let name = pattern(test)?;
        let patterns = self.roots.iter().flat_map(|root| {
            let root = literal(root.trim_end_matches('/'));
            // A star matches slashes too, so a name that begins with one is found at any depth.
            let deeper = (!name.starts_with('*')).then(|| format!("{root}/*/{name}/*"));
            [format!("{root}/{name}/*")].into_iter().chain(deeper)
        });
        let add = |argv: Argv, (at, pattern): (usize, String)| argv.and_if(at > 0, "-o").and("-path").value(pattern);
        Ok(patterns.enumerate().fold(argv.and("("), add).and(")"))
    }
}

/// The name of a user or group; an error if it is a number, which `find` would take for an id.
fn account<'a>(name: &'a str, what: &'static str) -> Result<&'a str, Unsupported> {
    let is_name = !name.chars().all(|c| c.is_ascii_digit());
    ensure(is_name, || Unsupported::Predicate(what)).map(|()| name)
}

/// A `find` pattern, matched bytewise, for a test of a name; an error for a glob with `?`, a character class, a
/// backslash or a slash.
fn pattern(test: &NameTest) -> Result<String, Unsupported> {
    Ok(match test {
        NameTest::Is(text) => literal(text),
        NameTest::Starts(text) => format!("{}*", literal(text)),
        NameTest::Ends(text) => format!("*{}", literal(text)),
        NameTest::Has(text) => format!("*{}*", literal(text)),
        NameTest::Pattern(_) => return Err(Unsupported::Predicate("a name by regular expression")),
        NameTest::Glob(pattern) if pattern.contains(['?', '[', '\\', '/']) => {
            return Err(Unsupported::Predicate("this pattern"));
        }
        NameTest::Glob(pattern) => pattern.clone(),
    })
}

/// A pattern of `find` that matches exactly this text.
pub(super) fn literal(text: &str) -> String {
    escaped(text, "*?[]\\")
}
