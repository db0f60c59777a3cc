//! Writes the JSON body of a model request field by field.

use serde::Serialize;

/// Opening and closing brackets of a nested object, for `Body::nested`.
pub(super) const OBJECT: [&str; 2] = ["{", "}"];

/// Opening and closing brackets of a list with one object, for `Body::nested`.
pub(super) const LIST_OF_ONE: [&str; 2] = ["[{", "}]"];

/// The JSON object of a request body, as text to which fields are added.
///
/// Values are serialized into the text directly, since a tree of a long prompt and its schema costs more than the rest
/// of the call.
pub(super) struct Body(Vec<u8>);

impl Body {
    /// Starts an empty JSON object.
    pub(super) fn new() -> Self {
        Self(b"{".to_vec())
    }

    /// Adds a field to the body; a field whose value is null is left out.
    pub(super) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        let before = self.0.len();
        self.begin(name);
        // Can't fail for the types used.
        drop(serde_json::to_writer(&mut self.0, &value));
        if self.0.ends_with(b":null") {
            self.0.truncate(before);
        }
        self
    }

    /// Adds a field whose value is an object, or a list of one, that `fill` completes.
    pub(super) fn nested(mut self, name: &str, [open, close]: [&str; 2], fill: impl FnOnce(Self) -> Self) -> Self {
        self.begin(name);
        self.0.extend_from_slice(open.as_bytes());
        let mut filled = fill(self);
        filled.0.extend_from_slice(close.as_bytes());
        filled
    }

    /// The text of the whole body.
    pub(super) fn text(mut self) -> String {
        self.0.push(b'}');
        String::from_utf8(self.0).unwrap_or_default()
    }

    /// Writes the name of the next field and the separator before it.
    fn begin(&mut self, name: &str) {
        let separator = if self.0.ends_with(b"{") { "" } else { "," };
        self.0.extend(separator.bytes().chain([b'"']).chain(name.bytes()).chain(*b"\":"));
    }
}
