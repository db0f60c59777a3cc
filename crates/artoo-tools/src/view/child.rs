//! A child process that shares this process's memory until it ends or executes a program, as with `vfork`.
#![expect(unsafe_code, reason = "clone, execve and signal masks of threads have no safe interface in any crate we use")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use rustix::process::Pid;

/// Bytes of a child's stack; the kernel provides only the pages that are used.
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// Size in bytes of the guard area at the low end of the stack, which can't be accessed: a stack that grows too large
/// ends the child.
const GUARD_BYTES: usize = 64 * 1024;

/// Size in bytes of the kernel's signal set.
const SIGNAL_SET_BYTES: usize = 8;

/// The highest signal number.
const LAST_SIGNAL: c_int = 64;

/// Exit code of a child whose body panicked or could not execute a program.
pub(crate) const FAILED: c_int = 127;

/// Runs `body` in a child process that shares this process's memory, and waits until it has ended or executed a
/// program.
///
/// All signals are blocked in the child until [`Program::execute`].
///
/// # Errors
/// When the kernel makes no process.
pub(crate) fn start<F: FnOnce() -> c_int>(flags: c_int, body: F) -> io::Result<Pid> {
    let stack = Stack::new()?;
    let mut body = Some(body);
    let flags = flags | libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let before = set_mask(u64::MAX)?;
    // SAFETY: the stack is ours alone and outlives the call: with CLONE_VFORK this thread goes on only when the child no
    // longer uses this memory. Until then the child alone uses this thread's part of it, thread-locals included, and no
    // signal handler runs in it.
    let pid = unsafe { libc::clone(enter::<F>, stack.top(), flags, (&raw mut body).cast()) };
    let error = io::Error::last_os_error();
    set_mask(before)?;
    if pid < 0 { Err(error) } else { Pid::from_raw(pid).ok_or(error) }
}

/// Entry point of the child process: runs the body that was passed to `start`.
extern "C" fn enter<F: FnOnce() -> c_int>(body: *mut c_void) -> c_int {
    // SAFETY: `start` passes a pointer to this very type, and nobody else uses it while the child runs.
    let body = unsafe { &mut *body.cast::<Option<F>>() };
    match body.take() {
        Some(body) => catch_unwind(AssertUnwindSafe(body)).unwrap_or(FAILED),
        None => FAILED,
    }
}

/// A program to execute, prepared completely for the kernel, since the child must not allocate.
#[derive(Debug)]
pub(crate) struct Program {
    path: CString,
    /// Lists of pointers to the texts, each with a null pointer at its end.
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// Keeps the texts alive.
    _texts: [Vec<CString>; 2],
}

impl Program {
    /// Prepares a program from its path, arguments and environment, with the arrays of pointers that the kernel reads.
    pub(crate) fn new(path: CString, arguments: Vec<CString>, environment: Vec<CString>) -> Self {
        let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
        let (first, second) = (pointers(&arguments), pointers(&environment));
        Self { path, arguments: first, environment: second, _texts: [arguments, environment] }
    }

    /// Replaces the calling child by the program. No signal stays blocked; caught signals and SIGPIPE, which Rust's
    /// runtime ignores, get their default action. Returns only on failure, with the error.
    pub(crate) fn execute(&self) -> io::Error {
        for signal in 1..=LAST_SIGNAL {
            let mut action = MaybeUninit::<libc::sigaction>::uninit();
            // SAFETY: the first call fills the structure, the second one takes it; both leave it alone where they fail.
            unsafe {
                if libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) != 0 {
                    continue;
                }
                let mut action = action.assume_init();
                let is_caught = action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN;
                if is_caught || signal == libc::SIGPIPE {
                    action.sa_sigaction = libc::SIG_DFL;
                    libc::sigaction(signal, &raw const action, ptr::null_mut());
                }
            }
        }
        if let Err(error) = set_mask(0) {
            return error;
        }
        // SAFETY: the texts end with NUL, the lists with a null pointer, and all of them outlive the call.
        unsafe { libc::execve(self.path.as_ptr(), self.arguments.as_ptr(), self.environment.as_ptr()) };
        io::Error::last_os_error()
    }
}

// SAFETY: the pointers lead to texts that belong to the value and are never changed.
unsafe impl Send for Program {}

/// Sets the signals that are blocked for this thread, including those of the C library; returns the previous ones.
fn set_mask(signals: u64) -> io::Result<u64> {
    let mut before = 0_u64;
    // SAFETY: both sets have the size that is passed, and outlive the call.
    let done = unsafe {
        let (new, old) = (&raw const signals, &raw mut before);
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, new, old, SIGNAL_SET_BYTES)
    };
    if done == 0 { Ok(before) } else { Err(io::Error::last_os_error()) }
}

/// Memory for the stack of a child process.
struct Stack(*mut c_void);

impl Stack {
    /// Maps memory for a stack, with an inaccessible guard area at its low end.
    fn new() -> io::Result<Self> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the kernel's choice changes nothing that is there.
        let start = unsafe { libc::mmap(ptr::null_mut(), STACK_BYTES, access, kind | libc::MAP_STACK, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Self(start);
        // SAFETY: the range lies in the mapping just made.
        if unsafe { libc::mprotect(start, GUARD_BYTES, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// The address of the high end of the stack, at which its use begins.
    fn top(&self) -> *mut c_void {
        self.0.wrapping_byte_add(STACK_BYTES)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and the child that used it no longer does.
        unsafe { libc::munmap(self.0, STACK_BYTES) };
    }
}
