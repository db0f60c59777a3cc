//! Random trees and random scripts in real views: a committed run equals the bare run, a discarded run changes nothing,
//! and an undo restores everything but times.

use std::process::Command;
use std::sync::Arc;

use super::*;
use crate::change::incidental::index_entries;
use crate::change::scan::ScanError;
use crate::change::{Class, Places, Reason, classify};
use crate::config::ToolConfig;
use crate::fence::{Fence, ReadAllowlist};
use crate::process::{self, Invocation, Order};
use crate::undo::State;
use crate::view::View;

/// Number of random scripts in one run, enough to have each form once; the variable `ARTOO_TEST_SCRIPTS` sets another
/// number.
const SCRIPTS: usize = 40;

/// First lines of every script: they fix the environment, so that git commits have the same ids in each run.
const START: &str = "export PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
    GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_AUTHOR_DATE=2001-02-03T04:05:06Z PYTHONDONTWRITEBYTECODE=1 \
    GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c GIT_COMMITTER_DATE=2001-02-03T04:05:06Z \
    GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=gc.cruftPacks GIT_CONFIG_VALUE_0=false; umask 022\n";

/// Programs with command templates for random scripts; `F` stands for a file, `D` for a folder, `N` for a new name.
const FORMS: [(&str, &[&str]); 38] = [
    ("rm", &["rm -f F", "rm -rf D", "rm -f F; mkdir F; echo in > F/in", "rm -rf D; echo file > D"]),
    ("rmdir", &["rmdir D", "rm -rf D; mkdir D; echo again > D/again"]),
    ("mv", &["mv F N", "mv F D", "mv D N", "mv -f F F"]),
    ("cp", &["cp F N", "cp F F", "cp -a D N", "cp -p F N"]),
    ("ln", &["ln F N", "ln -f F F", "ln -s F N", "ln -sfn N N"]),
    ("sed", &["sed -i s/a/b/ F", "sed -i 2d F"]),
    (
        "tar",
        &[
            "tar --sort=name --mtime=2001-01-01 --owner=0 --group=0 --exclude=.git -cf N D",
            "tar cf t.tar D; mkdir -p N; tar xf t.tar -C N; rm t.tar",
        ],
    ),
    (
        "chmod",
        &[
            "chmod 600 F",
            "chmod 444 F",
            "chmod 500 D",
            "chmod -R u+w,go-w D",
            "chmod 700 D; echo x > D/in; chmod 755 D",
        ],
    ),
    ("truncate", &["truncate -s 3 F", "truncate -s 100 F"]),
    ("find", &["find D -type f -delete", "find . -name '*2*' -delete"]),
    ("touch", &["touch F", "touch -d 2001-02-03 F", "touch -d 2002-03-04 D"]),
    ("mkdir", &["mkdir -p N/a/b; echo deep > N/a/b/f"]),
    ("bash", &["echo text > F", "echo more >> F"]),
    ("sort", &["sort -o F F"]),
    ("gzip", &["gzip -nf F"]),
    ("dd", &["dd if=/dev/zero of=F bs=1 seek=2 count=3 conv=notrunc", "dd if=F of=N bs=2 count=2"]),
    ("split", &["split -b 4 F N"]),
    ("install", &["install -m 640 F N", "install -d -m 750 N"]),
    ("tee", &["tee F < F", "echo t | tee -a F N"]),
    ("python3", &["python3 -c \"import os; os.rename('D', 'N')\"", "python3 -c \"import os; os.replace('F', 'F')\""]),
    ("python3", &["python3 -c \"import shutil; shutil.move('D', 'N'); shutil.copytree('N', 'N.copy')\""]),
    ("python3", &["python3 -c \"import os; os.path.isfile('F') and os.setxattr('F', 'user.note', b'hello')\""]),
    (
        "python3",
        &[
            "python3 -c \"import shutil; shutil.rmtree('D')\"",
            "python3 -c \"import os; os.truncate('F', 2); os.utime('F', (1e9, 1e9))\"",
        ],
    ),
    ("git", &["git init -q D; cd D; git add .; git commit -qm one; [ -e f3 ] && git mv f3 moved; git commit -qam two"]),
    (
        "git",
        &[
            "git init -q D; cd D; git add .; git commit -qm one; mkdir -p sub; echo s > sub/s; git add .; git commit -qm two; git mv sub sub2",
        ],
    ),
    (
        "git",
        &[
            "git init -q D; cd D; echo 1 > g; git add .; git commit -qm one; git checkout -qb b; echo 2 > g; git commit -qam two; git checkout -q -",
        ],
    ),
    (
        "git",
        &[
            "git init -q D; cd D; echo 1 > g; git add .; git commit -qm one; echo 2 > g; git stash -q; git stash pop -q; git gc -q",
        ],
    ),
    (
        "git",
        &[
            "git -C d5 checkout -q .",
            "git -C d5 mv sub moved",
            "git -C d5 commit -qam more",
            "git -C d5 status -s",
            "git -C d5 stash -q",
            "git -C d5 gc -q",
            "git -C d5 reset -q --hard",
        ],
    ),
    ("perl", &["perl -pi -e 's/a/x/' F", "perl -e 'rename \"D\", \"N\"'"]),
    (
        "patch",
        &["printf -- '--- a\\n+++ b\\n@@ -1 +1 @@\\n-text\\n+patched\\n' > p; echo text > F; patch -s F p; rm p"],
    ),
    (
        "sqlite3",
        &[
            "sqlite3 N.db 'create table t(a); insert into t values(1);'",
            "sqlite3 N.db 'pragma journal_mode=wal; create table t(a); insert into t values(1);'",
        ],
    ),
    (
        "python3",
        &["python3 -c \"import sqlite3; c = sqlite3.connect('N.db'); c.execute('create table t(a)'); c.commit()\""],
    ),
    (
        "node",
        &["node -e \"require('fs').renameSync('D', 'N')\"", "node -e \"require('fs').writeFileSync('F', 'node')\""],
    ),
    ("make", &["printf 'N: F\\n\\tcp F N\\n' > mk; make -s -f mk; rm mk"]),
    ("rsync", &["rsync -a --delete D/ N"]),
    ("zip", &["zip -qrX N.zip D; rm -rf D; unzip -qo N.zip; rm N.zip"]),
    ("awk", &["awk '{ print $2 > \"N\" }' F"]),
    ("cmp", &["cp F F.orig; cmp -s F F.orig && rm F.orig", "mkfifo N", "exec 3<>F"]),
];

