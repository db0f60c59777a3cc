//! Tests of downloads from servers that send wrong content, too much, too slowly, or nothing.

use std::time::Duration;

use artoo_llm::files::{DownloadLimits, Entry, Wanted};

use super::server::{FileServer, Reply, sound};
use super::{Place, catalog_entry, checksum, error_text, limits, model};

const TAG: Option<&str> = Some("\"v1\"");

/// A catalog entry for this content at a URL on this machine.
fn entry(url: &str, content: &[u8]) -> &'static Entry {
    catalog_entry("of-the-catalog", content, url.to_owned(), None)
}

#[doc = "holds: law 1.23"]
#[tokio::test]
async fn wrong_checksum_deletes_the_download() {
    let (content, other) = (model(), checksum(b"other"));
    let served = content.clone();
    let server = FileServer::start(move |get| sound(&served, TAG, get));
    let place = Place::new();
    let words = error_text(place.pull_url(&server.url("/m.gguf"), Some(other.clone())).await);
    assert!(words.contains(&other.to_string()) && words.contains(&checksum(&content).to_string()), "{words}");
    assert!(words.contains("it was deleted"), "{words}");
    assert_eq!(place.files(), ["m/lock"]);
    let mut evil = content.clone();
    *evil.last_mut().unwrap() ^= 1;
    let server = FileServer::start(move |get| sound(&evil, TAG, get));
    let words = error_text(place.pull(Wanted::of_entry(entry(&server.url("/m.gguf"), &content)).unwrap()).await);
    assert!(words.contains(&format!("expected {}", checksum(&content))), "{words}");
    assert_eq!(place.files(), ["m/lock", "of-the-catalog/lock"]);
}

/// A download follows a few redirects, each of which is checked.
#[doc = "holds: law 1.23"]
#[tokio::test]
async fn few_redirects_are_followed_and_checked() {
    let check = |first: &'static str, expected: &'static str| async move {
        let content = model();
        let server = FileServer::start(move |get| match get.path.as_str() {
            "/m.gguf" => Reply::to(first),
            "/hop/1" => Reply::to("/hop/2"),
            "/hop/2" => Reply::new(307, "").with("location", "last?x=1"),
            "/loop" => Reply::to("/loop"),
            "/blank" => Reply::new(302, ""),
            _ => sound(&content, TAG, get),
        });
        let ended = Place::new().pull_url(&server.url("/m.gguf"), None).await;
        let words = ended.map_or_else(|error| error.to_string(), |_| "downloaded".to_owned());
        assert!(words.contains(expected), "{first}: {words}");
        assert!(server.seen().len() <= 6, "{first}: {} requests", server.seen().len());
    };
    check("/loop", "again and again").await;
    check("/blank", "redirects without a target").await;
    check("http://models.example/m.gguf", "must begin with https://").await;
    check("ftp://models.example/m.gguf", "must begin with https://").await;
    check("file:///etc/passwd", "must begin with https://").await;
    check("http://me:canary@127.0.0.1/m.gguf", "no key is ever sent").await;
    let content = model();
    let server = FileServer::start(move |get| match get.path.as_str() {
        "/m.gguf" => Reply::to("/hop/1"),
        "/hop/1" => Reply::new(307, "").with("location", "2?x=1"),
        _ => sound(&content, TAG, get),
    });
    Place::new().pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(server.seen().last().unwrap().path, "/hop/2?x=1");
}

#[tokio::test]
async fn transient_status_is_retried() {
    let check = |status: u16, times: usize, wait: Option<&'static str>, expected: Result<usize, &'static str>| async move {
        let content = model();
        let server = FileServer::start(move |get| {
            if get.is_size_request() || get.nth >= times {
                return sound(&content, TAG, get);
            }
            let reply = Reply::new(status, "no");
            if let Some(wait) = wait { reply.with("retry-after", wait) } else { reply }
        });
        let ended = Place::new().pull_url(&server.url("/m.gguf"), None).await;
        let asked = server.downloads().len();
        match expected {
            Ok(tries) => assert_eq!((ended.is_ok(), asked), (true, tries), "{status}: {ended:?}"),
            Err(words) => {
                let told = ended.unwrap_err().to_string();
                assert!(told.contains(words), "{status}: {told}");
                assert!(asked <= 4, "{status}: {asked}");
            }
        }
    };
    check(404, 9, None, Err("status 404")).await;
    check(403, 9, None, Err("status 403")).await;
    check(204, 9, None, Err("something else than the file")).await;
    check(206, 9, None, Err("something else than the file")).await;
    check(503, 2, None, Ok(3)).await;
    check(429, 1, Some("0"), Ok(2)).await;
    check(429, 9, Some("3600"), Err("tried again in 3600 s")).await;
    check(500, 99, None, Err("status 500")).await;
}

