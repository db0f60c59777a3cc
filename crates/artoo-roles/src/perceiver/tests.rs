//! Tests of R1.
