//! The evidence store in real calls: outputs are stored completely and privately, found again, verified, and removed.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use artoo_proto::{CallStatus, KeptOutput, ToolCall};
use serde_json::json;

use super::{Fixture, called};
use crate::EvidenceStore;
use crate::evidence::{EvidenceProblem, ITEM_MAX_BYTES};

const DAY: Duration = Duration::from_secs(86_400);

/// A fixture with a data folder and a small limit on shown output.
fn with_data() -> Fixture {
    Fixture::with(|config| {
        let data = Path::new(&config.environment.home).join(".artoo");
        fs::create_dir_all(&data).unwrap();
        config.data_dir = Some(data);
        config.output_max_chars = 500;
    })
}

/// The evidence store in the data folder of the fixture's home.
fn store(fixture: &Fixture) -> EvidenceStore {
    EvidenceStore::new(&fixture.home.join(".artoo"))
}

/// The record of a shell command.
async fn shell(fixture: &Fixture, command: &str) -> ToolCall {
    called(fixture.outcome(&Fixture::context("shell", json!({"command": command})), None).await)
}

/// The paths of the pack files in the fixture's evidence store, oldest first.
fn packs(fixture: &Fixture) -> Vec<PathBuf> {
    let mut packs: Vec<_> = fs::read_dir(store(fixture).folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    packs.sort();
    packs
}

/// The whole output of a program is stored, and the record shows its two ends with the number of omitted bytes.
#[doc = "holds: design D5"]
#[tokio::test]
async fn program_output_is_stored_whole() {
    let fixture = with_data();
    fixture.file("work/long", "ä line\n".repeat(1_000));
    let call = shell(&fixture, "cat long; cat gone").await;
    let streams: Vec<&str> = call.kept.iter().map(|kept| kept.stream.as_str()).collect();
    assert_eq!(streams, ["stdout", "stderr"]);
    let whole = store(&fixture).read(&call.kept[0].sha256).unwrap();
    assert_eq!(whole, "ä line\n".repeat(1_000).into_bytes());
    assert_eq!((call.kept[0].bytes, call.kept[0].left_out), (8_000, 0));
    assert!(call.truncated && call.output.chars().count() <= 500, "{call:?}");
    // The number of omitted bytes and the shown parts add up to the stream.
    let (first, rest) = call.output.split_once("\n… [").unwrap();
    let (missing, rest) = rest.split_once(" bytes left out] …\n").unwrap();
    let (last, _) = rest.split_once("[stderr]\n").unwrap();
    assert_eq!(first.len() + last.len() + missing.parse::<usize>().unwrap(), 8_000);
    assert!(String::from_utf8(whole).unwrap().ends_with(last));
    let calls = store(&fixture).calls().unwrap();
    assert_eq!(calls.len(), 1);
    assert_eq!((&calls[0].kept, &calls[0].evidence_id), (&call.kept, &call.evidence_id));
}

/// A denied call stores no output in the evidence store.
#[tokio::test]
async fn denied_calls_do_not_store_evidence() {
    let fixture = with_data();
    fixture.file("work/a", "hello");
    let call = fixture.call("read_file", json!({"path": "a"})).await;
    assert_eq!(call.kept.len(), 1);
    assert_eq!(store(&fixture).read(&call.kept[0].sha256).unwrap(), b"hello");
    let denied = fixture.call("read_file", json!({"path": "~/.ssh/id"})).await;
    assert_eq!((denied.status, denied.kept.len()), (CallStatus::Denied, 0));
}

/// A file that is read is stored whole as evidence, even if the record shows only a part; of one too large for the
/// store, both ends.
#[tokio::test]
async fn long_files_are_stored_whole() {
    let fixture = with_data();
    let line = "a line of a long log, ä\n";
    for size in [262_143, 262_145, 5_000_000] {
        let lines = size / line.len();
        let pad = size - (lines - 1) * line.len() - 4;
        let text = format!("{}{}log\n", line.repeat(lines - 1), "x".repeat(pad));
        fixture.file("work/long", &text);
        let matching = json!({"path": "long", "matching": "log"});
        for (input, wanted) in [(json!({"path": "long"}), text.as_str()), (matching, text.trim_end())] {
            let call = fixture.call("read_file", input.clone()).await;
            let whole = store(&fixture).read(&call.whole_output().unwrap().sha256).unwrap();
            assert!(call.truncated && call.output.chars().count() <= 500, "{input}");
            assert!(whole == wanted.as_bytes(), "{size} {input}: {} of {} bytes", whole.len(), wanted.len());
            assert_eq!(call.output_bytes, wanted.len() as u64);
        }
    }
    fixture.file("work/empty", "\n\nlog\n\n");
    let first = fixture.call("read_file", json!({"path": "empty", "lines": {"first": 3}})).await;
    assert_eq!((first.output.as_str(), first.truncated), ("\n\nlog", false), "empty lines at the beginning stay");
    let last = fixture.call("read_file", json!({"path": "empty", "lines": {"last": 2}})).await;
    assert_eq!(last.output, "log\n");
    // A sparse file that is too large for the store: both ends are stored, and the omitted bytes counted.
    let sparse = File::create(fixture.home.join("work/huge")).unwrap();
    sparse.set_len(ITEM_MAX_BYTES * 4).unwrap();
    let call = fixture.call("read_file", json!({"path": "huge"})).await;
    assert_eq!((call.output_bytes, call.whole_output()), (ITEM_MAX_BYTES * 4, None));
    assert_eq!(call.kept[0].bytes + call.kept[0].left_out, ITEM_MAX_BYTES * 4);
}

/// Equal outputs are stored once, in files that only the user can read.
#[tokio::test]
async fn equal_outputs_share_one_private_item() {
    let fixture = with_data();
    fixture.file("work/a", "the same\n");
    let first = shell(&fixture, "cat a").await;
    let second = shell(&fixture, "head a").await;
    assert_eq!(first.kept, second.kept);
    let (sha256, path) = (&first.kept[0].sha256, packs(&fixture).remove(0));
    let content = || fs::read_to_string(&path).unwrap();
    assert_eq!((content().matches("the same\n").count(), store(&fixture).calls().unwrap().len()), (1, 2));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(store(&fixture).folder()), mode(&path)), (0o700, 0o600));
    fs::write(&path, content().replace("the same\n", "THE SAME\n")).unwrap();
    assert!(matches!(store(&fixture).read(sha256), Err(EvidenceProblem::Damaged { .. })));
    shell(&fixture, "tail a").await;
    assert_eq!(store(&fixture).read(sha256).unwrap(), b"the same\n");
    assert!(matches!(store(&fixture).read(&"0".repeat(64)), Err(EvidenceProblem::Missing { .. })));
    for odd in ["", "../calls.jsonl", &"g".repeat(64), &"0".repeat(63)] {
        assert!(matches!(store(&fixture).read(odd), Err(EvidenceProblem::NoDigest { .. })), "{odd}");
    }
}

