//! Checks that the crates of this workspace depend only on those that a list allows.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Tree, manifests, name_of, packages, same};

/// For each crate: the workspace crates that it depends on always, and those for optional features.
const EDGES: [(&str, &[&str], &[&str]); 11] = [
    ("artoo-proto", &[], &[]),
    ("artoo-ggs", &[], &[]),
    ("artoo-ggs-lab", &["artoo-ggs"], &[]),
    ("artoo-mkct", &[], &[]),
    ("artoo-bus", &["artoo-proto"], &[]),
    ("artoo-reflex", &["artoo-proto"], &[]),
    ("artoo-llm", &["artoo-proto"], &[]),
    ("artoo-local", &["artoo-llm", "artoo-proto"], &[]),
    ("artoo-tools", &["artoo-proto"], &[]),
    ("artoo-audit", &["artoo-bus", "artoo-proto"], &[]),
    (
        "artoo-roles",
        &["artoo-bus", "artoo-ggs", "artoo-mkct", "artoo-proto"],
        &["artoo-audit", "artoo-llm", "artoo-reflex", "artoo-tools"],
    ),
];

/// Programs of the workspace that are not shipped, with the workspace crates that they depend on.
const LABORATORY: [(&str, &[&str]); 2] =
    [("artoo-bench", &["artoo-bus", "artoo-llm", "artoo-proto", "artoo-roles"]), ("artoo-eval", &[])];

/// Workspace crates that the program artoo may depend on directly; it uses the others through the runtime.
const BINARY_MAY_KNOW: [&str; 6] =
    ["artoo-audit", "artoo-bus", "artoo-llm", "artoo-proto", "artoo-roles", "artoo-tools"];

/// Crates that a crate without I/O must not depend on.
const NOT_PURE: [&str; 5] = ["tokio", "reqwest", "hyper", "rustls", "async-trait"];

/// Crates of the workspace that only compute: they use no I/O and no async runtime.
const PURE: [&str; 5] = ["artoo-proto", "artoo-ggs", "artoo-mkct", "artoo-bus", "artoo-reflex"];

/// Whether a crate belongs to this workspace.
fn is_ours(name: &str) -> bool {
    name == "artoo" || name.starts_with("artoo-")
}

/// The workspace crates that a crate depends on, always or (`optional`) by features, without development dependencies.
fn edges(name: &str, optional: bool) -> BTreeSet<&'static str> {
    let package = packages().find(|package| name_of(package) == name).unwrap_or_else(|| panic!("no crate {name}"));
    let dependencies = package["dependencies"].as_array().unwrap().iter();
    dependencies
        .filter(|dependency| dependency["kind"] != "dev" && dependency["optional"] == optional)
        .map(name_of)
        .filter(|name| is_ours(name))
        .collect()
}

#[doc = "holds: principle 5"]
#[test]
fn crate_dependencies_match_the_allowed_list() {
    for (name, needed, optional) in EDGES {
        same(&format!("{name} needs"), &edges(name, false), &needed.iter().copied().collect());
        same(&format!("{name} may need"), &edges(name, true), &optional.iter().copied().collect());
    }
    let ours: BTreeSet<&str> = packages().map(name_of).filter(|name| is_ours(name)).collect();
    for (name, needed) in LABORATORY {
        same(&format!("{name} needs"), &edges(name, false), &needed.iter().copied().collect());
        let is_used = packages().any(|package| edges(name_of(package), false).contains(name));
        assert!(!is_used, "{name} is no part of what ships");
    }
    let programs = LABORATORY.iter().map(|(name, _)| *name).chain(["artoo"]);
    let listed = EDGES.iter().map(|(name, ..)| *name).chain(programs).collect();
    same("crates of the workspace", &ours, &listed);
    let of_binary = edges("artoo", false);
    assert!(of_binary.iter().all(|name| BINARY_MAY_KNOW.contains(name)), "the binary knows {of_binary:?}");
    same("the binary may need", &edges("artoo", true), &["artoo-local"].into());
}

