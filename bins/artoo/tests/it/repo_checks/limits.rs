//! `docs/limits.md`: every named bound of the code with its reason, written from the code and compared with it.

use std::fmt::Write as _;

use super::{files_ending, root};

/// Set to 1, the page is written anew instead of compared.
pub(super) const BLESS: &str = "ARTOO_BLESS";

/// Kinds of constants that bound something.
const BOUNDS: [&str; 7] = ["usize", "u8", "u32", "u64", "i64", "f64", "Duration"];

/// Test code bounds nothing a user meets.
fn is_product(path: &str) -> bool {
    let of_tests = ["/tests", "/testing", "/chaos/", "/regressions"];
    path.contains("/src/") && !of_tests.iter().any(|part| path.contains(part))
}

/// A constant as its line declares it, with the comment above it.
struct Bound {
    name: String,
    value: String,
    reason: String,
}

fn bounds(text: &str) -> Vec<Bound> {
    let mut bounds = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    for line in text.lines() {
        // Only the top level: an associated constant is a value of its type, not a limit.
        if let Some(text) = line.strip_prefix("/// ") {
            comment.push(text);
            continue;
        }
        let public = ["pub(crate) ", "pub(super) ", "pub "];
        let declared = public.iter().find_map(|public| line.strip_prefix(public)).unwrap_or(line);
        let declared = declared.strip_prefix("const ");
        if let Some((name, rest)) = declared.and_then(|rest| rest.split_once(": "))
            && let Some((kind, value)) = rest.split_once(" = ")
            && BOUNDS.contains(&kind)
            && let Some(value) = value.split(';').next()
            && !comment.is_empty()
        {
            let value = worded(value);
            bounds.push(Bound { name: name.to_owned(), value, reason: comment.join(" ") });
        }
        comment.clear();
    }
    bounds
}

/// `5 * 60` seconds and the like as a person reads them; anything else as it stands.
fn worded(value: &str) -> String {
    let units = [("Duration::from_secs(", "s"), ("Duration::from_millis(", "ms")];
    match units.iter().find_map(|(call, unit)| Some((value.strip_prefix(call)?.strip_suffix(')')?, unit))) {
        Some((amount, unit)) => format!("{amount} {unit}"),
        None => value.to_owned(),
    }
}

fn page() -> String {
    let mut page = String::from(
        "# Limits\n\n\
         Every named bound in the code, with the sentence that stands above it there. Written from the source by a test\n\
         that fails when the two differ; to write it anew: `ARTOO_BLESS=1 cargo test -p artoo --test it limits`.\n\n\
         The rule where a bound is reached: it is said. A queue counts what it loses, a reply that is too large is refused,\n\
         a text that is cut says that something is missing.\n",
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
            let _ = write!(page, "\n## {krate}\n\n| bound | value | what for |\n|---|---|---|\n");
        }
        for Bound { name, value, reason } in bounds {
            let reason = reason.replace('|', "\\|");
            let _ = writeln!(page, "| `{name}` | {value} | {reason} |");
        }
    }
    page
}

#[test]
fn the_page_of_limits_shows_the_code() {
    let path = root().join("docs/limits.md");
    let page = page();
    if std::env::var(BLESS).is_ok_and(|value| value == "1") {
        std::fs::write(&path, &page).unwrap();
    }
    let shown = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(shown.lines().chain(std::iter::repeat(""))).find(|(now, then)| now != then);
    assert!(shown == page, "docs/limits.md is not what the code says; {BLESS}=1 writes it anew. First: {differs:?}");
}

#[test]
fn a_bound_is_read_with_its_reason() {
    let text = "/// Why.\n/// More.\npub(crate) const A_MAX: usize = 1_000; // x\nconst B: usize = 2;\n\
                /// C.\npub const C: &str = \"\";\n/// D.\nconst D: Duration = Duration::from_secs(5);";
    let found: Vec<String> = bounds(text).iter().map(|b| format!("{}={} {}", b.name, b.value, b.reason)).collect();
    assert_eq!(found, ["A_MAX=1_000 Why. More.", "D=5 s D."]);
}
