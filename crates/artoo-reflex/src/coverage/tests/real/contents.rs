//! Tests of links, archives and unrecorded changes with real files.

use super::*;

#[test]
fn link_target_resolves_through_real_folders() {
    let link =
        |to: &'static str| move |place: &RealFolder| vec![Act::Link { target: place.path(to), path: place.path("l") }];
    let files = [("a.txt", "one\n"), ("d/a.txt", "two\n"), ("d/e/b.txt", "three\n"), ("s/x", "")];
    let check = |to: &'static str, command: &str| {
        let mut place = RealFolder::prepared(&files, "ln -s d/e f; ln -s a.txt m");
        let ledger = place.ledger(&link(to)(&place));
        place.sh(command);
        ledger.cover(&place.calls, &place.fs)
    };
    for (to, command) in [
        ("a.txt", "ln -s a.txt l"),
        ("d/a.txt", "ln -s f/../a.txt l"),
        ("d", "ln -s f/.. l"),
        ("d", "ln -s d/ l"),
        ("d/e/b.txt", "ln -s f/b.txt l"),
    ] {
        assert_complete(&check(to, command));
    }
    for (to, command) in [
        // `f` leads to `d/e`, so this is `d/a.txt`.
        ("a.txt", "ln -s f/../a.txt l"),
        ("d/e", "ln -s f/.. l"),
        ("d/e", "ln -s d/e/.. l"),
        ("m", "ln -s a.txt l"),
    ] {
        assert_states(&check(to, command), &[Refuted]);
    }
    // A step that links to a missing file can't be shown.
    for command in ["ln -s none/x l", "ln -s none/y l"] {
        assert_states(&check("none/x", command), &[NotShown]);
    }
    let place = RealFolder::new(&files);
    let ledger = place.ledger(&link("d")(&place));
    std::os::unix::fs::symlink("s", place.path("l")).unwrap();
    assert_states(&ledger.cover(&[], &place.fs), &[Refuted]);
    fs::remove_file(place.path("l")).unwrap();
    std::os::unix::fs::symlink("d", place.path("l")).unwrap();
    let coverage = ledger.cover(&[], &place.fs);
    assert_states(&coverage, &[NotShown]);
    assert!(coverage.rows[0].why.contains("no call recorded it"));
}

/// Moving a symbolic link can be shown to be done, copying one can't.
#[test]
fn moved_links_are_shown_copied_ones_unknown() {
    let check = |is_copy: bool, command: &str| {
        let mut place = RealFolder::prepared(&FILES, "ln -s c.txt l");
        let (of, to) = (file(&place.path("l")), Target::As(place.path("m")));
        let act = if is_copy { Act::Copy { of, to } } else { Act::Move { of, to } };
        let ledger = place.ledger(&[act]);
        place.sh(command);
        ledger.cover(&place.calls, &place.fs)
    };
    assert_complete(&check(false, "mv l m"));
    assert_states(&check(false, "rm l; ln -s d m"), &[NotShown]);
    assert_states(&check(true, "cp -P l m"), &[NotShown]);
    assert_states(&check(true, "true"), &[Refuted]);
    // A file reached through a link is edited at its real path.
    let mut place = RealFolder::prepared(&FILES, "ln -s c.txt l");
    let ledger = place.ledger(&[Act::Insert { path: place.path("l"), text: "x\n".to_owned(), at_start: false }]);
    place.sh("echo x >> l");
    assert_states(&ledger.cover(&place.calls, &place.fs), &[NotShown]);
}

#[test]
fn archive_lists_files_and_empty_folders() {
    let pack = |names: &'static [&str]| {
        move |place: &RealFolder| {
            let paths = names.iter().map(|name| place.path(name)).collect();
            vec![Act::Archive { of: Query::Paths { paths, kind: Kind::Any }, to: place.path("x.tar") }]
        }
    };
    let check = |names: &'static [&str], command: &str| {
        let mut place = RealFolder::prepared(&FILES, "mkdir -p h/empty h/full; echo x > h/full/f; mkdir bare other");
        let ledger = place.ledger(&pack(names)(&place));
        place.sh(&command.replace('@', place.path("").trim_end_matches('/')));
        ledger.cover(&place.calls, &place.fs)
    };
    for (names, command) in [
        (["h"].as_slice(), "tar cf x.tar h"),
        (&["h"], "tar cf x.tar h/empty h/full/f"),
        (&["h"], "tar cf x.tar -C h empty full"),
        (&["d"], "tar cf x.tar d/a.txt d/e/b.txt"),
        (&["d/e"], "tar cf x.tar --no-recursion d d/e d/e/b.txt"),
        (&["bare"], "tar cf x.tar bare"),
        (&["bare"], "tar cf x.tar -C bare ."),
        (&["bare"], "tar cf x.tar -T /dev/null"),
        (&["d/a.txt", "c.txt"], "tar cf x.tar d/a.txt c.txt"),
        (&["d/a.txt", "c.txt"], "tar cPf x.tar @/d/a.txt @/c.txt"),
    ] {
        assert_complete(&check(names, command));
    }
    for (names, command) in [
        (["h"].as_slice(), "tar cf x.tar h/full"),
        (&["h"], "tar cf x.tar h/empty"),
        (&["d/e"], "tar cf x.tar --no-recursion other d/e d/e/b.txt"),
        (&["d"], "tar cf x.tar d other"),
        (&["bare"], "tar cf x.tar other"),
        (&["h"], "tar cf x.tar -T /dev/null"),
        (&["h/empty"], "rmdir h/empty; echo x > h/empty; tar cf x.tar h/empty"),
        (&["c.txt"], "rm c.txt; mkdir c.txt; tar cf x.tar c.txt"),
        (&["d", "h"], "cd d; tar cPf ../x.tar a.txt e ../h"),
        (&["d"], "printf 'a' > d/a.txt; tar cf x.tar d; printf 'one\\n' > d/a.txt"),
    ] {
        let coverage = check(names, command);
        assert_eq!(coverage.rows[0].state, Refuted, "{command} {coverage:#?}");
    }
}

