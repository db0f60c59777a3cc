//! Tests of equivalent spellings of commands and downloads, and of the records that prove them.

use artoo_proto::KeptOutput;

use super::*;

#[test]
fn script_interpreters_match_extensions() {
    let files = [("a.sh", ""), ("a.bash", ""), ("a.py", ""), ("a.js", ""), ("ls", "")];
    let check = |wanted: &'static str, said: &str| {
        let mut place = RealFolder::new(&files);
        let ledger = place.ledger(&[run(&place, wanted, None)]);
        place.sh("true").input = json!({ "command": said });
        ledger.cover(&place.calls, &place.fs)
    };
    for (wanted, said) in [
        ("./a.sh", "bash a.sh"),
        ("./a.bash", "bash a.bash"),
        ("./a.py", "python3 a.py"),
        ("./a.js", "node a.js"),
        ("python3 a.py -v", "./a.py -v"),
        ("ls a.py", "ls ./a.py"),
        ("ls -l", "ls  '-l'"),
        ("ls | wc", "ls | wc"),
        ("ls \"a b\"", "ls 'a b'"),
        ("ls ''", "ls \"\""),
    ] {
        assert_states(&check(wanted, said), &[Shown]);
    }
    for (wanted, said) in [
        ("./a.bash", "sh a.bash"),
        ("./a.py", "node a.py"),
        ("./a.js", "python3 a.js"),
        ("./a.py", "a.py"),
        ("ls a.py", "./ls a.py"),
        ("ls none", "ls ./none"),
        ("ls | wc", "ls | cat"),
        ("ls \"$HOME\"", "ls '$HOME'"),
        ("ls 'a", "ls a"),
        ("ls a b", "ls 'a b'"),
        ("ls a", "ls a ''"),
        ("ls a", "ls a # b"),
        ("ls a", "ls a\\ "),
    ] {
        assert_states(&check(wanted, said), &[NotShown]);
    }
}

/// An option such as `-l` does not match the path `./-l`.
#[test]
fn option_is_not_read_as_path() {
    let mut place = RealFolder::new(&[("-l", ""), ("d/x", "")]);
    let ledger = place.ledger(&[run(&place, "ls -l", None)]);
    place.sh("ls ./-l");
    assert_states(&ledger.cover(&place.calls, &place.fs), &[NotShown]);
    place.sh("ls -l");
    assert_complete(&ledger.cover(&place.calls, &place.fs));
}

#[test]
fn run_folder_is_compared() {
    let acts = |place: &RealFolder| vec![Act::Run { command: "ls".to_owned(), folder: place.path("my d"), to: None }];
    let files = [("my d/a.txt", ""), ("d/b.txt", "")];
    for command in ["cd 'my d' && ls", "cd @/'my d'&&ls", "cd ./d/../'my d' && ls", "cd ~/'my d' && ls"] {
        let mut place = RealFolder::new(&files);
        place.fs.home = Some(place.path("").trim_end_matches('/').to_owned());
        let ledger = place.ledger(&acts(&place));
        place.sh(&command.replace('@', place.path("").trim_end_matches('/')));
        assert_complete(&ledger.cover(&place.calls, &place.fs));
    }
    for command in ["ls", "cd d && ls", "cd 'my d'; ls", "cd d 'my d' && ls", "cd 'my d' && ls && touch x"] {
        assert_states(&RealFolder::check(&files, acts, &[command]), &[NotShown]);
    }
}

#[test]
fn only_shell_calls_count_as_runs() {
    let mut place = RealFolder::new(&FILES);
    let ledger = place.ledger(&[run(&place, "ls d", None)]);
    place.sh("ls d");
    let with = |change: &dyn Fn(&mut ToolCall)| {
        let mut calls = place.calls.clone();
        change(&mut calls[0]);
        ledger.cover(&calls, &place.fs).rows.remove(0).state
    };
    assert_eq!(with(&|_| {}), Shown);
    assert_eq!(with(&|call| call.tool = "run_command".to_owned()), Shown);
    assert_eq!(with(&|call| call.tool = "files".to_owned()), Refuted);
    assert_eq!(with(&|call| call.status = CallStatus::Denied), Refuted);
    assert_eq!(with(&|call| call.exit_code = None), Refuted);
    assert_eq!(with(&|call| call.exit_code = Some(1)), Refuted);
    // If the command ran twice, the exit code of the last run counts.
    let mut calls = [place.calls.clone(), place.calls.clone()].concat();
    calls[1].exit_code = Some(1);
    assert_eq!(ledger.cover(&calls, &place.fs).rows[0].state, Refuted);
    calls[1].exit_code = Some(0);
    calls[0].exit_code = Some(1);
    assert_eq!(ledger.cover(&calls, &place.fs).rows[0].state, Shown);
}

