//! Scripted sessions without a language model.

use super::Content::{Bytes, Text};
use super::{Content, Session};

/// The files of the home folder in these sessions.
pub(super) const HOME: &[(&str, Content)] = &[
    ("Papers/thesis.pdf", Bytes(48_000)),
    ("Papers/letters/offer.pdf", Bytes(9_000)),
    ("Papers/letters/answer.pdf", Bytes(7_000)),
    ("Papers/notes.txt", Text("call Bob\nbuy milk\nbook the train to Prague\npay the rent\nwater the plants\n")),
    ("Papers/draft.tmp", Bytes(1_200)),
    ("Papers/letters/old.tmp", Bytes(800)),
    ("Downloads/film.mkv", Bytes(2_300_000)),
    ("Downloads/setup.exe", Bytes(410_000)),
    ("Work/2024/contract.txt", Text("The rent is 900 a month.\n")),
    ("Work/change.diff", Text("--- a/sales.csv\n+++ b/sales.csv\n@@ -4 +4,2 @@\n west,4\n+east,6\n")),
    ("Work/sales.csv", Text("region,units\nnorth,3\nsouth,5\nwest,4\n")),
];

/// Builds a scripted session without a language model; its home folder has the usual files.
const fn plain(name: &'static str, typed: &'static [&'static str], codes: &'static [i32]) -> Session {
    Session { name, files: HOME, typed, codes, model: None }
}

pub(super) const README: Session = plain(
    "readme",
    &[
        "$ artoo",
        "> how many pdfs are in ~/Papers",
        "> which of them is the largest",
        "> delete the tmp files in ~/Papers",
        "? y",
        "> paint the house",
        "^D",
    ],
    &[0],
);

pub(super) const SESSIONS: &[Session] = &[
    plain(
        "01-count",
        &["$ artoo \"how many pdfs are in ~/Papers\"", "$ artoo -v \"how many pdfs are in ~/Papers\""],
        &[0, 0],
    ),
    plain("02-list", &["$ artoo \"list the pdf files in ~/Papers with their sizes\""], &[0]),
    plain(
        "03-largest",
        &[
            "$ artoo \"what is the largest file in ~/Papers\"",
            "$ artoo -q \"what is the largest file in ~/Papers\"",
            "$ artoo --exact \"what is the largest file in ~/Papers\"",
            "$ artoo --plain \"what is the largest file in ~/Papers\"",
        ],
        &[0, 0, 0, 0],
    ),
    plain("04-search", &["$ artoo \"which files in ~ contain the word rent\""], &[0]),
    plain("05-lines", &["$ artoo \"show the first 3 lines of Papers/notes.txt\""], &[0]),
    plain(
        "06-yes-and-none",
        &["$ artoo \"are there any pdf files in ~/Papers\"", "$ artoo \"list the mp3 files in ~/Papers\""],
        &[0, 0],
    ),
    plain("07-two-questions", &["$ artoo \"count the pdfs in ~/Papers and show the free disk space\""], &[0]),
    plain("08-missing-file", &["$ artoo \"show Work/contract.txt\"", "? y"], &[0]),
    plain("09-slip", &["$ artoo \"whats the larges file in ~/Paper\"", "? y"], &[0]),
    plain("10-unknown-words", &["$ artoo \"paint the house\""], &[5]),
    plain(
        "11-delete-and-undo",
        &["$ artoo \"delete the tmp files in ~/Papers\"", "? y", "$ artoo undo", "? y"],
        &[0, 0],
    ),
    plain("12-delete-denied", &["$ artoo \"delete the tmp files in ~/Papers\"", "? n"], &[6]),
    plain(
        "13-rename-with-details",
        &["$ artoo \"rename ~/Papers/thesis.pdf to thesis-final.pdf\"", "? ?", "? y"],
        &[0],
    ),
    plain(
        "14-create",
        &[
            "$ artoo \"create a file ~/artoo_workspace/ideas.txt with the text 'learn to juggle'\"",
            "$ cat artoo_workspace/ideas.txt",
        ],
        &[0, 0],
    ),
    plain(
        "15-prompt",
        &[
            "$ artoo",
            "> list the pdf files in ~/Papers",
            "> the second one",
            "> list the pdf files in ~/Papers",
            "> which of them is the largest",
            "> and the smallest",
            "> again",
            "> list the tmp files in ~/Papers",
            "> which of them is the largest",
            "> delete it",
            "? y",
            "> put it back",
            "? y",
            "> /why",
            "> /help",
            "> /exit",
        ],
        &[0],
    ),
    plain("16-first-words", &["$ artoo hello", "$ artoo docter", "$ artoo help"], &[0, 2, 0]),
    plain(
        "17-to-a-file",
        &[
            "$ artoo \"list the pdf files in ~/Papers\" > pdfs.txt",
            "$ cat pdfs.txt",
            "$ artoo --output tmp.txt \"list the tmp files in ~/Papers\"",
            "$ cat tmp.txt",
        ],
        &[0, 0, 0, 0],
    ),
];
