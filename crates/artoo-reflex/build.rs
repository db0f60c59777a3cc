//! Compiles `lexicon.toml` into sorted tables, so that the program reads no more of the dictionary than a request
//! needs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[path = "src/lexicon/expand.rs"]
mod expand;

const SOURCE: &str = "src/lexicon.toml";

/// The content of `lexicon.toml`: phrases with their meanings, kinds of files, and lists of words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    entry: Vec<Entry>,
    #[serde(rename = "type")]
    types: Vec<FileType>,
    opaque: Vec<Words>,
    vague: Vec<Words>,
    file_name: Vec<Words>,
}

/// Phrases of `lexicon.toml` that have one meaning in common.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    concept: Value,
    phrases: Vec<String>,
}

/// A kind of file in `lexicon.toml`, with its extensions and the words for it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct FileType {
    name: String,
    extensions: Vec<String>,
    #[serde(default, skip_serializing)]
    adjectives: Vec<String>,
    #[serde(default, skip_serializing)]
    singular: Vec<String>,
    #[serde(default, skip_serializing)]
    plural: Vec<String>,
}

/// A list of words in `lexicon.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    words: Vec<String>,
}

/// Writes the tables of phrases, words and meanings into the build folder.
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SOURCE}");
    let document: Document = toml::from_str(&fs::read_to_string(SOURCE)?)?;
    let phrases = phrases(&document);
    let (mut sets, mut numbers) = (Vec::new(), HashMap::new());
    let mut numbered = String::new();
    for (phrase, meanings) in &phrases {
        let number = numbers.entry(meanings).or_insert_with(|| {
            sets.push(meanings);
            sets.len() - 1
        });
        writeln!(numbered, "{phrase}\t{number}")?;
    }
    let mut flagged = String::new();
    for (word, flags) in words(&document, &phrases) {
        writeln!(flagged, "{word}\t{}", flags.into_iter().collect::<String>())?;
    }
    let longest = phrases.keys().map(|phrase| phrase.split(' ').count()).max();
    let tables = json!({ "meanings": sets, "types": document.types, "longest": longest });
    let out = env::var("OUT_DIR")?;
    for (name, text) in [("phrases.txt", numbered), ("words.txt", flagged), ("tables.json", tables.to_string())] {
        fs::write(Path::new(&out).join(name), text)?;
    }
    Ok(())
}

/// Every phrase with its meanings, in the order in which `lexicon.toml` lists them.
fn phrases(document: &Document) -> BTreeMap<String, Vec<Value>> {
    let mut phrases: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut add = |patterns: &[String], meaning: &Value| {
        for phrase in patterns.iter().flat_map(|pattern| expand::expand(pattern)) {
            let meanings = phrases.entry(phrase).or_default();
            if !meanings.contains(meaning) {
                meanings.push(meaning.clone());
            }
        }
    };
    for entry in &document.entry {
        add(&entry.phrases, &json!({ "concept": entry.concept }));
    }
    for (index, kind) in document.types.iter().enumerate() {
        for (words, form) in [(&kind.adjectives, "adjective"), (&kind.singular, "singular"), (&kind.plural, "plural")] {
            add(words, &json!({ "file_type": { "index": index, "form": form } }));
        }
    }
    phrases
}

/// Single words with their flags: `k`nown from a phrase, `a`ct, `o`paque, `v`ague, `f`ile name.
fn words(document: &Document, phrases: &BTreeMap<String, Vec<Value>>) -> BTreeMap<String, BTreeSet<char>> {
    let mut words: BTreeMap<String, BTreeSet<char>> = BTreeMap::new();
    let mut flag = |word: &str, flag| _ = words.entry(word.to_owned()).or_default().insert(flag);
    for (phrase, meanings) in phrases {
        phrase.split(' ').for_each(|word| flag(word, 'k'));
        let concepts = || meanings.iter().filter_map(|meaning| meaning.get("concept"));
        if concepts().any(|concept| concept == "act") {
            phrase.split(' ').for_each(|word| flag(word, 'a'));
        }
        if concepts().any(|concept| concept.get("do").is_some()) {
            // Of "create a copy of" the verb alone.
            phrase.split(' ').take(1).for_each(|word| flag(word, 'a'));
        }
    }
    for (lists, letter) in [(&document.opaque, 'o'), (&document.vague, 'v'), (&document.file_name, 'f')] {
        lists.iter().flat_map(|list| &list.words).for_each(|word| flag(word, letter));
    }
    words
}