#[tokio::test]
async fn wrong_size_is_refused() {
    let content = model();
    // If the host reports another size than the catalog, nothing is downloaded.
    let longer = [content.clone(), vec![0; 1]].concat();
    let server = FileServer::start(move |get| sound(&longer, TAG, get));
    let place = Place::new();
    let words = error_text(place.pull(Wanted::of_entry(entry(&server.url("/m.gguf"), &content)).unwrap()).await);
    assert!(words.contains("another size"), "{words}");
    let server = FileServer::start(move |get| {
        let mut reply = Reply::new(200, vec![7; 64 * 1024]);
        if !get.is_size_request() {
            (reply.announced, reply.endless) = (None, true);
        }
        reply
    });
    let place = Place::new();
    let ended = place.pull(Wanted::of_entry(entry(&server.url("/m.gguf"), &content)).unwrap()).await;
    assert!(ended.as_ref().is_err_and(|error| error.to_string().contains("sends more than")), "{ended:?}");
    assert_eq!(place.files(), ["of-the-catalog/lock"], "none of it is kept");
}

/// A login page in place of the rest of a file (a captive portal) leaves the received part for a later resume.
#[tokio::test]
async fn captive_portal_page_keeps_the_part() {
    let content = model();
    let served = content.clone();
    let server = FileServer::start(move |get| match (get.is_size_request(), get.nth) {
        (false, 0) => sound(&served, TAG, get).cut(1_500_000),
        (false, 1) => Reply::new(200, "<html>Sign in to this network</html>"),
        _ => sound(&served, TAG, get),
    });
    let place = Place::new();
    let entry = entry(&server.url("/m.gguf"), &content);
    assert!(error_text(place.pull(Wanted::of_entry(entry).unwrap()).await).contains("another size"));
    assert_eq!(std::fs::metadata(place.part("of-the-catalog")).unwrap().len(), 1_500_000);
    place.pull(Wanted::of_entry(entry).unwrap()).await.unwrap();
    assert_eq!(server.downloads()[2].from(), Some(1_500_000));
}

#[tokio::test]
async fn slow_and_silent_hosts_time_out() {
    let content = model();
    let served = content.clone();
    let server = FileServer::start(move |get| {
        let mut reply = sound(&served, TAG, get);
        if !get.is_size_request() {
            reply.drip = Some(Duration::from_millis(20));
        }
        reply
    });
    let slow = DownloadLimits { slow_after: Duration::from_millis(200), slow_bytes: 1_000_000, ..limits() };
    let place = Place { limits: slow, ..Place::new() };
    let words = error_text(place.pull_url(&server.url("/m.gguf"), None).await);
    assert!(words.contains("too slowly"), "{words}");
    let server = FileServer::start(move |get| {
        let mut reply = sound(&content, TAG, get);
        if !get.is_size_request() {
            reply.sent = 100;
            reply.drip = Some(Duration::from_secs(3600));
        }
        reply
    });
    let place = Place { limits: DownloadLimits { idle: Duration::from_millis(200), ..limits() }, ..Place::new() };
    let words = error_text(place.pull_url(&server.url("/m.gguf"), None).await);
    assert!(words.contains("nothing received for too long"), "{words}");
}

/// A complete download that is no usable model file is deleted.
#[tokio::test]
async fn downloads_without_a_model_are_deleted() {
    let page = b"<!DOCTYPE html><title>Sign in</title>".to_vec();
    let served = page.clone();
    let server = FileServer::start(move |get| sound(&served, TAG, get));
    let place = Place::new();
    let words = error_text(place.pull_url(&server.url("/m.gguf"), None).await);
    assert!(words.contains("not a GGUF file"), "{words}");
    // Also with a matching checksum.
    let words = error_text(place.pull_url(&server.url("/m.gguf"), Some(checksum(&page))).await);
    assert!(words.contains("not a GGUF file"), "{words}");
    assert_eq!(place.files(), ["m/lock"]);
}

/// A compressed response and an unreachable server are errors.
#[tokio::test]
async fn compressed_response_and_no_host_are_errors() {
    let server = FileServer::start(|_| Reply::new(200, "x").with("content-encoding", "gzip"));
    let words = error_text(Place::new().pull_url(&server.url("/m.gguf"), None).await);
    assert!(words.contains("compressed"), "{words}");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let words = error_text(Place::new().pull_url(&format!("http://{closed}/m.gguf?token=canary"), None).await);
    assert!(words.contains("the download from 127.0.0.1 failed") && !words.contains("canary"), "{words}");
}
