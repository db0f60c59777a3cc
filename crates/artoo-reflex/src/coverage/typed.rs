//! Typed checks, as models propose them and scripts require them, turned into steps.

use artoo_proto::Environment;
use serde_json::Value;

use crate::algebra::Step;
use crate::eval::FileSystem;

/// The steps that a typed check asks for: an object with a `kind` and its fields.
///
/// # Errors
/// What is wrong with the check, for the user.
pub(super) fn steps(check: &Value, environment: &Environment, fs: &dyn FileSystem) -> Result<Vec<Step>, String> {
    let _ = (environment, fs);
    Err(format!("{check} is no check that artoo knows"))
}

/// The steps that a check in a script asks for: `kind: value`, or the object in JSON.
///
/// # Errors
/// What is wrong with the check, for the user.
pub(super) fn shorthand(text: &str, environment: &Environment, fs: &dyn FileSystem) -> Result<Vec<Step>, String> {
    match serde_json::from_str(text) {
        Ok(check) => steps(&check, environment, fs),
        Err(_) => Err(format!("{text:?} is no check that artoo knows")),
    }
}
