//! Not yet written: schemas.
