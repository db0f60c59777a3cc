//! What comes into the build: the bans and the licences of `deny.toml`, held here too where cargo-deny is not installed.

use std::collections::BTreeSet;

use super::{name_of, packages, read};

fn deny() -> toml::Table {
    read("deny.toml").parse().unwrap()
}

fn strings(value: &toml::Value) -> BTreeSet<String> {
    value.as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

#[test]
fn banned_crates_come_only_through_their_wrappers() {
    let deny = deny();
    let bans = deny["bans"]["deny"].as_array().unwrap();
    assert!(bans.iter().any(|ban| ban["crate"].as_str() == Some("reqwest")));
    for ban in bans {
        let banned = ban["crate"].as_str().unwrap();
        let wrappers = ban.get("wrappers").map(strings).unwrap_or_default();
        // What others use to test themselves does not come in with them.
        let uses = |package: &serde_json::Value, dependency: &serde_json::Value| {
            name_of(dependency) == banned && (package["source"].is_null() || dependency["kind"] != "dev")
        };
        let users = packages().filter(|package| {
            package["dependencies"].as_array().unwrap().iter().any(|dependency| uses(package, dependency))
        });
        // A dependency that is only declared, for a feature or platform nobody uses, brings nothing in.
        let is_in = packages().any(|package| name_of(package) == banned);
        let strangers: Vec<&str> = users.map(name_of).filter(|user| is_in && !wrappers.contains(*user)).collect();
        assert!(strangers.is_empty(), "{banned} comes in through {strangers:?}");
        assert!(!is_in || !wrappers.is_empty(), "{banned} is in the build");
    }
}

#[test]
fn every_licence_is_one_of_those_allowed() {
    let deny = deny();
    let allowed = strings(&deny["licenses"]["allow"]);
    let refused: Vec<String> = packages()
        .map(|package| (name_of(package), package["license"].as_str().unwrap_or("none")))
        .filter(|(_, licence)| !is_allowed(licence, &allowed))
        .map(|(name, licence)| format!("{name}: {licence}"))
        .collect();
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
