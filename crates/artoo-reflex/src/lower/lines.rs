//! Turns queries about lines into command lines.

use super::grep::Grep;
use super::pipeline::{Argv, Pipeline, escaped, lines_from_nul};
use super::selection::paths;
use super::{Programs, Unsupported};
use crate::algebra::{
    Depth, Function, Key, NamePart, Order, Part, Pred, Query, Relation, Rewrite, Separator, SortKey, Ty,
};
use crate::ensure::ensure;

/// The command that prints the lines of a query, with file names or line numbers if the query asks for them.
pub(super) fn shown(query: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    let (numbered, inner) = match query {
        Query::Numbered { of } => (true, of.as_ref()),
        other => (false, other),
    };
    let (range, unparted) = match inner {
        Query::Part { of, part } => (Some(*part), of.as_ref()),
        other => (None, other),
    };
    let (keep, source) = match unparted {
        Query::Filter { of, keep } => (Some(keep), of.as_ref()),
        other => (None, other),
    };
    let grep = match (source, numbered) {
        (Query::TextOf { .. }, _) | (Query::TextFile { .. }, true) => Grep::of(keep)?,
        _ if numbered => return Err(Unsupported::Arrangement("numbers of these lines")),
        _ => return text(query, programs),
    };
    let grep = if numbered { grep.with("-n") } else { grep };
    let located = match source {
        Query::TextOf { of } => paths(&in_order_of_paths(of)?, programs)?.pipe(grep.with("-H").of_names()),
        Query::TextFile { path } => Pipeline::of(grep.of_file(path)),
        _ => return Err(Unsupported::Arrangement("this text")),
    };
    match range {
        None => Ok(located),
        Some(part) => self::part(located, part),
    }
}

/// The query for the files of a text without its sort order: their lines are always in the order of paths.
fn in_order_of_paths(of: &Query) -> Result<Query, Unsupported> {
    match of {
        Query::Limit { .. } => Err(Unsupported::Arrangement("the text of the first files of an order")),
        Query::Sort { of, .. } => Ok(of.as_ref().clone()),
        other => Ok(other.clone()),
    }
}

/// The command that prints the lines of a query without file names or line numbers, each with a newline.
pub(super) fn text(query: &Query, programs: Programs) -> Result<Pipeline, Unsupported> {
    Ok(match query {
        // Not `cat`: `grep` ends the last line with a newline, so that lines can be counted.
        Query::TextFile { path } => Pipeline::of(Grep::of(None)?.of_file(path)),
        Query::TextOf { of } => paths(&in_order_of_paths(of)?, programs)?.pipe(Grep::of(None)?.with("-h").of_names()),
        Query::ArchiveEntries { path } => entries(path, programs)?,
        Query::Known { known } => match known.row() {
            Some(row) => (row.lower)(known)?,
            None => return Err(Unsupported::Arrangement("a question of an unknown kind")),
        },
        Query::System { fact } if fact.ty() == Ty::Lines => super::facts::fact(fact, programs)?,
        Query::Filter { of, keep } => filter(text(of, programs)?, keep)?,
        Query::Part { of, part } => match (of.as_ref(), part) {
            (Query::TextFile { path }, Part::First(count)) if *count > 0 => {
                Pipeline::of(Argv::new("head -n").value(count.to_string()).operands([path.as_str()]))
            }
            _ => self::part(text(of, programs)?, *part)?,
        },
        Query::Sort { of, keys } => sort(of, keys, programs)?,
        Query::Unique { of } => picked(text(of, programs)?, &["sort -u -k 2"], programs)?,
        Query::Repeated { of } => picked(text(of, programs)?, &["sort -s -k 2", "uniq -d -f 1"], programs)?,
        Query::Words { of } => {
            let words = Argv::new("grep -a -o -E -e").value("[[:alnum:]']+");
            text(of, programs)?.pipe(words).pipe(Argv::new("tr [:upper:] [:lower:]"))
        }
        Query::Column { of, number, separator } => text(of, programs)?.pipe(column(*number, separator)?),
        Query::Replace { of, find, with } => text(of, programs)?.pipe(replace(find, with)),
        Query::Compare { of, with, relation } => common(of, with, *relation, programs)?,
        Query::Matches { of, text: wanted, ignore_case, whole_word } => {
            let argv = Argv::bytewise("grep -a -o -F").and_if(*ignore_case, "-i").and_if(*whole_word, "-w");
            text(of, programs)?.pipe(argv.and("-e").value(wanted.as_str()))
        }
        Query::Rewritten { of, how } => text(of, programs)?.pipe(rewritten(how, programs)?),
        Query::Names { of, part } => names(of, *part, programs)?,
        _ => return Err(Unsupported::Arrangement("this text")),
    })
}

