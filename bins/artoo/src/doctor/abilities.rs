//! The finding about an endpoint's probed abilities.

use artoo_llm::{AbilityBook, Remote};

use super::Finding;
use crate::model_choice::{Place, remote};
use crate::{Settings, Variables, abilities};

/// The finding about the abilities of the model's endpoint: stored ones, or new ones if `with_probe`; `None` if the
/// model is not remote.
pub(super) async fn finding(settings: &Settings, with_probe: bool, variables: &Variables) -> Option<Finding> {
    let config = remote(&settings.model.kind, Place::First, variables).ok()?;
    if with_probe {
        let remote = Remote::new(config).ok()?;
        return Some(match abilities::probe(&remote, &settings.data_dir).await {
            Ok(found) => Finding::ok("abilities", found.summary(abilities::now_s())),
            Err(failure) => Finding::fail("abilities", failure.to_string(), "see the endpoint above"),
        });
    }
    let book = AbilityBook::open(abilities::file(&settings.data_dir));
    Some(match book.fresh(&config, abilities::now_s()) {
        Some(found) => Finding::ok("abilities", found.summary(abilities::now_s())),
        None => Finding::ok("abilities", "not found out yet; artoo doctor --probe asks a few small questions"),
    })
}