/// Of an output larger than an item may be, the beginning and end are stored with the number of missing bytes.
#[doc = "holds: design T6"]
#[tokio::test]
async fn large_output_keeps_both_ends_in_evidence() {
    let fixture = with_data();
    let call = fixture.allowed("yes 0123456 | head -c 140000000; printf THE-END").await;
    let kept = &call.kept[0];
    assert_eq!(kept.bytes + kept.left_out, 140_000_007, "{kept:?}");
    let whole = store(&fixture).read(&kept.sha256).unwrap();
    assert!(whole.len() as u64 <= ITEM_MAX_BYTES, "{}", whole.len());
    assert!(whole.starts_with(b"0123456\n0123456\n") && whole.ends_with(b"0123456\nTHE-END"));
    let mark = format!("\n… [{} bytes left out] …\n", kept.left_out);
    assert_eq!(whole.len() as u64, kept.bytes + mark.len() as u64);
    assert!(String::from_utf8(whole).unwrap().contains(&mark));
}

/// Streams of lengths around the size limit are stored whole, or with the number of bytes left out between beginning
/// and end.
#[test]
fn random_streams_are_stored_as_known() {
    let dir = tempfile::TempDir::new().unwrap();
    let store = EvidenceStore::new(dir.path());
    store.prepare(super::now()).unwrap();
    let cap = ITEM_MAX_BYTES as usize;
    let pattern: Vec<u8> = (0..251).collect();
    for total in [1, 1_000, cap - 1_049_600, cap - 1_049_599, cap + 900_000] {
        let bytes: Vec<u8> = pattern.repeat(total.div_ceil(251)).into_iter().take(total).collect();
        let mut spill = store.spill();
        for piece in bytes.chunks(700_001) {
            spill.take(piece);
        }
        let KeptOutput { sha256, bytes: kept, left_out, .. } =
            spill.keep("stdout", &bytes[total.saturating_sub(1024 * 1024)..]).unwrap();
        assert_eq!(kept + left_out, total as u64);
        let whole = store.read(&sha256).unwrap();
        let gap = whole.len() - kept as usize;
        assert_eq!(gap > 0, left_out > 0, "{total}");
        let end = kept.min(1024 * 1024) as usize;
        assert_eq!(whole[..kept as usize - end], bytes[..kept as usize - end], "{total}");
        assert_eq!(whole[whole.len() - end..], bytes[total - end..], "{total}");
    }
    drop(store.spill());
    let left = fs::read_dir(store.folder()).unwrap().count();
    assert_eq!(left, 1, "what is not kept leaves nothing behind");
}

