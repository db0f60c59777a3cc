//! Rows that broke in practice, through the whole System.
