//! Values the roles' tests are built from.
