//! Downloads that break off and go on, and those that may not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex, mpsc};

use artoo_llm::files::{FilesError, Found, Offered, Progress, Standing, Vouched};

use super::server::{FileServer, Get, Reply, sound};
use super::{Place, at, model, model_of, sum, told, wanted};

const TAG: Option<&str> = Some("\"v1\"");

/// Cut at this byte of the file the first time, sound afterwards.
fn cut_once(content: Vec<u8>, etag: Option<&'static str>, at: usize) -> FileServer {
    FileServer::start(move |get| match (get.is_look(), get.nth) {
        (false, 0) => sound(&content, etag, get).cut(at),
        _ => sound(&content, etag, get),
    })
}

#[tokio::test]
async fn a_file_comes_whole_is_recorded_and_kept_from_others() {
    let content = model();
    let served = content.clone();
    let server = FileServer::start(move |get| sound(&served, TAG, get));
    let place = Place::new();
    let offer = place.offer(wanted(&server.url("/a/Tiny-Q4.gguf?token=canary"), None)).await.unwrap();
    assert_eq!((offer.bytes, offer.begun, offer.vouched), (Some(content.len() as u64), 0, Vouched::Nobody));
    assert_eq!(place.files(), [""; 0], "an offer leaves nothing");
    let model = place.pull_url(&server.url("/a/Tiny-Q4.gguf?token=canary"), None).await.unwrap();
    assert_eq!(fs::read(&model.path).unwrap(), content);
    assert_eq!((model.name.as_str(), model.standing()), ("tiny-q4", Standing::Kept));
    assert_eq!(
        (model.record.sha256.clone(), model.record.from.as_str()),
        (sum(&content), server.url("/a/Tiny-Q4.gguf").as_str())
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
    assert!(model.verify(&|_| {}).unwrap());
    let again = place.puller().offer(wanted(&server.url("/a/Tiny-Q4.gguf"), None)).await.unwrap();
    assert!(matches!(again, Offered::Here(_)), "{again:?}");
}

#[tokio::test]
async fn what_breaks_off_goes_on_where_it_was() {
    let content = model();
    let server = cut_once(content.clone(), TAG, 1_234_567);
    let place = Place::new();
    let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(fs::read(&model.path).unwrap(), content);
    let asked: Vec<(Option<usize>, Option<String>)> =
        server.downloads().iter().map(|get| (get.from(), get.header("if-range").map(str::to_owned))).collect();
    assert_eq!(asked, [(None, None), (Some(1_234_567), Some("\"v1\"".to_owned()))]);
    assert_eq!(place.started_anew(), 0);
}

#[tokio::test]
async fn a_long_download_may_break_off_often_and_a_hopeless_one_ends() {
    let content = model();
    let pieces = content.clone();
    let server = FileServer::start(move |get| {
        let reply = sound(&pieces, TAG, get);
        if get.is_look() { reply } else { reply.cut(1_100_000) }
    });
    let place = Place::new();
    place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(server.downloads().len(), 2);
    let stuck = content.clone();
    let server = FileServer::start(move |get| {
        let reply = sound(&stuck, TAG, get);
        if get.is_look() { reply } else { reply.cut(10) }
    });
    let place = Place::new();
    let told = told(place.pull_url(&server.url("/m.gguf"), None).await);
    assert!(told.contains("broke off") || told.contains("can't be reached"), "{told}");
    assert_eq!(server.downloads().len(), 3);
    assert_eq!(fs::read(place.part("m")).unwrap(), content[..30], "what came stays");
    let found = place.folder().list().unwrap();
    assert!(matches!(found.as_slice(), [Found::Part { bytes: 30, .. }]), "{found:?}");
}

#[tokio::test]
async fn a_host_that_ignores_ranges_is_asked_anew_and_the_file_is_right() {
    let content = model();
    let served = content.clone();
    let server = FileServer::start(move |get| match get.nth {
        0 if !get.is_look() => Reply::new(200, served.as_slice()).with("etag", "\"v1\"").cut(700_000),
        _ => Reply::new(200, served.as_slice()).with("etag", "\"v1\""),
    });
    let place = Place::new();
    let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(fs::read(&model.path).unwrap(), content);
    assert_eq!(place.started_anew(), 1);
}

#[doc = "holds: law 1.23"]
#[tokio::test]
async fn a_file_that_changed_meanwhile_is_never_sewn_together() {
    // With ranges kept to, with If-Range ignored, and with another size.
    let (old, new, longer) = (model_of(1), model_of(2), [model_of(2), vec![0; 32]].concat());
    let check = |honours: bool, second: Vec<u8>| {
        let old = old.clone();
        async move {
            let expected = second.clone();
            let server = FileServer::start(move |get: &Get| match (get.is_look(), get.nth) {
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
            assert_eq!(place.started_anew(), 1);
        }
    };
    check(true, new.clone()).await;
    check(false, new).await;
    check(false, longer).await;
}

#[tokio::test]
async fn a_part_that_was_not_asked_for_is_not_taken() {
    // From another byte on, and of a file of another length, under the old validator.
    for (first, total) in [(0, None), (999_999, None), (1_000_000, Some(7_000_000))] {
        let content = model();
        let served = content.clone();
        let server = FileServer::start(move |get| match (get.is_look(), get.nth) {
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
        assert_eq!((place.started_anew(), server.downloads()[2].from()), (1, None));
    }
}

#[tokio::test]
async fn without_a_validator_it_goes_on_only_where_a_sum_will_tell() {
    let content = model();
    let place = Place::new();
    let server = cut_once(content.clone(), None, 1_000_000);
    place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(server.downloads()[1].from(), None, "nothing would tell two states apart");
    let place = Place::new();
    let server = cut_once(content.clone(), None, 1_000_000);
    let model = place.pull_url(&server.url("/m.gguf"), Some(sum(&content))).await.unwrap();
    assert_eq!(server.downloads()[1].from(), Some(1_000_000));
    assert_eq!(model.record.vouched, Vouched::User);
    // A weak one does not promise the same bytes.
    let place = Place::new();
    let server = cut_once(content, Some("W/\"v1\""), 1_000_000);
    place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert_eq!(server.downloads()[1].from(), None);
}

#[doc = "holds: law 1.23"]
#[tokio::test]
async fn what_came_the_first_time_is_what_is_trusted_afterwards() {
    let place = Place::new();
    let (one, other) = (model_of(1), model_of(2));
    let served = Arc::new(Mutex::new(one.clone()));
    let now = Arc::clone(&served);
    let server = FileServer::start(move |get| sound(&now.lock().unwrap(), None, get));
    let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    fs::remove_file(&model.path).unwrap();
    *served.lock().unwrap() = other;
    let words = told(place.pull_url(&server.url("/m.gguf"), None).await);
    assert!(words.contains("what came the first time"), "{words}");
    *served.lock().unwrap() = one.clone();
    let model = place.pull_url(&server.url("/m.gguf"), None).await.unwrap();
    assert!(fs::read(&model.path).unwrap() == one);
}

#[tokio::test]
async fn what_came_of_another_address_is_not_gone_on_with() {
    let (one, other) = (model_of(1), model_of(2));
    let served = (one.clone(), other.clone());
    let server = FileServer::start(move |get| match (get.path.as_str(), get.is_look()) {
        // Far enough that the two differ, and then stuck.
        ("/one/m.gguf", false) => sound(&served.0, TAG, get).cut(if get.from().is_none() { 1_100_000 } else { 1 }),
        ("/one/m.gguf", true) => sound(&served.0, TAG, get),
        _ => sound(&served.1, TAG, get),
    });
    let place = Place::new();
    told(place.pull_url(&server.url("/one/m.gguf"), None).await);
    assert!(fs::read(place.part("m")).unwrap().starts_with(&one[..1_100_000]));
    let model = place.pull_url(&server.url("/other/m.gguf"), None).await.unwrap();
    assert!(fs::read(&model.path).unwrap() == other);
}

#[tokio::test]
async fn two_at_once_do_not_write_one_file() {
    let content = model();
    let (held, hold) = mpsc::channel::<()>();
    let (gate, served) = (Arc::new(Mutex::new(hold)), content.clone());
    let server = FileServer::start(move |get| {
        let mut reply = sound(&served, TAG, get);
        if !get.is_look() && get.nth == 0 {
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
    let second = place.puller().fetch(offer, at(), Arc::clone(&place.seen) as Arc<dyn Progress>).await;
    assert!(matches!(second, Err(FilesError::Busy { .. })), "{second:?}");
    drop(held);
    let model = task.await.unwrap().unwrap();
    assert!(fs::read(&model.path).unwrap() == content);
}
