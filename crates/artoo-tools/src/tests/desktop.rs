//! `desktop`, `applescript` and `shortcuts`: which are offered on a machine, and which actions need approval.

use std::fs;

use artoo_proto::{CallStatus, ConsentScope, EffectClass, ToolCall, ToolOrder, ToolOutcome};
use serde_json::{Value, json};

use super::{Fixture, called, only_programs, put};

/// The text of a shell script that logs its name and arguments, and then runs `then`.
fn logging_program(then: &str) -> String {
    format!(
        "#!/bin/sh\n{{ printf '%s' \"${{0##*/}}\"; for a in \"$@\"; do printf ' <%s>' \"$a\"; done; echo; }} \
         >> \"$HOME/log\"\n{then}\n"
    )
}

const WAYLAND: [(&str, &str); 3] =
    [("XDG_RUNTIME_DIR", "/run/user/7"), ("WAYLAND_DISPLAY", "wayland-0"), ("DISPLAY", ":0")];

/// A fixture with these programs and these variables of a desktop session.
fn fixture(programs: &[(&str, &str)], session: &[(&str, &str)]) -> Fixture {
    Fixture::with(|config| {
        only_programs(config, programs);
        config.session = session.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect();
    })
}

/// What the logging programs have written: their names and arguments.
fn log(fixture: &Fixture) -> String {
    fs::read_to_string(fixture.home.join("log")).unwrap_or_default()
}

/// Whether a tool is offered.
fn has(fixture: &Fixture, tool: &str) -> bool {
    fixture.registry.specs().iter().any(|spec| spec.name == tool)
}

/// The text of a call's question, and the call's record after approval; nothing may run before the approval.
async fn asked(fixture: &Fixture, tool: &str, input: Value) -> (String, ToolCall) {
    let context = Fixture::context(tool, input.clone());
    let before = log(fixture);
    let ToolOutcome::NeedsConsent { hash, shown, .. } = fixture.outcome(&context, None).await else {
        panic!("{input} was not asked about")
    };
    assert_eq!(log(fixture), before, "nothing ran before the yes");
    (shown, called(fixture.outcome(&context, Some(fixture.registry.grant(&hash, ConsentScope::Once))).await))
}

/// A desktop action is offered only if this machine has its program and a desktop session.
#[doc = "holds: design D14"]
#[test]
fn actions_need_a_program_and_a_session() {
    let check = |programs: &[&str], session: &[(&str, &str)], expected: &str| {
        let script = logging_program("");
        let programs: Vec<(&str, &str)> = programs.iter().map(|name| (*name, script.as_str())).collect();
        let fixture = fixture(&programs, session);
        let spec = fixture.registry.specs().into_iter().find(|spec| spec.name == "desktop");
        let found = spec.as_ref().map_or("", |spec| spec.description.trim_start_matches("the user's desktop: "));
        assert_eq!(found, expected, "{programs:?} {session:?}");
        let acts = expected.split(", ").filter(|act| !act.is_empty()).count();
        assert_eq!(spec.map_or(0, |spec| spec.input_schema["oneOf"].as_array().unwrap().len()), acts);
    };
    let x11 = [("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x"), ("DISPLAY", ":0")];
    let all = ["notify-send", "xdg-open", "systemd-run", "wl-paste", "wl-copy", "xclip", "gdbus"];
    check(&[], &WAYLAND, "");
    check(&all, &[], "");
    check(&all, &WAYLAND, "notify, open, read_clipboard, write_clipboard, media");
    check(&all, &x11, "notify, open, read_clipboard, media");
    check(&["xclip"], &x11, "read_clipboard");
    check(&["xclip", "xsel"], &WAYLAND, "");
    check(&["xsel"], &x11, "read_clipboard");
    check(&["wl-copy", "xdg-open"], &WAYLAND, "");
    check(&["gio", "systemd-run"], &x11, "open");
    check(&["notify-send", "gdbus"], &[("DISPLAY", ":0")], "");
}

