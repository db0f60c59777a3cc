//! The tables of commands under `fixtures/commands`.

/// Includes the text of a table of `fixtures/commands` at compile time.
macro_rules! table {
    ($name:literal) => {
        include_str!(concat!("../../../../../fixtures/commands/", $name))
    };
}

/// Abbreviations in the tables' commands, each with the shell text that it stands for.
const SHORT: [(&str, &str); 3] = [
    (
        "{GIT}",
        "git init -q . && git config user.email a@b && git config user.name n && echo one > f && git add f && git commit -qm m",
    ),
    ("{DRIVER}", "echo 'f diff=x' > .gitattributes; echo two > f"),
    ("{EVIL}", "printf '[diff \"x\"]\\ntextconv = touch pwned;cat\\n' > evil"),
];

/// A row of a table: a command with its table, class and preparation.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) table: &'static str,
    pub(super) class: String,
    pub(super) command: String,
    /// A script that creates what the command needs in the working folder.
    pub(super) setup: String,
}

impl Row {
    /// A row of a table, in whose command the abbreviations are replaced by the text they stand for.
    fn new(table: &'static str, class: &str, command: &str, setup: &str) -> Self {
        let whole =
            |text: &str| SHORT.iter().fold(text.replace('␤', "\n"), |text, (short, long)| text.replace(short, long));
        let command = match command.strip_prefix("json:") {
            Some(text) => surrogates(text),
            None => whole(command).replace("{port}", "80"),
        };
        Self { table, class: class.to_owned(), command, setup: whole(setup) }
    }

    /// Whether the row's command only reads.
    pub(super) fn is_reading(&self) -> bool {
        self.class == "read_only"
    }
}

/// Decodes a table's command that is written as a JSON string, with escapes.
fn surrogates(text: &str) -> String {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The lines of a table without comments, each split into its columns.
fn lines(text: &str) -> Vec<Vec<String>> {
    let is_row = |line: &&str| !line.starts_with('#') && !line.starts_with("class\t") && !line.trim().is_empty();
    text.lines().filter(is_row).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The rows of the table `law1.tsv`, which is labelled with classes.
pub(super) fn labelled() -> Vec<Row> {
    lines(table!("law1.tsv")).iter().map(|row| Row::new("law1", &row[0], &row[1], "")).collect()
}

/// The rows of all tables except the labelled one, for tests of Law 1.
pub(super) fn others() -> Vec<Row> {
    let mut rows = Vec::new();
    let tables =
        [("bypass", table!("bypass.tsv")), ("everyday", table!("everyday.tsv")), ("fence", table!("fence.tsv"))];
    for (table, text) in tables {
        rows.extend(lines(text).iter().map(|row| Row::new(table, &row[0], &row[1], "")));
    }
    rows.extend(lines(table!("reading.tsv")).iter().map(|row| Row::new("reading", "read_only", &row[0], "")));
    let setup = |row: &[String]| row.get(1).cloned().unwrap_or_default();
    rows.extend(
        lines(table!("changing.tsv")).iter().map(|row| Row::new("changing", "irreversible", &row[0], &setup(row))),
    );
    rows
}
