//! Checks that sibling modules of a crate do not depend on each other in cycles, except for known cycles.
//!
//! Read from the source: `use` declarations and paths that begin with `crate`, `super` or `self`, with everything below a
//! module counted as part of it. A name that a module re-exports is followed to where it comes from. What a child takes
//! from its own parent's file is not counted. Test modules are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path as FilePath;

use super::{name_of, packages, same};

/// Known dependency cycles, which are allowed: the crate, the parent module, and the modules of the cycle in order.
const CIRCLES: [(&str, &str, &str); 13] = [
    ("artoo-reflex", "", "kinds parse"),
    ("artoo-reflex", "parse", "antecedent background build chart clauses forms lexical refuse steps"),
    ("artoo-roles", "agent_validator", "evidence judgement"),
    ("artoo-roles", "executor", "prompt toolbox"),
    ("artoo-roles", "runtime", "driver handle resume"),
    ("artoo-roles", "solver", "ending wording"),
    ("artoo-tools", "", "change config fence files input process protect record rules tool trash undo view web"),
    ("artoo-tools", "change", "class names"),
    ("artoo-tools", "files", "act edit plan"),
    ("artoo-tools", "fence", "linux read_allowlist"),
    ("artoo-tools", "fence::linux", "network supervisor"),
    ("artoo-tools", "undo", "act journal reconcile"),
    ("artoo-tools", "undo", "preview restore resumed store verdict"),
];

/// A module's path within its crate; the crate's root is empty.
type Path = Vec<String>;

/// What a module's source uses: its imports by name, and the paths in its code.
#[derive(Default)]
struct Module {
    /// What each imported name stands for.
    imports: BTreeMap<String, Path>,
    /// Every path that the module names.
    paths: Vec<Path>,
}

/// The modules of a crate, without test modules.
#[derive(Default)]
struct Modules(BTreeMap<Path, Module>);

