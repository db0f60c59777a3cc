//! Step 6, look: finds out what the run did.

use super::{Context, stopped};
use crate::limit::{Limit, Stopped};
use crate::tool::{Look, Outcome};

/// Calls the function that finds out what the run did; for a run that timed out or panicked, returns a record of that.
pub(super) fn look(context: &Context, ran: Result<Look, Stopped>, limit: &Limit) -> Outcome {
    match ran {
        Ok(look) => look(&context.machine, limit),
        Err(why) => Outcome::Done(stopped(why)),
    }
}
