//! Forms of replies, each made once: a role's schema is the same in call after call, and its form takes longer to make
//! than all the rest of a request.

use std::sync::{Arc, Mutex, PoisonError};

use artoo_proto::shape;
use serde_json::Value;

/// Forms kept: one for each role, and for the steps under way, whose tools differ.
const KEPT_MAX: usize = 32;

/// Forms by the text of their schema, the latest last.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    kept: Mutex<Vec<(String, Arc<str>)>>,
}

impl Forms {
    /// The form of a schema, which is also given as text.
    pub(crate) fn of(&self, schema: &Value, text: &str) -> Arc<str> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, form)) = kept.iter().find(|(known, _)| known == text) {
            return Arc::clone(form);
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
}
