//! The word tables of the grounding rules: lowercase, compared with whole words unless a table says otherwise.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A table of whole words, filled on first use.
pub(crate) struct Words(LazyLock<BTreeSet<&'static str>>);

impl Words {
    /// A word table that calls `read` on first use to get its words.
    pub(crate) const fn new(read: fn() -> BTreeSet<&'static str>) -> Self {
        Self(LazyLock::new(read))
    }

    /// Whether the table contains a lowercase word.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

/// Declares word tables, each from a text with the words separated by white space.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub(super) static $name: $crate::grounding::words::Words = $crate::grounding::words::Words::new(|| $text.split_whitespace().collect());)*
    };
}
pub(crate) use words;

words! {
    /// Words for things on a machine: files, folders, disks.
    OBJECTS = "file files folder folders directory directories subfolder subfolders path disk drive desktop downloads
        documents workspace clipboard screenshot screenshots archive symlink repo repository trash
        datei dateien ordner verzeichnis papierkorb fichier fichiers dossier dossiers répertoire
        archivo archivos fichero ficheros carpeta carpetas cartella cartelle arquivo arquivos pasta pastas
        bestand bestanden map файл файлы файла файлов папку папка папке папки каталог каталоге";
    /// Filler words that may precede the verb of a request, such as `please` and `can you`.
    POLITE = "please can could would will you i we want need like to now then and also just kindly artoo hey hi hello
        id i'd i’d let's lets let go ahead first next finally help me try";
    /// First words of a request that asks for an answer.
    QUESTIONS = "what what's which who whom whose when where why how is are was were do does did has list show find
        count tell display print check verify compare search look give name
        welche welcher welches wie was wo wann wer zeige zeig liste finde zähle suche
        quels quelle quelles quel combien où quand montre trouve affiche qué que cuántos cuántas cuáles cuál dónde
        muestra encuentra busca cuenta quanti quante quali dove elenca mostra trova quantos quantas quais onde mostre
        encontre hoeveel welke waar toon zoek сколько какие какой какая где найди покажи перечисли посчитай";
    /// Articles that make `what is …` a question about things in general.
    INDEFINITE = "a an";
    /// Words that show that a request is about this machine, such as `my` and `here`.
    DEICTIC = "my mine our this here these those current";
    /// Kinds of text that are composed, not found on the machine.
    COMPOSITIONS = "poem poems haiku story stories joke essay song limerick tale sonnet lyrics";
    /// Participles that claim a change of a file or folder.
    CLAIMS = "created wrote written saved stored generated deleted removed erased moved renamed copied appended edited
        updated replaced overwritten downloaded installed extracted added made";
    /// Participles that claim an action that needs a tool, whatever its object.
    DEEDS = "deleted removed erased moved renamed copied sent emailed installed uninstalled scheduled booked ordered
        restarted started stopped launched opened closed enabled disabled saved stored downloaded uploaded ran executed
        searched scanned inspected configured";
    /// Words for all, none or how many. A truncated output can't prove a claim with such a word.
    QUANTIFIERS = "all every each none no nothing never only complete completely entire whole exhaustive missing absent
        without many number count total sum average largest smallest newest oldest biggest longest shortest most least
        alle jede jeder jedes keine kein nur vollständig anzahl tous toutes aucun aucune seul nombre todos todas ningún
        ninguna ninguno solo número tutti tutte nessun nessuna numero nenhum nenhuma apenas geen aantal все каждый
        никакой ни количество";
}
