//! Tests of R4b.
