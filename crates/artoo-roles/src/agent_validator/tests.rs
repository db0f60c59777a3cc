//! Tests of R4a.