/// The program that counts the lines of its input.
pub(super) fn count() -> Argv {
    Argv::new("wc -l")
}

/// The command that prints a number computed from lines, such as their count or sum.
pub(super) fn number(of: &Query, function: Function, programs: Programs) -> Result<Pipeline, Unsupported> {
    /// The regular expression for a number at the start of a line, and the `awk` scripts that sum such numbers.
    const NUMBER: &str = "^[[:blank:]]*-?([0-9]+([.][0-9]+)?|[.][0-9]+)";
    // The sum is printed with as many decimals as the numbers have: further digits are rounding errors.
    const SUM: &str = "BEGIN { m = 0 } { s += $1; i = index($1, \".\"); d = i ? length($1) - i : 0; if (d > m) m = d } \
        END { x = sprintf(\"%.\" m \"f\", s); if (m) { sub(/0+$/, \"\", x); sub(/[.]$/, \"\", x) } \
        if (x == \"-0\") x = 0; print x }";
    // People want four decimals at most, of a small number six digits.
    const AVERAGE: &str = "{ s += $1; n += 1 } END { if (n > 0) { x = s / n; y = x < 0 ? -x : x; \
        x = sprintf(y < 1 ? \"%.6f\" : \"%.4f\", x); sub(/0+$/, \"\", x); sub(/[.]$/, \"\", x); print x } }";
    let numbers = |program: Argv| {
        let numbers = text(of, programs)?.pipe(Argv::bytewise("grep -a -o -E -e").value(NUMBER));
        Ok(numbers.pipe(program))
    };
    let last = |sorted: Pipeline| sorted.pipe(Argv::new("tail -n 1"));
    match function {
        Function::Characters => {
            programs.gnu_only("a count of characters")?;
            let text = match of {
                // The file is read unchanged, as a missing newline at its end changes the count.
                Query::TextFile { path } => Pipeline::of(Argv::new("cat").operands([path.as_str()])),
                of => text(of, programs)?,
            };
            Ok(text.pipe(Argv::new("wc -m")))
        }
        Function::Count => {
            // Not `head`: a last line without a newline would not be counted.
            let lines = match of {
                Query::Part { of, part } => self::part(text(of, programs)?, *part)?,
                of => text(of, programs)?,
            };
            Ok(lines.pipe(count()))
        }
        // What `wc` counts as a word differs by version and locale: in the C locale it doesn't count "ß".
        Function::Words => {
            let a_word_a_line = Argv::bytewise("tr -s [:space:] \\n");
            let not_empty = Argv::bytewise("grep -a -v -x -F -e").value("");
            Ok(text(of, programs)?.pipe(a_word_a_line).pipe(not_empty).pipe(count()))
        }
        Function::Minimum => numbers(Argv::bytewise("sort -n -r")).map(last),
        Function::Maximum => numbers(Argv::bytewise("sort -n")).map(last),
        Function::Sum => numbers(Argv::bytewise("awk").value(SUM)),
        Function::Average => numbers(Argv::bytewise("awk").value(AVERAGE)),
        _ => Err(Unsupported::Arrangement("this number over lines")),
    }
}

/// The command that compares two whole files with this call of `diff`.
pub(super) fn difference(diff: Argv, of: &Query, with: &Query) -> Result<Pipeline, Unsupported> {
    Ok(Pipeline::of(diff.operands(two_files(of, with)?)))
}

/// The paths of two texts, if each is a whole file; else an error.
fn two_files<'a>(of: &'a Query, with: &'a Query) -> Result<[&'a str; 2], Unsupported> {
    match (of, with) {
        (Query::TextFile { path: one }, Query::TextFile { path: two }) => Ok([one, two]),
        _ => Err(Unsupported::Arrangement("a comparison of these texts")),
    }
}

/// The program call that transforms a text, such as to upper case.
fn rewritten(how: &Rewrite, programs: Programs) -> Result<Argv, Unsupported> {
    Ok(match how {
        Rewrite::UpperCase => Argv::bytewise("tr [:lower:] [:upper:]"),
        Rewrite::LowerCase => Argv::bytewise("tr [:upper:] [:lower:]"),
        Rewrite::Mirrored => Argv::new("rev"),
        Rewrite::Reversed => {
            programs.gnu_only("lines in reversed order")?;
            Argv::new("tac")
        }
        Rewrite::Wrapped(0) => return Err(Unsupported::Arrangement("lines without any room")),
        Rewrite::Wrapped(width) => Argv::bytewise("fold -w").value(width.to_string()),
        Rewrite::Joined(between) if between.is_empty() => Argv::bytewise("paste -s -d").value("\\0"),
        Rewrite::Joined(between) if between == "\t" => Argv::bytewise("paste -s"),
        Rewrite::Joined(between) if between.len() == 1 && between != "\\" => {
            Argv::bytewise("paste -s -d").value(between.as_str())
        }
        Rewrite::Joined(_) => return Err(Unsupported::Arrangement("more than one sign between lines")),
        Rewrite::LastField => Argv::bytewise("awk").value("{ if (NF > 0) print $NF; else print \"\" }"),
    })
}

