//! Checks of the documentation: links resolve, and each test or constant that a page names exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::{files_ending, read};

/// Decisions of the specification from which artoo deviates; docs/adr/0001 has a section for each.
const BENT: [&str; 9] = ["G4", "G10", "G12", "G18", "M1", "M2", "M3", "M8", "M18"];

/// Number of rows of docs/faults.md: named faults of models and their endpoints.
const FAULTS: usize = 38;

/// Names of all tests, and of all types and constants, of the workspace.
struct Names {
    tests: BTreeSet<String>,
    items: BTreeSet<String>,
}

/// The names of all tests, types and constants of the workspace.
fn names() -> Names {
    let mut names = Names { tests: BTreeSet::new(), items: BTreeSet::new() };
    for (_, text) in files_ending(&[".rs"]) {
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                is_test = true;
            }
            let words: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
            for pair in words.windows(2) {
                match pair {
                    ["fn", name] if is_test => {
                        names.tests.insert((*name).to_owned());
                        is_test = false;
                    }
                    ["struct" | "enum" | "trait" | "type" | "const", name] => {
                        names.items.insert((*name).to_owned());
                    }
                    _ => {}
                }
            }
        }
    }
    names
}

/// The rows of a page's tables: for each row, its cells by column heading.
fn rows(page: &str) -> Vec<BTreeMap<String, String>> {
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut rows = Vec::new();
    let mut heading: Option<Vec<String>> = None;
    for line in page.lines() {
        if !line.starts_with('|') {
            heading = None;
        } else if let Some(heading) = &heading {
            let row = cells(line);
            if !row.iter().all(|cell| cell.chars().all(|c| "-: ".contains(c))) || row.iter().all(String::is_empty) {
                assert_eq!(row.len(), heading.len(), "a row with another number of cells: {line}");
                rows.push(heading.iter().cloned().zip(row).collect());
            }
        } else {
            heading = Some(cells(line));
        }
    }
    rows
}

/// The texts between single backticks in a page.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Fails unless every name in backticks is a test, a type, a constant or a file of the repository; returns the number
/// of tests.
fn names_exist(place: &str, text: &str, names: &Names) -> usize {
    let mut tests = 0;
    for name in quoted(text) {
        let is_file = name.contains('/') && super::root().join(name).exists();
        let is_test = names.tests.contains(name);
        let item = name.rsplit("::").next().unwrap_or(name);
        let is_item = item.starts_with(char::is_uppercase) && names.items.contains(item);
        assert!(is_file || is_test || is_item, "{place} names {name:?}, which is no test, type, constant or file");
        tests += usize::from(is_test);
    }
    tests
}

/// Headings of the tables whose rows tests name in `#[doc = "holds: law 1.4; fault L9"]`, each with the word for its
/// rows.
const KINDS: [(&str, &str); 8] = [
    ("## Law 0", "law"),
    ("## Law 1", "law"),
    ("## Law 2", "law"),
    ("## Law 3", "law"),
    ("## Key invariants", "invariant"),
    ("## Principles", "principle"),
    ("# Faults of models", "fault"),
    ("## What is promised", "client"),
];

/// For each numbered row of those tables, the names of the tests whose attribute names it.
fn tests_by_number() -> BTreeMap<String, BTreeSet<String>> {
    let mut by_number: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in files_ending(&[".rs"]) {
        let mut numbers: Vec<String> = Vec::new();
        for line in text.lines().map(str::trim) {
            if let Some(held) = line.strip_prefix("#[doc = \"holds: ").and_then(|rest| rest.strip_suffix("\"]")) {
                for part in held.split("; ") {
                    let (kind, list) = part.split_once(' ').unwrap_or_else(|| panic!("{path}: {line}"));
                    let known = kind == "design" || KINDS.iter().any(|(_, known)| *known == kind);
                    assert!(known, "{path}: no kind of promise is called {kind:?}: {line}");
                    numbers.extend(list.split(", ").map(|number| format!("{kind} {number}")));
                }
            } else if let Some(name) = line.split_once("fn ").map(|(_, rest)| rest)
                && !numbers.is_empty()
            {
                let name = name.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
                for number in numbers.drain(..) {
                    by_number.entry(number).or_default().insert(name.to_owned());
                }
            }
        }
    }
    by_number
}

