//! Questions that used to be answered wrongly: each is answered correctly or declined with the reason.

use crate::pty::{CTRL_D, Pty};
use crate::world::World;

/// Creates a home folder with files for questions that earlier versions answered wrongly.
fn world() -> World {
    let world = World::new();
    for (path, content) in [
        ("code/webshop/src/a.js", "/* TODO */\n"),
        ("code/webshop/src/b.js", "done\n"),
        ("Documents/a.txt", "a\n"),
        ("Documents/b.txt", "b\n"),
        ("b.txt", "a\n"),
        ("Documents/shopping.txt", "milk\n\nbread\n"),
        ("Documents/Work/contract.txt", "c\n"),
        ("Documents/Data/sales.csv", "region,units\nnorth,1\nsouth,2\n"),
        ("Documents/Data/customers.csv", "id;name\n1;Ada\n2;Bob\n"),
        ("Downloads/setup.exe", "MZ"),
        ("Photos/Camera Roll/IMG_1.JPG", "\u{0}\u{1}"),
        ("kept.zip", "z"),
        (".local/share/Trash/files/thrown.zip", "z"),
        (".cache/x/cached.zip", "z"),
        (".hidden", "h"),
        ("bin/zonkprog", "#!/bin/sh\n"),
    ] {
        world.file(path, content);
    }
    world
}

/// Runs each request and asserts that this text is the answer.
#[track_caller]
fn answers(world: &World, expected: &str, requests: &[&str]) {
    for words in requests {
        let ran = world.run(&[words]);
        let said = ran.stdout.trim_end().replace(world.home().to_str().unwrap(), "~");
        assert_eq!((ran.code, said.as_str()), (Some(0), expected), "{words}\n{}", ran.stderr);
        assert!(ran.stderr.starts_with("✓ Checked: "), "{}", ran.stderr);
    }
}

/// Runs each request and asserts that it is declined and this reason shown.
#[track_caller]
fn declines(world: &World, why: &str, requests: &[&str]) {
    for words in requests {
        let ran = world.run(&[words]);
        assert_eq!(ran.code, Some(5), "{words}: {ran:?}");
        assert!(ran.stdout.is_empty() && ran.stderr.contains(why), "{words}: {ran:?}");
    }
}

/// Requests about text in files and about CSV tables are understood and answered rightly.
#[test]
fn text_and_table_requests_are_understood() {
    let world = world();
    answers(
        &world,
        "~/code/webshop/src/a.js",
        &[
            "find the word TODO in code/webshop/src",
            "search for TODO in ~/code/webshop/src",
            "find TODO in code/webshop/src",
        ],
    );
    answers(
        &world,
        "2",
        &["how many rows does sales.csv in Documents/Data have", "count the rows of Documents/Data/sales.csv"],
    );
    answers(&world, "name\nAda\nBob", &["show column 2 of Documents/Data/customers.csv"]);
    answers(&world, "Files ~/Documents/a.txt and ~/Documents/b.txt differ", &["compare a.txt and b.txt in Documents"]);
    answers(
        &world,
        "yes",
        &["is there an empty line in Documents/shopping.txt", "are there any blank lines in Documents/shopping.txt"],
    );
    answers(&world, "no", &["is there an empty line in Documents/a.txt", "are there any pdf files in Documents"]);
    answers(
        &world,
        "a.txt\nb.txt\nshopping.txt",
        &["files in Documents but not in Downloads", "list the files in ~/Documents but not in ~/Downloads"],
    );
    declines(&world, "quotation marks", &["how many lines of Documents/Data/customers.csv contain ,DE,"]);
    declines(&world, "something else than text", &["show \"Photos/Camera Roll/IMG_1.JPG\""]);
}

/// A search of the home folder leaves out the trash, caches and artoo's data, unless they are named.
#[test]
fn home_search_skips_trash_and_artoo_data() {
    let world = world();
    answers(&world, "1", &["how many zips", "how many zip files are in my home folder", "count the zip files in ~"]);
    answers(&world, "~/kept.zip", &["list the zips in ~", "find zip files"]);
    answers(&world, "1", &["how many zip files are in ~/.cache", "how many zips are in ~/.local/share/Trash"]);
    let own = world.shell("find . -type f ! -path './.artoo/*' ! -path './.cache/*' ! -path './.local/share/Trash/*' -printf '%s\\n' | awk '{ s += $1 } END { print s }'");
    answers(&world, &own, &["how big is my home folder", "how big is my home folder"]);
    let ran = world.run(&["disk usage"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// Counting and listing files "here" use the same folder.
#[test]
fn count_and_list_use_the_same_folder() {
    let world = world();
    let listed = world.run(&["list the files in the current directory"]);
    assert_eq!((listed.code, listed.stdout.lines().count()), (Some(0), 2), "{listed:?}");
    answers(&world, "2", &["how many files are in the current directory", "how many files are here"]);
}

/// If a file that a question names does not exist, the reply names files with similar names.
#[test]
fn missing_file_answer_suggests_near_names() {
    let world = world();
    declines(
        &world,
        "Documents/Work/contract.txt",
        &["how many words are in Documents/contract.txt", "show Documents/contract.txt"],
    );
    answers(&world, "~/Downloads/setup.exe", &["find exe files in Downlaods"]);
    answers(&world, "exe", &["what types of files are in Downloads"]);
    declines(&world, "sandbox", &["what is the process limit"]);
}

/// Programs that the answer depends on are found by the user's `PATH`.
#[test]
fn programs_are_searched_on_users_path() {
    let world = world();
    let run = |words: &str| {
        let mut command = world.command(&[words]);
        command.env("PATH", format!("{}/bin:/usr/bin:/bin", world.home().display()));
        crate::world::RunOutput::of(command.output().unwrap())
    };
    let here = run("where is zonkprog installed");
    assert_eq!(
        (here.code, here.stdout.trim_end()),
        (Some(0), format!("{}/bin/zonkprog", world.home().display()).as_str())
    );
    assert_eq!(run("is zonkprog installed").stdout, "yes\n");
    assert_eq!(run("is zonkless installed").stdout, "no\n");
    let nowhere = run("where is zonkless installed");
    assert!(nowhere.code == Some(9) && nowhere.stdout.is_empty(), "{nowhere:?}");
}

/// "which one" refers to the files in the last answer, and is declined if that answer is a single file.
#[test]
fn pronoun_refers_to_the_last_answer() {
    let world = world();
    let pty = Pty::start(&world.command(&[]), 200);
    let mut pty = pty;
    pty.prompt("");
    pty.enter("list the csv files in Documents/Data");
    pty.see("sales.csv");
    pty.prompt("");
    pty.enter("what does each of them mean");
    pty.ended_tasks(2);
    pty.prompt("");
    pty.enter("which one is the largest");
    pty.see("Documents/Data/sales.csv");
    pty.prompt("");
    pty.enter("translate the report");
    pty.ended_tasks(4);
    pty.prompt("");
    pty.enter("which one is the smallest");
    pty.ended_tasks(5);
    pty.prompt("");
    // The last answer is one file, of which none is the smallest.
    assert!(pty.screen().contains("There is no earlier answer that these words can speak of"), "{}", pty.screen());
    pty.send(CTRL_D);
    assert_eq!(pty.ended().0, 0);
}
