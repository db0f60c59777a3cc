//! Where a package index keeps a file: the "simple" interface of Python's indexes, as JSON or as the older page.

use std::time::Duration;

use serde::Deserialize;
use tokio::time::timeout;

use super::address::Address;
use super::catalog::Package;
use super::error::FilesError;
use super::http::{Answer, Http, Part, Trouble};

/// The index that is asked if no other is named.
pub(super) const INDEX: &str = "https://pypi.org/simple";

/// JSON first, the page where an index has no other.
const ACCEPT: &str = "application/vnd.pypi.simple.v1+json, text/html;q=0.2";

/// Longest page read: packages with ten thousand files have some megabytes.
const PAGE_MAX_BYTES: usize = 16 * 1024 * 1024;

/// A page comes within this time.
const PAGE_WITHIN: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct Page {
    files: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    filename: String,
    url: String,
}

/// The address of the package's file. The index's word for its content is not taken: the catalog has its sum.
pub(super) async fn find(http: &Http, index: &Address, package: &Package) -> Result<Address, FilesError> {
    let page = index.below(&format!("{}/", package.name))?;
    let settled = |trouble| match trouble {
        Trouble::Final(error) | Trouble::Passing { error, .. } => error,
    };
    let answer = http.get(&page, ACCEPT, &Part::default()).await.map_err(settled)?;
    let address = answer.address.clone();
    let slow = |_| FilesError::Connection { host: page.host(), detail: "its page does not come".to_owned() };
    let text = timeout(PAGE_WITHIN, text(answer)).await.map_err(slow)??;
    let target = match serde_json::from_str::<Page>(&text) {
        Ok(page) => page.files.into_iter().find(|listed| listed.filename == package.file).map(|listed| listed.url),
        Err(_) => links(&text).find(|link| file_name(link) == package.file).map(|link| link.replace("&amp;", "&")),
    };
    let missing = || FilesError::NotListed { shown: address.shown(), file: package.file.clone() };
    address.leads_to(&target.ok_or_else(missing)?)
}

async fn text(mut answer: Answer) -> Result<String, FilesError> {
    let mut bytes = Vec::new();
    let shown = answer.address.shown();
    while let Some(piece) = answer
        .response
        .chunk()
        .await
        .map_err(|error| FilesError::Connection { host: answer.address.host(), detail: super::http::deepest(&error) })?
    {
        bytes.extend_from_slice(&piece);
        if bytes.len() > PAGE_MAX_BYTES {
            return Err(FilesError::TooLarge { shown, most: PAGE_MAX_BYTES as u64 });
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The targets of a page's links, in quotes of either kind.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("href=").skip(1).filter_map(|rest| {
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        rest.get(1..)?.split(quote).next()
    })
}

/// The last part of a link's path.
fn file_name(link: &str) -> &str {
    let path = link.split(['#', '?']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{file_name, links};

    #[test]
    fn links_of_an_older_page_are_found() {
        let page = r#"<a href="../../packages/a/b-1.whl#sha256=0" data-x>b-1.whl</a><br>
            <A class=x HREF='nothing' href='https://h.example/c-2.tar.gz?x=1&amp;y'>c</a> <a href=>d</a> <a href="#;
        let found: Vec<&str> = links(page).collect();
        assert_eq!(found, ["../../packages/a/b-1.whl#sha256=0", "https://h.example/c-2.tar.gz?x=1&amp;y"]);
        assert_eq!(found.iter().map(|link| file_name(link)).collect::<Vec<_>>(), ["b-1.whl", "c-2.tar.gz"]);
    }
}
