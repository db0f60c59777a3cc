//! The word tables of the grounding rules: lowercase, compared with whole words unless a table says otherwise.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A table of whole words, filled on first use.
pub(crate) struct Words(LazyLock<BTreeSet<&'static str>>);

impl Words {
    /// A table that `read` fills on first use.
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
    /// The words among `OBJECTS` for things that contain files, such as folders and disks.
    FOLDERS = "path disk drive desktop downloads documents workspace folder folders directory directories subfolder subfolders mkdir ordner verzeichnis dossier dossiers
        répertoire carpeta carpetas cartella cartelle pasta pastas map папку папка папки каталог";
    /// Words that turn the word before them into information about it: a `file list` is not a file.
    INFORMATION = "name names size sizes count counts list lists listing listings structure tree type types path paths
        content contents statistics stats info information summary summaries report extension extensions number
        numbers detail details metadata system systems format formats date dates age ages owner owners";
    /// Verbs that always ask for a change if they begin a clause.
    STRONG_ACTS = "delete remove erase wipe move rename append edit modify replace overwrite save store install
        uninstall unzip unpack organize organise tidy mkdir rm mv cp purge shred truncate resize relocate";
    /// Verbs that may also be nouns or adjectives: they ask for a change only before an article, a pronoun or a path.
    NOUNISH_ACTS = "empty duplicate archive backup zip trash download clear clean touch copy split export change
        compress update fix set merge discard drop restore undo revert rewrite";
    /// Verbs that may also ask for an answer (`make a list`): they ask for a change only if a file or folder is their
    /// object or their destination.
    WEAK_ACTS = "create make write generate add extract convert put build produce insert record log dump note jot
        place transfer";
    /// The verbs among `WEAK_ACTS` for which `in x.txt` names the destination.
    PLACING_ACTS = "write put place insert add log record jot note dump";
    /// Articles, pronouns and the like after a verb, which show that its object follows.
    DETERMINERS = "the a an my your our this that these those all every each both it them its another any";
    /// Adverbs that may stand between a verb and its object, as in `clean up the folder`.
    PARTICLES = "up out off down";
    /// Words that end the object of a verb.
    PREPOSITIONS = "of from about for with in on under that which who to into as at by containing named called and or
        inside onto between over where";
    /// Words before the destination or the name of a result.
    DESTINATIONS = "to into onto as called named";
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
    /// Words that ask how many or how much.
    NUMBERS = "many much count counts counted counting number numbers amount total totals sum quantity tally size
        anzahl viele vieler wieviel wieviele zähl zähle zählen groß grosse größe combien nombre compte compter taille
        cuánto cuánta cuántos cuántas número cuenta contar tamaño quanto quanta quanti quante numero conta contare
        quantos quantas tamanho hoeveel aantal tel grootte сколько количество число посчитай ile ilu liczba policz";
    /// Words for all, none or how many. A truncated output can't prove a claim with such a word.
    QUANTIFIERS = "all every each none no nothing never only complete completely entire whole exhaustive missing absent
        without many number count total sum average largest smallest newest oldest biggest longest shortest most least
        alle jede jeder jedes keine kein nur vollständig anzahl tous toutes aucun aucune seul nombre todos todas ningún
        ninguna ninguno solo número tutti tutte nessun nessuna numero nenhum nenhuma apenas geen aantal все каждый
        никакой ни количество";
}

/// Prefixes of verbs for a change in other languages; searched anywhere in a request that does not begin as a question.
pub(super) const FOREIGN_ACTS: &[&str] = &[
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

/// Prefixes of English words that match a prefix in `FOREIGN_ACTS` but ask for no change.
pub(super) const NOT_FOREIGN: &[&str] = &[
    "creat",
    "copied",
    "copies",
    "cancelled",
    "cancelling",
    "cancellation",
    "exclud",
    "exclus",
    "eliminat",
    "salvag",
    "movers",
    "guardian",
    "scrivener",
];

/// Words for files and folders in Chinese, Japanese and Korean, searched as substrings.
pub(super) const CJK_OBJECTS: &[&str] = &["文件", "資料夾", "目录", "目錄", "ファイル", "フォルダ", "파일", "폴더"];
/// Words for folders in Chinese, Japanese and Korean, searched as substrings.
pub(super) const CJK_FOLDERS: &[&str] = &["資料夾", "目录", "目錄", "文件夹", "フォルダ", "폴더"];
/// Verbs that ask for a change in Chinese, Japanese and Korean, searched as substrings.
pub(super) const CJK_ACTS: &[&str] = &[
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
/// Question words in Chinese, Japanese and Korean, searched as substrings.
pub(super) const CJK_QUESTIONS: &[&str] =
    &["哪", "多少", "几个", "幾個", "吗", "嗎", "什么", "什麼", "列出", "查找", "いくつ", "どの", "何", "몇", "어떤"];
/// Words that ask how many, in Chinese, Japanese and Korean, searched as substrings.
pub(super) const CJK_NUMBERS: &[&str] = &["多少", "几", "幾", "数", "數", "いくつ", "何", "몇", "개수"];
/// Words for all or none in Chinese, Japanese and Korean, searched as substrings.
pub(super) const CJK_QUANTIFIERS: &[&str] = &["所有", "全部", "没有", "沒有", "すべて", "全て", "ない", "모든", "없"];
