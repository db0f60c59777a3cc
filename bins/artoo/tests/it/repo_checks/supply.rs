//! What comes into the build: the bans and the licences of `deny.toml`, held here too where cargo-deny is not installed.

use std::collections::BTreeSet;

use super::{Tree, read};

fn deny() -> toml::Table {
    read("deny.toml").parse().unwrap()
}

fn strings(value: &toml::Value) -> BTreeSet<String> {
    value.as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

/// What a plain build brings in. With `ARTOO_WHOLE_GRAPH` set, what any feature would on any platform of `deny.toml`: that
/// needs all of it to be fetched, which a plain build does not do.
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
fn every_licence_is_one_of_those_allowed() {
    let deny = deny();
    let allowed = strings(&deny["licenses"]["allow"]);
    let tree = brought_in();
    let refused: Vec<_> = tree.licences.iter().filter(|(_, licence)| !is_allowed(licence, &allowed)).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn licence_expressions_are_read_as_spdx_means_them() {
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

/// Whether an SPDX expression can be satisfied with the allowed licences alone. `AND` binds tighter than `OR`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = tokens.as_slice();
    let satisfied = any_of(&mut rest, allowed);
    satisfied && rest.is_empty()
}

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
