//! Tests of processes, ports, programs, and questions about the machine.

use super::*;
use crate::algebra::{Fact, Relation};
use crate::coverage::at_end;

/// A folder whose file system has these files below `/proc`.
fn machine(files: &[(&str, &str)]) -> RealFolder {
    let place = RealFolder::new(&FILES);
    put(&place, files);
    place
}

/// Writes files below the folder that stands for `/proc`, and makes them executable.
fn put(place: &RealFolder, files: &[(&str, &str)]) {
    for (name, content) in files {
        let path = place.fs.proc.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        Command::new("chmod").arg("+x").arg(path).status().unwrap();
    }
}

/// Adds a recorded call of a command with this output, which is not run.
fn called(place: &mut RealFolder, command: &str, output: &str) {
    let call = place.sh("true");
    (call.input, call.output) = (json!({ "command": command }), output.to_owned());
}

const STAT: &str = "7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";

#[test]
fn process_is_identified_by_start_time() {
    for (now, state) in [
        (Some(STAT.to_owned()), Refuted),
        (Some(STAT.replace("20 0 1", "20 0 2")), Refuted),
        (Some(STAT.replace(" S ", " Z ")), Shown),
        (Some(STAT.replace("4711", "4712")), Shown),
        (None, Shown),
    ] {
        let mut place = machine(&[("7/stat", STAT)]);
        let ledger = place.ledger(&[Act::Stop { process: ProcessName::Pid(7) }]);
        match &now {
            Some(now) => put(&place, &[("7/stat", now.as_str())]),
            None => fs::remove_file(place.fs.proc.join("7/stat")).unwrap(),
        }
        if state == Shown {
            assert_states(&ledger.cover(&place.calls, &place.fs), &[NotShown]);
        }
        called(&mut place, "kill 7", "");
        assert_states(&ledger.cover(&place.calls, &place.fs), &[state]);
    }
    let zombie = machine(&[("7/stat", &STAT.replace(" S ", " Z "))]);
    let ledger = zombie.ledger(&[Act::Stop { process: ProcessName::Pid(7) }]);
    assert_states(&ledger.cover(&zombie.calls, &zombie.fs), &[NotShown]);
}

#[test]
fn kill_must_name_one_process() {
    for (command, is_its) in [
        ("kill 7", true),
        ("kill -9 7", true),
        ("kill 8", false),
        ("kill 7 8", false),
        ("kill", false),
        ("pkill 7", false),
        ("kill 7; x", false),
        ("fuser -k 7/tcp", false),
    ] {
        let mut place = machine(&[("7/stat", STAT)]);
        let ledger = place.ledger(&[Act::Stop { process: ProcessName::Pid(7) }]);
        fs::remove_file(place.fs.proc.join("7/stat")).unwrap();
        called(&mut place, command, "");
        place.calls[0].changes_known = false;
        let coverage = ledger.cover(&place.calls, &place.fs);
        assert!(coverage.is_complete() == is_its && coverage.rows[0].state == Shown, "{command} {coverage:#?}");
    }
}

#[test]
fn port_is_free_without_listener() {
    let head = "  sl  local_address rem_address st\n";
    let line = |port: &str, state: &str, inode: u32| {
        format!("   0: 0100007F:{port} 00000000:0000 {state} 0:0 0:0 0 0 0 {inode} 1\n")
    };
    let others = [line("1F91", "0A", 5), line("1F90", "01", 6)].concat();
    let port = || Act::Stop { process: ProcessName::Port(8080) };
    let free = machine(&[("net/tcp", &format!("{head}{others}"))]);
    let none = free.ledger(&[port()]).cover(&[], &free.fs);
    assert!(none.rows[0].state == NotShown && none.rows[0].why.contains("no such process"), "{none:#?}");
    for file in ["net/tcp", "net/tcp6"] {
        let listening = format!("{head}{others}{}", line("1F90", "0A", 7));
        for (now, state) in [
            (listening.clone(), Refuted),
            (format!("{head}{others}"), Shown),
            (format!("{head}{}", line("1F90", "0A", 8)), Refuted),
        ] {
            let mut place = machine(&[(file, &listening)]);
            let ledger = place.ledger(&[port()]);
            put(&place, &[(file, &now)]);
            called(&mut place, "fuser -k 8080/tcp", "");
            assert_states(&ledger.cover(&place.calls, &place.fs), &[state]);
        }
    }
}