/// The command that prints a part of each path as a line.
fn names(of: &Query, part: NamePart, programs: Programs) -> Result<Pipeline, Unsupported> {
    programs.gnu_only("parts of names")?;
    let sed = Argv::bytewise("sed -z -e");
    let sed = match part {
        NamePart::Name | NamePart::Extension => sed.value("s|.*/||"),
        // An entry directly in the root folder keeps its slash.
        NamePart::Folder => sed.value("s|^/[^/]*$|//|").and("-e").value("s|\\(.\\)/[^/]*$|\\1|"),
    };
    let names = paths(of, programs)?.pipe(sed).pipe(lines_from_nul());
    let extension = "{ if (NF > 1) print tolower($NF) }";
    let is_extension = part == NamePart::Extension;
    Ok(if is_extension { names.pipe(Argv::bytewise("awk -F .").value(extension)) } else { names })
}

/// The command that lists the entries of an archive.
fn entries(path: &str, programs: Programs) -> Result<Pipeline, Unsupported> {
    let name = path.to_ascii_lowercase();
    let argv = match programs {
        _ if name.ends_with(".zip") => Argv::new("unzip -Z1"),
        Programs::Gnu if name.ends_with(".tar.gz") || name.ends_with(".tgz") => {
            Argv::new("tar --quoting-style=literal -t -z -f")
        }
        Programs::Gnu if name.ends_with(".tar") => Argv::new("tar --quoting-style=literal -t -f"),
        Programs::Bsd if name.ends_with(".tar.gz") || name.ends_with(".tgz") || name.ends_with(".tar") => {
            Argv::new("tar -t -f")
        }
        _ => return Err(Unsupported::Arrangement("an archive of this form")),
    };
    // The path is absolute, so it is never read as an option; it is the last value of its program.
    Ok(Pipeline::of(argv.value(path)))
}

/// Adds a program that prints a range of lines; it reads its whole input, so that no program is killed by a closed
/// pipe.
fn part(of: Pipeline, part: Part) -> Result<Pipeline, Unsupported> {
    let print = |from: u64, to: u64| Argv::bytewise("sed -n -e").value(format!("{from},{to}p"));
    Ok(match part {
        Part::First(0) | Part::Last(0) => return Err(Unsupported::Arrangement("no lines at all")),
        Part::First(count) => of.pipe(print(1, count)),
        Part::Last(count) => of.pipe(Argv::new("tail -n").value(count.to_string())),
        Part::Range { from: 0, .. } | Part::From(0) => return Err(Unsupported::Arrangement("a line before the first")),
        Part::Range { from, to } if from > to => {
            return Err(Unsupported::Arrangement("a stretch that ends before it begins"));
        }
        Part::Range { from, to } => of.pipe(print(from, to)),
        Part::From(line) => of.pipe(Argv::new("tail -n").value(format!("+{line}"))),
    })
}

/// The command that sorts the lines of a query.
fn sort(of: &Query, keys: &[SortKey], programs: Programs) -> Result<Pipeline, Unsupported> {
    let [key] = keys else { return Err(Unsupported::Arrangement("an order of lines by several keys")) };
    let down = key.order == Order::Descending;
    let argv = |plain: &'static str, reversed: &'static str| Argv::bytewise(if down { reversed } else { plain });
    Ok(match (key.by, of) {
        (Key::Text, Query::Unique { of }) => text(of, programs)?.pipe(argv("sort -u", "sort -u -r")),
        (Key::Text, Query::Repeated { of }) => {
            text(of, programs)?.pipe(argv("sort", "sort -r")).pipe(Argv::bytewise("uniq -d"))
        }
        (Key::Text, of) => text(of, programs)?.pipe(argv("sort", "sort -r")),
        (Key::Length, of) => {
            let measured = text(of, programs)?.pipe(Argv::bytewise("awk").value("{ print length($0) \"\\t\" $0 }"));
            measured.pipe(argv("sort -s -n -k 1,1", "sort -s -n -r -k 1,1")).pipe(Argv::bytewise("cut -f 2-"))
        }
        (Key::Numeric, of) => text(of, programs)?.pipe(argv("sort -s -n", "sort -s -n -r")),
        _ => return Err(Unsupported::Arrangement("this order of lines")),
    })
}

