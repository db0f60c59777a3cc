//! Collects the tool calls of a model's answer while it is received, as a whole or in pieces.

use serde_json::Value;

use super::Fault;

/// Maximum number of tool calls in one model answer: roles use a handful, and every piece is compared with all of them.
const CALLS_MAX: usize = 64;

/// A tool call of the model, as far as it was received: its number, id, name and input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Called {
    /// Number of the call in the answer, if the endpoint numbers its calls.
    place: Option<u64>,
    id: String,
    pub(crate) name: String,
    /// The input of the call, as JSON text.
    pub(crate) input: String,
}

/// One received piece of a tool call; a stream may split a call into many.
#[derive(Debug, Clone, Default)]
pub(crate) struct Piece {
    /// Number of the call in the answer, if the endpoint numbers its calls.
    pub(crate) place: Option<u64>,
    /// Id of the call.
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) input: Option<Value>,
}

/// The tool calls of one answer, in order of their beginning.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calls(Vec<Called>);

impl Calls {
    /// All calls received so far, in order of their beginning.
    pub(crate) fn all(&self) -> &[Called] {
        &self.0
    }

    /// Removes all tool calls.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Replaces the input of every call by the result of `change`.
    pub(crate) fn each_input(&mut self, change: impl Fn(String) -> String) {
        for call in &mut self.0 {
            call.input = change(std::mem::take(&mut call.input));
        }
    }

    /// The input of the first call, empty if there is none; with a forced tool, other calls are ignored.
    pub(crate) fn first_input(&self) -> &str {
        self.0.first().map_or("", |call| call.input.as_str())
    }

    /// Length of the received names and inputs, in bytes of UTF-8.
    pub(crate) fn written_chars(&self) -> usize {
        self.0.iter().map(|call| call.name.len() + call.input.len()).sum()
    }

    /// Adds a call that was received whole, or the first piece of one; an error if there are too many, its id is
    /// already used, or its input is neither a text nor an object.
    pub(crate) fn decode_whole(&mut self, piece: Piece) -> Result<(), Fault> {
        if self.0.len() == CALLS_MAX {
            return Err(Fault::Unreadable(format!("the answer calls more than {CALLS_MAX} tools")));
        }
        let id = piece.id.as_deref().unwrap_or_default();
        if !id.is_empty() && self.0.iter().any(|call| call.id == id) {
            return Err(Fault::Unreadable("two calls of the answer have the same id".to_owned()));
        }
        let mut call = Called { place: piece.place, ..Called::default() };
        call.add(piece)?;
        self.0.push(call);
        Ok(())
    }

    /// Adds a piece to the call with its number, or without a number to the last one. A piece with another id
    /// begins a new call, since some servers number every call 0.
    pub(crate) fn piece(&mut self, piece: Piece) -> Result<(), Fault> {
        let id = piece.id.as_deref().unwrap_or_default();
        let goes_on = |call: &&mut Called| {
            let is_there = piece.place.is_none() || call.place == piece.place;
            is_there && (id.is_empty() || call.id.is_empty() || id == call.id)
        };
        let last_there = self.0.iter_mut().rfind(|call| piece.place.is_none() || call.place == piece.place);
        match last_there.filter(goes_on) {
            Some(call) => call.add(piece),
            None => self.decode_whole(piece),
        }
    }

    /// Marks that the input of the call with this number is complete: an empty one becomes an empty object.
    pub(crate) fn stopped(&mut self, place: Option<u64>) {
        for call in self.0.iter_mut().filter(|call| call.place == place && call.input.trim().is_empty()) {
            "{}".clone_into(&mut call.input);
        }
    }
}

impl Called {
    /// Adds a piece to the tool call. A second, different name is an error, since a part of a name could match another
    /// tool.
    fn add(&mut self, piece: Piece) -> Result<(), Fault> {
        if let Some(id) = piece.id.filter(|id| !id.is_empty()) {
            self.id = id;
        }
        if let Some(name) = piece.name.filter(|name| !name.is_empty() && *name != self.name) {
            if !self.name.is_empty() {
                return Err(Fault::Unreadable("one call of the answer has two names".to_owned()));
            }
            self.name = name;
        }
        match piece.input {
            Some(Value::String(text)) => self.input.push_str(&text),
            Some(input @ Value::Object(_)) => self.input.push_str(&input.to_string()),
            Some(Value::Null) | None => {}
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
                return Err(Fault::Unreadable("the input of a call is not an object".to_owned()));
            }
        }
        Ok(())
    }
}