/// Returns the text of a source file; `None` if there is no such file.
type Files<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Modules {
    /// Reads all modules of a crate, from its root file down; `files` returns the text of a source file.
    fn read(files: Files) -> Self {
        let mut modules = Self::default();
        let text = files("lib.rs").or_else(|| files("main.rs")).expect("a crate has a root");
        modules.add(Vec::new(), &tokens(&text), files);
        modules
    }

    /// Adds a module, given as tokens, and its child modules.
    fn add(&mut self, at: Path, tokens: &[String], files: Files) {
        let mut module = Module::default();
        let mut children = Vec::new();
        let mut i = 0;
        let is = |i: usize, text: &str| tokens.get(i).is_some_and(|token| token == text);
        while i < tokens.len() {
            if is(i, "#") && is(i + 1, "[") {
                let end = closing(tokens, i + 1);
                i = if is_for_tests(&tokens[i + 2..end]) { item_end(tokens, end + 1) } else { end + 1 };
            } else if is(i, "mod") && is(i + 2, ";") {
                children.push((tokens[i + 1].clone(), None));
                i += 3;
            } else if is(i, "mod") && is(i + 2, "{") {
                let end = closing(tokens, i + 2);
                children.push((tokens[i + 1].clone(), Some(&tokens[i + 3..end])));
                i = end + 1;
            } else if is(i, "use") && !is(i + 1, "<") {
                i = module.import(tokens, i + 1, &[]) + 1;
            } else if ["crate", "super", "self"].iter().any(|word| is(i, word)) && is(i + 1, "::") {
                let mut path = vec![tokens[i].clone()];
                i += 1;
                while is(i, "::") && tokens.get(i + 1).is_some_and(|token| is_name(token)) {
                    path.push(tokens[i + 1].clone());
                    i += 2;
                }
                module.paths.push(path);
            } else {
                i += 1;
            }
        }
        self.0.insert(at.clone(), module);
        for (name, inline) in children {
            let child = [&at[..], &[name]].concat();
            if let Some(inner) = inline {
                self.add(child, inner, files);
                continue;
            }
            let file = child.join("/");
            let text = files(&format!("{file}.rs")).or_else(|| files(&format!("{file}/mod.rs")));
            let text = text.unwrap_or_else(|| panic!("no file for the module {file}"));
            self.add(child, &self::tokens(&text), files);
        }
    }

    /// Makes a path relative to the crate's root; `None` for names of other crates and of the module's own items.
    fn absolute(&self, at: &[String], path: &[String]) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([at, rest].concat()),
            "super" => {
                let (_, parent) = at.split_last()?;
                if rest.first().is_some_and(|next| next == "super") {
                    return self.absolute(parent, rest);
                }
                Some([parent, rest].concat())
            }
            _ if self.0.contains_key(&[at, &path[..1]].concat()) => Some([at, path].concat()),
            _ => {
                let import = self.0.get(at)?.imports.get(first)?;
                (import.first() != Some(first)).then(|| self.absolute(at, &[import, rest].concat()))?
            }
        }
    }

    /// The modules of the crate that a path in module `at` refers to, with re-exports followed.
    fn targets(&self, at: &[String], path: &[String]) -> Vec<Path> {
        let Some(path) = self.absolute(at, path) else { return Vec::new() };
        let mut here = Path::new();
        for (n, name) in path.iter().enumerate() {
            let next = [&here[..], std::slice::from_ref(name)].concat();
            if self.0.contains_key(&next) {
                here = next;
            } else if let Some(import) = self.0[&here].imports.get(name) {
                let mut targets = self.targets(&here, &[import, &path[n + 1..]].concat());
                targets.push(here);
                return targets;
            } else {
                break;
            }
        }
        vec![here]
    }

    /// Dependencies between sibling modules: their parent, the two modules, and a module inside the first that causes
    /// it.
    fn edges(&self) -> BTreeMap<Path, BTreeMap<(String, String), Path>> {
        let mut edges: BTreeMap<Path, BTreeMap<(String, String), Path>> = BTreeMap::new();
        for (at, module) in &self.0 {
            for target in module.paths.iter().flat_map(|path| self.targets(at, path)) {
                let shared = at.iter().zip(&target).take_while(|(one, other)| one == other).count();
                if let (Some(one), Some(other)) = (at.get(shared), target.get(shared)) {
                    let edge = (one.clone(), other.clone());
                    edges.entry(at[..shared].to_vec()).or_default().entry(edge).or_insert(at.clone());
                }
            }
        }
        edges
    }

    /// Cycles among sibling modules: the parent, the modules of the cycle, and the dependencies between them.
    fn circles(&self) -> Vec<(String, Vec<String>, Vec<String>)> {
        let mut circles = Vec::new();
        for (parent, edges) in self.edges() {
            let reached: BTreeMap<&String, BTreeSet<&String>> =
                edges.keys().map(|(one, _)| (one, reach(one, &edges))).collect();
            let mut seen = BTreeSet::new();
            for (one, others) in &reached {
                let mutual = |other: &&&String| reached.get(**other).is_some_and(|back| back.contains(one));
                let circle: BTreeSet<&String> = others.iter().filter(mutual).copied().collect();
                if !circle.is_empty() && !seen.contains(one) {
                    seen.extend(circle.iter().copied());
                    let inside = edges.iter().filter(|((a, b), _)| circle.contains(a) && circle.contains(b));
                    let inside = inside.map(|((a, b), by)| format!("{a} -> {b} (in {})", by.join("::"))).collect();
                    circles.push((parent.join("::"), circle.into_iter().cloned().collect(), inside));
                }
            }
        }
        circles
    }
}