/// `desktop` shows notifications without approval, with their text escaped.
#[tokio::test]
async fn notifications_run_unasked_with_escaped_text() {
    let fixture = fixture(&[("notify-send", &logging_program(""))], &WAYLAND);
    let input = json!({"action": "notify", "title": "-x <b>", "text": "<a href='x'>1 & 2</a>"});
    let call = fixture.call("desktop", input.clone()).await;
    assert_eq!((call.status, call.class, call.measures), (CallStatus::Ok, EffectClass::Creating, false), "{call:?}");
    assert_eq!(log(&fixture), "notify-send <--app-name=artoo> <--> <-x <b>> <&lt;a href='x'&gt;1 &amp; 2&lt;/a&gt;>\n");
    let cautious = ToolOrder { confirm: true, ..Fixture::context("desktop", input) };
    assert!(matches!(fixture.outcome(&cautious, None).await, ToolOutcome::NeedsConsent { .. }), "D22");
    for (input, status, expected) in [
        (json!({"action": "notify", "title": " "}), CallStatus::Failed, "title: it is empty"),
        (json!({"action": "notify", "title": "a\u{1b}]0;x"}), CallStatus::Denied, "invisible or control"),
        (json!({"action": "notify", "title": "a", "icon": "x"}), CallStatus::Failed, "icon"),
        (json!({"action": "reboot"}), CallStatus::Failed, "reboot"),
        (json!({"action": "read_clipboard"}), CallStatus::Failed, "no program for read_clipboard"),
    ] {
        let call = fixture.call("desktop", input.clone()).await;
        assert_eq!(call.status, status, "{input}: {call:?}");
        assert!(call.output.contains(expected), "{input}: {call:?}");
    }
}

/// Opening documents and reading or writing the clipboard need approval.
#[tokio::test]
async fn opening_and_clipboard_need_approval() {
    let fixture = fixture(
        &[
            ("systemd-run", &logging_program("")),
            ("xdg-open", &logging_program("exit 9")),
            ("wl-copy", &logging_program("exit 9")),
            ("wl-paste", &logging_program("printf 'copied\\n text'")),
        ],
        &WAYLAND,
    );
    let start = "systemd-run <--user> <--quiet> <--collect> <--property=ExitType=cgroup> \
                 <--setenv=XDG_RUNTIME_DIR=/run/user/7> <--setenv=WAYLAND_DISPLAY=wayland-0> <--setenv=DISPLAY=:0> <-->";
    let bin = fixture.home.join("bin");
    let file = fixture.file("my notes.txt", "x");
    let (shown, call) = asked(&fixture, "desktop", json!({"action": "open", "target": "~/my notes.txt"})).await;
    assert_eq!(shown, format!("desktop: open {}", file.display()));
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::Unproven), "{call:?}");
    assert_eq!(log(&fixture), format!("{start} <{}/xdg-open> <{}>\n", bin.display(), file.display()));
    let (shown, _) = asked(&fixture, "desktop", json!({"action": "open", "target": "https://a.example/?q=1"})).await;
    assert_eq!(shown, "desktop: open https://a.example/?q=1");
    let (shown, call) = asked(&fixture, "desktop", json!({"action": "write_clipboard", "text": "-x\ny"})).await;
    assert_eq!((shown.as_str(), call.status), ("desktop: write the clipboard: \"-x\\ny\"", CallStatus::Ok));
    let wl_copy = format!("{}/wl-copy> <--foreground> <--type> <text/plain> <--> <-x\ny>\n", bin.display());
    assert!(log(&fixture).ends_with(&wl_copy), "{}", log(&fixture));
    let (_, call) = asked(&fixture, "desktop", json!({"action": "read_clipboard"})).await;
    assert_eq!((call.output.as_str(), call.class, call.measures), ("copied\n text", EffectClass::ReadOnly, true));
}

