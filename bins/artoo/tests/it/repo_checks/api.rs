//! Compares the public API of published crates with the snapshot `crates/NAME/api.txt`, which `ARTOO_BLESS=1 cargo test
//! -p artoo --test it repo_checks::api` writes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{files_ending, root};

/// Crates whose public API has a snapshot file.
const CRATES: [&str; 2] = ["artoo-ggs", "artoo-mkct"];

/// Environment variable; if it is 1, the snapshots are written instead of compared.
const BLESS: &str = "ARTOO_BLESS";

/// One item at the top level of a source file: its attributes, its head (all before the body), and the lines of its
/// body.
struct Item<'a> {
    attributes: Vec<String>,
    head: String,
    body: Vec<&'a str>,
}

/// Joins source lines from index `at` to the end of an item's head (all before its body); moves `at` past the head.
fn joined(lines: &[&str], at: &mut usize, ends: &[char]) -> String {
    let mut text = String::new();
    while let Some(line) = lines.get(*at) {
        *at += 1;
        let _ = write!(text, "{} ", line.trim());
        if line.ends_with(ends) {
            break;
        }
    }
    text.trim_end().replace("( ", "(").replace(", )", ")")
}

/// Splits a source file formatted by rustfmt into its items at the top level.
fn items(text: &str) -> Vec<Item<'_>> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let (mut items, mut attributes, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(line) = lines.get(at) {
        if line.starts_with("#[") {
            attributes.push(joined(&lines, &mut at, &[']']));
        } else if line.starts_with(char::is_alphabetic) {
            let head = joined(&lines, &mut at, &['{', ';', '}']);
            let body = if head.ends_with('{') {
                at..at + lines[at..].iter().take_while(|l| **l != "}").count()
            } else {
                at..at
            };
            at = body.end;
            items.push(Item { attributes: std::mem::take(&mut attributes), head, body: lines[body].to_vec() });
        } else {
            at += 1;
        }
    }
    items
}