#[test]
fn archive_changed_later_is_refuted() {
    let mut place = RealFolder::new(&FILES);
    let acts = [Act::Archive { of: file(&place.path("d")), to: place.path("x.tar") }];
    let ledger = place.ledger(&acts);
    place.sh("tar cf x.tar d; cp x.tar y.tar; rm y.tar");
    assert_complete(&ledger.cover(&place.calls, &place.fs));
    let whole = fs::read(place.path("x.tar")).unwrap();
    fs::write(place.path("x.tar"), [whole.as_slice(), &[0; 512]].concat()).unwrap();
    let changed = ledger.cover(&place.calls, &place.fs);
    assert!(changed.rows[0].state == Refuted && changed.rows[0].why.contains("changed after"), "{changed:#?}");
    fs::write(place.path("x.tar"), &whole).unwrap();
    place.calls.clear();
    assert_states(&ledger.cover(&place.calls, &place.fs), &[NotShown]);
    // A file that the request creates is archived with the requested text.
    let made = Act::CreateFile { path: place.path("n.txt"), text: "n\n".to_owned() };
    let pack = |place: &RealFolder| Act::Archive { of: file(&place.path("n.txt")), to: place.path("n.tar") };
    for (command, states) in [
        ("echo n > n.txt; tar cf n.tar n.txt", [Shown, Shown]),
        ("echo m > n.txt; tar cf n.tar n.txt; echo n > n.txt", [Shown, Refuted]),
    ] {
        let mut place = RealFolder::new(&FILES);
        let Act::CreateFile { text, .. } = &made else { return };
        let made = Act::CreateFile { path: place.path("n.txt"), text: text.clone() };
        let ledger = place.ledger(&[made, pack(&place)]);
        place.sh(command);
        assert_states(&ledger.cover(&place.calls, &place.fs), &states);
    }
}

#[test]
fn unpacking_rejects_unsafe_names() {
    let check = |pack: &str, command: &str| {
        RealFolder::prepared(&FILES, pack)
            .compare(|place| vec![Act::Extract { of: file(&place.path("x.tar")), to: place.path("out") }], &[command])
    };
    let all = "mkdir out; tar xf x.tar -C out";
    assert_complete(&check("tar cf x.tar ./d c.txt", all));
    assert_complete(&check("tar cf x.tar -T /dev/null", "mkdir out"));
    assert_states(&check("tar cf x.tar ./d c.txt", "mkdir out; tar xf x.tar -C out c.txt"), &[Refuted]);
    for pack in ["cd d; tar cPf ../x.tar ../c.txt", "tar cPf x.tar $PWD/c.txt"] {
        let coverage = check(pack, all);
        assert_states(&coverage, &[NotShown]);
        assert!(coverage.rows[0].why.contains("no plain name"), "{coverage:#?}");
    }
    // An existing file would be overwritten.
    assert_states(&check("tar cf x.tar c.txt; mkdir out; touch out/c.txt", "tar xf x.tar -C out"), &[NotShown]);
}

#[test]
fn write_file_paths_are_resolved() {
    let mut place = RealFolder::prepared(&FILES, "ln -s d g");
    let ledger = place.ledger(&[Act::CreateFile { path: place.path("g/n.txt"), text: "n\n".to_owned() }]);
    let path = place.path("g/n.txt");
    let call = place.sh("echo n > g/n.txt");
    call.tool = "write_file".to_owned();
    call.changed.retain(|change| change.path.ends_with("n.txt"));
    call.changed[0].path.clone_from(&path);
    assert_complete(&ledger.cover(&place.calls, &place.fs));
    place.calls[0].tool = "shell".to_owned();
    let coverage = ledger.cover(&place.calls, &place.fs);
    assert!(coverage.rows[0].state == NotShown && coverage.unasked.len() == 1, "{coverage:#?}");
}
