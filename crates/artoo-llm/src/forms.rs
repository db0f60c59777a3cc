//! Forms of replies, each made once: a role's schema is the same in call after call, and its form takes longer to make
//! than all the rest of a request.

use std::sync::{Arc, Mutex, PoisonError};

use artoo_proto::shape;
use serde_json::Value;

/// Forms kept: one for each role, and for the steps under way, whose tools differ.
const KEPT_MAX: usize = 32;

/// Forms by the text of their schema, the one asked for last at the end.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    kept: Mutex<Vec<(String, Arc<str>)>>,
}

impl Forms {
    /// The form of a schema, which is also given as text.
    pub(crate) fn of(&self, schema: &Value, text: &str) -> Arc<str> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // One that is asked for again goes to the end: others hold the ids of their own call and never come back.
        if let Some(at) = kept.iter().position(|(known, _)| known == text) {
            let known = kept.remove(at);
            let form = Arc::clone(&known.1);
            kept.push(known);
            return form;
        }
        let form: Arc<str> = shape(schema).into();
        if kept.len() >= KEPT_MAX {
            kept.remove(0);
        }
        kept.push((text.to_owned(), Arc::clone(&form)));
        form
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use artoo_proto::shape;
    use serde_json::json;

    use super::{Forms, KEPT_MAX};

    #[test]
    fn a_form_is_that_of_its_own_schema_however_many_there_are() {
        let forms = Forms::default();
        let schema = |most: usize| json!({"type": "string", "maxLength": most});
        for _ in 0..2 {
            for most in 0..KEPT_MAX + 5 {
                let schema = schema(most);
                assert_eq!(*forms.of(&schema, &schema.to_string()), *shape(&schema));
            }
        }
        assert_eq!(forms.kept.lock().unwrap().len(), KEPT_MAX);
    }

    #[test]
    fn what_is_asked_for_again_and_again_is_kept_among_what_is_asked_for_once() {
        let forms = Forms::default();
        let role = json!({"type": "string"});
        let first = forms.of(&role, &role.to_string());
        for most in 0..3 * KEPT_MAX {
            let once = json!({"type": "string", "maxLength": most});
            forms.of(&once, &once.to_string());
            assert!(Arc::ptr_eq(&first, &forms.of(&role, &role.to_string())));
        }
    }
}
