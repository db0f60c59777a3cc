//! Slugs, tags, escaping and ids.

use proptest::prelude::*;

use artoo_mkct::record::{MAX_TAG_BYTES, escape, intent_tag, path_tag, slug, tool_tag, tools_of, unescape, via_tag};

#[doc = "holds: design M9"]
#[test]
fn slugs_support_every_script() {
    let table = [
        ("DB migration task", "db_migration_task"),
        ("Count the PDF files in ~/Documents", "count_the_pdf"),
        ("  count  THE, pdf!", "count_the_pdf"),
        ("one", "one"),
        ("can't stop", "cant_stop"),
        ("ＦＵＬＬ width ｔｅｘｔ", "full_width_text"),
        ("İstanbul'da dosya say", "i\u{307}stanbulda_dosya_say"),
        ("Zähle die Übungen", "zähle_die_übungen"),
        ("Посчитай файлы здесь сейчас", "посчитай_файлы_здесь"),
        ("عد ملفات النصوص", "عد_ملفات_النصوص"),
        ("फ़ाइलें गिनो अभी", "फ\u{93c}ाइलें_गिनो_अभी"),
        ("统计文档文件夹里的PDF文件数量", "统计文档文件夹里的pdf"),
        ("PDFファイルを、数えてください", "pdfファイルを数えてく"),
        ("ｶﾀｶﾅ の ファイル", "カタカナのファイル"),
        ("นับไฟล์ในโฟลเดอร์เอกสาร", "นับไฟล์ในโฟล"),
        ("파일 개수 세기 지금", "파일_개수_세기"),
    ];
    for (intent, expected) in table {
        assert_eq!(slug(intent), expected, "{intent}");
    }
}

#[doc = "holds: design M9"]
#[test]
fn intent_without_letters_has_own_key() {
    let slugs: Vec<String> = ["", " ", "?!", "🙂🙂", "|||"].map(slug).to_vec();
    for (i, slug) in slugs.iter().enumerate() {
        assert!(slug.starts_with('x') && slug.len() == 17, "{slug}");
        assert!(!slugs[..i].contains(slug), "{slugs:?}");
    }
}

#[doc = "holds: design M8"]
#[test]
fn approach_ignores_tool_order() {
    assert_eq!(via_tag(&["shell", "glob", "shell"]), "via:glob,shell");
    assert_eq!(via_tag(&["glob", "shell"]), via_tag(&["shell".to_owned(), "glob".to_owned()]));
    assert_eq!(via_tag::<&str>(&[]), "via:");
    let odd = ["a,b".to_owned(), "c|d".to_owned(), "100%".to_owned()];
    assert_eq!(via_tag(&odd), "via:100%25,a%2Cb,c%7Cd");
    assert_eq!(tools_of("intent:x", &via_tag(&odd)), ["100%", "a,b", "c|d"]);
    assert_eq!(tools_of("tool:c%7Cd", "path:x"), ["c|d"]);
    assert_eq!(tools_of("intent:x", "env:local"), [""; 0]);
}

#[doc = "holds: design M12"]
#[test]
fn separators_and_controls_are_escaped() {
    let table = [
        ("plain/path 1.pdf", "plain/path 1.pdf"),
        ("a|b", "a%7Cb"),
        ("50%", "50%25"),
        ("line\nbreak\0", "line%0Abreak%00"),
        ("c1\u{9b}2J", "c1%C2%9B2J"),
        ("日本語", "日本語"),
    ];
    for (text, expected) in table {
        assert_eq!(escape(text), expected);
        assert_eq!(unescape(expected), text);
    }
    assert_eq!((unescape("5%"), unescape("%zz"), unescape("%ff")), ("5%".into(), "%zz".into(), "%ff".into()));
    assert_eq!((tool_tag("c|d"), path_tag("a|b\n")), ("tool:c%7Cd".into(), "path:a%7Cb%0A".into()));
}

#[test]
fn overlong_tags_stay_distinct() {
    let long = "é|".repeat(MAX_TAG_BYTES);
    let (a, b) = (path_tag(&format!("{long}a")), path_tag(&format!("{long}b")));
    assert!(a != b && a.len() <= MAX_TAG_BYTES && b.len() <= MAX_TAG_BYTES);
    assert_eq!(a, path_tag(&format!("{long}a")));
    assert_eq!(slug(&"wörd".repeat(10_000_000)).chars().count(), 32);
}

proptest! {
    #[test]
    fn any_text_makes_a_valid_tag(text in "\\PC{0,40}|[\\x00-\\x7f]{0,40}") {
        prop_assert_eq!(unescape(&escape(&text)), text.clone());
        for tag in [intent_tag(&text), tool_tag(&text), path_tag(&text), via_tag(&[&text])] {
            prop_assert!(!tag.chars().any(|c| c == '|' || c.is_control()), "{}", tag);
        }
        let slug = slug(&text);
        prop_assert!(!slug.is_empty() && slug.chars().all(|c| c == '_' || c.is_alphanumeric()
            || unicode_normalization::char::is_combining_mark(c)), "{}", slug);
    }
}