/// `desktop` refuses to open programs, launchers (`.desktop` files) and protected files.
#[tokio::test]
async fn programs_launchers_and_protected_files_are_refused() {
    let fixture = fixture(&[("systemd-run", &logging_program("")), ("xdg-open", &logging_program(""))], &WAYLAND);
    fixture.file(".ssh/id", "");
    fixture.file("evil.desktop", "[Desktop Entry]");
    put(&fixture.home.join("run"), "#!/bin/sh\n", 0o755);
    for (target, status) in [
        ("~/.ssh/id", CallStatus::Denied),
        ("~/evil.desktop", CallStatus::Denied),
        ("~/run", CallStatus::Denied),
        ("~/missing", CallStatus::Failed),
        ("javascript:alert(1)", CallStatus::Failed),
        ("file:///etc/passwd", CallStatus::Failed),
        ("https://a.example/ x", CallStatus::Failed),
        ("https://ехample.org/", CallStatus::Failed),
    ] {
        let call = fixture.call("desktop", json!({"action": "open", "target": target})).await;
        assert_eq!(call.status, status, "{target}: {call:?}");
    }
    assert_eq!(log(&fixture), "");
}

/// The record of a `media` action has the player's status, read after the command was sent.
#[tokio::test]
async fn player_status_is_read_back() {
    let bus = logging_program(
        "case \"$*\" in *ListNames) echo \"(['org.freedesktop.DBus', 'org.mpris.MediaPlayer2.vlc'],)\";; \
         *PlaybackStatus) echo \"(<'Paused'>,)\";; *Next) echo no next >&2; exit 1;; esac",
    );
    let fixture = fixture(&[("gdbus", &bus)], &WAYLAND);
    let call = fixture.call("desktop", json!({"action": "media", "command": "pause"})).await;
    assert_eq!((call.status, call.measures), (CallStatus::Ok, true), "{call:?}");
    assert_eq!(call.output, "sent Pause to vlc; its status is Paused");
    assert!(
        log(&fixture).contains(
            "<org.mpris.MediaPlayer2.vlc> <--object-path> </org/mpris/MediaPlayer2> <--method> \
        <org.mpris.MediaPlayer2.Player.Pause>\n"
        ),
        "{}",
        log(&fixture)
    );
    let call = fixture.call("desktop", json!({"action": "media", "command": "next"})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    assert!(call.output.contains("no next"), "{call:?}");
    let call = fixture.call("desktop", json!({"action": "media", "command": "play", "player": "mpd"})).await;
    assert!(call.output.contains("no player of that name runs; there are vlc"), "{call:?}");
}

/// The error for a missing media player differs from that for a missing D-Bus session, with the real `gdbus`.
#[tokio::test]
async fn missing_player_differs_from_missing_bus() {
    let [gdbus, daemon] = ["/usr/bin/gdbus", "/usr/bin/dbus-daemon"].map(std::path::PathBuf::from);
    if !gdbus.exists() || !daemon.exists() {
        eprintln!("skipped: gdbus or dbus-daemon is not installed");
        return;
    }
    let socket = tempfile::TempDir::new().unwrap();
    let address = format!("unix:path={}/bus", socket.path().display());
    let mut bus = std::process::Command::new(daemon)
        .args(["--session", "--nofork", "--nopidfile", "--print-address=1", "--address", &address])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(bus.stdout.take().unwrap()), &mut line).unwrap();
    let fixture =
        Fixture::with(|config| config.session = vec![("DBUS_SESSION_BUS_ADDRESS".into(), line.trim().into())]);
    let call = fixture.call("desktop", json!({"action": "media", "command": "play"})).await;
    bus.kill().unwrap();
    bus.wait().unwrap();
    assert_eq!((call.status, call.output.as_str()), (CallStatus::Failed, "no media player runs"), "{call:?}");
    let call = fixture.call("desktop", json!({"action": "media", "command": "play"})).await;
    assert!(call.output.contains("gave no answer"), "{call:?}");
}

