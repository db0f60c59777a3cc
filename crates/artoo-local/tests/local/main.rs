//! Tests of the engine with a real model file, compared with llama.cpp's own server if that is running; `.ci/local-llm`
//! runs them.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

mod cache;
mod faults;
mod same;
mod schemas;
mod speed;
mod support;
mod writes;
