//! Tests of the page about a task.

use super::text;

/// Text in the report page is escaped, so that it is never read as HTML.
#[test]
fn report_escapes_markup_in_text() {
    let hostile = "<img src=x onerror=\"alert(1)\">&amp;'</script>\u{1b}[2J\u{202e}\u{0}";
    let shown = text(hostile);
    assert_eq!(
        shown,
        "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;amp;&#39;&lt;/script&gt;\u{fffd}U+001B[2J\u{fffd}U+202E\u{fffd}U+0000"
    );
    assert_eq!(text("a line\n\tand text: ä 文 🙂"), "a line\n\tand text: ä 文 🙂");
}
