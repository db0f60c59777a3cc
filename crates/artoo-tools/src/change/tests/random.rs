//! Random trees and scripts of many programs: view and commit equal the bare run, undo brings all of it back.

use std::process::Command;

use super::*;
use crate::change::look::LookError;

/// Scripts of one run; more by `ARTOO_TEST_SCRIPTS`.
const SCRIPTS: u64 = 25;

/// Commands with `F` for a file, `D` for a folder, `N` for a new name.
const FORMS: [&str; 46] = [
    "rm -f F",
    "rm -rf D",
    "rmdir D",
    "mv F N",
    "mv F D",
    "mv D N",
    "cp F N",
    "cp F F",
    "cp -a D N",
    "cp -p F N",
    "mv -f F F",
    "ln F N",
    "ln -f F F",
    "ln -s F N",
    "ln -sfn N N",
    "sed -i s/a/b/ F",
    "sed -i 2d F",
    "tar --sort=name --mtime=2001-01-01 --owner=0 --group=0 -cf N D",
    "tar --sort=name --mtime=2001-01-01 --owner=0 --group=0 -cf t.tar D && mkdir -p N && tar xf t.tar -C N",
    "chmod 600 F",
    "chmod 755 F",
    "chmod 444 F",
    "chmod 500 D",
    "chmod -R u+w,go-w D",
    "chmod 700 D; echo x > D/in; chmod 755 D",
    "truncate -s 3 F",
    "truncate -s 100 F",
    "find D -type f -delete",
    "find . -name '*2*' -delete",
    "touch F",
    "touch -d 2001-02-03 F",
    "touch -d 2002-03-04 D",
    "mkdir -p N/a/b; echo deep > N/a/b/f",
    "echo text > F",
    "echo more >> F",
    "sort -o F F",
    "gzip -nf F",
    "dd if=/dev/zero of=F bs=1 seek=2 count=3 conv=notrunc",
    "split -b 4 F N",
    "install -m 640 F N",
    "tee F < F",
    "rm -f F; mkdir F; echo in > F/in",
    "rm -rf D; echo file > D",
    "rm -rf D; mkdir D; echo again > D/again",
    "/usr/bin/python3 -c \"import os; os.rename('F', 'N')\"",
    "/usr/bin/python3 -c \"import os; os.path.isfile('F') and os.setxattr('F', 'user.note', b'hello')\"",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

fn script(random: &mut Random) -> String {
    const FILES: [&str; 8] = ["f1", "f2", "d1/f3", "d1/f4", "d1/d2/f5", "d3/f6", "l1", "n1"];
    const FOLDERS: [&str; 6] = ["d1", "d1/d2", "d3", "d4", "n2", "d1/n3"];
    const NEW: [&str; 7] = ["n1", "n2", "d1/n3", "d3/n4", "d1/d2/n5", "f2", "d4/n6"];
    let mut script = String::new();
    for _ in 0..=random.below(5) {
        let mut form = random.pick(&FORMS).to_owned();
        for (letter, names) in [('F', &FILES[..]), ('D', &FOLDERS[..]), ('N', &NEW[..])] {
            // `D` in an option is none of ours; one form names the same folder each time it says so.
            let same = names[random.below(names.len())];
            while let Some(at) = position(&form, letter) {
                let name =
                    if form.contains(';') || form.contains("&&") { same } else { names[random.below(names.len())] };
                form.replace_range(at..=at, name);
            }
        }
        script.push_str(&form);
        script.push('\n');
    }
    script
}

/// A letter that stands by itself.
fn position(form: &str, letter: char) -> Option<usize> {
    let is_word = |at: Option<char>| at.is_some_and(|c| c.is_ascii_alphanumeric());
    form.char_indices()
        .find(|(at, c)| {
            *c == letter && !is_word(form[..*at].chars().next_back()) && !is_word(form[at + 1..].chars().next())
        })
        .map(|(at, _)| at)
}

fn plant(home: &Home, random: &mut Random) {
    for path in ["f1", "f2", "d1/f3", "d1/f4", "d1/d2/f5", "d3/f6"] {
        if random.below(6) > 0 {
            let lines: String = (0..random.below(5)).map(|n| format!("a line {n} of {path}\n")).collect();
            home.file(path, &lines);
        }
    }
    fs::create_dir_all(home.home.join("d4")).unwrap();
    if random.below(2) == 0 {
        std::os::unix::fs::symlink(random.pick(&["f1", "d1", "nowhere"]), home.home.join("l1")).unwrap();
    }
    home.run_bare("find . -exec touch -h -d 2000-01-01 {} +; [ -d d1 ] && chmod 750 d1");
}

#[test]
fn view_and_commit_equal_the_bare_run() {
    let count = std::env::var("ARTOO_TEST_SCRIPTS").ok().and_then(|text| text.parse().ok()).unwrap_or(SCRIPTS);
    let (mut changes, mut refused, mut wrong) = (0, 0, Vec::new());
    for seed in 0..count {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (seed + 1).wrapping_mul(0x2545_F491_4F6C_DD1D));
        let home = Home::new(true);
        plant(&home, &mut random);
        let script = script(&mut random);
        let before = home.tree();
        let bare = home.root.join("bare");
        assert!(Command::new("cp").arg("-a").args([&home.home, &bare]).status().unwrap().success());
        let bare = Home { home: bare, ..Home::at(&home.root) };
        if !home.run_in_view(&script) {
            return;
        }
        let set = match look(&[home.layer()], &[], &limit()) {
            Ok(set) => set,
            // A folder whose mode keeps its owner from searching it: named, and nothing is committed.
            Err(LookError::Io { path, source }) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                eprintln!("seed {seed}: {path} can't be looked at");
                refused += 1;
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        let untouched = differences(&home.tree(), &before);
        assert!(untouched.is_empty(), "seed {seed}: the view let something through\n{script}\n{untouched:#?}");
        bare.run_bare(&script);
        changes += set.entries.len();
        let stopped = home.commit(&set).stopped;
        let mut differ = differences(&home.tree(), &bare.tree());
        differ.extend(stopped.map(|stopped| format!("{stopped:?}")));
        if !differ.is_empty() {
            wrong.push(format!("seed {seed}:\n{script}\n{differ:#?}\n{:?}", home.kinds(&set)));
            continue;
        }
        if home.store().last().unwrap().is_some() {
            home.undo();
        }
        let differ = differences(&timeless(&home.tree()), &timeless(&before));
        assert!(differ.is_empty(), "seed {seed} undone:\n{script}\n{differ:#?}");
    }
    eprintln!("{count} scripts, {changes} changes, {refused} refused, {} differ", wrong.len());
    assert!(refused * 50 <= count, "{refused} refused");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
