//! `posix_spawn` in a session of its own, which the standard library doesn't offer.
#![expect(unsafe_code, reason = "posix_spawn has no safe interface in any crate we use")]

use std::ffi::{CString, c_char, c_int};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::ptr;

use rustix::process::Pid;

/// Starts the program in a new session with no signal blocked, SIGPIPE at its default, and `stdin` as standard input.
pub(super) fn spawn(
    stdin: &File,
    program: &CString,
    arguments: &[CString],
    environment: &[CString],
) -> io::Result<Pid> {
    let flags = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSID as c_int;
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    let mut files = MaybeUninit::uninit();
    let mut attributes = MaybeUninit::uninit();
    let mut signals = MaybeUninit::uninit();
    let mut pid = 0;
    // SAFETY: every structure is initialised by its own function before another one gets it, and destroyed once. The
    // pointers lead to NUL-terminated texts that outlive the call, and both lists end with a null pointer.
    unsafe {
        check(libc::posix_spawn_file_actions_init(files.as_mut_ptr()))?;
        check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
        libc::sigemptyset(signals.as_mut_ptr());
        let result = check(libc::posix_spawn_file_actions_adddup2(files.as_mut_ptr(), stdin.as_raw_fd(), 0))
            .and_then(|()| check(libc::posix_spawnattr_setflags(attributes.as_mut_ptr(), flags as _)))
            .and_then(|()| check(libc::posix_spawnattr_setsigmask(attributes.as_mut_ptr(), signals.as_ptr())))
            .and_then(|()| {
                // Rust's runtime ignores it, and programs rely on it.
                libc::sigaddset(signals.as_mut_ptr(), libc::SIGPIPE);
                check(libc::posix_spawnattr_setsigdefault(attributes.as_mut_ptr(), signals.as_ptr()))
            })
            .and_then(|()| {
                let (arguments, environment) = (arguments.as_ptr(), environment.as_ptr());
                let (files, attributes) = (files.as_ptr(), attributes.as_ptr());
                check(libc::posix_spawn(&raw mut pid, program.as_ptr(), files, attributes, arguments, environment))
            });
        libc::posix_spawn_file_actions_destroy(files.as_mut_ptr());
        libc::posix_spawnattr_destroy(attributes.as_mut_ptr());
        result?;
    }
    Pid::from_raw(pid).ok_or_else(|| io::Error::other("the system gave no process number"))
}

/// The texts as the list that C expects.
fn pointers(texts: &[CString]) -> Vec<*mut c_char> {
    texts.iter().map(|text| text.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

/// The functions of `posix_spawn` return the error instead of setting `errno`.
fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}
