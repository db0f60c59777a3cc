//! Where tests end the process, or act as somebody else: between any two writes of the journal.

/// A moment at which the power may go.
#[cfg(not(test))]
pub(super) fn point(_what: &'static str) {}

/// What somebody else does meanwhile.
#[cfg(test)]
type Deed = Box<dyn FnMut(&'static str)>;

#[cfg(test)]
thread_local! {
    /// What a test does at such a moment, on this thread.
    static MEANWHILE: std::cell::RefCell<Option<Deed>> = const { std::cell::RefCell::new(None) };
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
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}
