//! What can be wrong with a model's configuration, before anything is asked.

/// A configuration that can't work. No text here holds a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A needed setting is absent or empty.
    #[error("{name} is not set")]
    Missing {
        /// The variable or setting.
        name: &'static str,
    },
    /// A variable holds bytes that are not UTF-8.
    #[error("{name} is not valid UTF-8")]
    NotUnicode {
        /// The variable.
        name: &'static str,
    },
    /// The base URL can't be used.
    #[error("the base URL {shown} can't be used: {problem}")]
    BaseUrl {
        /// The URL without user, password and query.
        shown: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The key holds characters that no HTTP header can carry.
    #[error("the API key holds characters that can't be sent in a header")]
    KeyNotSendable,
    /// A header can't be sent.
    #[error("the header {name} can't be sent")]
    Header {
        /// Its name.
        name: String,
    },
    /// A duration or a count is zero where that can't work.
    #[error("{name} must be more than zero")]
    Zero {
        /// The setting.
        name: &'static str,
    },
}