/// A seeded generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    /// A pseudo-random generator with this seed.
    fn of(seed: usize) -> Self {
        Self(0x9E37_79B9_7F4A_7C15 ^ (seed as u64 + 1).wrapping_mul(0x2545_F491_4F6C_DD1D))
    }

    /// A pseudo-random number from 0 up to, not including, `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound
    }

    /// A pseudo-randomly chosen one of these texts.
    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// A random script with one command of the program `first` and up to four commands of any.
fn script(random: &mut Random, rows: &[(&str, &[&str])], first: usize) -> String {
    const FILES: [&str; 9] = ["f1", "f2", "d1/f3", "d1/f4", "d1/d2/f5", "d3/f6", "l1", "n1", "d5/f7"];
    const FOLDERS: [&str; 7] = ["d1", "d1/d2", "d3", "d4", "n2", "d1/n3", "d5/sub"];
    const NEW: [&str; 8] = ["n1", "n2", "d1/n3", "d3/n4", "d1/d2/n5", "f2", "d4/n6", "d5/n7"];
    let mut script = START.to_owned();
    for number in 0..=random.below(5) {
        let (_, forms) = rows[if number == 0 { first } else { random.below(rows.len()) }];
        let mut form = random.pick(forms).to_owned();
        for (letter, names) in [('F', &FILES[..]), ('D', &FOLDERS[..]), ('N', &NEW[..])] {
            // A letter that occurs twice often stands for the same name.
            let same = names[random.below(names.len())];
            while let Some(at) = position(&form, letter) {
                let name = if form.contains(';') { same } else { names[random.below(names.len())] };
                form.replace_range(at..=at, name);
            }
        }
        script.push_str(&format!("( {form} )\n"));
    }
    script
}

/// The position of a placeholder letter (`F`, `D`, `N`) that is not part of a word.
fn position(form: &str, letter: char) -> Option<usize> {
    let is_word = |at: Option<char>| at.is_some_and(|c| c.is_ascii_alphanumeric());
    form.char_indices()
        .find(|(at, c)| {
            *c == letter && !is_word(form[..*at].chars().next_back()) && !is_word(form[at + 1..].chars().next())
        })
        .map(|(at, _)| at)
}