/// Tests of collecting tool calls from pieces.
#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{CALLS_MAX, Calls, Fault, Piece};

    /// A sample piece of a tool call; an empty id counts as none.
    fn piece(place: impl Into<Option<u64>>, id: &str, name: &str, input: Value) -> Piece {
        Piece {
            place: place.into(),
            id: Some(id.to_owned()).filter(|id| !id.is_empty()),
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            input: Some(input),
        }
    }

    /// Asserts which tool calls (name and input) the pieces make, or which error.
    fn check(pieces: Vec<Piece>, expected: Result<&[(&str, &str)], &str>) {
        let shown = format!("{pieces:?}");
        let mut calls = Calls::default();
        let taken = pieces.into_iter().try_for_each(|piece| calls.piece(piece));
        let found: Vec<(&str, &str)> =
            calls.all().iter().map(|call| (call.name.as_str(), call.input.as_str())).collect();
        match (taken, expected) {
            (Ok(()), Ok(expected)) => assert_eq!(found, expected, "{shown}"),
            (Err(Fault::Unreadable(problem)), Err(expected)) => assert!(problem.contains(expected), "{problem}"),
            (taken, expected) => panic!("{taken:?}, not {expected:?}: {shown}"),
        }
    }

    /// Pieces of tool calls are assigned to the right call, however the server numbers them.
    #[doc = "holds: client C10"]
    #[test]
    fn pieces_are_assigned_under_any_numbering() {
        let a = || piece(0, "a", "ls", json!(""));
        check(vec![a(), piece(0, "", "", json!("{\"x\"")), piece(0, "", "", json!(":1}"))], Ok(&[("ls", "{\"x\":1}")]));
        // Interleaved pieces of two calls.
        let b = || piece(1, "b", "cat", json!(""));
        let turns =
            vec![a(), b(), piece(0, "", "", json!("1")), piece(1, "", "", json!("2")), piece(0, "", "", json!("3"))];
        check(turns, Ok(&[("ls", "13"), ("cat", "2")]));
        // Every call has number 0 and its own id, or no number.
        check(
            vec![piece(0, "a", "ls", json!("1")), piece(0, "b", "cat", json!("2")), piece(0, "", "", json!("3"))],
            Ok(&[("ls", "1"), ("cat", "23")]),
        );
        check(
            vec![
                piece(None, "a", "ls", json!("1")),
                piece(None, "", "", json!("2")),
                piece(None, "b", "cat", json!({})),
            ],
            Ok(&[("ls", "12"), ("cat", "{}")]),
        );
        // Every piece repeats the name and the id.
        check(vec![piece(0, "a", "ls", json!("1")), piece(0, "a", "ls", json!("2"))], Ok(&[("ls", "12")]));
    }

    /// A second name in the pieces of a tool call is an error, not appended to the first.
    #[doc = "holds: fault L22"]
    #[test]
    fn tool_names_are_never_concatenated() {
        check(vec![piece(0, "a", "read", json!("")), piece(0, "", "_file", json!("{}"))], Err("two names"));
        check(
            vec![piece(0, "a", "ls", json!("{}")), piece(1, "b", "ls", json!("{}")), piece(2, "a", "rm", json!("{}"))],
            Err("the same id"),
        );
        check(vec![piece(0, "a", "ls", json!([1]))], Err("not an object"));
    }

    #[doc = "holds: fault L21"]
    #[test]
    fn calls_in_one_answer_are_limited() {
        let mut calls = Calls::default();
        let taken = (0..).take(CALLS_MAX).try_for_each(|n| calls.piece(piece(n, "", "ls", json!("{}"))));
        assert_eq!(taken, Ok(()));
        assert!(calls.piece(piece(9_999, "", "ls", json!("{}"))).is_err());
    }
}
