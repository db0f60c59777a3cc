//! Fault injection for tests: kills the process, or runs a change of another program, between any two writes of the
//! journal.

/// A fault point at which tests can kill the process; does nothing outside tests.
#[cfg(not(test))]
pub(super) fn point(_what: &'static str) {}

/// Syncs a journal file to disk.
pub(super) fn sync(note: &std::fs::File) -> std::io::Result<()> {
    note.sync_data()?;
    #[cfg(test)]
    power::synced(note);
    Ok(())
}

/// Simulates a power failure: if `ARTOO_TEST_POWER` is set, a kill truncates the open notes to what was synced.
#[cfg(test)]
mod power {
    use std::collections::HashMap;
    use std::fs::{self, File, OpenOptions};
    use std::os::unix::fs::MetadataExt;
    use std::sync::Mutex;

    static SYNCED: Mutex<Option<HashMap<(u64, u64), u64>>> = Mutex::new(None);

    /// In tests of power loss: records how many bytes of a journal file are synced to disk.
    pub(super) fn synced(note: &File) {
        let found = note.metadata().unwrap();
        SYNCED.lock().unwrap().get_or_insert_default().insert((found.dev(), found.ino()), found.len());
    }

    /// In tests of power loss: truncates the open journal logs to the length that was synced.
    pub(super) fn fail() {
        if std::env::var_os("ARTOO_TEST_POWER").is_none() {
            return;
        }
        let synced = SYNCED.lock().unwrap().take().unwrap_or_default();
        for entry in fs::read_dir("/proc/self/fd").unwrap() {
            let Ok(path) = fs::read_link(entry.unwrap().path()) else { continue };
            if path.file_name().is_some_and(|name| name == "steps.jsonl")
                && let Ok(note) = OpenOptions::new().write(true).open(&path)
            {
                let found = note.metadata().unwrap();
                note.set_len(synced.get(&(found.dev(), found.ino())).copied().unwrap_or(0)).unwrap();
            }
        }
    }
}

/// A function by which a test changes files at each fault point, as another program would.
#[cfg(test)]
type Interference = Box<dyn FnMut(&'static str)>;

#[cfg(test)]
thread_local! {
    /// The change of another program that this thread simulates at each fault point; `None` outside such tests.
    static MEANWHILE: std::cell::RefCell<Option<Interference>> = const { std::cell::RefCell::new(None) };
}

/// Sets the change that a test makes at every following fault point of this thread.
#[cfg(test)]
pub(crate) fn meanwhile(what: impl FnMut(&'static str) + 'static) {
    MEANWHILE.set(Some(Box::new(what)));
}

/// A fault point in tests: makes the change set by [`meanwhile`], and kills the process if `ARTOO_TEST_KILL_AT` has
/// this point's number.
#[cfg(test)]
pub(super) fn point(what: &'static str) {
    MEANWHILE.with_borrow_mut(|meanwhile| meanwhile.iter_mut().for_each(|meanwhile| meanwhile(what)));
    use std::sync::atomic::{AtomicU64, Ordering};
    static PASSED: AtomicU64 = AtomicU64::new(0);
    let Some(at) = std::env::var("ARTOO_TEST_KILL_AT").ok().and_then(|text| text.parse::<u64>().ok()) else { return };
    if PASSED.fetch_add(1, Ordering::SeqCst) == at {
        eprintln!("killed: {what}");
        power::fail();
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}