/// The page with the column `held by` generated anew: tests come from their attributes, all else stays. Adds the row
/// numbers to `rows`.
fn with_tests(page: &str, tests: &BTreeMap<String, BTreeSet<String>>, rows: &mut BTreeSet<String>) -> String {
    let mut written = String::new();
    let mut kind = "";
    for line in page.lines() {
        if line.starts_with('#') {
            kind = KINDS.iter().find(|(heading, _)| line.starts_with(heading)).map_or("", |(_, kind)| kind);
        }
        let mut cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        let number = cells.first().map(|first| first.split(". ").next().unwrap_or(first).to_owned());
        let column = match kind {
            "fault" => 3,
            "principle" => 1,
            _ => 2,
        };
        let number = number.filter(|number| number.ends_with(|c: char| c.is_ascii_digit()));
        if let (false, true, Some(number), Some(cell)) =
            (kind.is_empty(), line.starts_with('|'), number, cells.get_mut(column))
        {
            let key = format!("{kind} {number}");
            let is_item = |name: &&str| name.starts_with(char::is_uppercase) || name.contains('/');
            let items = quoted(cell).filter(is_item).map(str::to_owned);
            let held: Vec<String> = items.chain(tests.get(&key).into_iter().flatten().cloned()).collect();
            *cell = held.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            rows.insert(key);
            let line: String =
                cells.iter().map(|cell| if cell.is_empty() { " |".to_owned() } else { format!(" {cell} |") }).collect();
            written.push_str(&format!("|{line}\n"));
        } else {
            written.push_str(&format!("{line}\n"));
        }
    }
    written
}

/// docs/laws.md and docs/faults.md list the tests whose attributes name their rows.
#[test]
fn laws_and_faults_list_their_tests() {
    let tests = tests_by_number();
    let mut rows = BTreeSet::new();
    for path in ["docs/laws.md", "docs/faults.md"] {
        let shown = read(path);
        let page = with_tests(&shown, &tests, &mut rows);
        if std::env::var(super::limits::BLESS).is_ok_and(|value| value == "1") {
            std::fs::write(super::root().join(path), &page).unwrap();
        } else {
            let differs = shown.lines().zip(page.lines()).find(|(shown, page)| shown != page);
            assert!(shown == page, "{path} differs from the tests; ARTOO_BLESS=1 writes it anew. First: {differs:?}");
        }
    }
    let is_row = |number: &&String| number.starts_with("design ") || number.contains(" to ") || rows.contains(*number);
    let unknown: Vec<_> = tests.iter().filter(|(number, _)| !is_row(number)).collect();
    assert!(unknown.is_empty(), "no page has these numbers: {unknown:?}");
}

/// Every test that docs/laws.md names exists.
#[test]
fn tests_named_by_laws_exist() {
    let names = names();
    let rows = rows(&read("docs/laws.md"));
    assert!(rows.len() > 40, "only {} rows", rows.len());
    let mut tests = 0;
    for row in &rows {
        let place = row.values().next().cloned().unwrap_or_default();
        let held_by = row.get("held by").unwrap_or_else(|| panic!("no column `held by`: {row:?}"));
        assert!(row.contains_key("not yet"), "no column `not yet`: {row:?}");
        assert!(held_by.is_empty() || quoted(held_by).count() > 0, "{place:?} is held by words only: {held_by}");
        assert!(!held_by.is_empty() || !row["not yet"].is_empty(), "{row:?} says nothing");
        tests += names_exist("docs/laws.md", held_by, &names);
    }
    assert!(tests > 60, "the laws rest on {tests} tests");
}

/// Every promise in docs/security.md names a test that exists and a place in the code.
#[test]
fn tests_named_by_security_page_exist() {
    let names = names();
    let page = rows(&read("docs/security.md"));
    let promises: Vec<_> = page.iter().filter(|row| row.contains_key("promise")).collect();
    assert!(promises.len() > 10, "only {} promises", promises.len());
    for row in promises {
        let tests = names_exist("docs/security.md", &row["held by"], &names);
        assert!(tests > 0 && quoted(&row["held by"]).any(|name| name.contains('/') || name == "Unattended"), "{row:?}");
    }
}

/// Every model fault in docs/faults.md names a test that exists.
#[test]
fn every_model_fault_has_a_test() {
    let names = names();
    let page = rows(&read("docs/faults.md"));
    for row in &page {
        let place = row.values().next().cloned().unwrap_or_default();
        let held_by = row.get("held by").unwrap_or_else(|| panic!("no column `held by`: {row:?}"));
        assert!(names_exist("docs/faults.md", held_by, &names) > 0, "{place:?} is held by no test: {held_by}");
    }
    let ids: Vec<String> = page.iter().filter_map(|row| row.get("fault").cloned()).collect();
    let expected: Vec<String> = (1..=FAULTS).map(|number| format!("L{number}")).collect();
    assert_eq!(ids, expected, "each fault has one row, in order");
    assert!(page.len() > ids.len() + 15, "the promises are missing");
}