/// Crates that compile C or C++ code are built only with a feature.
#[test]
fn native_builds_need_a_feature() {
    let ids = |list: &str| -> BTreeSet<&str> {
        manifests()[list].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect()
    };
    let left_out = ids("workspace_members").difference(&ids("workspace_default_members")).copied().collect();
    let apart = packages().filter(|package| ["artoo-local", "artoo-bench", "artoo-eval"].contains(&name_of(package)));
    same("crates outside a plain build", &left_out, &apart.map(|package| package["id"].as_str().unwrap()).collect());
    let binary = packages().find(|package| name_of(package) == "artoo").unwrap();
    let default = binary["features"]["default"].as_array().unwrap();
    assert!(!default.iter().any(|feature| feature == "local-llm"), "{default:?}");
    assert_eq!(binary["features"]["local-llm"], serde_json::json!(["dep:artoo-local"]));
}

/// artoo-ggs and artoo-mkct depend on no other crate of the workspace.
#[test]
fn standalone_libraries_depend_on_no_workspace_crate() {
    // The example and the tests of both together: a path without a version, which is dropped from what is published.
    for (name, for_tests) in [("artoo-ggs", &["artoo-mkct"][..]), ("artoo-mkct", &[])] {
        let package = packages().find(|package| name_of(package) == name).unwrap();
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let ours: Vec<&Value> = dependencies.filter(|dependency| is_ours(name_of(dependency))).collect();
        assert_eq!(ours.iter().map(|dependency| name_of(dependency)).collect::<Vec<_>>(), for_tests, "{name}");
        assert!(ours.iter().all(|dependency| dependency["kind"] == "dev" && dependency["req"] == "*"), "{ours:?}");
    }
}

/// Crates that only compute depend on no async runtime or network crate.
#[test]
fn computing_crates_use_no_async_or_io() {
    for name in PURE {
        let tree = Tree::of(&["--package", name, "--edges", "normal"]);
        let impure: Vec<_> = NOT_PURE.iter().filter(|name| tree.names().contains(**name)).collect();
        assert!(impure.is_empty(), "{name} reaches {impure:?}");
    }
}

/// artoo-roles without its default features depends on no async runtime or network crate.
#[test]
fn roles_without_runtime_use_no_io() {
    let roles = ["--package", "artoo-roles", "--edges", "normal"];
    let pure = Tree::of(&[&roles[..], &["--no-default-features"]].concat());
    let impure: Vec<_> = NOT_PURE.iter().filter(|name| pure.names().contains(**name)).collect();
    assert!(impure.is_empty(), "artoo-roles without its runtime reaches {impure:?}");
    let ours = pure.names().into_iter().filter(|name| is_ours(name)).collect();
    let expected = ["artoo-bus", "artoo-ggs", "artoo-mkct", "artoo-proto", "artoo-roles"].into();
    same("artoo-roles without its runtime knows", &ours, &expected);
    let whole = Tree::of(&roles);
    let whole = whole.names();
    assert!(whole.contains("tokio") && whole.contains("reqwest"), "the tree is not what it seems: {whole:?}");
}

/// artoo is the only program that plain `cargo run` could start.
#[test]
fn cargo_run_starts_artoo() {
    let members = manifests()["workspace_default_members"].as_array().unwrap();
    let is_member = |package: &&Value| members.contains(&package["id"]);
    let is_program = |target: &&Value| target["kind"].as_array().unwrap().iter().any(|kind| kind == "bin");
    let programs: Vec<&str> = packages()
        .filter(is_member)
        .flat_map(|package| package["targets"].as_array().unwrap())
        .filter(is_program)
        .filter_map(|target| target["name"].as_str())
        .collect();
    assert_eq!(programs, ["artoo"], "with several programs, `cargo run` asks which one is meant");
}
