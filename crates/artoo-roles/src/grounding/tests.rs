//! Tables of texts that are, or are not, a claim, a question, or about this machine.

use super::{
    claims_change, claims_deed, is_about_this_machine, is_question, mentions_machine, needs_whole_output, tokens,
};

/// "I created the file" counts as a claim of a change; "notes.txt was last modified on Monday" does not.
#[doc = "holds: law 0.1"]
#[test]
fn change_claims_differ_from_file_facts() {
    for claim in [
        "Done. I created the file and verified it.",
        "I have successfully saved the file.",
        "Created notes.txt in your folder",
        "File created: notes.txt",
        "The file has been written.",
        "The new file created: notes.txt",
    ] {
        assert!(claims_change(claim), "{claim}");
    }
    for fact in [
        "notes.txt was last modified on Monday",
        "42 files",
        "the newest file is a.txt, created in 2024",
        "Created: 2024-05-01 notes.txt",
        "Created on Monday: notes.txt",
    ] {
        assert!(!claims_change(fact), "{fact}");
    }
}

#[test]
fn text_without_calls_cannot_claim_changes() {
    for claim in ["I've sent the email to Bob.", "I have restarted nginx", "We just installed it"] {
        assert!(claims_deed(claim), "{claim}");
    }
    for words in [
        "I have written a haiku:\nrain",
        "rain stopped, I slept",
        "Sent from above, the rain",
        "the war started in 1914",
    ] {
        assert!(!claims_deed(words), "{words}");
    }
}

#[test]
fn paths_and_machine_objects_are_detected() {
    assert!(mentions_machine("look at ./src"));
    assert!(mentions_machine("open report.pdf"));
    assert!(!mentions_machine("is 3.14 about pi, e.g. roughly"));
    assert!(!mentions_machine("see https://example.com/a.txt"));
}

/// "how many files are here" counts as about this machine; "what is a symlink?" does not.
#[doc = "holds: design D13"]
#[test]
fn local_and_general_questions_differ() {
    for request in [
        "how many files are here",
        "what is the largest file",
        "what is in a.txt",
        "describe my folders",
        "explain main.rs",
        "list the folders",
    ] {
        assert!(is_about_this_machine(request), "{request}");
    }
    for request in [
        "what is a symlink?",
        "explain the difference between a file and a folder",
        "how do I create a folder in Windows?",
        "write a poem about a lost folder",
        "what is the capital of France",
    ] {
        assert!(!is_about_this_machine(request), "{request}");
    }
}

#[test]
fn questions_differ_from_commands() {
    for question in ["how many files are here", "please list the files", "can you show me a.txt", "сколько файлов тут"]
    {
        assert!(is_question(question), "{question}");
    }
    for order in ["notes.txt with hello please", "write x to a.txt", "then delete the largest file"] {
        assert!(!is_question(order), "{order}");
    }
}

/// Claims about all, none or how many need an untruncated output; claims about a single name do not.
#[test]
fn totals_need_the_complete_output() {
    for claim in ["all PDF files are listed", "it states how many there are", "no file is missing"] {
        assert!(needs_whole_output(claim), "{claim}");
    }
    for claim in ["the text of the notes is shown", "notes.txt is named"] {
        assert!(!needs_whole_output(claim), "{claim}");
    }
}

#[test]
fn quoted_name_with_spaces_is_one_word() {
    for (text, expected) in [
        ("save it as 'my notes.txt', please", &["save", "it", "as", "'my notes.txt',", "please"][..]),
        ("don't copy 'this' to \"~/my docs/a b.md\"!", &["don't", "copy", "'this'", "to", "\"~/my docs/a b.md\"!"]),
        ("", &[]),
    ] {
        assert_eq!(tokens(text), expected);
    }
}
