//! A random tree and a random sequence of acts and commands: after an undo the tree is as before.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use artoo_proto::escape::path_line;
use serde_json::json;

use super::{Fixture, Tree, is_fine, mode, tree};

/// Number of seeds, enough to have most pairs of acts; each takes about a second on a slow machine.
const SEEDS: u64 = 24;

/// A seeded generator of pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    /// A pseudo-random number from 0 up to, not including, `below`.
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).unwrap()
    }

    /// A pseudo-randomly chosen one of these values.
    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.next(all.len())].clone()
    }
}

const NAMES: [&str; 9] = ["a", "b.txt", "C", "d e", "é", "-f", "new\nline", "*", "\\x"];

/// Creates a random tree below a folder.
fn create_random_tree(numbers: &mut Numbers, folder: &Path, depth: usize) {
    fs::create_dir_all(folder).unwrap();
    for name in NAMES {
        let path = folder.join(name);
        match numbers.next(7) {
            0 | 1 => {
                fs::write(&path, vec![b'x'; numbers.next(5000)]).unwrap();
                mode(&path, numbers.one_of(&[0o644, 0o600, 0o755, 0o444, 0o4755]));
            }
            2 if depth < 3 => {
                create_random_tree(numbers, &path, depth + 1);
                mode(&path, numbers.one_of(&[0o755, 0o700, 0o1777]));
            }
            3 => symlink(numbers.one_of(&NAMES), &path).unwrap(),
            4 => {
                if let Some(file) = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).find(|p| p.is_file()) {
                    fs::hard_link(file, &path).unwrap();
                }
            }
            _ => {}
        }
    }
}

/// The path in single quotes for a shell; it must contain none.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_str().unwrap())
}

/// Makes one random act on existing or missing paths and describes it with its output. Many fail; whatever a failed act
/// changed is undone as well.
async fn act(fixture: &Fixture, numbers: &mut Numbers) -> String {
    let ws = fixture.workspace();
    let mut all: Vec<PathBuf> = tree(&ws).into_keys().collect();
    all.push(ws.join("gone"));
    let (one, two) = (numbers.one_of(&all), numbers.one_of(&all));
    let fresh = numbers.one_of(&all).with_file_name(format!("{}~", numbers.one_of(&NAMES)));
    let listed = |path: &Path| path_line(path.as_os_str().as_bytes());
    let (q1, q2, qf) = (quoted(&one), quoted(&two), quoted(&fresh));
    let command = match numbers.next(22) {
        0 => format!("rm -rf {q1}"),
        1 => format!("mv {q1} {q2}"),
        2 => format!("cp -r {q1} {qf}"),
        3 => format!("cp -a {q1} {q2}"),
        4 => format!("echo more >> {q1}"),
        5 => format!("echo other > {q1}; echo third > {q2}"),
        6 => format!("chmod {} {q1}", numbers.one_of(&["600", "755", "500", "4711", "000"])),
        7 => format!("ln -sfn {q2} {q1}"),
        8 => format!("ln -f {q1} {q2}"),
        9 => format!("mkdir -p {qf}/deep/er; echo 1 > {qf}/deep/er/f; chmod 711 {qf}"),
        10 => format!("find {} -type f -size -2 -delete", quoted(&ws)),
        11 => format!("rm -rf {q1}; mkdir {q1}; echo x > {q1}/y"),
        12 => format!("rm -rf {q1} && echo file > {q1}"),
        13 => format!("touch -d 2001-01-01 {q1}; mkfifo {qf}"),
        14 => format!("cd {} && for f in *; do mv -- \"$f\" \"$f.bak\"; done; false", quoted(&ws)),
        15 => {
            let input = json!({"act": "delete", "paths": [listed(&one), listed(&two)]});
            return format!("{input} {}", fixture.files(input.clone()).await.output);
        }
        16 => {
            let to = format!("{}/", fresh.to_str().unwrap());
            let input = json!({"act": "move", "paths": [listed(&one)], "to": to});
            return format!("{input} {}", fixture.files(input.clone()).await.output);
        }
        17 => {
            let input = json!({"act": "copy", "paths": [listed(&one), listed(&two)], "to": fresh.to_str().unwrap()});
            return format!("{input} {}", fixture.files(input.clone()).await.output);
        }
        18 => {
            let input = json!({"act": "rename", "paths": [listed(&one)], "template": "{stem}-{n}{ext}"});
            return format!("{input} {}", fixture.files(input.clone()).await.output);
        }
        19 => {
            let zip = ws.join(format!("{}.tar.gz", numbers.next(9)));
            let input = json!({"act": "archive", "paths": [listed(&one)], "to": &zip});
            fixture.files(input.clone()).await;
            let out = json!({"act": "extract", "paths": [&zip], "to": ws.join("out")});
            return format!("{input} {out} {}", fixture.files(out.clone()).await.output);
        }
        20 => {
            let input = json!({"act": "create_file", "to": fresh.join("f").to_str().unwrap(), "text": "t"});
            return format!("{input} {}", fixture.files(input.clone()).await.output);
        }
        _ => {
            let input = json!({"path": format!("w{}/x/y.txt", numbers.next(3)), "text": "t"});
            return format!("{input} {}", fixture.call("write_file", input.clone()).await.output);
        }
    };
    let call = fixture.allowed(&command).await;
    format!("{command}\n  {:?} {}", call.status, call.output)
}

/// Random acts and commands are undone exactly, and the undo of the undo restores their result.
#[doc = "holds: law 1.10"]
#[tokio::test]
async fn random_acts_are_undone_and_redone_exactly() {
    for seed in 1..=SEEDS {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let fixture = Fixture::keeping();
        create_random_tree(&mut numbers, &fixture.workspace(), 0);
        let before = tree(&fixture.home);
        let mut acts = Vec::new();
        for _ in 0..1 + numbers.next(6) {
            acts.push(act(&fixture, &mut numbers).await);
        }
        let story = acts.join("\n");
        let after = tree(&fixture.home);
        let Some(last) = fixture.store().last().unwrap() else {
            assert_eq!(after, before, "seed {seed}: {story}");
            continue;
        };
        let report = fixture.store().undo(&last.id).unwrap();
        assert_same(&tree(&fixture.home), &before, &format!("seed {seed}: {story}\n{report:#?}"));
        assert!(report.items.iter().all(|item| is_fine(&item.outcome)), "seed {seed}: {story}\n{report:#?}");
        let Some(redo) = report.redo else { continue };
        let again = fixture.store().undo(&redo).unwrap();
        assert_same(&tree(&fixture.home), &after, &format!("seed {seed}, redone: {story}\n{again:#?}"));
    }
}

/// Checks that two trees are equal; `story` lists the random acts, for the message.
#[track_caller]
fn assert_same(found: &Tree, expected: &Tree, story: &str) {
    let differs = |(path, entry): (&PathBuf, &(u32, Vec<u8>))| {
        let other = expected.get(path);
        (other != Some(entry))
            .then(|| format!("{path:?} {:o} was {:?}", entry.0, other.map(|other| format!("{:o}", other.0))))
    };
    let mut wrong: Vec<String> = found.iter().filter_map(differs).collect();
    wrong.extend(expected.keys().filter(|path| !found.contains_key(*path)).map(|path| format!("{path:?} is missing")));
    assert!(wrong.is_empty(), "{wrong:#?}\n{story}");
}
