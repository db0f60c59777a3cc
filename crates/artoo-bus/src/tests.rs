//! Tests of the bus.