/// The name that an item's head declares, such as `Name` for `pub struct Name<T> {`.
fn name(head: &str) -> &str {
    let declared = head.strip_prefix("pub ").unwrap_or(head);
    let rest =
        ["struct ", "enum ", "trait ", "type ", "fn ", "const "].iter().find_map(|kind| declared.strip_prefix(kind));
    rest.unwrap_or_default().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The last segment of a type's path, without parameters, such as `Display` for `fmt::Display`.
fn simple(path: &str) -> &str {
    let path = path.split(['<', ' ']).next().unwrap_or_default();
    path.rsplit("::").next().unwrap_or_default()
}

/// The public members of an item: fields of a struct, variants of an enum, methods of an `impl`, functions of a trait.
fn members(item: &Item<'_>) -> Vec<String> {
    let is_enum = item.head.starts_with("pub enum");
    let all = is_enum || item.head.starts_with("pub trait");
    let ends = if item.head.starts_with("pub struct") || is_enum { [',', '{'] } else { [';', '{'] };
    let (mut members, mut at) = (Vec::new(), 0);
    while let Some(line) = item.body.get(at) {
        let declared = line.strip_prefix("    ").unwrap_or_default();
        if !(declared.starts_with("pub ") || (all && declared.starts_with(char::is_alphabetic))) {
            at += 1;
            continue;
        }
        let mut text = joined(&item.body, &mut at, &ends);
        if is_enum && text.ends_with('{') {
            let fields = item.body[at..].iter().take_while(|line| line.trim() != "},");
            let fields = fields.map(|line| line.trim()).filter(|line| !line.starts_with("#["));
            text = format!("{text} {} }}", fields.collect::<Vec<_>>().join(" ").trim_end_matches(','));
        }
        members.push(text.trim_end_matches([' ', '{', ',', ';']).replace("pub ", ""));
    }
    members
}

/// Those of an item's attributes that are part of the API: derived traits, `cfg` and `non_exhaustive`.
fn shown(attributes: &[String]) -> String {
    let api = ["#[derive", "#[cfg", "#[non_exhaustive"];
    let shown = attributes.iter().filter(|attribute| api.iter().any(|start| attribute.starts_with(start)));
    shown.fold(String::new(), |all, attribute| {
        let (attribute, more) = attribute.split_once(", serde(").map_or((attribute.as_str(), ""), |(a, _)| (a, ")]"));
        format!("{all} {}{more}", attribute.replace("( ", "("))
    })
}

/// The snapshot's lines about one item.
fn describe(item: &Item<'_>, is_root: bool, public: &BTreeSet<&str>) -> Vec<String> {
    let head = item.head.trim_end_matches([' ', '{', ';']);
    let attributes = shown(&item.attributes);
    if let Some(used) = head.strip_prefix("pub use ") {
        let names = used.rsplit_once("::").map_or(used, |(_, names)| names).trim_matches(['{', '}']);
        return names.split(',').filter(|_| is_root).map(|name| format!("root: {}", name.trim())).collect();
    }
    if let Some(declared) = head.strip_prefix("pub ") {
        // Private fields of a tuple are no part of the API.
        let declared = match declared.split_once('(') {
            Some((name, fields)) if name.starts_with("struct") && !fields.contains("pub ") => format!("{name}(..)"),
            _ => declared.to_owned(),
        };
        let members = members(item).into_iter().map(|member| format!("{}: {member}", name(head)));
        return std::iter::once(format!("{declared}{attributes}")).chain(members).collect();
    }
    let Some(implemented) = head.strip_prefix("impl") else { return Vec::new() };
    match implemented.split_once(" for ") {
        None => members(item).into_iter().map(|member| format!("{head}: {member}{attributes}")).collect(),
        Some((_, of_type)) if public.contains(simple(of_type)) => vec![format!("{head}{attributes}")],
        Some(_) => Vec::new(),
    }
}

/// All public items of a crate with their members, as sorted lines.
fn api(krate: &str) -> BTreeSet<String> {
    let source = format!("crates/{krate}/src/");
    let files = files_ending(&[".rs"]).into_iter();
    let files: Vec<_> = files.filter(|(path, _)| path.starts_with(&source) && !path.contains("/tests")).collect();
    let items = files.iter().flat_map(|(path, text)| items(text).into_iter().map(move |item| (path, item)));
    let items: Vec<_> = items.collect();
    let heads = items.iter().map(|(_, item)| item.head.as_str());
    let public = heads.filter(|head| head.starts_with("pub ")).map(name).collect();
    items.iter().flat_map(|(path, item)| describe(item, path.ends_with("src/lib.rs"), &public)).collect()
}

/// The public API of each published crate equals its snapshot file.
#[test]
fn public_api_matches_its_snapshot() {
    for krate in CRATES {
        let path = root().join(format!("crates/{krate}/api.txt"));
        let found = api(krate);
        if std::env::var(BLESS).is_ok_and(|value| value == "1") {
            let lines: String = found.iter().map(|line| format!("{line}\n")).collect();
            std::fs::write(&path, lines).unwrap();
        }
        let saved: BTreeSet<String> =
            std::fs::read_to_string(&path).unwrap_or_default().lines().map(str::to_owned).collect();
        let (new, gone): (Vec<_>, Vec<_>) = (found.difference(&saved).collect(), saved.difference(&found).collect());
        assert!(
            new.is_empty() && gone.is_empty(),
            "{krate}: new {new:#?}, gone or changed {gone:#?}; {BLESS}=1 accepts it"
        );
    }
}

/// The API snapshot lists only public items and members of a sample source.
#[test]
fn api_lists_public_items_alone() {
    let source = "/// Doc.\n#[derive(Debug)]\n#[non_exhaustive]\npub struct A<T> {\n    /// Field.\n    pub a: T,\n    b: u8,\n}\n\n\
                  pub(crate) struct B;\n\npub enum C {\n    /// One.\n    One,\n    Two {\n        /// X.\n        x: u8,\n    },\n}\n\n\
                  impl<T> A<T> {\n    #[must_use]\n    pub fn long(\n        &self,\n        other: u8,\n    ) -> u8 {\n        other\n    }\n\n    fn hidden() {}\n}\n";
    let items = items(source);
    let heads: Vec<&str> = items.iter().map(|item| item.head.as_str()).collect();
    assert_eq!(heads, ["pub struct A<T> {", "pub(crate) struct B;", "pub enum C {", "impl<T> A<T> {"]);
    assert_eq!(items[0].attributes, ["#[derive(Debug)]", "#[non_exhaustive]"]);
    assert_eq!(members(&items[0]), ["a: T"]);
    assert_eq!(members(&items[2]), ["One", "Two { x: u8 }"]);
    assert_eq!(members(&items[3]), ["fn long(&self, other: u8) -> u8"]);
}
