//! Tests of the bus through its public interface.

mod publish;
mod random;
mod soak;
mod taps;
