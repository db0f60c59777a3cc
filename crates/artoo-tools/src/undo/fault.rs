//! Where tests end the process, or act as somebody else: between any two writes of the journal.

/// A moment at which the power may go.
#[cfg(not(test))]
pub(super) fn point(_what: &'static str) {}

/// What has been written to a note is on the disk after this.
pub(super) fn sync(note: &std::fs::File) -> std::io::Result<()> {
    note.sync_data()?;
    #[cfg(test)]
    power::synced(note);
    Ok(())
}

/// A power cut takes what was not synced. `ARTOO_TEST_POWER`: a kill takes it too, out of the notes that are open.
#[cfg(test)]
mod power {
    use std::collections::HashMap;
    use std::fs::{self, File, OpenOptions};
    use std::os::unix::fs::MetadataExt;
    use std::sync::Mutex;

    static SYNCED: Mutex<Option<HashMap<(u64, u64), u64>>> = Mutex::new(None);

    pub(super) fn synced(note: &File) {
        let found = note.metadata().unwrap();
        SYNCED.lock().unwrap().get_or_insert_default().insert((found.dev(), found.ino()), found.len());
    }

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

/// What somebody else does meanwhile.
#[cfg(test)]
type Interference = Box<dyn FnMut(&'static str)>;

#[cfg(test)]
thread_local! {
    /// What a test does at such a moment, on this thread.
    static MEANWHILE: std::cell::RefCell<Option<Interference>> = const { std::cell::RefCell::new(None) };
}

/// Has `what` done at every moment from here on.
#[cfg(test)]
pub(crate) fn meanwhile(what: impl FnMut(&'static str) + 'static) {
    MEANWHILE.set(Some(Box::new(what)));
}

/// Ends the process at the moment that the environment numbers, as `kill -9` does.
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
