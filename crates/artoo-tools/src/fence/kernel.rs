//! The system calls no crate offers safely. Each is a few lines; everything that decides lies elsewhere.
#![expect(unsafe_code, reason = "close_range and seccomp's listener have no safe interface in any crate we use")]

use std::io;
use std::os::fd::{BorrowedFd, RawFd};

/// Closes every file of the calling thread from `first` on.
///
/// The thread must have a table of files of its own, and nothing in it may use one of these files afterwards.
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: the call takes three integers. That the numbers are no longer used is the caller's promise, as above.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A file by its number, for the moment in which it is copied.
///
/// The number must belong to an open file of the calling thread's table.
pub(crate) fn borrowed(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the caller's promise; the only use copies the file at once.
    unsafe { BorrowedFd::borrow_raw(number) }
}
