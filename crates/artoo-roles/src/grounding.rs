//! Whether words ask for, or claim, a change on this machine: rules in code that no model's verdict can overrule.
//!
//! A request that asks for a change can't be met by words, and a claim of a change needs a call that made one. The
//! words are a table for ten languages; a request in another one falls back on evidence and citation alone.

/// Things of a machine, as whole words.
const OBJECTS: &[&str] = &[
    "file",
    "files",
    "folder",
    "folders",
    "directory",
    "directories",
    "subfolder",
    "path",
    "disk",
    "drive",
    "desktop",
    "downloads",
    "documents",
    "workspace",
    "clipboard",
    "screenshot",
    "screenshots",
    "archive",
    "symlink",
    "repo",
    "repository",
    "datei",
    "dateien",
    "ordner",
    "verzeichnis",
    "fichier",
    "fichiers",
    "dossier",
    "dossiers",
    "répertoire",
    "archivo",
    "archivos",
    "fichero",
    "ficheros",
    "carpeta",
    "carpetas",
    "cartella",
    "cartelle",
    "arquivo",
    "arquivos",
    "pasta",
    "pastas",
    "bestand",
    "bestanden",
    "map",
    "файл",
    "файлы",
    "файла",
    "файлов",
    "папку",
    "папка",
    "папке",
    "папки",
    "каталог",
    "каталоге",
];

/// Verbs that ask for a change when they open a clause (English).
const ENGLISH_ACTS: &[&str] = &[
    "create",
    "make",
    "write",
    "save",
    "store",
    "generate",
    "delete",
    "remove",
    "erase",
    "wipe",
    "clear",
    "clean",
    "move",
    "rename",
    "copy",
    "duplicate",
    "append",
    "add",
    "edit",
    "modify",
    "change",
    "update",
    "replace",
    "overwrite",
    "download",
    "install",
    "uninstall",
    "extract",
    "unzip",
    "unpack",
    "zip",
    "compress",
    "archive",
    "convert",
    "organize",
    "organise",
    "put",
    "touch",
    "mkdir",
    "rm",
    "mv",
    "cp",
    "set",
    "fix",
    "insert",
    "trash",
    "empty",
    "purge",
    "shred",
    "truncate",
    "resize",
    "merge",
    "split",
    "export",
    "backup",
];

/// Beginnings of such verbs in other languages, anywhere in the request.
const FOREIGN_ACTS: &[&str] = &[
    "erstell",
    "schreib",
    "speicher",
    "lösch",
    "verschieb",
    "kopier",
    "umbenenn",
    "anleg",
    "crée",
    "créer",
    "écri",
    "enregistr",
    "supprim",
    "déplac",
    "renomm",
    "copie",
    "crea",
    "escrib",
    "guarda",
    "borra",
    "elimina",
    "mueve",
    "mover",
    "renombra",
    "scriv",
    "salva",
    "cancell",
    "sposta",
    "rinomin",
    "cria",
    "criar",
    "escrev",
    "salvar",
    "apag",
    "exclu",
    "renome",
    "maak",
    "schrijf",
    "verwijder",
    "verplaats",
    "созда",
    "запиш",
    "напиш",
    "сохран",
    "удал",
    "перемест",
    "скопир",
    "переимен",
];

/// Scripts without spaces: things and acts as substrings.
const CJK_OBJECTS: &[&str] = &["文件", "資料夾", "目录", "目錄", "ファイル", "フォルダ", "파일", "폴더"];
const CJK_ACTS: &[&str] = &[
    "创建",
    "建立",
    "新建",
    "写",
    "寫",
    "保存",
    "删除",
    "刪除",
    "移动",
    "移動",
    "复制",
    "複製",
    "重命名",
    "作成",
    "作って",
    "書",
    "削除",
    "コピー",
    "만들",
    "작성",
    "저장",
    "삭제",
    "이동",
    "복사",
];

/// Words that may stand before the verb of a request without changing who is asked for what.
const POLITE: &[&str] = &[
    "please", "can", "could", "would", "will", "you", "i", "we", "want", "need", "like", "to", "now", "then", "and",
    "also", "just", "kindly", "artoo", "hey", "hi", "hello", "id", "i'd", "let's", "lets", "go", "ahead", "first",
    "next", "finally", "help", "me", "try",
];

/// Participles that claim a change.
const CLAIMS: &[&str] = &[
    "created",
    "wrote",
    "written",
    "saved",
    "stored",
    "generated",
    "deleted",
    "removed",
    "erased",
    "moved",
    "renamed",
    "copied",
    "appended",
    "edited",
    "updated",
    "replaced",
    "overwritten",
    "downloaded",
    "installed",
    "extracted",
    "added",
    "made",
];

