//! Properties of the coverage.
