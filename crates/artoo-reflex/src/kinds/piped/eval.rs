//! Computes answers to questions of the kind `piped` without running the programs.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use artoo_proto::Timestamp;

use super::{Known, PATTERNS, Pieces, deepest, facts, inner_query, root, unit};
use crate::algebra::{Depth, Kind, Query};
use crate::eval::{Answer, Entry, EntryKind, EvalError, FileSystem, Line, digest, evaluate, text};

/// A number of bytes in the unit that a question asks for, as `3.07 GB`.
fn in_unit(known: &Known, sum: u64) -> Result<Vec<String>, EvalError> {
    let (name, bytes) = unit(known).ok_or(EvalError::Meaningless)?;
    #[expect(clippy::cast_precision_loss, reason = "a size is shown with two decimals")]
    let value = sum as f64 / bytes as f64;
    Ok(vec![format!("{value:.2} {name}")])
}

/// The texts in a line that match a pattern such as that of URLs, from left to right.
fn matches(pieces: Pieces, line: &str) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        match ends(pieces, &chars, at) {
            Some(end) if end > at => {
                found.push(chars.get(at..end).unwrap_or_default().iter().collect());
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// The end of the longest match of a pattern that starts at a position; `None` without a match.
fn ends(pieces: Pieces, chars: &[char], at: usize) -> Option<usize> {
    let Some(((class, least, most), rest)) = pieces.split_first() else { return Some(at) };
    let run = chars.iter().skip(at).take(*most).take_while(|c| is_in(class, **c)).count();
    (*least..=run).rev().find_map(|taken| ends(rest, chars, at + taken))
}

/// Whether a character is in a class such as `A-Za-z0-9_`.
fn is_in(class: &str, c: char) -> bool {
    let class: Vec<char> = class.chars().collect();
    let in_range = |run: &[char]| matches!(run, [from, '-', to] if (from..=to).contains(&&c));
    class.contains(&c) && (c != '-' || class.last() == Some(&'-')) || class.windows(3).any(in_range)
}

/// The answer to a question of the kind `piped`, computed without the programs.
pub(super) fn eval(known: &Known, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let query = inner_query(known).ok_or(EvalError::Meaningless)?;
    let shape = known.value("shape");
    let root = || root(&query).ok_or(EvalError::Meaningless);
    match shape {
        "levels" | "level_folders" | "per_folder" => return in_folder(known, root()?, fs),
        "broken" | "broken_any" => return broken(shape, root()?, fs),
        "differ" => return differences(root()?, known.value("text"), fs),
        "twins" => {
            let mut found = differences(root()?, known.value("text"), fs)?;
            found.retain(|line| line.ends_with(" differ"));
            return Ok(found);
        }
        "links" => return links(root()?, fs),
        "room" => {
            let Answer::Number(room) = evaluate(&query, fs)? else { return Err(EvalError::Meaningless) };
            return in_unit(known, room);
        }
        "target" => {
            let target = fs.link(Path::new(root()?)).and_then(|target| target.to_str().map(str::to_owned));
            return target.map(|target| vec![target]).ok_or(EvalError::Meaningless);
        }
        "copies" => return copies(root()?, known.value("text"), fs),
        "fuller" => return fuller([root()?, known.value("text")], fs),
        "larger" => return compared([root()?, known.value("text")], |file| file.bytes, fs),
        "richer" => return compared([root()?, known.value("text")], |_| 1, fs),
        "kind" if fs.list(Path::new(root()?)).is_ok() => return Ok(vec!["folder".to_owned()]),
        "kind" => {
            return fs.open(Path::new(root()?)).map(|_| vec!["file".to_owned()]).map_err(|_| EvalError::Meaningless);
        }
        _ => {}
    }
    match evaluate(&query, fs)? {
        Answer::Lines(lines) => {
            // What the patterns match is plain text, also between other bytes.
            let is_pattern = PATTERNS.iter().any(|(name, _)| *name == shape);
            let text = |line: Line| match String::from_utf8(line.text) {
                Err(error) if is_pattern => Some(String::from_utf8_lossy(error.as_bytes()).into_owned()),
                text => text.ok(),
            };
            let lines: Option<Vec<String>> = lines.into_iter().map(text).collect();
            of_lines(known, &lines.ok_or(EvalError::Meaningless)?)
        }
        Answer::Files(files) if shape == "facts" => facts_of(known, &files, fs),
        Answer::Files(files) => of_files(known, &files, fs),
        _ => Err(EvalError::Meaningless),
    }
}

/// The whole number that a question has under this name; an error if it is none.
fn whole(known: &Known, name: &str) -> Result<usize, EvalError> {
    known.value(name).parse().map_err(|_| EvalError::Meaningless)
}

/// "yes" or "no" as the one line of an answer.
fn yes(is_so: bool) -> Vec<String> {
    vec![if is_so { "yes" } else { "no" }.to_owned()]
}

/// The lines at most `before` lines above or `after` lines below a line with the question's text; `itself` includes
/// that line.
fn near(known: &Known, lines: &[String], before: usize, itself: bool, after: usize) -> Vec<String> {
    let is_hit = |line: &String| line.contains(known.value("text"));
    let hits: BTreeSet<usize> = lines.iter().enumerate().filter(|(_, line)| is_hit(line)).map(|(at, _)| at).collect();
    let is_near = |at: usize| {
        let close = |hit: usize| match at.cmp(&hit) {
            Ordering::Equal => itself,
            Ordering::Less => at + before >= hit,
            Ordering::Greater => at <= hit + after,
        };
        hits.iter().any(|hit| close(*hit))
    };
    lines.iter().enumerate().filter(|(at, _)| is_near(*at)).map(|(_, line)| line.clone()).collect()
}

/// The answer to a question of the kind `piped` about these lines.
fn of_lines(known: &Known, lines: &[String]) -> Result<Vec<String>, EvalError> {
    let n = || whole(known, "n");
    let words = |line: &String| text::count_words(line.as_bytes());
    Ok(match known.value("shape") {
        "none" => yes(lines.is_empty()),
        "sorted" => yes(lines.is_sorted()),
        "every" => {
            let n = n()?.max(1);
            lines.iter().skip(n - 1).step_by(n).cloned().collect()
        }
        "odd" => lines.iter().step_by(2).cloned().collect(),
        "starts" => {
            let n = n()?;
            lines.iter().map(|line| line.chars().take(n).collect()).collect()
        }
        "ends" => {
            let n = n()?;
            lines.iter().map(|line| line.chars().skip(line.chars().count().saturating_sub(n)).collect()).collect()
        }
        "mirrored" => lines.iter().map(|line| line.chars().rev().collect()).collect(),
        "led" => lines.iter().map(|line| format!("{}{line}", known.value("text"))).collect(),
        "trailed" => lines.iter().map(|line| format!("{line}{}", known.value("text"))).collect(),
        "but_last" => lines.iter().take(lines.len().saturating_sub(n()?)).cloned().collect(),
        "around" => near(known, lines, n()?, true, n()?),
        "after" => near(known, lines, 0, false, n()?),
        "before" => near(known, lines, n()?, false, 0),
        "onward" => near(known, lines, 0, true, n()?),
        "once" => {
            let mut times: BTreeMap<&String, usize> = BTreeMap::new();
            lines.iter().for_each(|line| *times.entry(line).or_default() += 1);
            lines.iter().filter(|line| times.get(line) == Some(&1)).cloned().collect()
        }
        "long" | "short" => {
            let n = n()?;
            let fits = |count: usize| if known.value("shape") == "long" { count > n } else { count < n };
            lines.iter().filter(|line| fits(words(line))).cloned().collect()
        }
        "words" => lines.iter().map(|line| format!("{}\t{line}", words(line))).collect(),
        "widest" => vec![lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).to_string()],
        "digits" => {
            let n = n()?;
            let runs = lines.iter().flat_map(|line| line.split(|c: char| !c.is_ascii_digit()));
            runs.filter(|run| run.len() == n && n > 0).map(str::to_owned).collect()
        }
        shape => match PATTERNS.iter().find(|(name, _)| *name == shape) {
            Some((_, places)) => {
                let found = lines.iter().flat_map(|line| matches(places, line));
                found.map(|found| found.trim_end_matches(['.', ':', '?']).to_owned()).collect()
            }
            None => return numbers(known, lines),
        },
    })
}

/// The answer to a question of the kind `piped` about lines that are numbers, such as the median.
fn numbers(known: &Known, lines: &[String]) -> Result<Vec<String>, EvalError> {
    let number = |line: &str| {
        let digits = line.trim_matches([' ', '\t']);
        let is_plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-');
        digits.parse::<f64>().ok().filter(|_| is_plain && !digits.starts_with('.') && !digits.ends_with('.'))
    };
    let mut found: Vec<(f64, &String)> = lines.iter().filter_map(|line| Some((number(line)?, line))).collect();
    let bound = |name: &str| known.value(name).parse::<f64>().map_err(|_| EvalError::Meaningless);
    let shape = known.value("shape");
    match shape {
        "over" => {
            let n = bound("n")?;
            found.retain(|(value, _)| *value > n);
        }
        "under" => {
            let n = bound("n")?;
            found.retain(|(value, _)| *value < n);
        }
        "within" => {
            let (n, m) = (bound("n")?, bound("m")?);
            found.retain(|(value, _)| (n..=m).contains(value));
        }
        "largest" | "smallest" => {
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            if shape == "largest" {
                found.reverse();
            }
            found.truncate(whole(known, "n")?);
        }
        "median" => {
            let mut values: Vec<u64> = lines.iter().filter_map(|line| line.parse().ok()).collect();
            values.sort_unstable();
            let at = |at: usize| values.get(at).copied().ok_or(EvalError::Meaningless);
            let sum = at(values.len().saturating_sub(1) / 2)? + at(values.len() / 2)?;
            return Ok(vec![format!("{}{}", sum / 2, if sum % 2 == 1 { ".5" } else { "" })]);
        }
        _ => return Err(EvalError::Meaningless),
    }
    Ok(found.into_iter().map(|(_, line)| line.clone()).collect())
}

/// The number of lines of a file that contain a text.
fn lines_with(entry: &Entry, wanted: &str, fs: &dyn FileSystem) -> Result<usize, EvalError> {
    let bytes = text::content(&entry.path, fs)?;
    Ok(text::split(bytes).iter().filter(|line| text::holds(line, wanted.as_bytes(), false)).count())
}

/// The path of an entry as text.
fn path(entry: &Entry) -> Result<String, EvalError> {
    entry.path.to_str().map(str::to_owned).ok_or(EvalError::Meaningless)
}

/// A line for each file: the facts that the question asks for, such as owner and size, and its path.
fn facts_of(known: &Known, files: &[Entry], fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let names = |file: &str| -> Result<BTreeMap<u32, String>, EvalError> {
        let text = text::system_file(file, fs)?;
        let fields = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let named = fields.filter_map(|fields| Some((fields.get(2)?.parse().ok()?, (*fields.first()?).to_owned())));
        Ok(named.collect())
    };
    let (users, groups) = (names("/etc/passwd")?, names("/etc/group")?);
    let name = |names: &BTreeMap<u32, String>, id: u32| names.get(&id).cloned().unwrap_or_else(|| "UNKNOWN".to_owned());
    let shown = |entry: &Entry| {
        let values = facts(known).into_iter().map(|(_, format)| match format {
            "%a" => format!("{:o}", entry.mode),
            "%U" => name(&users, entry.owner),
            "%G" => name(&groups, entry.group),
            _ => entry.bytes.to_string(),
        });
        Ok(format!("{} {}", values.collect::<Vec<_>>().join(" "), path(entry)?))
    };
    files.iter().map(shown).collect()
}

/// The paths of the files that are at most as many levels below a folder as a question asks for.
fn near_enough(known: &Known, files: &[Entry]) -> Result<Vec<String>, EvalError> {
    let most = inner_query(known).and_then(|query| deepest(known, &query)).ok_or(EvalError::Meaningless)?;
    let is_near = |path: &Result<String, EvalError>| path.as_ref().is_ok_and(|path| path.split('/').count() <= most);
    files.iter().map(path).filter(is_near).collect()
}

/// The answer to a question of the kind `piped` about these files.
fn of_files(known: &Known, files: &[Entry], fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let shape = known.value("shape");
    let md5 = |entry: &Entry| digest::of_file::<md5::Md5>(&entry.path, fs);
    match shape {
        "no_files" => Ok(yes(files.is_empty())),
        "near" => near_enough(known, files),
        "some" => yes(!files.is_empty()).into_iter().map(Ok).chain(files.iter().map(path)).collect(),
        "more" | "least" | "fewer" => {
            let (count, n) = (files.len(), whole(known, "n")?);
            let is_so = match shape {
                "more" => count > n,
                "least" => count >= n,
                _ => count < n,
            };
            Ok(vec![format!("{}, {count}", if is_so { "yes" } else { "no" })])
        }
        "changed" => {
            let shown = |entry: &Entry| {
                let local = entry.modified.as_millis() + i64::from(fs.utc_offset_s(entry.modified)) * 1000;
                let text = Timestamp::from_millis(local).to_string();
                text.get(..19).map(|text| text.replace('T', " ")).ok_or(EvalError::Meaningless)
            };
            files.iter().map(shown).collect()
        }
        "digest" | "digest_sorted" => {
            let mut sums = files.iter().map(md5).collect::<Result<Vec<_>, _>>()?;
            if shape == "digest_sorted" {
                sums.sort();
            }
            let all: String = sums.iter().map(|sum| format!("{sum}\n")).collect();
            let digest = <md5::Md5 as md5::Digest>::digest(all.as_bytes());
            Ok(vec![digest.iter().map(|byte| format!("{byte:02x}")).collect()])
        }
        "hashes" => {
            let sum = |entry: &Entry| Ok(format!("{}  {}", md5(entry)?, path(entry)?));
            let mut sums = files.iter().map(sum).collect::<Result<Vec<_>, EvalError>>()?;
            sums.sort();
            Ok(sums)
        }
        "others" => {
            let (wanted, other) = known.value("text").split_once(' ').ok_or(EvalError::Meaningless)?;
            let sum = |entry: &Entry| digest::of_file::<sha2::Sha256>(&entry.path, fs);
            let is_copy = |entry: &&Entry| entry.path != Path::new(other) && sum(entry).is_ok_and(|sum| sum == wanted);
            files.iter().filter(is_copy).map(path).collect()
        }
        "same" => {
            let sum = |entry: &Entry| digest::of_file::<sha2::Sha256>(&entry.path, fs);
            files.iter().filter(|entry| sum(entry).is_ok_and(|sum| sum == known.value("text"))).map(path).collect()
        }
        "each" => {
            let wanted = known.value("text");
            files.iter().map(|entry| Ok(format!("{}:{}", path(entry)?, lines_with(entry, wanted, fs)?))).collect()
        }
        "unit" => in_unit(known, files.iter().map(|entry| entry.bytes).sum()),
        _ => {
            let count = |entry: &Entry| Ok((lines_with(entry, "", fs)?, path(entry)?));
            let mut counts = files.iter().map(count).collect::<Result<Vec<_>, EvalError>>()?;
            if shape == "counts" {
                counts.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
                return Ok(counts.into_iter().map(|(count, path)| format!("{count}\t{path}")).collect());
            }
            if matches!(shape, "longer" | "shorter") {
                let bound = whole(known, "n")?;
                counts.retain(|(count, _)| if shape == "longer" { *count > bound } else { *count < bound });
                return Ok(counts.into_iter().map(|(_, path)| path).collect());
            }
            let numbers = counts.iter().map(|(count, _)| *count);
            let best = if shape == "most" { numbers.max() } else { numbers.min() };
            Ok(counts.into_iter().filter(|(count, _)| Some(*count) == best).map(|(_, path)| path).collect())
        }
    }
}

/// Everything below a folder except hidden entries.
fn below(root: &str, fs: &dyn FileSystem) -> Result<Vec<Entry>, EvalError> {
    let tree = Query::Tree { roots: vec![root.to_owned()], depth: Depth::Whole, hidden: false, kind: Kind::Any };
    if let Answer::Files(entries) = evaluate(&tree, fs)? { Ok(entries) } else { Err(EvalError::Meaningless) }
}

/// The answer to a question about everything below a folder except hidden entries, such as the number of levels.
fn in_folder(known: &Known, root: &str, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let entries = below(root, fs)?;
    let name = |entry: &Entry| {
        let below = entry.path.strip_prefix(root).ok().and_then(Path::to_str);
        below.map(str::to_owned).ok_or(EvalError::Meaningless)
    };
    if known.value("shape") == "per_folder" {
        let mut counts = BTreeMap::new();
        for entry in &entries {
            let below = name(entry)?;
            match (below.split_once('/'), entry.kind) {
                (None, EntryKind::Folder) => _ = counts.entry(below).or_insert(0),
                (Some((top, _)), EntryKind::File) => *counts.entry(top.to_owned()).or_insert(0) += 1,
                _ => {}
            }
        }
        return Ok(counts.into_iter().map(|(name, count)| format!("{count}\t{name}")).collect());
    }
    let n = whole(known, "n")?;
    let mut found = Vec::new();
    for entry in &entries {
        let is_kind = known.value("shape") == "levels" || entry.kind == EntryKind::Folder;
        if is_kind && name(entry)?.split('/').count() <= n {
            found.push(path(entry)?);
        }
    }
    found.sort();
    Ok(found)
}

/// The broken symbolic links in a folder; for the shape `broken_any`, whether the link at `root` is one.
fn broken(shape: &str, root: &str, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let own = fs.metadata(Path::new(root)).map_err(|_| EvalError::Meaningless)?;
    let entries = if own.kind == EntryKind::Folder { below(root, fs)? } else { vec![own] };
    let leads_nowhere = |entry: &Entry| fs.open(&entry.path).is_err() && fs.list(&entry.path).is_err();
    let is_broken = |entry: &&Entry| entry.kind == EntryKind::Link && leads_nowhere(entry);
    let mut found = entries.iter().filter(is_broken).map(path).collect::<Result<Vec<_>, _>>()?;
    found.sort();
    Ok(if shape == "broken" { found } else { yes(!found.is_empty()) })
}

/// The symbolic links in a folder, each with where it points.
fn links(root: &str, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let entries = below(root, fs)?;
    let shown = |entry: &Entry| {
        let target = fs.link(&entry.path).ok_or(EvalError::Meaningless)?;
        Ok(format!("{} -> {}", path(entry)?, target.to_str().ok_or(EvalError::Meaningless)?))
    };
    let links = entries.iter().filter(|entry| entry.kind == EntryKind::Link);
    let mut found = links.map(shown).collect::<Result<Vec<_>, EvalError>>()?;
    found.sort();
    Ok(found)
}

/// The files in one folder that have the content of a file in another; empty files are left out.
fn copies(one: &str, other: &str, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let files = |root: &str| -> Result<Vec<(String, String)>, EvalError> {
        let entries = below(root, fs)?.into_iter().filter(|entry| entry.kind == EntryKind::File && entry.bytes > 0);
        entries.map(|entry| Ok((digest::of_file::<sha2::Sha256>(&entry.path, fs)?, path(&entry)?))).collect()
    };
    let known: BTreeSet<String> = files(other)?.into_iter().map(|(sum, _)| sum).collect();
    let mut found: Vec<String> =
        files(one)?.into_iter().filter(|(sum, _)| known.contains(sum)).map(|(_, path)| path).collect();
    found.sort();
    Ok(found)
}

/// Whether the first of two folders has more of what `figure` gives for each file, and the sum for each that has files.
fn compared(folders: [&str; 2], figure: fn(&Entry) -> u64, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let mut sums = Vec::new();
    for folder in folders {
        let files: Vec<Entry> = below(folder, fs)?.into_iter().filter(|entry| entry.kind == EntryKind::File).collect();
        sums.push((!files.is_empty(), files.iter().map(figure).sum::<u64>(), folder));
    }
    let is_more = matches!(sums.as_slice(), [(_, one, _), (_, other, _)] if one > other);
    let shown = sums.into_iter().filter(|(has, ..)| *has).map(|(_, sum, folder)| format!("{sum}\t{folder}"));
    Ok(yes(is_more).into_iter().chain(shown).collect())
}

/// The number of files and the path of the folder with more files; both folders if they have equally many.
fn fuller(folders: [&str; 2], fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let mut counts = Vec::new();
    for folder in folders {
        counts.push((below(folder, fs)?.iter().filter(|entry| entry.kind == EntryKind::File).count(), folder));
    }
    let most = counts.iter().map(|(count, _)| *count).max().unwrap_or(0);
    let mut found: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count == most && most > 0)
        .map(|(count, folder)| format!("{count}\t{folder}"))
        .collect();
    found.sort();
    Ok(found)
}

