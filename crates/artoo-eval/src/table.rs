//! Tables of a report, written as Markdown or as HTML.

/// A table with column headings.
pub(crate) struct Table {
    pub(crate) head: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// The table as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | ").replace('\n', " "));
        let head: Vec<String> = self.head.iter().map(|name| (*name).to_owned()).collect();
        let rule = vec!["---".to_owned(); head.len()];
        [&head, &rule].into_iter().chain(&self.rows).map(|cells| line(cells)).collect()
    }

    /// The table as HTML.
    pub(crate) fn html(&self) -> String {
        let cells = |tag: &str, cells: &[String]| -> String {
            cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect()
        };
        let head: Vec<String> = self.head.iter().map(|name| (*name).to_owned()).collect();
        let rows: String = self.rows.iter().map(|row| format!("<tr>{}</tr>\n", cells("td", row))).collect();
        format!("<table><tr>{}</tr>\n{rows}</table>\n", cells("th", &head))
    }
}

/// A text with the special characters of HTML escaped.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
