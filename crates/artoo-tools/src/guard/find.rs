//! `find` without an action: every part of its expression must be a known test.

/// Tests and options without an argument.
const BARE: [&str; 25] = [
    "-a",
    "-and",
    "-o",
    "-or",
    "-not",
    "!",
    "(",
    ")",
    ",",
    "-true",
    "-false",
    "-print",
    "-print0",
    "-ls",
    "-empty",
    "-prune",
    "-quit",
    "-depth",
    "-xdev",
    "-mount",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
];

/// With one.
const VALUED: [&str; 28] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-maxdepth",
    "-mindepth",
    "-perm",
    "-user",
    "-group",
    "-links",
    "-printf",
];

/// The folders searched, or the part that is not known to be harmless.
pub(crate) fn folders(arguments: &[String]) -> Result<Vec<String>, String> {
    let mut arguments = arguments.iter().peekable();
    while arguments.next_if(|word| *word == "-P" || *word == "-H").is_some() {}
    let is_expression = |word: &str| word.starts_with('-') || ["(", ")", "!", ","].contains(&word);
    let mut folders = Vec::new();
    while let Some(folder) = arguments.next_if(|word| !is_expression(word)) {
        folders.push(folder.clone());
    }
    while let Some(word) = arguments.next() {
        if BARE.contains(&word.as_str()) {
            continue;
        }
        if !VALUED.contains(&word.as_str()) {
            return Err(format!("{word} of find"));
        }
        if arguments.next().is_none() {
            return Err(format!("{word} of find without its value"));
        }
    }
    Ok(folders)
}
