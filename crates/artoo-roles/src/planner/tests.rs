//! Tests of R2.