#[test]
fn installed_program_is_in_path_with_version() {
    let install =
        |version: Option<&str>| Act::Install { program: "tool".to_owned(), version: version.map(str::to_owned) };
    let there = machine(&[("bin/tool", "")]);
    let coverage = there.ledger(&[install(None)]).cover(&[], &there.fs);
    assert!(coverage.rows[0].why.contains("already"), "{coverage:#?}");
    assert_states(&coverage, &[Shown]);
    for (command, is_its) in [
        ("pip install tool", true),
        ("sudo apt-get install -y tool", true),
        ("npm install -g tool@1.2", true),
        ("cargo add tool", true),
        ("pip install toolbox", false),
        ("pip install tool other", false),
        ("pip download tool", false),
        ("echo install tool", false),
        ("pip tool install", false),
        ("tool", false),
    ] {
        let mut place = machine(&[]);
        let ledger = place.ledger(&[install(None)]);
        put(&place, &[("bin/tool", "")]);
        called(&mut place, command, "");
        place.calls[0].changes_known = false;
        let coverage = ledger.cover(&place.calls, &place.fs);
        assert!(coverage.is_complete() == is_its && coverage.rows[0].state == Shown, "{command} {coverage:#?}");
    }
    let said = |command: &str, output: &str, exit_code: i32| {
        let mut place = machine(&[("bin/tool", "")]);
        let ledger = place.ledger(&[install(Some("1.2"))]);
        let path = place.fs.proc.join("bin/tool");
        called(&mut place, &command.replace('@', path.to_str().unwrap()), output);
        place.calls[0].exit_code = Some(exit_code);
        ledger.cover(&place.calls, &place.fs).rows.remove(0).state
    };
    for (command, output) in
        [("tool --version", "tool 1.2"), ("tool -V", "v1.2\n"), ("@ version", "tool (1.2)"), ("tool -v", "1.2, of May")]
    {
        assert_eq!(said(command, output, 0), Shown, "{command}");
        assert_eq!(said(command, output, 1), NotShown, "{command}");
    }
    for (command, output) in [
        ("tool --help", "1.2"),
        ("other --version", "1.2"),
        ("tool --version x", "1.2"),
        ("tool", "1.2"),
        ("tool --version", "1.2.1"),
        ("tool --version", "w1.2"),
    ] {
        assert_eq!(said(command, output, 0), NotShown, "{command} {output}");
    }
}

/// An answer about the machine names the call whose output it is.
#[test]
fn machine_answers_cite_their_call() {
    let variable = || Query::System { fact: Fact::Variable { name: "PATH".to_owned() } };
    let mut place = RealFolder::new(&FILES);
    let all = vec![ReadClause { span: (0, 1), read: Ok(vec![Step::Ask(variable())]) }];
    let ledger = Ledger::of_clauses("x", all, &environment()).simulate(&place.fs);
    let path = place.fs.proc.join("bin").to_str().unwrap().to_owned();
    called(&mut place, "printenv PATH", &format!("{path}\n"));
    place.calls[0].measures = true;
    let by = |change: &dyn Fn(&mut ToolCall)| {
        let mut calls = place.calls.clone();
        change(&mut calls[0]);
        let coverage = ledger.cover(&calls, &place.fs);
        assert_states(&coverage, &[Shown]);
        assert_eq!(coverage.answer().as_ref(), Some(&path));
        coverage.rows[0].by.len()
    };
    assert_eq!(by(&|_| {}), 1);
    assert_eq!(by(&|call| call.measures = false), 0);
    assert_eq!(by(&|call| call.truncated = true), 0);
    assert_eq!(by(&|call| call.status = CallStatus::Failed), 0);
    assert_eq!(by(&|call| call.output = "other\n".to_owned()), 0);
}

