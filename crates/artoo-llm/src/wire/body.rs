//! The JSON body of a request, written field by field.

use serde::Serialize;

/// Brackets around a nested object.
pub(super) const OBJECT: [&str; 2] = ["{", "}"];

/// Brackets around a list of one nested object.
pub(super) const LIST_OF_ONE: [&str; 2] = ["[{", "}]"];

/// A JSON object as text, to which fields are added.
///
/// Values are serialized into the text directly, since a tree of a long prompt and its schema costs more than the rest
/// of the call.
pub(super) struct Body(Vec<u8>);

impl Body {
    /// An empty object.
    pub(super) fn new() -> Self {
        Self(b"{".to_vec())
    }

    /// Adds a field; a null is left out.
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

    /// Adds a field with the object that `fill` completes.
    pub(super) fn nested(mut self, name: &str, [open, close]: [&str; 2], fill: impl FnOnce(Self) -> Self) -> Self {
        self.begin(name);
        self.0.extend_from_slice(open.as_bytes());
        let mut filled = fill(self);
        filled.0.extend_from_slice(close.as_bytes());
        filled
    }

    /// The whole body.
    pub(super) fn text(mut self) -> String {
        self.0.push(b'}');
        String::from_utf8(self.0).unwrap_or_default()
    }

    /// Writes the name of the next field.
    fn begin(&mut self, name: &str) {
        let separator = if self.0.ends_with(b"{") { "" } else { "," };
        self.0.extend(separator.bytes().chain([b'"']).chain(name.bytes()).chain(*b"\":"));
    }
}