/// A sweep of the evidence store removes packs that have expired, and then the oldest ones beyond the size limit.
#[tokio::test]
async fn sweep_removes_expired_and_oldest_packs() {
    let fixture = with_data();
    fixture.file("work/a", "x".repeat(1_000));
    let kept = shell(&fixture, "cat a").await.kept.remove(0).sha256;
    let now = SystemTime::now();
    let today = packs(&fixture).remove(0);
    let folder = store(&fixture).folder().to_path_buf();
    let days = [31, 29, 2, 1].map(|days| (days, folder.join(format!("2020-01-{days:02}.000.pack"))));
    for (days, path) in &days {
        fs::copy(&today, path).unwrap();
        File::options().write(true).open(path).unwrap().set_modified(now - DAY * *days).unwrap();
    }
    let other = fixture.file(".artoo/evidence/notes.txt", "not ours");
    File::options().write(true).open(&other).unwrap().set_modified(now - DAY * 300).unwrap();
    let there = || days.iter().map(|(_, path)| path.exists()).collect::<Vec<_>>();
    store(&fixture).sweep(now);
    assert_eq!(there(), [false, true, true, true]);
    assert!(other.exists() && store(&fixture).read(&kept).is_ok());
    let one = fs::metadata(&today).unwrap().len();
    store(&fixture).sweep_to(now, one * 2 + one / 2);
    assert_eq!((there(), today.exists()), (vec![false, false, false, true], true));
    store(&fixture).sweep_to(now, 0);
    assert!(matches!(store(&fixture).read(&kept), Err(EvidenceProblem::Missing { .. })));
}

/// Storing an output creates no new file, since that would change the answers of programs that count files.
#[tokio::test]
async fn storing_evidence_does_not_add_files() {
    let fixture = with_data();
    fixture.file("work/a", "1");
    let count = "find ~ | wc -l";
    let first = fixture.allowed(count).await;
    assert_eq!(first.status, CallStatus::Ok, "{first:?}");
    assert_eq!(fixture.call("read_file", json!({"path": "a"})).await.kept.len(), 1);
    assert_eq!(fixture.allowed(count).await.output, first.output);
}

/// An incomplete frame at the end of a pack, as after a crash, is truncated, and the frames before stay.
#[doc = "holds: design S2"]
#[tokio::test]
async fn incomplete_frames_are_truncated() {
    let fixture = with_data();
    fixture.file("work/a", "first\n");
    fixture.file("work/b", "second\n");
    let first = shell(&fixture, "cat a").await.kept.remove(0).sha256;
    let path = packs(&fixture).remove(0);
    for torn in ["{\"item\"", "{\"item\":{\"sha256\":\"00\",\"bytes\":9}}\nabc", "\u{0}\u{1}"] {
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [whole.as_slice(), torn.as_bytes()].concat()).unwrap();
        let again = Fixture::with(|config| {
            config.data_dir = Some(fixture.home.join(".artoo"));
            config.environment = fixture.config.environment.clone();
        });
        assert_eq!(fs::read(&path).unwrap(), whole, "{torn:?}");
        let second = shell(&again, "cat b").await.kept.remove(0).sha256;
        assert_eq!(store(&fixture).read(&first).unwrap(), b"first\n");
        assert_eq!(store(&fixture).read(&second).unwrap(), b"second\n");
    }
}

/// Several threads, each with a store of its own, that write to the same day's pack at once lose no item.
#[test]
fn concurrent_writers_keep_all_items() {
    let dir = tempfile::TempDir::new().unwrap();
    let keep = |store: &EvidenceStore, writer: usize, n: usize| {
        store.keep("output", &format!("{writer} {n} {}", "x".repeat(n * 97))).unwrap()
    };
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let store = EvidenceStore::new(dir.path());
            std::thread::spawn(move || {
                store.prepare(super::now()).unwrap();
                (0..50).map(|n| keep(&store, writer, n)).collect::<Vec<_>>()
            })
        })
        .collect();
    let store = EvidenceStore::new(dir.path());
    for kept in writers.into_iter().flat_map(|writer| writer.join().unwrap()) {
        assert_eq!(store.read(&kept.sha256).unwrap().len() as u64, kept.bytes);
    }
}

/// A call succeeds without stored evidence if the evidence store can't be written to.
#[doc = "holds: design T12"]
#[tokio::test]
async fn calls_succeed_with_unwritable_store() {
    let fixture = Fixture::with(|config| {
        let data = Path::new(&config.environment.home).join(".artoo");
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("evidence"), "in the way").unwrap();
        config.data_dir = Some(data);
    });
    fixture.file("work/a", "hello");
    let call = shell(&fixture, "cat a").await;
    assert_eq!((call.status, call.output.as_str(), call.kept.len()), (CallStatus::Ok, "hello", 0));
}