/// `applescript` asks before each script and shows it completely.
#[doc = "holds: design D14"]
#[tokio::test]
async fn applescript_always_needs_approval() {
    assert!(!has(&fixture(&[], &[]), "applescript"));
    let fixture = fixture(&[("osascript", &logging_program("echo '3 messages'"))], &[]);
    let script = "tell application \"Mail\"\n  count messages of inbox\nend tell";
    let (shown, call) = asked(&fixture, "applescript", json!({"script": script})).await;
    assert_eq!(shown, script);
    assert_eq!((call.status, call.class), (CallStatus::Ok, EffectClass::Unproven), "{call:?}");
    assert_eq!((call.output.as_str(), log(&fixture)), ("3 messages\n", format!("osascript <-e> <{script}>\n")));
    for (script, status) in [
        ("", CallStatus::Failed),
        ("say \"\u{202e}x\"", CallStatus::Denied),
        ("say \"a\"\r", CallStatus::Denied),
        (&"x".repeat(8001), CallStatus::Failed),
    ] {
        let call = fixture.call("applescript", json!({"script": script})).await;
        assert_eq!(call.status, status, "{script:?}: {call:?}");
    }
}

/// With the program `shortcuts`, as on macOS, the user's shortcuts are listed unasked and run by name after approval.
#[doc = "holds: design D14"]
#[tokio::test]
async fn macos_shortcuts_run_by_name_after_approval() {
    assert!(!has(&fixture(&[], &[]), "shortcuts"));
    let fixture = fixture(&[("shortcuts", &logging_program("[ \"$1\" = list ] && echo 'Water plants'; exit 0"))], &[]);
    let call = fixture.call("shortcuts", json!({"list": true})).await;
    assert_eq!((call.output.as_str(), call.class), ("Water plants\n", EffectClass::ReadOnly), "{call:?}");
    let (shown, call) = asked(&fixture, "shortcuts", json!({"name": "Water plants"})).await;
    assert_eq!((shown.as_str(), call.status), ("shortcuts run \"Water plants\"", CallStatus::Ok));
    assert!(log(&fixture).ends_with("shortcuts <run> <Water plants>\n"), "{}", log(&fixture));
    for input in
        [json!({}), json!({"name": "-h"}), json!({"name": "a", "list": true}), json!({"name": "a", "input": 1})]
    {
        let call = fixture.call("shortcuts", input.clone()).await;
        assert_eq!(call.status, CallStatus::Failed, "{input}: {call:?}");
    }
}

/// Elsewhere, programs with a manifest in the user's `shortcuts` folder are run by the tool `shortcuts` after approval.
#[doc = "holds: design D14"]
#[tokio::test]
async fn shortcuts_elsewhere_are_own_programs() {
    let manifest = "name = \"lights\"\ndescription = \"lights on or off\"\ncommand = [\"./lights\", \"{state}\"]\n\
        effect = \"changing\"\n[input.state]\ntype = \"string\"\nenum = [\"on\", \"off\"]\n";
    let fixture = Fixture::with(|config| {
        let folder = std::path::Path::new(&config.environment.home).join("shortcuts");
        // The program runs in the sandbox and can't write the log, so it prints how it was called.
        put(&folder.join("lights"), "#!/bin/sh\necho \"<$*>\"; echo $* > ~/lights\n", 0o755);
        put(&folder.join("lights.toml"), manifest, 0o644);
        put(&folder.join("bad.toml"), "name = 3", 0o644);
        config.shortcuts = Some(folder);
    });
    assert_eq!(fixture.registry.problems().len(), 1, "{:?}", fixture.registry.problems());
    let (shown, call) = asked(&fixture, "shortcuts", json!({"name": "lights", "input": {"state": "off"}})).await;
    assert_eq!(shown, format!("lights: {}/shortcuts/lights off", fixture.home.display()));
    assert!(call.status == CallStatus::Ok && call.output.starts_with("<off>\n"), "{call:?}");
    for (input, expected) in [
        (json!({"name": "light", "input": {}}), "there are lights"),
        (json!({"name": "lights", "input": {"state": "dim"}}), "not one of on, off"),
        (json!({"name": "lights"}), "state: it is missing"),
        (json!({"list": true}), "give name"),
    ] {
        let call = fixture.call("shortcuts", input.clone()).await;
        assert!(call.status == CallStatus::Failed && call.output.contains(expected), "{input}: {call:?}");
    }
}
