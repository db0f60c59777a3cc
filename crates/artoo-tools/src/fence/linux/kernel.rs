//! The system calls no crate offers safely. Each is a few lines; everything that decides lies elsewhere.
#![expect(
    unsafe_code,
    reason = "close_range, unshare and seccomp's listener have no safe interface in any crate we use"
)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use libc::sock_filter;
use rustix::thread::UnshareFlags;

/// Closes every file of the calling thread from `first` on.
///
/// The thread must have a table of files of its own, and nothing in it may use one of these files afterwards.
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: the call takes three integers. That the numbers are no longer used is the caller's promise, as above.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives the calling thread a file table and a working folder of its own.
pub(crate) fn unshare_files() -> io::Result<()> {
    // SAFETY: from here on, the thread uses only files that it opens itself or copies by number.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES | UnshareFlags::FS) }?;
    Ok(())
}

/// A file by its number, for the moment in which it is copied.
///
/// The number must belong to an open file of the calling thread's table.
pub(crate) fn borrowed(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the caller's promise; the only use copies the file at once.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// A call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notification {
    pub(crate) id: u64,
    /// The thread that made it.
    pub(crate) thread: i32,
    pub(crate) call: libc::c_long,
    pub(crate) arguments: [u64; 6],
}

/// What becomes of a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The kernel makes it as if nobody had been asked; everything else that holds the program still decides.
    Continue,
    /// It has been made for the program, and returns this.
    Returns(i64),
    /// It fails with this error.
    Fails(i32),
    /// It is not answered: its process is being killed.
    NoReply,
}

/// `_IOW('!', 2, u64)`, which libc does not name.
const IS_VALID: libc::Ioctl = 0x4008_2102;

/// Puts a filter onto the calling thread whose questions are answered through the file this returns.
pub(crate) fn listen(program: &[sock_filter]) -> io::Result<OwnedFd> {
    // A signal must not make a program ask again what has been done already; kernels before 5.19 do not offer that.
    let file =
        set_filter(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
            .or_else(|_| set_filter(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER))?;
    // SAFETY: the kernel has just opened it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Installs a filter for the calling thread, which must have set `no_new_privs`, and returns the number of the listener
/// if the flags ask for one.
pub(crate) fn set_filter(program: &[sock_filter], flags: libc::c_ulong) -> io::Result<RawFd> {
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program and keeps no reference to it.
    let done = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    if done < 0 { Err(io::Error::last_os_error()) } else { RawFd::try_from(done).map_err(io::Error::other) }
}

/// The next call that waits for an answer.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> io::Result<Notification> {
    // SAFETY: the kernel wants the structure zeroed, and all zeros is a value of it.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    request(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked)?;
    Ok(Notification {
        id: asked.id,
        thread: i32::try_from(asked.pid).unwrap_or(0),
        call: asked.data.nr.into(),
        arguments: asked.data.args,
    })
}

/// Whether the call still waits: what was looked up by its thread's number was that thread's.
pub(crate) fn still_waits(listener: BorrowedFd<'_>, asked: Notification) -> bool {
    let mut id = asked.id;
    request(listener, IS_VALID, &raw mut id).is_ok()
}

/// Answers it. A thread that has gone in the meantime needs no answer.
pub(crate) fn answer(listener: BorrowedFd<'_>, asked: Notification, answer: Answer) {
    let (val, error, flags) = match answer {
        Answer::Continue => (0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        Answer::Returns(val) => (val, 0, 0),
        Answer::Fails(error) => (0, -error, 0),
        Answer::NoReply => return,
    };
    let mut response = libc::seccomp_notif_resp { id: asked.id, val, error, flags };
    let _ = request(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response);
}

/// Gives the program a file: in the place of its own with that number, or else as the result of the call.
pub(crate) fn add_file(
    listener: BorrowedFd<'_>,
    asked: Notification,
    file: BorrowedFd<'_>,
    replaced: Option<RawFd>,
    close_on_exec: bool,
) -> io::Result<()> {
    let flag = if replaced.is_some() { libc::SECCOMP_ADDFD_FLAG_SETFD } else { libc::SECCOMP_ADDFD_FLAG_SEND };
    let mut added = libc::seccomp_notif_addfd {
        id: asked.id,
        flags: u32::try_from(flag).map_err(io::Error::other)?,
        srcfd: file.as_raw_fd().unsigned_abs(),
        newfd: replaced.unwrap_or_default().unsigned_abs(),
        newfd_flags: if close_on_exec { libc::O_CLOEXEC.unsigned_abs() } else { 0 },
    };
    // The request gives the file's new number.
    request(listener, libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw mut added)
}

/// Connects a socket to an address as it lies in memory.
pub(crate) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(address.len()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads that many bytes and judges them itself.
    let done = unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives a socket an address as it lies in memory.
pub(crate) fn bind(socket: BorrowedFd<'_>, address: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(address.len()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads that many bytes and judges them itself.
    let done = unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sends bytes through a socket, to an address as it lies in memory unless that is empty.
pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8], to: &[u8], flags: libc::c_int) -> io::Result<usize> {
    let length = libc::socklen_t::try_from(to.len()).map_err(io::Error::other)?;
    let to = if to.is_empty() { std::ptr::null() } else { to.as_ptr().cast() };
    // SAFETY: the kernel reads that many bytes of each and judges the address itself.
    let sent = unsafe { libc::sendto(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags, to, length) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// A socket that leads nowhere yet.
pub(crate) fn socket(family: libc::c_int, kind: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes three integers.
    let socket = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, 0) };
    // SAFETY: the kernel has just opened it for us.
    if socket < 0 { Err(io::Error::last_os_error()) } else { Ok(unsafe { OwnedFd::from_raw_fd(socket) }) }
}

/// Asks for an address of the interface that is named: `struct ifreq`, before and after.
pub(crate) fn interface_address(number: u32, of: &mut [u8; 40]) -> io::Result<()> {
    let socket = socket(libc::AF_INET, libc::SOCK_DGRAM)?;
    request(socket.as_fd(), number.into(), of.as_mut_ptr())
}

/// Reads the kernel's log, or its size, by one of the requests that change nothing of it.
pub(crate) fn log(request: libc::c_int, into: &mut [u8]) -> io::Result<usize> {
    let length = libc::c_int::try_from(into.len()).map_err(io::Error::other)?;
    // SAFETY: the kernel writes no more than that many bytes.
    let done = unsafe { libc::klogctl(request, into.as_mut_ptr().cast(), length) };
    usize::try_from(done).map_err(|_| io::Error::last_os_error())
}

/// A fact of a socket that is a number: `SO_DOMAIN`, `SO_PROTOCOL`.
pub(crate) fn socket_fact(socket: BorrowedFd<'_>, fact: libc::c_int) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut length = libc::socklen_t::try_from(size_of::<libc::c_int>()).map_err(io::Error::other)?;
    // SAFETY: both pointers lead to values of ours of the size the kernel is told.
    let done = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, fact, (&raw mut value).cast(), &raw mut length)
    };
    if done == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}

fn request<T>(listener: BorrowedFd<'_>, number: libc::Ioctl, argument: *mut T) -> io::Result<()> {
    // SAFETY: each request is made with the structure it is defined for, which outlives the call.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), number, argument) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