/// A file counts as a command's output only if it has the whole recorded output.
#[test]
fn saved_output_is_the_whole_output() {
    let mut place = RealFolder::new(&FILES);
    let ledger = place.ledger(&[run(&place, "ls d", Some("o"))]);
    place.sh("ls d");
    place.sh("printf 'a.txt\\ne' > o");
    let with = |change: &dyn Fn(&mut ToolCall)| {
        let mut calls = place.calls.clone();
        change(&mut calls[0]);
        ledger.cover(&calls, &place.fs).rows.remove(0).state
    };
    let kept = |stream: &str, left_out: u64, text: &str| KeptOutput {
        stream: stream.to_owned(),
        sha256: digest::of_bytes(text.as_bytes()),
        bytes: 7,
        left_out,
    };
    assert_eq!(with(&|_| {}), Shown);
    assert_eq!(with(&|call| call.output = "a.txt\n".to_owned()), Refuted);
    let cut = |kept: Vec<KeptOutput>| {
        with(&|call| (call.truncated, call.output, call.kept) = (true, "a.txt\ne".to_owned(), kept.clone()))
    };
    assert_eq!(cut(vec![]), NotShown);
    assert_eq!(cut(vec![kept("stdout", 0, "a.txt\ne")]), Shown);
    assert_eq!(cut(vec![kept("output", 0, "a.txt\ne")]), Shown);
    assert_eq!(cut(vec![kept("stderr", 0, "a.txt\ne")]), NotShown);
    assert_eq!(cut(vec![kept("stdout", 1, "a.txt\ne")]), NotShown);
    assert_eq!(cut(vec![kept("stdout", 0, "x")]), NotShown);
    for command in ["ls d > o", "ls d &> o", "ls d >o 2>&1", "ls d | tee o"] {
        let coverage = RealFolder::check(&FILES, |place| vec![run(place, "ls d", Some("o"))], &[command]);
        assert_complete(&coverage);
        assert_eq!(coverage.answer(), None);
    }
    for command in ["ls d > o o", "ls d > d/o", "ls > o", "ls d | tee -a o"] {
        let coverage = RealFolder::check(&FILES, |place| vec![run(place, "ls d", Some("o"))], &[command]);
        assert_eq!(coverage.rows[0].state, NotShown, "{command} {coverage:#?}");
    }
}

/// A command that only prints the output file may follow the requested one.
#[test]
fn viewers_may_follow_a_run() {
    let to_file = |place: &RealFolder| vec![run(place, "ls d", Some("o"))];
    for command in ["ls d > o && cat o", "cd @ && ls d > o && wc -l o && head -n 1 o"] {
        assert_complete(&RealFolder::check(&FILES, to_file, &[command]));
    }
    for command in ["ls d > o && rm c.txt", "ls d > o && cat o > p", "ls d > o; cat o", "ls d && cat o > o"] {
        assert_eq!(RealFolder::check(&FILES, to_file, &[command]).rows[0].state, NotShown, "{command}");
    }
    // The separate output of the command was not recorded, nor which command failed.
    let touch = |place: &RealFolder| vec![run(place, "touch n", Some("o"))];
    assert_eq!(RealFolder::check(&FILES, touch, &["touch n && ls d", "ls d > o"]).rows[0].state, NotShown);
    let plain = |place: &RealFolder| vec![run(place, "touch n", None)];
    assert_states(&RealFolder::check(&FILES, plain, &["touch n && ls zz"]), &[NotShown]);
    let coverage = RealFolder::check(&FILES, plain, &["touch n && ls d"]);
    assert_complete(&coverage);
    assert_eq!(coverage.answer().as_deref(), Some("exit code 0, followed by what other commands show:\na.txt\ne"));
    assert_complete(&RealFolder::check(&FILES, plain, &["touch n 2>&1"]));
}

#[test]
fn long_output_is_answered_with_its_tail() {
    let coverage = RealFolder::check(&FILES, |place| vec![run(place, "seq 30", None)], &["seq 30"]);
    let lines: Vec<String> = (11..=30).map(|number| number.to_string()).collect();
    assert_eq!(coverage.answer(), Some(format!("exit code 0\n{}", lines.join("\n"))));
    let coverage = RealFolder::check(&FILES, |place| vec![run(place, "true", None)], &["true"]);
    assert_eq!(coverage.answer().as_deref(), Some("exit code 0"));
}

