//! Checks that dependencies obey the banned crates and allowed licences of `deny.toml`, since cargo-deny may not be
//! installed.

use std::collections::BTreeSet;

use super::{Tree, read};

/// The content of `deny.toml`.
fn deny() -> toml::Table {
    read("deny.toml").parse().unwrap()
}

/// The texts of a TOML list.
fn strings(value: &toml::Value) -> BTreeSet<String> {
    value.as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

/// The dependency tree of a default build; with `ARTOO_WHOLE_GRAPH` set, of all features and platforms, which must be
/// downloaded.
#[expect(clippy::print_stderr, reason = "a test that looks at less says so")]
fn brought_in() -> Tree {
    let edges = ["--edges", "normal,build,dev"];
    if std::env::var_os("ARTOO_WHOLE_GRAPH").is_some() {
        let deny = deny();
        let targets = deny["graph"]["targets"].as_array().unwrap();
        let targets = targets.iter().flat_map(|target| ["--target", target.as_str().unwrap()]);
        let whole = edges.into_iter().chain(["--workspace", "--all-features"]).chain(targets);
        return Tree::of(&whole.collect::<Vec<_>>());
    }
    eprintln!("optional features and other platforms are not looked at: ARTOO_WHOLE_GRAPH is not set");
    Tree::of(&edges)
}

/// A banned crate occurs only as a dependency of the crates that `deny.toml` allows to wrap it.
#[test]
fn banned_crates_come_only_through_their_wrappers() {
    let deny = deny();
    let tree = brought_in();
    let bans = deny["bans"]["deny"].as_array().unwrap();
    assert!(bans.iter().any(|ban| ban["crate"].as_str() == Some("reqwest")));
    for ban in bans {
        let banned = ban["crate"].as_str().unwrap();
        let wrappers = ban.get("wrappers").map(strings).unwrap_or_default();
        let users = tree.edges.iter().filter(|(_, used)| used == banned).map(|(user, _)| user);
        let strangers: Vec<&String> = users.filter(|user| !wrappers.contains(*user)).collect();
        assert!(strangers.is_empty(), "{banned} comes in through {strangers:?}");
        let is_in = tree.names().contains(banned);
        assert!(!is_in || !wrappers.is_empty(), "{banned} is in the build");
    }
    assert!(tree.edges.contains(&("artoo-llm".to_owned(), "reqwest".to_owned())), "the tree is not what it seems");
}

#[test]
fn dependencies_have_allowed_licences() {
    let deny = deny();
    let allowed = strings(&deny["licenses"]["allow"]);
    let tree = brought_in();
    let refused: Vec<_> = tree.licences.iter().filter(|(_, licence)| !is_allowed(licence, &allowed)).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn licence_expressions_follow_spdx() {
    let allowed: BTreeSet<String> = ["MIT", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
    let check =
        |expression: &str, expected: bool| assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    check("MIT", true);
    check("GPL-3.0", false);
    check("GPL-3.0/MIT", true);
    check("MIT AND GPL-3.0", false);
    check("GPL-3.0 OR MIT AND MIT", true);
    check("(GPL-3.0 OR MIT) AND MIT", true);
    check("(GPL-3.0 OR BSL-1.0) AND MIT", false);
    check("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true);
    check("Apache-2.0", false);
    check("none", false);
    check("", false);
}

/// Whether an SPDX licence expression can be satisfied with the allowed licences alone. `AND` binds tighter than `OR`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = tokens.as_slice();
    let satisfied = any_of(&mut rest, allowed);
    satisfied && rest.is_empty()
}

/// Parses licence alternatives joined by `OR` from the tokens; true if one can be satisfied with the allowed licences.
fn any_of(rest: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut satisfied = all_of(rest, allowed);
    while let [first, tail @ ..] = *rest
        && *first == "OR"
    {
        *rest = tail;
        satisfied |= all_of(rest, allowed);
    }
    satisfied
}

/// Parses licence terms joined by `AND` from the tokens; true if all can be satisfied with the allowed licences.
fn all_of(rest: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut satisfied = one(rest, allowed);
    while let [first, tail @ ..] = *rest
        && *first == "AND"
    {
        *rest = tail;
        satisfied &= one(rest, allowed);
    }
    satisfied
}

/// Parses one licence or an expression in brackets from the tokens; true if the allowed licences satisfy it.
fn one(rest: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    match *rest {
        ["(", tail @ ..] => {
            *rest = tail;
            let satisfied = any_of(rest, allowed);
            *rest = rest.get(1..).unwrap_or_default();
            satisfied
        }
        [name, "WITH", exception, tail @ ..] => {
            *rest = tail;
            allowed.contains(&format!("{name} WITH {exception}"))
        }
        [name, tail @ ..] => {
            *rest = tail;
            allowed.contains(*name)
        }
        [] => false,
    }
}
