//! Configures the C library's allocator: one heap for all threads.

/// Makes glibc use one heap instead of up to eight per processor, which takes a quarter of the memory with 64 parallel
/// steps.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "glibc takes this by a call, or by a variable that is read before the program begins")]
pub(crate) fn use_one_heap() {
    // SAFETY: the arguments are two integers, and no thread has been started that could allocate meanwhile. If glibc
    // refuses the setting, it keeps its default.
    let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Does nothing: C libraries other than glibc have no such setting.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn use_one_heap() {}