/// What differs between two folders, in the words of `diff -r -q`.
fn differences(one: &str, two: &str, fs: &dyn FileSystem) -> Result<Vec<String>, EvalError> {
    let names = |folder: &str| -> Result<BTreeMap<String, EntryKind>, EvalError> {
        let entries = fs.list(Path::new(folder)).map_err(|_| EvalError::Meaningless)?;
        entries
            .iter()
            .map(|entry| {
                Ok((
                    entry.path.file_name().and_then(|name| name.to_str()).ok_or(EvalError::Meaningless)?.to_owned(),
                    entry.kind,
                ))
            })
            .collect()
    };
    let (of_one, of_two) = (names(one)?, names(two)?);
    let mut found = Vec::new();
    for (name, kind) in &of_one {
        let (a, b) = (format!("{one}/{name}"), format!("{two}/{name}"));
        match (kind, of_two.get(name)) {
            (_, None) => found.push(format!("Only in {one}: {name}")),
            (EntryKind::Folder, Some(EntryKind::Folder)) => found.extend(differences(&a, &b, fs)?),
            (EntryKind::File, Some(EntryKind::File)) => {
                if text::content(Path::new(&a), fs)? != text::content(Path::new(&b), fs)? {
                    found.push(format!("Files {a} and {b} differ"));
                }
            }
            _ => return Err(EvalError::Meaningless),
        }
    }
    found.extend(of_two.keys().filter(|name| !of_one.contains_key(*name)).map(|name| format!("Only in {two}: {name}")));
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{PATTERNS, matches};

    #[test]
    fn patterns_find_urls_and_addresses() {
        let found = |name: &str, line: &str| {
            let (_, pieces) = PATTERNS.iter().find(|(known, _)| *known == name).unwrap();
            matches(pieces, line)
        };
        assert_eq!(found("emails", "to a.b@c.org, x@y and d@e.co.uk"), ["a.b@c.org", "d@e.co.uk"]);
        assert_eq!(found("addresses", "10.0.0.1 and 1.2.3"), ["10.0.0.1"]);
        assert_eq!(found("urls", "(https://a.org/b?c=1) http:/x"), ["https://a.org/b?c=1"]);
    }
}
