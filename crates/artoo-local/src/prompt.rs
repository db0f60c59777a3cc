//! Turns a model request into the tokens that the model reads.

use artoo_llm::structured;
use artoo_proto::Prompt;
use serde_json::Value;

use crate::bounds;
use crate::prefixes::common;
use crate::runtime::Runtime;
use crate::template::without_open_reasoning;

/// A prompt rendered in the model's format, with its tokens and how many of them don't change between calls.
pub(crate) struct Tokens {
    /// The text of the prompt, rendered by the chat template.
    pub(crate) rendered: String,
    /// The tokens of the rendered prompt.
    pub(crate) tokens: Vec<i32>,
    /// Number of tokens at the beginning that do not depend on the user's message of this call.
    pub(crate) stable: usize,
}

/// The messages of a request with the schema appended to the system message: what rarely changes is evaluated once.
pub(crate) fn with_schema(prompt: &Prompt, schema: Option<&Value>) -> Prompt {
    let Some(schema) = schema else { return prompt.clone() };
    let system = format!("{}\n\n{}", prompt.system, structured::asked_for(&artoo_proto::shape(schema)));
    Prompt { system, user: prompt.user.clone() }
}

/// The schema that constrains a reply; `None` if it allows any value.
pub(crate) fn held_to(schema: &Value) -> Option<&Value> {
    (!bounds::asks_for_nothing(schema)).then_some(schema)
}

/// Renders the messages in the model's format and splits them into tokens; control marks inside the messages are
/// disarmed.
pub(crate) fn tokens(runtime: &Runtime, prompt: &Prompt, is_constrained: bool) -> Result<Tokens, String> {
    let vocabulary = &runtime.vocabulary;
    let clean = |text: &str| vocabulary.without_marks(text).into_owned();
    let prompt = Prompt { system: clean(&prompt.system), user: clean(&prompt.user) };
    let render = |prompt: &Prompt| {
        let rendered = runtime.template.render(prompt).map_err(|error| error.to_string())?;
        Ok::<_, String>(if is_constrained { without_open_reasoning(rendered) } else { rendered })
    };
    let rendered = render(&prompt)?;
    let tokens = vocabulary.tokens(&rendered);
    // The user's message is left out, to find where the prompt of another call would begin to differ.
    let of_another = vocabulary.tokens(&render(&Prompt { user: String::new(), ..prompt })?);
    let stable = common(&tokens, &of_another);
    Ok(Tokens { rendered, tokens, stable })
}