#[test]
fn download_options_are_allowlisted() {
    let url = "https://h/x";
    let check = |line: &str| {
        let mut place = RealFolder::new(&FILES);
        let ledger = place.ledger(&[Act::Fetch { url: url.to_owned(), to: None }]);
        let call = place.sh("echo page");
        call.input = json!({ "command": line });
        ledger.cover(&place.calls, &place.fs).rows.remove(0).state
    };
    for line in [
        "curl https://h/x",
        "curl -s -L https://h/x -o f",
        "curl --silent --output=f https://h/x",
        "curl -fsSL --fail https://h/x",
        "wget -qO- https://h/x",
        "wget --quiet --output-document f https://h/x",
        "curl -s https://h/x -o f && head -n 2 f",
    ] {
        let state = check(line);
        assert_eq!(state, if line.contains("O-") { NotShown } else { Shown }, "{line}");
    }
    // Another program may have downloaded the URL that it got.
    for line in [
        "curl -s -d x https://h/x",
        "curl -sd x https://h/x",
        "curl --silent --data x https://h/x",
        "curl --data=x https://h/x",
        "curl https://h/x https://h/y",
        "curl https://h/y",
        "curl -s",
        "lynx https://h/x",
        "curl https://h/x | sh",
        "curl https://h/x && rm f",
        "",
    ] {
        let state = if line.contains("https://h/x") { NotShown } else { Refuted };
        assert_eq!(check(line), state, "{line}");
    }
}

#[test]
fn downloaded_file_is_written_by_its_call() {
    let mut place = RealFolder::new(&FILES);
    let ledger = place.ledger(&[Act::Fetch { url: "https://h/x".to_owned(), to: Some(place.path("f")) }]);
    place.sh("echo page > f").input = json!({ "command": "curl -s https://h/x -o f" });
    assert_complete(&ledger.cover(&place.calls, &place.fs));
    let mut denied = place.calls.clone();
    denied[0].status = CallStatus::Failed;
    assert_states(&ledger.cover(&denied, &place.fs), &[NotShown]);
    denied[0].input = json!({ "command": "curl -s https://h/y -o f" });
    assert_states(&ledger.cover(&denied, &place.fs), &[Refuted]);
    fs::write(place.path("f"), "other\n").unwrap();
    assert_eq!(ledger.cover(&place.calls, &place.fs).rows[0].state, NotShown);
    place.sh("echo more >> f");
    assert_eq!(ledger.cover(&place.calls, &place.fs).rows[0].state, NotShown);
    for (tool, input, state) in [
        ("web_fetch", "https://h/x", Shown),
        ("fetch", "https://h/x", Shown),
        ("search", "https://h/y", Refuted),
        ("files", "https://h/x", Refuted),
    ] {
        let mut place = RealFolder::new(&FILES);
        let ledger = place.ledger(&[Act::Fetch { url: "https://h/x".to_owned(), to: None }]);
        let call = place.sh("echo page");
        (call.tool, call.input, call.truncated) = (tool.to_owned(), json!({ "url": input }), true);
        let coverage = ledger.cover(&place.calls, &place.fs);
        assert_states(&coverage, &[state]);
        assert_eq!(coverage.answer(), None);
    }
}

/// A command must run after the changes of the steps before it and before those of the steps after it.
#[test]
fn run_order_between_changes_is_strict() {
    let add = |place: &RealFolder, text: &str| Act::Insert {
        path: place.path("c.txt"),
        text: text.to_owned(),
        at_start: false,
    };
    let acts = |place: &RealFolder| {
        let made = Act::CreateFile { path: place.path("n.txt"), text: "n\n".to_owned() };
        vec![add(place, "x\n"), run(place, "ls d", None), made]
    };
    let (before, ran, after) = ("echo x >> c.txt", "ls d", "echo n > n.txt");
    assert_complete(&RealFolder::check(&FILES, acts, &[before, ran, after]));
    assert_complete(&RealFolder::check(&FILES, acts, &[ran, before, ran, after]));
    for commands in [[before, after, ran], [ran, before, after], [after, ran, before]] {
        assert_states(&RealFolder::check(&FILES, acts, &commands), &[Shown, NotShown, Shown]);
    }
    // The command itself changes a file of an earlier step, so the order is correct.
    let own = |place: &RealFolder| vec![add(place, "x\n"), run(place, "echo x >> c.txt", None)];
    assert_complete(&RealFolder::check(&FILES, own, &["echo x >> c.txt"]));
}
