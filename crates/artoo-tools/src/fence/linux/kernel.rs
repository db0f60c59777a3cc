//! System calls that no crate offers as safe functions.
#![expect(
    unsafe_code,
    reason = "close_range, unshare and seccomp's listener have no safe interface in any crate we use"
)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use libc::sock_filter;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::thread::UnshareFlags;

/// Closes all file descriptors of the calling thread from `first` on. The thread must have its own file table and must
/// not use one of these descriptors afterwards.
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: the call takes three integers. The caller promises that the descriptors are no longer used.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives the calling thread its own file table and working folder.
pub(crate) fn unshare_files() -> io::Result<()> {
    // SAFETY: from here on, the thread uses only files that it opens itself or duplicates by number.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES | UnshareFlags::FS) }?;
    Ok(())
}

/// Borrows one of the calling thread's open file descriptors by its number; the caller must duplicate it at once.
pub(crate) fn borrow_by_number(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the caller promises that it is open; it is duplicated at once.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// A seccomp notification: a call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notification {
    pub(crate) id: u64,
    /// The thread that made it.
    pub(crate) thread: i32,
    pub(crate) call: libc::c_long,
    pub(crate) arguments: [u64; 6],
}

/// The supervisor's answer to a system call of a sandboxed program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The kernel makes the call; all other restrictions still apply.
    Continue,
    /// The call was made for the program and returns this.
    Returns(i64),
    /// The call fails with this error.
    Fails(i32),
    /// No reply: the file was sent as the reply, or the process is being killed.
    NoReply,
}

/// Number of the `ioctl` request that asks whether a seccomp notification is still valid; libc does not name it.
const IS_VALID: libc::Ioctl = 0x4008_2102;

/// Installs a seccomp filter for the calling thread, and returns the listener that receives its notifications.
pub(crate) fn listen(program: &[sock_filter]) -> io::Result<OwnedFd> {
    // A signal must not restart a call that was already made for the program; kernels before 5.19 have no flag for
    // that.
    let file =
        set_filter(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
            .or_else(|_| set_filter(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER))?;
    // SAFETY: the kernel has just opened it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Installs a seccomp filter for the calling thread, which must have set `no_new_privs`; returns the listener's number
/// if the flags ask for one.
pub(crate) fn set_filter(program: &[sock_filter], flags: libc::c_ulong) -> io::Result<RawFd> {
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program and keeps no reference to it.
    let done = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    if done < 0 { Err(io::Error::last_os_error()) } else { RawFd::try_from(done).map_err(io::Error::other) }
}

/// Receives the next seccomp notification, waiting until there is one.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> io::Result<Notification> {
    // SAFETY: all zeros is a valid value, and the kernel requires it.
    let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    request(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification)?;
    Ok(Notification {
        id: notification.id,
        thread: i32::try_from(notification.pid).unwrap_or(0),
        call: notification.data.nr.into(),
        arguments: notification.data.args,
    })
}

/// Whether the notified system call still waits: only then is what was read of its thread valid.
pub(crate) fn still_waits(listener: BorrowedFd<'_>, notification: Notification) -> bool {
    let mut id = notification.id;
    request(listener, IS_VALID, &raw mut id).is_ok()
}

/// Sends the supervisor's answer to the kernel; does nothing if the thread has ended.
pub(crate) fn answer(listener: BorrowedFd<'_>, notification: Notification, answer: Answer) {
    let (val, error, flags) = match answer {
        Answer::Continue => (0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        Answer::Returns(val) => (val, 0, 0),
        Answer::Fails(error) => (0, -error, 0),
        Answer::NoReply => return,
    };
    let mut response = libc::seccomp_notif_resp { id: notification.id, val, error, flags };
    let _ = request(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response);
}

/// Gives the program an open file: in place of one of its own descriptors, or as the result of its system call.
pub(crate) fn add_file(
    listener: BorrowedFd<'_>,
    notification: Notification,
    file: BorrowedFd<'_>,
    replaced: Option<RawFd>,
    close_on_exec: bool,
) -> io::Result<()> {
    let flag = if replaced.is_some() { libc::SECCOMP_ADDFD_FLAG_SETFD } else { libc::SECCOMP_ADDFD_FLAG_SEND };
    let mut added = libc::seccomp_notif_addfd {
        id: notification.id,
        flags: u32::try_from(flag).map_err(io::Error::other)?,
        srcfd: file.as_raw_fd().unsigned_abs(),
        newfd: replaced.unwrap_or_default().unsigned_abs(),
        newfd_flags: if close_on_exec { libc::O_CLOEXEC.unsigned_abs() } else { 0 },
    };
    // The request returns the new descriptor.
    request(listener, libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw mut added)
}

/// Reads an address of a network interface from the kernel into `of`, a `struct ifreq`.
pub(crate) fn interface_address(number: u32, of: &mut [u8; 40]) -> io::Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // The type is unsigned and wide with glibc, a signed 32-bit number with musl.
    request(socket.as_fd(), number as libc::Ioctl, of.as_mut_ptr())
}

/// Reads the kernel's log (or its size) into `into`; returns the number of bytes.
pub(crate) fn log(request: libc::c_int, into: &mut [u8]) -> io::Result<usize> {
    let length = libc::c_int::try_from(into.len()).map_err(io::Error::other)?;
    // SAFETY: the kernel writes no more than that many bytes.
    let done = unsafe { libc::klogctl(request, into.as_mut_ptr().cast(), length) };
    usize::try_from(done).map_err(|_| io::Error::last_os_error())
}

/// Makes an `ioctl` call on a seccomp listener or a socket.
fn request<T>(listener: BorrowedFd<'_>, number: libc::Ioctl, argument: *mut T) -> io::Result<()> {
    // SAFETY: each request is made with the structure it is defined for, which outlives the call.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), number, argument) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
