//! Addresses that files may come from, and where a redirect may lead: never to a place that could be listened in on.

use reqwest::Url;

use super::error::FilesError;
use crate::remote::is_loopback;

/// An address with `https`, or with `http` on this machine, that holds no user and no password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// Reads it.
    ///
    /// # Errors
    /// [`FilesError::Address`].
    pub fn parse(text: &str) -> Result<Self, FilesError> {
        let wrong = |problem| FilesError::Address { shown: crate::shown_url(text), problem };
        let url = Url::parse(text.trim()).map_err(|_| wrong("it is none such as https://host/file.gguf"))?;
        Self::checked(url)
    }

    fn checked(mut url: Url) -> Result<Self, FilesError> {
        let shown = crate::shown_url(url.as_str());
        let wrong = |problem| Err(FilesError::Address { shown, problem });
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("it holds a user or a password, and no key is ever sent for a model file");
        }
        match url.scheme() {
            "https" => {}
            "http" if is_loopback(&url) => {}
            "http" => return wrong("it must begin with https:// (http:// is taken on this machine alone)"),
            _ => return wrong("it must begin with https://"),
        }
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// Where a redirect, or a link on a page, leads from here.
    pub(super) fn leads_to(&self, target: &str) -> Result<Self, FilesError> {
        let wrong = |shown: String, problem| FilesError::Address { shown, problem };
        let url = self.0.join(target).map_err(|_| wrong(self.shown(), "it leads nowhere"))?;
        let next = Self::checked(url)?;
        if self.0.scheme() == "https" && next.0.scheme() != "https" {
            return Err(wrong(next.shown(), "it was led to from https:// and is none itself"));
        }
        Ok(next)
    }

    /// The same with more path behind it.
    pub(super) fn below(&self, path: &str) -> Result<Self, FilesError> {
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{path}", self.0.path().trim_end_matches('/')));
        Self::checked(url)
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    /// For people: without the query, which may hold a key.
    #[must_use]
    pub fn shown(&self) -> String {
        crate::shown_url(self.0.as_str())
    }

    /// Whose it is.
    #[must_use]
    pub fn host(&self) -> String {
        self.0.host_str().unwrap_or_default().to_owned()
    }

    /// The last part of its path, as the file's name.
    #[must_use]
    pub fn file_name(&self) -> String {
        let last = self.0.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
        last.unwrap_or_default().to_owned()
    }

    /// Whether it is on this machine: then no proxy stands before it.
    pub(super) fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn an_address_is_taken_only_where_nobody_can_listen_in() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let read = Address::parse(text).map(|address| address.shown()).map_err(|error| error.to_string());
            match expected {
                Ok(shown) => assert_eq!(read.as_deref(), Ok(shown), "{text}"),
                Err(words) => assert!(read.as_ref().is_err_and(|told| told.contains(words)), "{text}: {read:?}"),
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
        check("https://", Err("it is none such as"));
    }

    #[test]
    fn a_redirect_never_leads_from_safe_to_unsafe() {
        let check = |from: &str, target: &str, expected: Option<&str>| {
            let led = Address::parse(from).unwrap().leads_to(target).ok().map(|address| address.url().to_string());
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

    #[test]
    fn the_files_name_is_the_last_part() {
        let check = |text: &str, expected: &str| assert_eq!(Address::parse(text).unwrap().file_name(), expected);
        check("https://h.example/a/Model-Q4.gguf?download=true", "Model-Q4.gguf");
        check("https://h.example/a/", "a");
        check("https://h.example", "");
    }
}
