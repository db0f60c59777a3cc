//! Tests of R5 on the bus.
