//! Tests of the JSON form: golden messages, round trips, the route table, ids, times and criteria.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test helpers: a failure here is the test's failure")]

mod criteria;
mod golden;
mod ids;
mod round_trip;
mod routes;
mod strategies;
