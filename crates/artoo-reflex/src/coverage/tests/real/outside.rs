//! Tests of downloads, processes, programs and deferred questions with real files.

use super::*;

#[test]
fn download_url_must_match_exactly() {
    let url = "https://h/x?a=b";
    let fetch = |to: Option<&'static str>| {
        move |place: &RealFolder| vec![Act::Fetch { url: url.to_owned(), to: to.map(|to| place.path(to)) }]
    };
    let check = |to, command: &str, line: &str| {
        let mut place = RealFolder::new(&FILES);
        let ledger = place.ledger(&fetch(to)(&place));
        let call = place.sh(command);
        call.input = json!({ "command": line });
        call.changes_known = false;
        ledger.cover(&place.calls, &place.fs)
    };
    assert_complete(&check(Some("f"), "echo page > f", "curl -sSL 'https://h/x?a=b' -o f"));
    let shown = check(None, "echo page", "curl -s 'https://h/x?a=b'");
    assert_complete(&shown);
    assert_eq!(shown.answer().as_deref(), Some("page"));
    for line in [
        "curl -s https://h/y",
        "curl -d @/etc/x 'https://h/x?a=b'",
        "curl 'https://h/x?a=b' https://other",
        "echo 'https://h/x?a=b'",
    ] {
        let state = if line.contains(url) { NotShown } else { Refuted };
        assert_eq!(check(None, "echo page", line).rows[0].state, state, "{line}");
    }
    assert_states(&check(Some("f"), "echo page > g", "curl 'https://h/x?a=b' -o g"), &[Refuted]);
    let mut place = RealFolder::new(&FILES);
    let ledger = place.ledger(&fetch(None)(&place));
    let call = place.sh("echo text");
    (call.tool, call.input) = ("search".to_owned(), json!({ "url": url }));
    assert_complete(&ledger.cover(&place.calls, &place.fs));
}

/// A stopped process must be gone, an installed program must be in `PATH`.
#[test]
fn stop_and_install_need_their_effect() {
    let stat = "7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
    let tcp = "  sl  local_address rem_address st\n   0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 0 0 99 1\n";
    let mut place = RealFolder::new(&[]);
    let proc = place.fs.proc.clone();
    for (name, content) in [("7/stat", stat), ("net/tcp", tcp), ("bin/old", "")] {
        fs::create_dir_all(proc.join(name).parent().unwrap()).unwrap();
        fs::write(proc.join(name), content).unwrap();
    }
    let stop = |process| place.ledger(&[Act::Stop { process }]);
    let (pid, port) = (stop(ProcessName::Pid(7)), stop(ProcessName::Port(8080)));
    let none = stop(ProcessName::Pid(8));
    let install = |version: Option<&str>| {
        let version = version.map(str::to_owned);
        place.ledger(&[Act::Install { program: "tool".to_owned(), version }])
    };
    let (any, exact) = (install(None), install(Some("1.2")));
    for ledger in [&pid, &port, &any] {
        assert_states(&ledger.cover(&place.calls, &place.fs), &[Refuted]);
    }
    assert_states(&none.cover(&place.calls, &place.fs), &[NotShown]);
    fs::write(proc.join("7/stat"), stat.replace("4711", "9999")).unwrap();
    fs::write(proc.join("net/tcp"), tcp.replace("0A", "01")).unwrap();
    for (ledger, command) in [(&pid, "kill -9 7"), (&port, "fuser -k 8080/tcp")] {
        place.calls.clear();
        let call = place.sh("true");
        (call.input, call.changes_known) = (json!({ "command": command }), false);
        assert_complete(&ledger.cover(&place.calls, &place.fs));
        place.calls[0].input = json!({ "command": "kill -9 7 1" });
        assert!(!ledger.cover(&place.calls, &place.fs).is_complete());
    }
    place.calls.clear();
    fs::write(proc.join("bin/tool"), "").unwrap();
    Command::new("chmod").arg("+x").arg(proc.join("bin/tool")).status().unwrap();
    let call = place.sh("mkdir .local; echo > .local/x");
    call.input = json!({ "command": "pip install tool==1.2" });
    assert_complete(&any.cover(&place.calls, &place.fs));
    assert_states(&exact.cover(&place.calls, &place.fs), &[NotShown]);
    place.sh("echo tool v1.2").input = json!({ "command": "tool --version" });
    assert_complete(&exact.cover(&place.calls, &place.fs));
    place.calls[1].output = "tool 1.20".to_owned();
    assert_states(&exact.cover(&place.calls, &place.fs), &[NotShown]);
}

#[test]
fn question_after_run_is_answered_last() {
    let mut place = RealFolder::new(&FILES);
    let tree = Query::Tree { roots: vec![place.path("")], depth: Depth::Direct, hidden: true, kind: Kind::File };
    let steps = [Step::Do(run(&place, "touch a.o", None)), count(tree)];
    let all = vec![ReadClause { span: (0, 1), read: Ok(steps.to_vec()) }];
    let cwd = place.path("").trim_end_matches('/').to_owned();
    let ledger = Ledger::of_clauses("x", all, &Environment { cwd, ..environment() }).simulate(&place.fs);
    place.sh("touch a.o");
    let coverage = ledger.cover(&place.calls, &place.fs);
    assert_complete(&coverage);
    assert_eq!(coverage.answer().as_deref(), Some("2"));
}
