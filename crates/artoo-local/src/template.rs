//! A model's chat template (a Jinja program in the model file), run with a step limit and Python's string methods.

use artoo_proto::Prompt;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value, context};
use minijinja_contrib::pycompat;

/// Maximum number of steps that a template may run: far more than the longest one needs, and over within milliseconds.
const STEPS: u64 = 1_000_000;

/// The chat template for model files that have none, as in llama.cpp: ChatML, with which most models were trained.
const CHAT_ML: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n\
                       {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// The tag that opens reasoning, and the text that closes it. Reasoning that a template opened is closed, since a reply
/// under a schema can't contain it.
const REASONING: (&str, &str) = ("<think>", "\n</think>\n\n");

/// Name under which the template engine stores the chat template.
const NAME: &str = "chat";

/// A compiled chat template.
pub(crate) struct Template {
    environment: Environment<'static>,
    /// The text of the model's token that begins a text.
    bos: String,
    /// The text of the model's token that ends a text.
    eos: String,
    /// Whether the template accepts a system message; if not, the instructions begin the user's message.
    takes_system: bool,
}

impl Template {
    /// Compiles a chat template and renders it once as a test. `bos` and `eos` are the model's begin and end marks as
    /// text.
    pub(crate) fn new(source: Option<&str>, bos: String, eos: String) -> Result<Self, Error> {
        let mut environment = Environment::new();
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        environment.set_fuel(Some(STEPS));
        environment.set_unknown_method_callback(pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_function("strftime_now", today);
        environment.add_template_owned(NAME, source.unwrap_or(CHAT_ML).to_owned())?;
        let mut template = Self { environment, bos, eos, takes_system: true };
        let trial = Prompt { system: "s".to_owned(), user: "u".to_owned() };
        if template.render(&trial).is_err() {
            template.takes_system = false;
            template.render(&trial)?;
        }
        Ok(template)
    }

    /// Renders a prompt in the model's format, up to where the model's answer begins.
    pub(crate) fn render(&self, prompt: &Prompt) -> Result<String, Error> {
        let Prompt { system, user } = prompt;
        let message = |role: &str, content: &str| context! { role => role, content => content };
        let messages = match (system.is_empty(), self.takes_system) {
            (true, _) => vec![message("user", user)],
            (false, true) => vec![message("system", system), message("user", user)],
            (false, false) => vec![message("user", &format!("{system}\n\n{user}"))],
        };
        self.environment.get_template(NAME)?.render(context! {
            messages => messages,
            add_generation_prompt => true,
            bos_token => self.bos.as_str(),
            eos_token => self.eos.as_str(),
            tools => Value::from(()),
            documents => Value::from(()),
            enable_thinking => false,
        })
    }
}

/// Closes the reasoning that the template has opened at the end of a rendered prompt, so that the answer follows.
pub(crate) fn without_open_reasoning(mut rendered: String) -> String {
    if rendered.trim_end().ends_with(REASONING.0) {
        rendered.truncate(rendered.trim_end().len());
        rendered.push_str(REASONING.1);
    }
    rendered
}

/// Today's date in UTC, for chat templates that state it; `format` is that of `strftime`.
fn today(format: String) -> Result<String, Error> {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    jiff::fmt::strtime::format(format, &now).map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

/// Tests of rendering chat templates.
#[cfg(test)]
mod tests {
    use artoo_proto::Prompt;

    use super::{Template, without_open_reasoning};

    /// The sample prompt rendered by this template, or by the default one; or the error's text.
    fn rendered(source: Option<&str>) -> Result<String, String> {
        let prompt = Prompt { system: "Be brief.".to_owned(), user: " Hi\n".to_owned() };
        let template = Template::new(source, "<s>".to_owned(), "</s>".to_owned());
        template.and_then(|template| template.render(&prompt)).map_err(|error| error.to_string())
    }

    #[test]
    fn templates_support_pythons_string_methods() {
        let check =
            |source: &str, expected: &str| assert_eq!(rendered(Some(source)), Ok(expected.to_owned()), "{source}");
        check("{{ messages[0]['content'] }}", "Be brief.");
        check("{{ bos_token }}{{ messages[-1]['content'] | trim }}{{ eos_token }}", "<s>Hi</s>");
        check("{{ messages[1].content.strip().upper() }}", "HI");
        check("{% for m in messages %}\n  {% if loop.first %}\nF\n  {% endif %}\n{% endfor %}", "F\n");
        check("{{ messages[0]['content'].split(' ')[-1] }}", "brief.");
        check("{% if messages[0].role == 'system' %}\nS\n{% endif %}\nU", "S\nU");
        check(
            "{%- set ns = namespace(n=0) %}{%- for m in messages %}{%- set ns.n = ns.n + 1 %}{%- endfor %}{{ ns.n }}",
            "2",
        );
        check("{{ 'x' if tools is none else 'y' }}{{ 'x' if tools is defined and tools else 'y' }}", "xy");
        check(
            "{{ messages | length }}{% for m in messages %}{{ loop.index0 }}{% if loop.first %}{% continue %}{% endif %}!{% endfor %}",
            "201!",
        );
        check("{{ messages[0] | tojson }}", "{\"role\": \"system\", \"content\": \"Be brief.\"}");
        check("{{ messages[0].get('tool_calls', 'none') }}", "none");
        check("{{ strftime_now('%Y') | length }}", "4");
        check(
            "{% if enable_thinking is defined and enable_thinking is false %}<think></think>{% endif %}",
            "<think></think>",
        );
    }

    #[test]
    fn file_without_template_uses_chat_ml() {
        let expected =
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\n";
        assert_eq!(rendered(None), Ok(expected.to_owned()));
    }

    /// For a chat template without a system role, the instructions are put before the user's message.
    #[test]
    fn instructions_precede_user_message_without_system_role() {
        let source = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}\
                      {{ messages | length }}: {{ messages[0].content }}";
        assert_eq!(rendered(Some(source)), Ok("1: Be brief.\n\n Hi\n".to_owned()));
    }

    /// A chat template that never ends, or fails, is an error.
    #[test]
    fn endless_template_ends_with_an_error() {
        for source in [
            "{{ raise_exception('never') }}",
            "{% for a in range(10000) %}{% for b in range(10000) %}{{ b }}{% endfor %}{% endfor %}",
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
            "{{ messages[7].content.upper() }}",
            "{% for",
            "{{ strftime_now('%!') }}",
        ] {
            assert!(rendered(Some(source)).is_err(), "{source}");
        }
    }

    /// Reasoning that a chat template opened is closed, so that the answer follows.
    #[test]
    fn opened_reasoning_is_closed() {
        let check = |text: &str, expected: &str| assert_eq!(without_open_reasoning(text.to_owned()), expected);
        check("<|assistant|>\n<think>\n", "<|assistant|>\n<think>\n</think>\n\n");
        check("<|assistant|>\n", "<|assistant|>\n");
        check("<think>\n\n</think>\n\n", "<think>\n\n</think>\n\n");
    }
}
