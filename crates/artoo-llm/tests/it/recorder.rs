//! Records model calls in a cassette, for the tests of replaying one.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use artoo_llm::Model;
use artoo_llm::cassette::Masks;
use artoo_proto::{ModelFailure, ModelReply, ModelRequest, ReplyBody};
use serde_json::json;

/// A model that passes requests on to another and appends each JSON reply or failure to a cassette file.
pub(crate) struct Recorder<M> {
    model: M,
    masks: Masks,
    file: Mutex<(File, usize)>,
}

impl<M: Model> Recorder<M> {
    /// Creates a recorder that appends the calls of `model` to this file.
    pub(crate) fn append(model: M, path: &Path, masks: Masks) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        Self { model, masks, file: Mutex::new((file, 0)) }
    }

    /// Asks the recorded model and appends its reply or failure to the file.
    pub(crate) async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let outcome = self.model.ask(request).await;
        let part = match &outcome {
            Ok(reply) if matches!(reply.body, ReplyBody::Json { .. }) => ("reply", json!(reply)),
            // Recipes and abstentions are created by code and must not be replayed.
            Ok(_) => return outcome,
            Err(failure) => ("failure", json!(failure)),
        };
        let mut entry = json!({
            "key": self.masks.key(request), "role": request.role, "schema_name": request.schema_name
        });
        entry[part.0] = part.1;
        let (file, entries) = &mut *self.file.lock().unwrap();
        writeln!(file, "{entry}").unwrap();
        *entries += 1;
        outcome
    }

    /// Ends the recording; returns the number of entries written.
    pub(crate) fn finish(self) -> usize {
        self.file.into_inner().unwrap().1
    }
}
