//! Tests of the runtime with real parts.
