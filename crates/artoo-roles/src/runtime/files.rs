//! The real file system for the second computation of recipes.