impl Module {
    /// Parses one tree of a `use` declaration at token `start` into the imports; returns the index of the token after
    /// it.
    fn import(&mut self, tokens: &[String], start: usize, prefix: &[String]) -> usize {
        let mut path = prefix.to_vec();
        let mut i = start;
        loop {
            match tokens[i].as_str() {
                "::" => i += 1,
                "{" => {
                    i += 1;
                    while tokens[i] != "}" {
                        i = self.import(tokens, i, &path);
                        i += usize::from(tokens[i] == ",");
                        assert_ne!(tokens[i], ";", "not a use declaration: {path:?}");
                    }
                    return i + 1;
                }
                "," | ";" | "}" | "*" | "as" => break,
                "self" if !path.is_empty() => i += 1,
                name => {
                    path.push(name.to_owned());
                    i += 1;
                }
            }
        }
        let mut name = path.last().cloned();
        match tokens[i].as_str() {
            "as" => {
                name = Some(tokens[i + 1].clone());
                i += 2;
            }
            "*" => {
                name = None;
                i += 1;
            }
            _ => {}
        }
        self.imports.extend(name.map(|name| (name, path.clone())));
        self.paths.push(path);
        i
    }
}

/// The modules that can be reached from a module along dependencies.
fn reach<'a>(from: &'a String, edges: &'a BTreeMap<(String, String), Path>) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(one) = open.pop() {
        let next = edges.keys().filter(|(from, _)| from == one).map(|(_, to)| to);
        open.extend(next.filter(|to| reached.insert(*to)));
    }
    reached
}

/// Whether a token of Rust source is a name or keyword.
fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether an attribute, given as tokens, limits an item to test builds.
fn is_for_tests(attribute: &[String]) -> bool {
    let has = |word: &str| attribute.iter().any(|token| token == word);
    attribute.first().is_some_and(|first| first == "cfg") && has("test") && !has("not")
}

/// The index of the token that closes the bracket at index `open`.
fn closing(tokens: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i;
        }
    }
    panic!("a bracket is not closed")
}

/// The index of the token after the item that begins at `start`; attributes between are passed over.
fn item_end(tokens: &[String], start: usize) -> usize {
    let mut i = start;
    while i < tokens.len() {
        match tokens[i].as_str() {
            ";" | "," => return i + 1,
            "{" => return closing(tokens, i) + 1,
            "}" => return i,
            "(" | "[" => i = closing(tokens, i) + 1,
            _ => i += 1,
        }
    }
    i
}

