//! Not yet written: faults.