/// Creates a random tree in the home; `has_links`: with hard links.
fn create_random_tree(home: &Home, random: &mut Random, has_links: bool) {
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
    if random.below(3) == 0 {
        home.file("d5/f7", "seven\n");
        home.file("d5/sub/f8", "eight\n");
        home.run_bare("cd d5; git init -q; git add .; git commit -qm one; echo more >> f7");
    }
    if has_links {
        home.run_bare("for f in f1 d1/f3 d3/f6; do [ -e $f ] && ln $f $f.link; done; [ -e f2 ] && mkfifo pipe");
    }
    home.run_bare("find . -exec touch -h -d 2000-01-01 {} +; [ -d d1 ] && chmod 750 d1");
}

/// Runs scripts in the sandbox, on a view or on the real files.
pub(super) struct Runner {
    config: ToolConfig,
    protected: Protected,
    read_allowlist: Arc<ReadAllowlist>,
    runtime: tokio::runtime::Runtime,
}

impl Runner {
    /// A runner of scripts for this test home.
    pub(super) fn new(home: &Home) -> Self {
        let mut config = ToolConfig::new(home.environment());
        let data = home.root.join("data");
        fs::create_dir_all(&data).unwrap();
        config.data_dir = Some(data);
        let protected = home.protected();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { read_allowlist: Arc::new(ReadAllowlist::new(&protected)), config, protected, runtime }
    }

    /// A new view of the home; `None`, with a message, if this machine supports no views.
    pub(super) fn view(&self) -> Option<Arc<View>> {
        let view = View::prepare(&self.config, &self.protected, &[]);
        view.inspect_err(|problem| eprintln!("skipped: {problem}")).ok().map(Arc::new)
    }

    /// Runs a script for at most 60 s, in the view if one is given; its result is ignored.
    pub(super) fn run(&self, script: &str, cwd: &Path, view: Option<&Arc<View>>) {
        let invocation = Invocation {
            program: "/bin/bash".into(),
            name: "bash".into(),
            arguments: ["--noprofile", "--norc", "-c", script].map(Into::into).to_vec(),
            environment: Vec::new(),
        };
        let fence = Fence::of_allowed(&self.config, &self.protected, &[], false);
        let environment = process::environment(&self.config);
        let order = invocation.order(&self.config, &self.read_allowlist, &environment, fence);
        let order = Order { view: view.cloned(), is_held: view.is_some(), cwd: cwd.to_path_buf(), ..order };
        let ended = self.runtime.block_on(process::run(&self.config, order, Duration::from_secs(60))).unwrap();
        if std::env::var_os("ARTOO_TEST_SHOW").is_some() {
            eprintln!("in a view: {}: {ended:?}", view.is_some());
        }
    }
}

/// The tree of a folder for comparisons, in which two git indexes are equal if they list the same entries.
fn comparable(root: &Path) -> Tree {
    let mut tree = tree(root);
    for (_, index) in tree.iter_mut().filter(|(path, _)| path.ends_with(".git/index")) {
        let entries = index_entries(&index.content).map(|entries| entries.iter().map(|entry| entry.concat()).collect());
        index.content = entries.map_or_else(Vec::new, |entries: Vec<_>| entries.concat());
        index.time = None;
    }
    tree
}

/// Checks that each changed, shared, special or foreign entry of a change set needs approval for that reason; returns
/// the number of such reasons, existing files apart.
#[track_caller]
fn check_class(home: &Home, set: &ChangeSet, name: &str) -> usize {
    let (workspace, protected) = (home.home.clone(), home.protected());
    let asks = match classify(set, &Places { workspace: &workspace, command_folders: &[], protected: &protected }) {
        Class::Committable => Vec::new(),
        Class::Asks(asks) => asks,
        Class::Refused { path, reason } => panic!("{name}: {}: {reason}", path.display()),
    };
    let own = rustix::process::geteuid().as_raw();
    let mut named = 0;
    for (at, entry) in set.entries.iter().enumerate() {
        let is_special = |state: &State| matches!(state, State::Pipe(_) | State::Odd { .. });
        let is_foreign = |state: &State| state.facts().is_some_and(|facts| facts.owner != own);
        let wanted = [
            (!matches!(entry.kind, Kind::Created | Kind::Times)).then_some(Reason::Existing),
            entry.before.file().filter(|file| file.links > 1).map(|file| {
                let has_same_content = matches!(entry.kind, Kind::Mode | Kind::Times);
                if has_same_content { Reason::AllNames(file.links) } else { Reason::SeveralNames(file.links) }
            }),
            (is_special(&entry.before) || is_special(&entry.after)).then_some(Reason::SpecialFile),
            is_foreign(&entry.after).then_some(Reason::OtherOwner),
        ];
        let found = asks.iter().find(|(number, _)| *number == at).map_or(&[][..], |(_, reasons)| reasons);
        for reason in wanted.into_iter().flatten() {
            assert!(found.contains(&reason), "{name}: {} without {reason:?}: {found:?}", entry.path.display());
            named += usize::from(reason != Reason::Existing);
        }
    }
    named
}