/// Adds programs that pick some of the lines and print them in their order; the lines are numbered in between.
fn picked(of: Pipeline, picks: &[&'static str], programs: Programs) -> Result<Pipeline, Unsupported> {
    programs.gnu_only("lines that occur twice, in their first order")?;
    let picked = picks.iter().fold(of.pipe(Argv::new("cat -n")), |of, pick| of.pipe(Argv::bytewise(pick)));
    Ok(picked.pipe(Argv::bytewise("sort -n")).pipe(Argv::new("cut -f 2-")))
}

/// The program call that prints one field of each line.
fn column(number: u64, separator: &Separator) -> Result<Argv, Unsupported> {
    ensure(number != 0, || Unsupported::Arrangement("a column before the first"))?;
    let field = format!("{{print ${number}}}");
    match separator {
        Separator::Whitespace => Ok(Argv::bytewise("awk").value(field)),
        // For the first field, `cut` gives the same result with any separator.
        Separator::Text(sign) if number == 1 && sign == "\t" => Ok(Argv::bytewise("cut -f 1")),
        Separator::Text(sign) if number == 1 && sign.len() == 1 => {
            Ok(Argv::bytewise("cut -d").value(sign.as_str()).and("-f 1"))
        }
        // For other fields, `cut` prints a line without separator whole, where the field should be empty.
        Separator::Text(sign) if sign == "\t" => Ok(Argv::bytewise("awk -F").value("\\t").value(field)),
        Separator::Text(sign) if sign.len() == 1 && !sign.contains(['^', '\\', ']', '[']) => {
            Ok(Argv::bytewise("awk -F").value(format!("[{sign}]")).value(field))
        }
        Separator::Text(_) => Err(Unsupported::Arrangement("this separator")),
    }
}

/// The program call that replaces every occurrence of a text.
fn replace(find: &str, with: &str) -> Argv {
    let (find, with) = (escaped(find, "\\.[*^$/"), escaped(with, "\\&/"));
    Argv::bytewise("sed -e").value(format!("s/{find}/{with}/g"))
}

/// The command that prints the lines of one file that are, or are not, in another.
fn common(of: &Query, with: &Query, relation: Relation, programs: Programs) -> Result<Pipeline, Unsupported> {
    if let (Query::Names { of, part: NamePart::Name }, Query::Names { of: with, part: NamePart::Name }) = (of, with) {
        return common_names(of, with, relation, programs);
    }
    let [first, second] = two_files(of, with)?;
    let is_known = matches!(relation, Relation::Common | Relation::OnlyFirst);
    ensure(is_known, || Unsupported::Arrangement("this comparison"))?;
    let argv = Argv::bytewise("grep -a -F -x").and_if(relation == Relation::OnlyFirst, "-v");
    picked(Pipeline::of(argv.and("-f").value(second).operands([first])), &["sort -u -k 2"], programs)
}

/// The command that prints the names in one folder that are, or are not, in another: one `find` prints both, `awk`
/// compares them.
fn common_names(of: &Query, with: &Query, relation: Relation, programs: Programs) -> Result<Pipeline, Unsupported> {
    programs.gnu_only("names in two folders")?;
    let folder = |of: &'_ Query| match of {
        Query::Tree { roots, depth: Depth::Direct, hidden: true, kind } => match roots.as_slice() {
            [root] if root != "/" => Ok((root.clone(), *kind)),
            _ => Err(Unsupported::Arrangement("a comparison of several folders")),
        },
        _ => Err(Unsupported::Arrangement("a comparison of these names")),
    };
    let ((first, kind), (second, _)) = (folder(of)?, folder(with)?);
    ensure(first != second, || Unsupported::Arrangement("a folder compared with itself"))?;
    let find = Argv::bytewise("find -H").value(first.as_str()).value(second.as_str()).and("-mindepth 1 -maxdepth 1");
    let find = super::find::of_kind(find, kind);
    let pattern = format!("{}/*", super::find::literal(&first));
    let find =
        find.and("( -path").value(pattern).and("-printf").value("1\\t%f\\n").and("-o -printf").value("2\\t%f\\n");
    let wanted = if relation == Relation::Common { "" } else { "!" };
    let script = format!(
        "$1 == 1 {{ one[$2] = 1; next }} {{ two[$2] = 1 }} END {{ for (name in one) if ({wanted}(name in two)) print name }}"
    );
    let compared = Pipeline::of(find.and(")")).pipe(Argv::bytewise("awk -F").value("\\t").value(script));
    Ok(compared.pipe(Argv::bytewise("sort")))
}

/// Adds a program that prints the lines that satisfy a predicate.
fn filter(of: Pipeline, keep: &Pred) -> Result<Pipeline, Unsupported> {
    match keep {
        Pred::All(parts) => parts.iter().try_fold(of, filter),
        one => Ok(of.pipe(Grep::of(Some(one))?.argv())),
    }
}
