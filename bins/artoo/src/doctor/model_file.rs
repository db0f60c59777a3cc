//! Findings about chosen model files: their metadata, and whether they changed since they were recorded.

use artoo_llm::files::{Checksum, Gguf};
use artoo_proto::units;

use super::Finding;
use crate::model::file;
use crate::model_choice::ModelKind;
use crate::model_files::describe;
use crate::settings::Settings;

/// A finding for each chosen model file. Reads each file to its end.
pub(super) fn findings(settings: &Settings) -> Vec<Finding> {
    settings.model.all().filter_map(ModelKind::file).map(|given| of_file(given, settings)).collect()
}

/// The finding about one model file.
fn of_file(given: &str, settings: &Settings) -> Finding {
    const NAME: &str = "model file";
    let chosen = match file::find(given, settings) {
        Ok(chosen) => chosen,
        Err(failure) => {
            return Finding::fail(
                NAME,
                failure.message(),
                failure.remedy().unwrap_or("artoo model list shows what is here"),
            );
        }
    };
    let shown = chosen.path.display();
    let facts = match Gguf::read(&chosen.path) {
        Ok(facts) => facts,
        Err(error) => return Finding::fail(NAME, format!("{shown}: {error}"), "choose another: artoo model list"),
    };
    let mut detail = format!("{shown}: {}", describe(&facts));
    let Some(model) = chosen.model else {
        return Finding::warn(
            NAME,
            format!("{detail}; nothing is recorded of it, so a change would not be noticed"),
            "artoo model pull with its path records it",
        );
    };
    detail.push_str(&format!(", {}", units::bytes(model.record.bytes)));
    let whole = Checksum::of_file(&model.path, &|_| {});
    match whole {
        Ok(found) if found == model.record.sha256 => Finding::ok(NAME, format!("{detail}; all of it is as recorded")),
        Ok(found) => Finding::fail(
            NAME,
            format!("{shown} has the sha256 {found}, and {} is recorded", model.record.sha256),
            "it has changed: fetch it again, or record it anew with artoo model pull and its path",
        ),
        Err(error) => Finding::fail(NAME, format!("{shown} can't be read: {error}"), "make it readable"),
    }
}
