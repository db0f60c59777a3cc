//! Tests of R3.