/// Random scripts: a view changes no real file, its commit equals a run without view, and an undo restores all but
/// times.
#[test]
fn view_and_commit_equal_the_bare_run() {
    super::also_as_user("random::view_and_commit_equal_the_bare_run");
    let (has, lacks): (Vec<_>, Vec<_>) = FORMS.iter().copied().partition(|(program, _)| {
        ["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(program).exists())
    });
    lacks.iter().for_each(|(program, _)| eprintln!("skipped: {program} is not installed"));
    let count = std::env::var("ARTOO_TEST_SCRIPTS").ok().and_then(|text| text.parse().ok()).unwrap_or(SCRIPTS);
    let (mut changes, mut refused, mut named, mut wrong) = (0, 0, 0, Vec::new());
    for seed in 0..count {
        let mut random = Random::of(seed);
        let home = Home::new(true);
        // Files with several names are compared by an overlay only in part, so scripts with them are checked for
        // questions only.
        let has_links = seed % 6 == 5;
        create_random_tree(&home, &mut random, has_links);
        let script = script(&mut random, &has, seed % has.len());
        let before = comparable(&home.home);
        let bare = home.root.join("bare");
        assert!(Command::new("cp").arg("-a").args([&home.home, &bare]).status().unwrap().success());
        let runner = Runner::new(&home);
        let Some(view) = runner.view() else { return };
        runner.run(&script, &home.home, Some(&view));
        let untouched = differences(&comparable(&home.home), &before);
        assert!(untouched.is_empty(), "seed {seed}: the view let something through\n{script}\n{untouched:#?}");
        let set = match scan_changes(view.layers(), &view.renamed(), SystemTime::now(), &limit()) {
            Ok(set) => set,
            // The folder's mode denies its owner access: the error names it, and nothing is committed.
            Err(ScanError::Io { path, source }) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                eprintln!("seed {seed}: {path} can't be read");
                refused += 1;
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        named += check_class(&home, &set, &format!("seed {seed}:\n{script}"));
        changes += set.entries.len();
        if has_links {
            drop(view);
            assert_eq!(differences(&comparable(&home.home), &before), Vec::<String>::new(), "seed {seed} discarded");
            continue;
        }
        runner.run(&script, &bare, None);
        let stopped = home.commit(&set).stopped;
        let mut differ = differences(&comparable(&home.home), &comparable(&bare));
        differ.extend(stopped.map(|stopped| format!("{stopped:?}")));
        if !differ.is_empty() {
            let kinds = home.kinds(&set);
            wrong.push(format!("seed {seed}:\n{script}\n{differ:#?}\n{kinds:?}\n{:?}", view.renamed()));
            continue;
        }
        if home.store().last().unwrap().is_some() {
            home.undo();
        }
        let differ = differences(&timeless(&comparable(&home.home)), &timeless(&before));
        assert!(differ.is_empty(), "seed {seed} undone:\n{script}\n{differ:#?}");
    }
    let programs: std::collections::BTreeSet<&str> = has.iter().map(|(program, _)| *program).collect();
    let forms: usize = has.iter().map(|(_, forms)| forms.len()).sum();
    eprintln!(
        "{count} scripts of {forms} forms of {} programs, {changes} changes, {named} never committable, {refused} refused, {} \
         differ",
        programs.len(),
        wrong.len()
    );
    assert!(programs.len() >= 25 || !lacks.is_empty(), "{programs:?}");
    assert!(named > 0 && refused * 20 <= count, "{named} named, {refused} refused");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
