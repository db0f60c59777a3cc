//! The page of `artoo report`: its text, how a browser parses it, and that hostile text is escaped.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::pty::{Pty, QUESTION};
use crate::server::{Server, call, one_step, pass, prose, said, understood};
use crate::world::World;

/// Environment variable; if it is 1, the snapshot of the report page is written instead of compared.
const BLESS: &str = "ARTOO_BLESS";

/// Programs tried as a headless browser, which parses the report page.
const BROWSERS: [&str; 3] = ["chromium-headless-shell", "chromium", "google-chrome"];

/// The HTML that `artoo report -o` writes about the last task.
fn page(world: &World) -> String {
    let path = world.home().join("page.html");
    let ran = world.run(&["report", "-o", path.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    fs::read_to_string(path).unwrap()
}

/// The page without the embedded record and without what differs between runs: numbers, ids, the home folder.
fn steady(page: &str, world: &World) -> String {
    let (shown, record) = page.split_once("<script").unwrap();
    assert!(record.starts_with(" type=\"application/json\" id=\"record\">"), "the only script is data");
    let body = &shown[shown.find("</style>").unwrap()..];
    let body = body.replace(world.home().to_str().unwrap(), "HOME");
    let mut out = String::new();
    let mut word = String::new();
    for c in body.chars().chain(['\n']) {
        if c.is_ascii_hexdigit() || c == '-' {
            word.push(c);
            continue;
        }
        let is_id = word.len() >= 8 && word.contains(|c: char| c.is_ascii_digit());
        out.push_str(if is_id { "ID" } else { &word });
        word.clear();
        out.push(c);
    }
    out.chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect::<String>()
        .replace("00", "0")
        .replace("00", "0")
}

#[test]
fn report_page_matches_its_snapshot() {
    let world = World::new().with_things();
    let mut pty = Pty::start(&world.command(&["delete the files in ~/things ending in .txt"]), 160);
    pty.see(QUESTION);
    pty.send("y\r");
    assert_eq!(pty.ended().0, 0);
    let page = page(&world);
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"), "{page}");
    let found = steady(&page, &world);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/report.html");
    if std::env::var_os(BLESS).is_some_and(|value| value == "1") {
        fs::write(&path, &found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    assert!(found == expected, "the page changed; run with {BLESS}=1 and look at it\n{found}");
}

#[expect(clippy::print_stdout, reason = "a test that looks at less says so")]
/// The elements of the page as a headless browser parses it; `None` if this machine has no browser.
fn elements(path: &Path) -> Option<String> {
    let flags = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"];
    let url = format!("file://{}", path.display());
    let run = |browser: &str| {
        let output = Command::new(browser).args(flags).arg(&url).output().ok()?;
        (output.status.success() && !output.stdout.is_empty()).then_some(output)
    };
    let output = BROWSERS.into_iter().find_map(run);
    if output.is_none() {
        println!("SKIPPED: no browser is there that works (apt-get install chromium-headless-shell)");
    }
    Some(String::from_utf8_lossy(&output?.stdout).into_owned())
}

#[test]
fn hostile_text_is_escaped_in_report() {
    let hostile = "<img src=x onerror=document.title='broken'></script><script>document.title='broken'</script>";
    let world = World::new();
    world.file(format!("things/{}.txt", hostile.replace('/', "_")), hostile);
    world.file("note.txt", hostile);
    let said_by_model = hostile.to_owned();
    let server = Server::start(move |asked| match asked.schema.as_str() {
        "task_spec" => understood(&said_by_model),
        "plan" => {
            one_step("read the note", &["read_file"], &json!([prose(&format!("the text holds {said_by_model}"))]))
        }
        "execution" if asked.evidence().is_empty() => call("read_file", &json!({"path": "~/note.txt"})),
        "execution" => said("completed", &said_by_model),
        _ => pass(asked, &asked.evidence()),
    });
    let words = format!("summarise note.txt {hostile}");
    drop(world.ask(&server, &words));
    let page = page(&world);
    assert!(!page.contains("<img") && page.matches("<script").count() == 1, "{page}");
    assert!(page.contains("&lt;img src=x"), "{page}");
    let Some(document) = elements(&world.home().join("page.html")) else { return };
    assert!(!document.contains("<img") && document.matches("<script").count() == 1, "{document}");
    assert!(document.contains("<title>summarise note.txt &lt;img"), "{document}");
    for heading in ["Calls", "Cost", "Provenance"] {
        assert!(document.contains(&format!("<h2>{heading}</h2>")), "{heading}: {document}");
    }
}

/// On a terminal, `artoo report` without `-o` writes the page to a file instead of printing it.
#[test]
fn report_on_a_terminal_is_a_file() {
    let world = World::new().with_things();
    assert_eq!(world.run(&["how many files are in ~/things"]).code, Some(0));
    for _ in 0..2 {
        let (code, screen) = Pty::start(&world.command(&["report"]), 160).ended();
        let path = fs::read_dir(world.workspace()).unwrap().next().unwrap().unwrap().path();
        assert!(code == 0 && screen.contains(&format!("saved to {}", path.display())), "{screen}");
        assert!(fs::read_to_string(&path).unwrap().starts_with("<!doctype html>"), "{screen}");
    }
    assert!(world.run(&["report"]).stdout.starts_with("<!doctype html>"), "a pipe gets the page");
}