/// Splits Rust source into tokens: names, `::` and punctuation, without comments, strings and lifetimes.
fn tokens(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    let at = |i: usize| text.get(i).copied().unwrap_or('\0');
    let find = |from: usize, end: &str| {
        let end: Vec<char> = end.chars().collect();
        (from..text.len()).find(|i| text[*i..].starts_with(&end)).map_or(text.len(), |i| i + end.len())
    };
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < text.len() {
        let raw = usize::from(at(i) == 'b');
        let hashes = text[i..].iter().skip(raw + 1).take_while(|c| **c == '#').count();
        match at(i) {
            '/' if at(i + 1) == '/' => i = find(i, "\n"),
            '/' if at(i + 1) == '*' => i = find(i, "*/"),
            'b' | 'r' if at(i + raw) == 'r' && at(i + raw + 1 + hashes) == '"' => {
                i = find(i + raw + 2 + hashes, &format!("\"{}", "#".repeat(hashes)));
            }
            '"' => {
                i += 1;
                while i < text.len() && at(i) != '"' {
                    i += if at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
            }
            '\'' if at(i + 1) == '\\' => i = find(i + 3, "'"),
            '\'' if at(i + 2) == '\'' => i += 3,
            ':' if at(i + 1) == ':' => {
                tokens.push("::".to_owned());
                i += 2;
            }
            c if c.is_alphanumeric() || c == '_' || c == '\'' => {
                let end = (i + 1..text.len()).find(|i| !text[*i].is_alphanumeric() && text[*i] != '_');
                let end = end.unwrap_or(text.len());
                if c != '\'' {
                    tokens.push(text[i..end].iter().collect());
                }
                i = end;
            }
            c => {
                tokens.extend((!c.is_whitespace()).then(|| c.to_string()));
                i += 1;
            }
        }
    }
    tokens
}

/// Sibling modules have no dependency cycles except for the known ones in `CIRCLES`.
#[test]
fn modules_have_no_dependency_cycles() {
    let mut found = BTreeSet::new();
    let mut edges = Vec::new();
    for package in packages() {
        let manifest = FilePath::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap().join("src");
        let modules = Modules::read(&|file| fs::read_to_string(folder.join(file)).ok());
        for (parent, circle, inside) in modules.circles() {
            edges.push(format!("{}: {inside:#?}", name_of(package)));
            found.insert((name_of(package).to_owned(), parent, circle));
        }
    }
    let known = CIRCLES.iter().map(|(package, parent, circle)| {
        let circle = circle.split(' ').map(str::to_owned).collect();
        ((*package).to_owned(), (*parent).to_owned(), circle)
    });
    let known: BTreeSet<(String, String, Vec<String>)> = known.collect();
    if found != known {
        eprintln!("{}", edges.join("\n"));
    }
    same("modules that need each other", &found, &known);
}

/// The search for cycles finds them in sample sources.
#[test]
fn dependency_cycles_are_detected() {
    let circles = |files: &[(&str, &str)]| -> Vec<(String, Vec<String>)> {
        let files: BTreeMap<&str, &str> = files.iter().copied().collect();
        let modules = Modules::read(&|file| files.get(file).map(|text| (*text).to_owned()));
        modules.circles().into_iter().map(|(parent, circle, _)| (parent, circle)).collect()
    };
    let check = |a: &str, b: &str, expected: bool| {
        let found =
            circles(&[("lib.rs", "mod a; mod b; mod c;\npub use b::B;"), ("a.rs", a), ("b/mod.rs", b), ("c.rs", "")]);
        let circle = vec![(String::new(), vec!["a".to_owned(), "b".to_owned()])];
        assert_eq!(found, if expected { circle } else { Vec::new() }, "{a} | {b}");
    };
    let to_a = "use crate::a::A; pub struct B;";
    check("use crate::b::B;", to_a, true);
    check("use crate::{b::{self, B as Other}, c};", to_a, true);
    check("fn f() -> super::b::B { make() }", to_a, true);
    check("fn f() { let x: Vec<crate::b::B> = Vec::new(); }", to_a, true);
    check("use crate::B;", to_a, true);
    check("mod inner { use super::super::b::B; }", to_a, true);
    check("#[cfg(not(test))]\nuse crate::b::B;", to_a, true);
    check("const Q: char = '\"'; use crate::b::B; const R: &str = \"\";", to_a, true);
    check("fn f<'a>(x: &'a str) -> crate::b::B<'a> {}", to_a, true);
    check("use crate::c::C;", to_a, false);
    check(
        "// use crate::b::B;\n/* crate::b::B */ const S: &str = \"crate::b::B\"; const R: &str = r#\"\"crate::b::B\"#;",
        to_a,
        false,
    );
    check("#[cfg(test)]\nmod tests;", to_a, false);
    check(
        "#[cfg(test)]\nmod tests { use crate::b::B; }\n#[cfg(any(test, feature = \"x\"))]\nfn f() { crate::b::f() }",
        to_a,
        false,
    );
    check("use b::B; use std::fs;", to_a, false);

    let nested = |one: &str, parent: &str| {
        let two = "use super::one::f;";
        circles(&[("main.rs", "mod up;"), ("up.rs", parent), ("up/one.rs", one), ("up/two.rs", two)])
    };
    let circle = vec![("up".to_owned(), vec!["one".to_owned(), "two".to_owned()])];
    let parent = "mod one; mod two; use two::Thing; struct Own;";
    assert_eq!(nested("use super::Thing;", parent), circle, "through the parent's import");
    assert_eq!(nested("use super::Own;", parent), Vec::new(), "the parent's own");
    assert_eq!(nested("use self::inner::X; mod inner { pub struct X; }", parent), Vec::new());
}
