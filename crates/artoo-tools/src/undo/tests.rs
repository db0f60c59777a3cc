//! H5: undo and trash never read or change a file outside a folder that is exchanged with a symlink again and again.

#![cfg(target_os = "linux")]

mod formats;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use artoo_proto::Environment;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use super::Act;
use super::blobs::BlobDir;
use super::format::{Change, Done};
use super::restore::{Restoring, Undone};
use super::resumed::Resumed;
use super::state::{self, State};
use super::store::ItemOutcome;
use crate::limit::Limit;
use crate::openat::Place;
use crate::trash;

const ITERATIONS: usize = 10_000;

/// Folders for a race: `swap` with a file, and `outside` with a file of the same name, to which a symlink leads.
struct Race {
    _dir: TempDir,
    home: PathBuf,
}

impl Race {
    /// Creates the folders of the race, with the symlink and a file in the outside folder.
    fn new() -> Self {
        let dir = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let home = dir.path().canonicalize().unwrap();
        for folder in ["swap", "outside"] {
            fs::create_dir(home.join(folder)).unwrap();
        }
        symlink("outside", home.join("link")).unwrap();
        fs::write(home.join("outside/f"), "outside").unwrap();
        fs::set_permissions(home.join("outside/f"), fs::Permissions::from_mode(0o640)).unwrap();
        Self { _dir: dir, home }
    }

    /// Runs `step` while another thread exchanges folder and symlink; returns how often it succeeded and failed.
    fn run(&self, mut step: impl FnMut(usize) -> bool) -> (usize, usize) {
        let (swap, link) = (self.home.join("swap"), self.home.join("link"));
        let stop = AtomicBool::new(false);
        let mut done = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    renameat_with(CWD, &swap, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                }
            });
            for n in 0..ITERATIONS {
                done += usize::from(step(n));
            }
            stop.store(true, Ordering::Relaxed);
        });
        (done, ITERATIONS - done)
    }

    /// Checks that the folder `outside` is unchanged.
    #[track_caller]
    fn check_outside(&self) {
        let outside = self.home.join("outside");
        let names: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["f"], "something got out");
        assert_eq!(fs::read_to_string(outside.join("f")).unwrap(), "outside");
        assert_eq!(fs::metadata(outside.join("f")).unwrap().mode() & 0o7777, 0o640);
    }

    /// Waits until `swap` or `link` is the real folder, and returns the path of the file in it.
    fn real(&self) -> PathBuf {
        loop {
            for folder in ["swap", "link"].map(|folder| self.home.join(folder)) {
                if fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()) {
                    return folder.join("f");
                }
            }
        }
    }
}

/// A deadline of ten minutes, which no test reaches.
fn limit() -> Limit {
    Limit::after(Duration::from_secs(600))
}

/// An undo in a folder that is swapped with a symlink again and again changes nothing outside.
#[doc = "holds: law 1.11; design H5"]
#[test]
fn undo_in_swapped_folder_stays_inside() {
    let race = Race::new();
    let blobs = BlobDir::make(race.home.join("blobs")).unwrap();
    let path = race.home.join("swap/f");
    // One change of each kind: content, mode, a created and a deleted file, a link.
    let mut states = vec![State::Absent];
    for (number, (text, mode)) in [("one", 0o600), ("two", 0o755), ("two", 0o611)].into_iter().enumerate() {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let mut state = state::at(&path, &limit()).unwrap();
        let number = number as u64;
        blobs.keep(&mut fs::File::open(&path).unwrap(), number, &limit()).unwrap();
        if let State::File(file) = &mut state {
            file.saved = Some(number);
        }
        states.push(state);
    }
    fs::remove_file(&path).unwrap();
    states.push(State::Link { target: "nowhere".to_owned() });
    let resumed = Resumed::default();
    let (mut at, mut undone) = (0, Undone { room: u64::MAX, ..Undone::default() });
    let (done, refused) = race.run(|n| {
        let to = (at + 1 + n % (states.len() - 1)) % states.len();
        let changes = vec![Change { path: path.clone(), before: states[to].clone(), after: states[at].clone() }];
        let mut act = Act::default();
        let timeout = limit();
        let mut restoring = Restoring::new(&mut act, &blobs, &resumed, &timeout, &mut undone);
        let told = restoring.take_back(&Done::Changed { changes });
        let is_done = told.iter().all(|(_, _, outcome)| *outcome == ItemOutcome::Done);
        // The present state is the start of the next round: an interrupted act is one, too.
        let now = state::at(&race.real(), &limit()).unwrap_or(State::Absent);
        at = states.iter().position(|state| state.same(&now)).unwrap_or(at);
        is_done
    });
    race.check_outside();
    assert!(done > 100 && refused > 100, "the race was never on: {done} done, {refused} refused");
}

/// Moving a file to the trash from a folder that is swapped with a symlink takes only the named file.
#[doc = "holds: law 1.8; design H5"]
#[test]
fn trash_from_swapped_folder_takes_own_files() {
    let race = Race::new();
    let home = race.home.to_str().unwrap().to_owned();
    let environment = Environment {
        cwd: home.clone(),
        home: home.clone(),
        workspace: home.clone(),
        os: "linux".into(),
        utc_offset_s: 0,
    };
    let path = race.home.join("swap/f");
    let thrown_to = race.home.join(".local/share/Trash/files");
    let (done, refused) = race.run(|_| {
        // Each round has a file to move to the trash in the folder itself.
        if let Ok(place) = Place::of(&race.real())
            && let Ok(made) = place.make_file()
        {
            drop(made);
        }
        let put = Place::of(&path)
            .and_then(|place| trash::move_to_trash(&environment, &place, &path, "", &mut Act::default()));
        // The trash is emptied, so that a free name is found at once.
        for entry in fs::read_dir(&thrown_to).into_iter().flatten().flatten() {
            assert_ne!(fs::read_to_string(entry.path()).unwrap(), "outside", "another's file was thrown away");
            fs::remove_file(entry.path()).unwrap();
        }
        for entry in fs::read_dir(thrown_to.with_file_name("info")).into_iter().flatten().flatten() {
            fs::remove_file(entry.path()).unwrap();
        }
        put.is_ok()
    });
    race.check_outside();
    assert!(done > 100 && refused > 100, "the race was never on: {done} thrown away, {refused} refused");
}