/// A comparison with a fact of the machine is answered when the task ends.
#[test]
fn comparison_with_machine_state_is_deferred() {
    let machine = || Box::new(Query::System { fact: Fact::User });
    let file = || Box::new(text("/w/a.txt"));
    let compare = |of, with| at_end::is_of_machine(&Query::Compare { of, with, relation: Relation::Identical });
    assert!(compare(machine(), file()) && compare(file(), machine()) && !compare(file(), file()));
    assert!(
        at_end::is_of_machine(&Query::Unique { of: machine() })
            && !at_end::is_of_machine(&Query::Unique { of: file() })
    );
    assert!(at_end::is_of_machine(&Query::Processes));
}

#[test]
fn several_answers_are_labelled() {
    let runs = |place: &RealFolder| vec![run(place, "ls d", None), run(place, "true", None)];
    let answer = RealFolder::check(&FILES, runs, &["ls d", "true"]).answer().unwrap();
    let lines: Vec<&str> = answer.lines().collect();
    assert!(lines.len() == 5 && lines[0].ends_with(':') && lines[4].ends_with(": exit code 0"), "{answer:?}");
}

/// A result that a later command may have changed is not refuted.
#[test]
fn run_may_change_earlier_results() {
    let acts = |place: &RealFolder| {
        let made = Act::CreateFile { path: place.path("n.txt"), text: "n\n".to_owned() };
        vec![made, run(place, "echo m >> n.txt", None)]
    };
    assert_states(&RealFolder::check(&FILES, acts, &["echo n > n.txt", "echo m >> n.txt"]), &[NotShown, Shown]);
    assert_states(&RealFolder::check(&FILES, acts, &["echo x > n.txt"]), &[Refuted, NotShown]);
    // Steps on another repository don't count.
    let mut place = RealFolder::new(&FILES);
    let start = "git init -q -b main; git add -A; git commit -qm s; echo z > z";
    place.sh(&format!("mkdir p q; for r in p q; do (cd $r; echo x > x; {start}); done"));
    place.calls.clear();
    let on = |name: &str| Act::Git { folder: place.path(name), action: commit("m") };
    let ledger = place.ledger(&[on("p"), on("q")]);
    place.sh("cd p && git add -A && git commit -qm m");
    assert_states(&ledger.cover(&place.calls, &place.fs), &[Shown, Refuted]);
    place.sh("cd q && git add -A && git commit -qm m");
    assert_complete(&ledger.cover(&place.calls, &place.fs));
}

/// A folder that must stay unchanged includes everything below it.
#[test]
fn unchanged_paths_include_descendants() {
    let keep = |place: &RealFolder| vec![Act::Keep { paths: vec![place.path("d")] }];
    for (command, state) in
        [("ls", Shown), ("echo x > c.txt", Shown), ("echo x > d/a.txt", Refuted), ("mv d/e/b.txt d/e/c.txt", Refuted)]
    {
        assert_eq!(RealFolder::check(&FILES, keep, &[command]).rows[0].state, state, "{command}");
    }
    // Without a record, the change is found on the disk.
    let place = RealFolder::new(&FILES);
    let ledger = place.ledger(&[Act::Keep { paths: vec![place.path("c.txt"), place.path("none")] }]);
    assert_states(&ledger.cover(&[], &place.fs), &[Shown]);
    fs::write(place.path("none"), "x").unwrap();
    assert_states(&ledger.cover(&[], &place.fs), &[Refuted]);
}

/// A folder whose modification time alone changed is not reported.
#[test]
fn folder_time_alone_is_no_change() {
    let world = World::new(&[("/w/a.txt", "one\n")]);
    let ledger = super::super::ledger(&[&[create("/w/n", "n\n")]], &world);
    let mut done = world.clone();
    done.write("/w/n", "n\n");
    let times = |path: &str| {
        let (before, after) = (Some("its times".to_owned()), Some("other times".to_owned()));
        let mut done = done.clone();
        done.call("touch", |_| {}, &[]).changed = vec![FileChange { path: path.to_owned(), before, after }];
        cover(&ledger, &done).is_complete()
    };
    assert!(times("/w") && times("/w/n") && !times("/w/a.txt") && !times("/w/gone"));
}
