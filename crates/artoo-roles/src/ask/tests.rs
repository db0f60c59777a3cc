//! One question, one second chance.
