//! Step 6, look: finds out what the run did.

use super::{Context, stopped};
use crate::limit::{Limit, Stopped};
use crate::tool::{Look, Outcome};

/// Finds out what the run did, on a blocking thread; the time limit applies here too.
pub(super) fn look(context: &Context, ran: Result<Look, Stopped>, limit: &Limit) -> Outcome {
    match ran {
        Ok(look) => look(&context.machine, limit),
        Err(why) => Outcome::Done(stopped(why)),
    }
}