/// Whether the text speaks of files, folders or paths of a machine.
#[must_use]
pub fn mentions_machine(text: &str) -> bool {
    let lower = text.to_lowercase();
    words(&lower).any(|word| OBJECTS.contains(&word)) || lower.split_whitespace().any(looks_like_path) || {
        CJK_OBJECTS.iter().any(|object| lower.contains(object))
    }
}

/// Whether a request asks for something on the machine to be changed.
#[must_use]
pub fn asks_for_change(request: &str) -> bool {
    if !mentions_machine(request) {
        return false;
    }
    let lower = request.to_lowercase();
    let foreign = words(&lower).any(|word| FOREIGN_ACTS.iter().any(|act| word.starts_with(act)));
    foreign || CJK_ACTS.iter().any(|act| lower.contains(act)) || opens_clause_with_act(&lower)
}

/// Whether an output claims, in the first person or as its opening, that something was changed.
#[must_use]
pub fn claims_change(output: &str) -> bool {
    if !mentions_machine(output) {
        return false;
    }
    let lower = output.to_lowercase();
    let mut since_speaker = usize::MAX;
    let mut opening = true;
    for token in lower.split_whitespace() {
        let word = trim(token);
        let claim = CLAIMS.contains(&word);
        if claim && (opening || since_speaker <= 3) {
            return true;
        }
        since_speaker = match word {
            "i" | "i've" | "i’ve" | "we" | "we've" | "successfully" | "been" => 0,
            _ => since_speaker.saturating_add(1),
        };
        opening = token.ends_with(['.', '!', ':', ';']) || (opening && matches!(word, "file" | "the" | "and" | ""));
    }
    false
}

fn opens_clause_with_act(lower: &str) -> bool {
    let mut opening = true;
    for token in lower.split_whitespace() {
        let word = trim(token);
        if opening && ENGLISH_ACTS.contains(&word) {
            return true;
        }
        let ends_clause = token.ends_with([',', ';', '.', ':', '!', '?']);
        opening = ends_clause || matches!(word, "and" | "then" | "") || (opening && POLITE.contains(&word));
    }
    false
}

fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower.split_whitespace().map(trim)
}

fn trim(token: &str) -> &str {
    token.trim_matches(|c: char| !c.is_alphanumeric())
}

/// `a/b`, `~/x`, `notes.txt`: a slash between parts, a leading tilde, or a short extension of letters and digits.
fn looks_like_path(token: &str) -> bool {
    let token = token.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | ',' | ';' | ':' | '(' | ')' | '!' | '?'));
    if token.starts_with("http://") || token.starts_with("https://") {
        return false;
    }
    if token.starts_with('~') || token.starts_with("./") || (token.starts_with('/') && token.len() > 1) {
        return true;
    }
    let token = token.trim_end_matches('.');
    match token.rsplit_once('.') {
        Some((stem, extension)) => {
            !stem.is_empty()
                && stem.chars().any(char::is_alphabetic)
                && (1..=5).contains(&extension.chars().count())
                && extension.chars().all(|c| c.is_ascii_alphanumeric())
                && extension.chars().any(|c| c.is_ascii_alphabetic())
                && !matches!(token, "e.g" | "i.e" | "a.m" | "p.m")
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{asks_for_change, claims_change, mentions_machine};

    #[test]
    fn requests_for_a_change_are_told_from_questions() {
        for request in [
            "create a file notes.txt with hello",
            "Please write a report to ~/out/report.md",
            "could you rename a.txt to b.txt",
            "count the files, then delete the largest file",
            "I want you to save it in my documents folder",
            "Erstelle eine Datei hallo.txt",
            "crée un fichier test.txt",
            "crea un archivo llamado hola.txt",
            "создай файл привет.txt",
            "创建一个文件 hello.txt",
        ] {
            assert!(asks_for_change(request), "{request}");
        }
        for question in [
            "how many files are in this folder",
            "list the files to delete",
            "which file did I write last week?",
            "write a haiku about rain",
            "what is the capital of France",
            "find the folder where I saved my taxes",
        ] {
            assert!(!asks_for_change(question), "{question}");
        }
    }

    #[test]
    fn claims_of_a_change_are_told_from_facts_about_files() {
        for claim in [
            "Done. I created the file and verified it.",
            "I have successfully saved the file.",
            "Created notes.txt in your folder",
            "File created: notes.txt",
            "The file has been written.",
        ] {
            assert!(claims_change(claim), "{claim}");
        }
        for fact in ["notes.txt was last modified on Monday", "42 files", "the newest file is a.txt, created in 2024"] {
            assert!(!claims_change(fact), "{fact}");
        }
    }

    #[test]
    fn paths_and_things_of_a_machine_are_seen() {
        assert!(mentions_machine("look at ./src"));
        assert!(mentions_machine("open report.pdf"));
        assert!(!mentions_machine("is 3.14 about pi, e.g. roughly"));
        assert!(!mentions_machine("see https://example.com/a.txt"));
    }
}
