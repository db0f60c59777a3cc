//! Generates docs/limits.md, the bounds that an operator meets, from marked constants and tests that it is current.

use std::fmt::Write as _;

use super::{files_ending, root};

/// Environment variable; if it is 1, docs/limits.md is written instead of compared.
pub(super) const BLESS: &str = "ARTOO_BLESS";

/// Attribute of a constant that docs/limits.md lists, since a user meets it: as a refusal, a cut, a wait or a deletion.
const MARK: &str = "#[doc(alias = \"limit\")]";

/// Headings of docs/limits.md, by crate.
const HEADINGS: [(&str, &str); 9] = [
    ("artoo", "The program"),
    ("artoo-audit", "Audit log"),
    ("artoo-bus", "Messages"),
    ("artoo-llm", "Models and model files"),
    ("artoo-local", "A model file run by artoo"),
    ("artoo-mkct", "Memory"),
    ("artoo-reflex", "Requests read without a model"),
    ("artoo-roles", "Tasks"),
    ("artoo-tools", "Tools, approvals, evidence and undo"),
];

/// Types of constants that can be a limit.
const BOUNDS: [&str; 7] = ["usize", "u8", "u32", "u64", "i64", "f64", "Duration"];

/// Whether a source file is part of the program; limits in test code concern no user.
fn is_product(path: &str) -> bool {
    let of_tests = ["/tests", "/testing", "/chaos/", "/regressions"];
    path.contains("/src/") && !of_tests.iter().any(|part| path.contains(part))
}

/// A constant that docs/limits.md lists: its name, its value, and its doc comment.
struct Bound {
    name: String,
    value: String,
    reason: String,
}

/// The constants in a source text that are marked as limits.
fn bounds(text: &str) -> Vec<Bound> {
    let mut bounds = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut is_marked = false;
    for line in text.lines() {
        // Only the top level: an associated constant is a value of its type, not a limit.
        if let Some(text) = line.strip_prefix("/// ") {
            comment.push(text);
            continue;
        }
        if line == MARK {
            is_marked = true;
            continue;
        }
        let public = ["pub(crate) ", "pub(super) ", "pub "];
        let declared = public.iter().find_map(|public| line.strip_prefix(public)).unwrap_or(line);
        let declared = declared.strip_prefix("const ");
        if let Some((name, rest)) = declared.and_then(|rest| rest.split_once(": "))
            && let Some((kind, value)) = rest.split_once(" = ")
            && BOUNDS.contains(&kind)
            && let Some(value) = value.split(';').next()
            && is_marked
            && !comment.is_empty()
        {
            let value = worded(value);
            bounds.push(Bound { name: name.to_owned(), value, reason: comment.join(" ") });
        }
        comment.clear();
        is_marked = false;
    }
    bounds
}

/// The value of a limit in words, such as `5 * 60` seconds as "5 minutes"; other values unchanged.
fn worded(value: &str) -> String {
    let units = [("Duration::from_secs(", "s"), ("Duration::from_millis(", "ms")];
    match units.iter().find_map(|(call, unit)| Some((value.strip_prefix(call)?.strip_suffix(')')?, unit))) {
        Some((amount, unit)) => format!("{amount} {unit}"),
        None => value.to_owned(),
    }
}

/// The expected text of docs/limits.md, generated from the marked constants.
fn page() -> String {
    let mut page = String::from(
        "# Limits\n\n\
         The bounds that you may meet: where artoo refuses, cuts, waits, or deletes. When a bound is reached, artoo says so:\n\
         a queue counts what it drops, a reply that is too large is refused, a text that is cut says that something is\n\
         missing. Bounds inside the program stand in its source beside their reasons.\n\n\
         Written from constants marked `#[doc(alias = \"limit\")]` by\n\
         `ARTOO_BLESS=1 cargo test -p artoo --test it limits`; a test fails when the two differ.\n",
    );
    let mut krate = String::new();
    for (path, text) in files_ending(&[".rs"]).into_iter().filter(|(path, _)| is_product(path)) {
        let bounds = bounds(&text);
        if bounds.is_empty() {
            continue;
        }
        let owner = path.split('/').nth(1).unwrap_or_default();
        if owner != krate {
            owner.clone_into(&mut krate);
            let heading = HEADINGS.iter().find(|(name, _)| *name == krate).map(|(_, heading)| *heading);
            let heading = heading.unwrap_or_else(|| panic!("{krate} has no heading on the page of limits"));
            let _ = write!(page, "\n## {heading}\n\n| bound | value | what for |\n|---|---|---|\n");
        }
        for Bound { name, value, reason } in bounds {
            let reason = reason.replace('|', "\\|");
            let _ = writeln!(page, "| `{name}` | {value} | {reason} |");
        }
    }
    page
}

/// docs/limits.md equals the page that is generated from the marked constants.
#[test]
fn limits_page_matches_the_constants() {
    let path = root().join("docs/limits.md");
    let page = page();
    if std::env::var(BLESS).is_ok_and(|value| value == "1") {
        std::fs::write(&path, &page).unwrap();
    }
    let shown = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(shown.lines().chain(std::iter::repeat(""))).find(|(now, then)| now != then);
    assert!(shown == page, "docs/limits.md is not what the code says; {BLESS}=1 writes it anew. First: {differs:?}");
}

/// The parser of docs/limits.md finds the marked constants of a sample source, with value and doc comment.
#[test]
fn limit_constants_are_parsed_with_reason() {
    let text = "/// Why.\n/// More.\n#[doc(alias = \"limit\")]\npub(crate) const A_MAX: usize = 1_000; // x\n\
                #[doc(alias = \"limit\")]\nconst B: usize = 2;\n/// Unmarked.\nconst U: usize = 3;\n\
                /// C.\n#[doc(alias = \"limit\")]\npub const C: &str = \"\";\n\
                /// D.\n#[doc(alias = \"limit\")]\nconst D: Duration = Duration::from_secs(5);";
    let found: Vec<String> = bounds(text).iter().map(|b| format!("{}={} {}", b.name, b.value, b.reason)).collect();
    assert_eq!(found, ["A_MAX=1_000 Why. More.", "D=5 s D."]);
}
