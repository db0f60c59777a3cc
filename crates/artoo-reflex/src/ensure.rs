//! One helper for early returns.

/// An error unless a condition holds.
pub(crate) fn ensure<E>(holds: bool, error: impl FnOnce() -> E) -> Result<(), E> {
    if holds { Ok(()) } else { Err(error()) }
}
