//! URLs of model files: `https`, or `http` on this machine, without credentials; redirects never leave `https`.

use reqwest::Url;

use super::error::FilesError;
use crate::remote::{is_loopback, shown_url};

/// The URL of a model file: `https`, or `http` on this machine, and without user and password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUrl(Url);

impl FileUrl {
    /// Parses the URL of a model file; an error if it is neither `https` nor local, or contains a user or password.
    ///
    /// # Errors
    /// [`FilesError::Url`].
    pub fn parse(text: &str) -> Result<Self, FilesError> {
        let problem = "expected a URL such as https://host/file.gguf";
        let invalid = |_| FilesError::Url { shown: shown_url(text), problem };
        Self::checked(Url::parse(text.trim()).map_err(invalid)?)
    }

    /// Checks scheme and credentials of a URL, and removes its fragment.
    fn checked(mut url: Url) -> Result<Self, FilesError> {
        url.set_fragment(None);
        let problem = match url.scheme() {
            _ if !url.username().is_empty() || url.password().is_some() => {
                "it contains a user or a password, and no key is ever sent for a model file"
            }
            "https" => return Ok(Self(url)),
            "http" if is_loopback(&url) => return Ok(Self(url)),
            _ => "it must begin with https:// (http:// is allowed on this machine only)",
        };
        Err(FilesError::Url { shown: shown_url(url.as_str()), problem })
    }

    /// Resolves the target of a redirect from this URL; an error if it leaves `https`, or if [`Self::parse`] would
    /// refuse it.
    pub(super) fn redirected(&self, target: &str) -> Result<Self, FilesError> {
        let refused = |url: &Self, problem| FilesError::Url { shown: url.shown(), problem };
        let url = self.0.join(target).map_err(|_| refused(self, "it redirected to an invalid URL"))?;
        let next = Self::checked(url)?;
        if self.0.scheme() == "https" && next.0.scheme() != "https" {
            return Err(refused(&next, "a redirect from https to http is refused"));
        }
        Ok(next)
    }

    /// The checked URL.
    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    /// The URL as text without its query, which may contain a key.
    #[must_use]
    pub fn shown(&self) -> String {
        shown_url(self.0.as_str())
    }

    /// The host of the URL as text.
    #[must_use]
    pub fn host(&self) -> String {
        self.0.host_str().unwrap_or_default().to_owned()
    }

    /// The last path segment that is not empty; empty text if there is none.
    #[must_use]
    pub fn file_name(&self) -> String {
        let last = self.0.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
        last.unwrap_or_default().to_owned()
    }

    /// Whether the URL's host is this machine, for which no proxy is used.
    pub(super) fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }
}

/// Tests of which URLs and redirects are accepted.
#[cfg(test)]
mod tests {
    use super::FileUrl;

    #[test]
    fn only_https_or_loopback_urls_are_accepted() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let read = FileUrl::parse(text).map(|url| url.shown()).map_err(|error| error.to_string());
            match expected {
                Ok(shown) => assert_eq!(read.as_deref(), Ok(shown), "{text}"),
                Err(words) => assert!(read.as_ref().is_err_and(|error| error.contains(words)), "{text}: {read:?}"),
            }
            assert!(!format!("{read:?}").contains("canary"), "{read:?}");
        };
        check("https://h.example/a/m.gguf?token=canary#f", Ok("https://h.example/a/m.gguf"));
        check("http://127.0.0.1:8080/m.gguf", Ok("http://127.0.0.1:8080/m.gguf"));
        check("http://[::1]/m", Ok("http://[::1]/m"));
        check("http://localhost/m", Ok("http://localhost/m"));
        check("http://h.example/m", Err("https://"));
        check("http://localhost.example/m", Err("https://"));
        check("http://192.168.0.7/m", Err("https://"));
        check("https://me:canary@h.example/m", Err("a user or a password"));
        check("https://canary@h.example/m", Err("a user or a password"));
        for odd in ["ftp://h.example/m", "file:///etc/passwd", "hf://org/model", "javascript:alert(1)"] {
            check(odd, Err("https://"));
        }
        check("https://", Err("expected a URL such as"));
    }

    #[test]
    fn redirects_never_leave_https() {
        let check = |from: &str, target: &str, expected: Option<&str>| {
            let led = FileUrl::parse(from).unwrap().redirected(target).ok().map(|url| url.url().to_string());
            assert_eq!(led.as_deref(), expected, "{from} to {target}");
        };
        check("https://a.example/x/y", "https://cdn.example/z?s=1", Some("https://cdn.example/z?s=1"));
        check("https://a.example/x/y", "../z", Some("https://a.example/z"));
        check("https://a.example/x", "//b.example/z", Some("https://b.example/z"));
        check("https://a.example/x", "http://a.example/x", None);
        check("https://a.example/x", "http://127.0.0.1/x", None);
        check("https://a.example/x", "https://u:p@a.example/x", None);
        check("http://127.0.0.1:1/x", "http://127.0.0.1:2/x", Some("http://127.0.0.1:2/x"));
        check("http://127.0.0.1:1/x", "http://a.example/x", None);
        check("http://127.0.0.1:1/x", "https://a.example/x", Some("https://a.example/x"));
        check("https://a.example/x", "file:///etc/passwd", None);
    }

    /// The file name of a URL is its last path segment that is not empty.
    #[test]
    fn file_name_is_the_last_path_segment() {
        let check = |text: &str, expected: &str| assert_eq!(FileUrl::parse(text).unwrap().file_name(), expected);
        check("https://h.example/a/Model-Q4.gguf?download=true", "Model-Q4.gguf");
        check("https://h.example/a/", "a");
        check("https://h.example", "");
    }
}