/// Every deviation from the specification in docs/adr/0001 names a test that exists.
#[test]
fn deviations_from_specification_name_their_test() {
    let record = read("docs/adr/0001-deviations-from-the-specification.md");
    let names = names();
    let sections: BTreeMap<&str, &str> = record
        .split("\n## ")
        .skip(1)
        .filter_map(|section| section.split_once(|c: char| !c.is_alphanumeric()))
        .collect();
    for id in BENT {
        let section = sections.get(id).unwrap_or_else(|| panic!("{id} is not recorded"));
        let held = section.split("Test:").nth(1).unwrap_or_else(|| panic!("{id} names no test"));
        assert!(names_exist("the record", held, &names) > 0, "{id} names no test");
    }
}

/// docs/adr/README.md lists every decision record.
#[test]
fn the_index_lists_every_decision_record() {
    let index = read("docs/adr/README.md");
    for (path, _) in files_ending(&[".md"]) {
        if let Some(name) = path.strip_prefix("docs/adr/").filter(|name| *name != "README.md") {
            assert!(index.contains(&format!("({name})")), "docs/adr/README.md does not list {name}");
        }
    }
}

/// Every figure in docs/measuring.md has a command and a date.
#[test]
fn every_figure_has_command_and_date() {
    let rows = rows(&read("docs/measuring.md"));
    assert!(rows.len() > 5);
    for row in rows {
        let command = &row["command"];
        assert!(quoted(command).any(|command| command.len() > 3), "no command: {row:?}");
        assert!(!row["last figure"].is_empty() && !row["date"].is_empty(), "no figure: {row:?}");
    }
}

/// Links between the Markdown pages lead to files and headings that exist.
#[test]
fn links_in_pages_resolve() {
    let pages = files_ending(&[".md"]);
    let by_path: BTreeMap<PathBuf, &String> = pages.iter().map(|(path, text)| (PathBuf::from(path), text)).collect();
    let mut broken = Vec::new();
    for (path, text) in &pages {
        for target in links(text).filter(|target| !target.starts_with("http")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = Path::new(path).parent().unwrap_or(Path::new(""));
            let led_to = if file.is_empty() { PathBuf::from(path) } else { normal(&folder.join(file)) };
            let exists = super::root().join(&led_to).exists();
            let anchored = anchor.is_empty() || by_path.get(&led_to).is_some_and(|page| anchors(page).contains(anchor));
            if !exists || !anchored {
                broken.push(format!("{path}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Paths that Markdown pages quote exist in the repository.
#[test]
fn paths_that_pages_name_exist() {
    let mut missing = Vec::new();
    for (path, text) in files_ending(&[".md"]).into_iter().filter(|(path, _)| path != "CHANGELOG.md") {
        for prose in text.split("```").step_by(2) {
            let named = quoted(prose)
                .filter(|name| ["crates/", "bins/", "docs/", "prompts/"].iter().any(|start| name.starts_with(start)));
            let unknown = named.filter(|name| !name.contains(['*', ' ']) && !super::root().join(name).exists());
            missing.extend(unknown.map(|name| format!("{path}: {name}")));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The targets of a page's Markdown links, code blocks excepted.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let prose = page.split("```").step_by(2);
    prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next())
}

/// A path with `.` and `..` resolved by name, without reading the disk.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => normal.push(part),
        }
    }
    normal
}

/// The anchors of a page's headings, in the form that common Markdown renderers generate.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let slug = |heading: &str| {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
    };
    headings.map(slug).collect()
}

/// README.md shows `cargo test` and one main job, and CI runs both.
#[test]
fn readme_commands_equal_those_of_ci() {
    let readme = read("README.md");
    let ci = read(".ci/run");
    let has_line = |text: &str, wanted: &str| text.lines().any(|line| line.trim() == wanted);
    assert!(has_line(&readme, "cargo test"), "README.md does not show `cargo test` on a line of its own");
    assert!(ci.lines().any(|line| line.ends_with(" cargo test")), ".ci/run does not run `cargo test`");
    let jobs = readme.lines().filter(|line| line.starts_with("cargo run --release -- ")).count();
    assert_eq!(jobs, 1, "README.md shows one main job, which .ci/run takes from it");
    assert!(ci.contains("cargo run --release -- "), ".ci/run does not run the main job");
}

/// The example in docs/embedding.md equals the example file that is compiled in CI.
#[test]
fn embedding_page_shows_the_ci_example() {
    let page = read("docs/embedding.md");
    let example = files_ending(&["embed.rs"]).into_iter().find(|(path, _)| path.contains("/examples/"));
    let (path, example) = example.expect("the embedding example exists");
    let block = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(block, Some(example.as_str()), "docs/embedding.md shows another example than {path}");
    let lines = example.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//")).count();
    assert!(lines < 30, "embedding takes {lines} lines");
}
