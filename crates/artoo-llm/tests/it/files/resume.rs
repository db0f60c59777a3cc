//! Tests of interrupted downloads: resumed if the file on the server is surely the same, else restarted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex, mpsc};

use artoo_llm::files::{FileState, FilesError, Found, Offered, Progress};

use super::server::{FileServer, Get, Reply, sound};
use super::{Place, at, checksum, error_text, model, model_of, wanted};

const TAG: Option<&str> = Some("\"v1\"");

/// A file server that cuts the first response off at byte `at` and serves the whole file afterwards.
fn cut_once(content: Vec<u8>, etag: Option<&'static str>, at: usize) -> FileServer {
    FileServer::start(move |get| match (get.is_size_request(), get.nth) {
        (false, 0) => sound(&content, etag, get).cut(at),
        _ => sound(&content, etag, get),
    })
}

/// A finished download has a record of its source, and only its owner can access it.
#[tokio::test]
async fn download_is_recorded_and_private() {
    let content = model();
    let served = content.clone();
    let server = FileServer::start(move |get| sound(&served, TAG, get));
    let place = Place::new();
    let offer = place.offer(wanted(&server.url("/a/Tiny-Q4.gguf?token=canary"), None)).await.unwrap();
    assert_eq!((offer.bytes, offer.received, &offer.wanted.sha256), (Some(content.len() as u64), 0, &None));
    assert_eq!(place.files(), [""; 0], "an offer leaves nothing");
    let model = place.pull_url(&server.url("/a/Tiny-Q4.gguf?token=canary"), None).await.unwrap();
    assert_eq!(fs::read(&model.path).unwrap(), content);
    assert_eq!((model.name.as_str(), model.state()), ("tiny-q4", FileState::Unchanged));
    assert_eq!(
        (model.record.sha256.clone(), model.record.from.as_str()),
        (checksum(&content), server.url("/a/Tiny-Q4.gguf").as_str())
    );
    assert_eq!(place.files(), ["tiny-q4/lock", "tiny-q4/record.toml", "tiny-q4/tiny-q4.gguf"]);
    for (path, mode) in
        [("", 0o700), ("tiny-q4", 0o700), ("tiny-q4/tiny-q4.gguf", 0o600), ("tiny-q4/record.toml", 0o600)]
    {
        let found = fs::metadata(place.folder().path().join(path)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{path}");
    }
    let record = fs::read_to_string(place.folder().path().join("tiny-q4/record.toml")).unwrap();
    assert!(!record.contains("canary"), "{record}");
    let heads: String = server.seen().iter().map(|get| get.head.to_lowercase()).collect();
    assert!(!heads.contains("authorization") && !heads.contains("cookie"), "{heads}");
    let again = place.puller().offer(wanted(&server.url("/a/Tiny-Q4.gguf"), None)).await.unwrap();
    assert!(matches!(again, Offered::Installed(_)), "{again:?}");
}

#[tokio::test]
async fn broken_download_resumes() {
    let content = model();
    let server = cut_once(content.clone(), TAG, 1_234_567);
    let place = Place::new();
    let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(fs::read(&model.path).unwrap(), content);
    let asked: Vec<(Option<usize>, Option<String>)> =
        server.downloads().iter().map(|get| (get.from(), get.header("if-range").map(str::to_owned))).collect();
    assert_eq!(asked, [(None, None), (Some(1_234_567), Some("\"v1\"".to_owned()))]);
    assert_eq!(place.restarts(), 0);
}

/// A download that breaks after 1.1 MB is resumed to its end; one that breaks after every 10 bytes fails at the third
/// try, and its bytes stay.
#[tokio::test]
async fn progress_resets_the_retry_limit() {
    let content = model();
    let pieces = content.clone();
    let server = FileServer::start(move |get| {
        let reply = sound(&pieces, TAG, get);
        if get.is_size_request() { reply } else { reply.cut(1_100_000) }
    });
    let place = Place::new();
    place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(server.downloads().len(), 2);
    let stuck = content.clone();
    let server = FileServer::start(move |get| {
        let reply = sound(&stuck, TAG, get);
        if get.is_size_request() { reply } else { reply.cut(10) }
    });
    let place = Place::new();
    let told = error_text(place.pull_url(&server.url("/m.gguf"), None).await);
    assert!(told.contains("the download from 127.0.0.1 failed"), "{told}");
    assert_eq!(server.downloads().len(), 3);
    assert_eq!(fs::read(place.part("m")).unwrap(), content[..30], "what came stays");
    let found = place.folder().list().unwrap();
    assert!(matches!(found.as_slice(), [Found::Part { bytes: 30, .. }]), "{found:?}");
}

/// If the server ignores ranges, an interrupted download starts again.
#[tokio::test]
async fn host_without_ranges_restarts_download() {
    let content = model();
    let served = content.clone();
    let server = FileServer::start(move |get| match get.nth {
        0 if !get.is_size_request() => Reply::new(200, served.as_slice()).with("etag", "\"v1\"").cut(700_000),
        _ => Reply::new(200, served.as_slice()).with("etag", "\"v1\""),
    });
    let place = Place::new();
    let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(fs::read(&model.path).unwrap(), content);
    assert_eq!(place.restarts(), 1);
}

/// If the file on the server has changed, the download starts again.
#[doc = "holds: law 1.23"]
#[tokio::test]
async fn changed_file_restarts_download() {
    // The server respects ranges, ignores If-Range, or has a file of another size.
    let (old, new, longer) = (model_of(1), model_of(2), [model_of(2), vec![0; 32]].concat());
    let check = |honours: bool, second: Vec<u8>| {
        let old = old.clone();
        async move {
            let expected = second.clone();
            let server = FileServer::start(move |get: &Get| match (get.is_size_request(), get.nth) {
                (false, 0) => sound(&old, TAG, get).cut(1_000_000),
                _ if honours => sound(&second, Some("\"v2\""), get),
                _ => {
                    let blind = Get { head: get.head.replace("if-range", "x-was"), ..get.clone() };
                    sound(&second, Some("\"v2\""), &blind)
                }
            });
            let place = Place::new();
            let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
            assert!(fs::read(&model.path).unwrap() == expected, "sewn together; honours {honours}");
            assert_eq!(place.restarts(), 1);
        }
    };
    check(true, new.clone()).await;
    check(false, new).await;
    check(false, longer).await;
}

/// A response with another range than requested makes the download start again.
#[tokio::test]
async fn wrong_content_range_restarts_download() {
    // A range that starts at another byte, and one of a file of another size, both with the old validator.
    for (first, total) in [(0, None), (999_999, None), (1_000_000, Some(7_000_000))] {
        let content = model();
        let served = content.clone();
        let server = FileServer::start(move |get| match (get.is_size_request(), get.nth) {
            (false, 0) => sound(&served, TAG, get).cut(1_000_000),
            (false, 1) => {
                let range = format!("bytes {first}-{}/{}", served.len() - 1, total.unwrap_or(served.len()));
                Reply::new(206, &served[first..]).with("content-range", range).with("etag", "\"v1\"")
            }
            _ => sound(&served, TAG, get),
        });
        let place = Place::new();
        let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
        assert!(fs::read(&model.path).unwrap() == content, "from {first} of {total:?}");
        assert_eq!((place.restarts(), server.downloads()[2].from()), (1, None));
    }
}

/// A response with a shorter range than requested is resumed after it.
#[tokio::test]
async fn short_partial_response_resumes() {
    let content = model();
    let served = content.clone();
    let server = FileServer::start(move |get| match (get.is_size_request(), get.nth) {
        (false, 0) => sound(&served, TAG, get).cut(1_000_000),
        // A shorter range than requested, although the connection ends properly.
        (false, 1) => {
            let last = served.len() - 2;
            let range = format!("bytes 1000000-{last}/{}", served.len());
            Reply::new(206, &served[1_000_000..=last]).with("content-range", range).with("etag", "\"v1\"")
        }
        _ => sound(&served, TAG, get),
    });
    let place = Place::new();
    let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert!(fs::read(&model.path).unwrap() == content);
    assert_eq!((place.restarts(), server.downloads()[2].from()), (0, Some(content.len() - 1)));
}

/// Without a strong ETag and a date, a download is resumed only if its checksum is known.
#[tokio::test]
async fn resume_needs_validator_or_checksum() {
    let content = model();
    let place = Place::new();
    let server = cut_once(content.clone(), None, 1_000_000);
    place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(server.downloads()[1].from(), None, "nothing would tell two states apart");
    let place = Place::new();
    let server = cut_once(content.clone(), None, 1_000_000);
    let model = place.pull_url(&server.url("/m.gguf"), Some(checksum(&content))).await.unwrap();
    assert_eq!(server.downloads()[1].from(), Some(1_000_000));
    assert_eq!(model.record.sha256, checksum(&content));
    // A weak ETag does not guarantee the same bytes.
    let place = Place::new();
    let server = cut_once(content, Some("W/\"v1\""), 1_000_000);
    place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(server.downloads()[1].from(), None);
}

/// A URL without a checksum installs whatever file is there now.
#[tokio::test]
async fn url_without_checksum_takes_the_current_file() {
    let place = Place::new();
    let (one, other) = (model_of(1), model_of(2));
    let served = Arc::new(Mutex::new(one));
    let now = Arc::clone(&served);
    let server = FileServer::start(move |get| sound(&now.lock().unwrap(), None, get));
    let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    fs::remove_file(&model.path).unwrap();
    served.lock().unwrap().clone_from(&other);
    let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert!(fs::read(&model.path).unwrap() == other);
    assert_eq!(model.record.sha256, checksum(&other));
}

/// The received part of another URL's file is not resumed.
#[tokio::test]
async fn part_of_another_url_is_not_resumed() {
    let (one, other) = (model_of(1), model_of(2));
    let served = (one.clone(), other.clone());
    let server = FileServer::start(move |get| match (get.path.as_str(), get.is_size_request()) {
        // The server stops after the first byte in which the two files differ.
        ("/one/m.gguf", false) => sound(&served.0, TAG, get).cut(if get.from().is_none() { 1_100_000 } else { 1 }),
        ("/one/m.gguf", true) => sound(&served.0, TAG, get),
        _ => sound(&served.1, TAG, get),
    });
    let place = Place::new();
    error_text(place.pull_url(&server.url("/one/m.gguf"), None).await);
    assert!(fs::read(place.part("m")).unwrap().starts_with(&one[..1_100_000]));
    let model = place.pull_url(&server.url("/other/m.gguf"), None).await.unwrap();
    assert!(fs::read(&model.path).unwrap() == other);
}

/// Two installations of the same model at the same time: the second is refused.
#[tokio::test]
async fn concurrent_install_of_one_model_is_refused() {
    let content = model();
    let (held, hold) = mpsc::channel::<()>();
    let (gate, served) = (Arc::new(Mutex::new(hold)), content.clone());
    let server = FileServer::start(move |get| {
        let mut reply = sound(&served, TAG, get);
        if !get.is_size_request() && get.nth == 0 {
            reply = reply.cut(900_000);
            reply.hold = Some(Arc::clone(&gate));
        }
        reply
    });
    let place = Arc::new(Place::new());
    let (first, url) = (Arc::clone(&place), server.url("/m.gguf"));
    let offer = place.offer(wanted(&url, None)).await.unwrap();
    let task = tokio::spawn(async move { first.pull_url(&url, None).await });
    while server.downloads().is_empty() {
        tokio::task::yield_now().await;
    }
    let second = place.puller().install(offer, at(), Arc::clone(&place.seen) as Arc<dyn Progress>).await;
    assert!(matches!(second, Err(FilesError::Busy { .. })), "{second:?}");
    drop(held);
    let model = task.await.unwrap().unwrap();
    assert!(fs::read(&model.path).unwrap() == content);
}
