//! Tests of R7.
