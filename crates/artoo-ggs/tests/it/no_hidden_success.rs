//! A success can't be built without its list of unmet criteria (decision G10): programs that try don't compile, for the
//! expected reason.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The path of the newest build of the library beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a path to this test");
    let folder = test.parent().expect("a folder");
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("libartoo_ggs-") && name.ends_with(".rlib")
    };
    let files = std::fs::read_dir(folder).expect("a readable folder").map(|entry| entry.expect("an entry").path());
    let built = |path: &PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).expect("a time");
    files.filter(is_library).max_by_key(built).expect("the library beside its test")
}

/// Compiles `program` against the library; an error with the compiler's messages if that fails.
fn compile(library: &Path, program: &str) -> Result<(), String> {
    let mut path = std::ffi::OsString::from("artoo_ggs=");
    path.push(library);
    let mut dependencies = std::ffi::OsString::from("dependency=");
    dependencies.push(library.parent().expect("a folder"));
    let mut compiler = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "-o", "-", "-"])
        .arg("--extern")
        .arg(path)
        .arg("-L")
        .arg(dependencies)
        // The compiler makes its own folder where it runs, and the sources may be another user's.
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a compiler");
    compiler.stdin.take().expect("a pipe").write_all(program.as_bytes()).expect("a program written");
    let output = compiler.wait_with_output().expect("an end");
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[doc = "holds: design G10"]
#[test]
fn success_without_unmet_list_does_not_compile() {
    let library = library();
    let program = |body: &str| {
        format!(
            "#![allow(unused)]\nuse artoo_ggs::*;\npub fn f(success: SuccessOutcome) -> SuccessOutcome {{ {body} }}\n"
        )
    };
    // The same program compiles when it touches nothing: what follows fails for its body alone.
    assert_eq!(compile(&library, &program("let _ = success.unmet(); success")), Ok(()));
    let table = [
        (
            "SuccessOutcome { unmet: Vec::new() }",
            "E0451",
            "field `unmet` of struct `artoo_ggs::SuccessOutcome` is private",
        ),
        ("SuccessOutcome { ..success }", "E0451", "field `unmet` of struct `artoo_ggs::SuccessOutcome` is private"),
        (
            "let mut success = success; success.unmet.clear(); success",
            "E0616",
            "field `unmet` of struct `artoo_ggs::SuccessOutcome` is private",
        ),
        ("SuccessOutcome::default()", "E0599", "no function or associated item named `default` found"),
        ("SuccessOutcome::of(&Round::default()).unwrap()", "E0624", "associated function `of` is private"),
        (
            "Vec::<UnmetCriterion>::new().into()",
            "E0277",
            "`artoo_ggs::SuccessOutcome: From<Vec<artoo_ggs::UnmetCriterion>>` is not satisfied",
        ),
        ("let _: Outcome = Outcome::Success; success", "E0308", "mismatched types"),
    ];
    for (body, code, message) in table {
        let said = compile(&library, &program(body)).expect_err(body);
        assert!(said.contains(&format!("error[{code}]")) && said.contains(message), "{body}:\n{said}");
        assert_eq!(said.matches("error[").count(), 1, "for one reason only: {body}:\n{said}");
    }
}
