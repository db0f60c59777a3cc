//! The C library's allocator, set up once: one heap for all threads.

/// Tells glibc to keep one heap instead of one for each thread up to eight a processor. What one thread takes and
/// another gives back then serves all of them; with 64 steps at once that is a quarter of the memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "glibc takes this by a call, or by a variable that is read before the program begins")]
pub(crate) fn share_one() {
    // SAFETY: two integers, and no thread has been started that could allocate meanwhile. Where it is refused, glibc
    // goes on as it would have.
    let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Other C libraries have no such setting.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share_one() {}
