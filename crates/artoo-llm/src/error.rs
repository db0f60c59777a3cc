//! Errors in the configuration of a model.

/// An invalid configuration. No text contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A required setting is missing or empty.
    #[error("{name} is not set")]
    Missing { name: &'static str },
    /// An environment variable is not valid UTF-8.
    #[error("{name} is not valid UTF-8")]
    NotUnicode { name: &'static str },
    /// The base URL is not valid.
    #[error("the base URL {shown} can't be used: {problem}")]
    BaseUrl {
        /// The URL without user, password and query.
        shown: String,
        problem: &'static str,
    },
    /// The API key contains characters that HTTP headers can't contain.
    #[error("the API key holds characters that can't be sent in a header")]
    KeyNotSendable,
    /// A configured header is not valid.
    #[error("the header {name} can't be sent")]
    Header { name: String },
    /// A duration or count in the configuration is zero.
    #[error("{name} must be more than zero")]
    Zero { name: &'static str },
}
