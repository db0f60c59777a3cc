//! The word tables behind the rules of grounding: lower case, whole words unless said otherwise.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A table that is looked up by whole words.
pub(crate) struct Words(LazyLock<BTreeSet<&'static str>>);

impl Words {
    pub(crate) const fn new(read: fn() -> BTreeSet<&'static str>) -> Self {
        Self(LazyLock::new(read))
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

/// Declares tables from text in which blanks separate the words.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub(super) static $name: $crate::grounding::words::Words = $crate::grounding::words::Words::new(|| $text.split_whitespace().collect());)*
    };
}
pub(crate) use words;

words! {
    /// Things of a machine.
    OBJECTS = "file files folder folders directory directories subfolder subfolders path disk drive desktop downloads
        documents workspace clipboard screenshot screenshots archive symlink repo repository trash
        datei dateien ordner verzeichnis papierkorb fichier fichiers dossier dossiers répertoire
        archivo archivos fichero ficheros carpeta carpetas cartella cartelle arquivo arquivos pasta pastas
        bestand bestanden map файл файлы файла файлов папку папка папке папки каталог каталоге";
    /// Those of them that hold others.
    FOLDERS = "path disk drive desktop downloads documents workspace folder folders directory directories subfolder subfolders mkdir ordner verzeichnis dossier dossiers
        répertoire carpeta carpetas cartella cartelle pasta pastas map папку папка папки каталог";
    /// What, after a thing, makes it information about things: a `file list` is no file.
    INFORMATION = "name names size sizes count counts list lists listing listings structure tree type types path paths
        content contents statistics stats info information summary summaries report extension extensions number
        numbers detail details metadata system systems format formats date dates age ages owner owners";
    /// Verbs that ask for a change wherever they open a clause.
    STRONG_ACTS = "delete remove erase wipe move rename append edit modify replace overwrite save store install
        uninstall unzip unpack organize organise tidy mkdir rm mv cp purge shred truncate resize relocate";
    /// Verbs that are as often nouns or adjectives: they count before an article, a pronoun or a path.
    NOUNISH_ACTS = "empty duplicate archive backup zip trash download clear clean touch copy split export change
        compress update fix set merge discard drop restore undo revert rewrite";
    /// Verbs that as often ask for an answer (`make a list`): they count when they make or reach a thing.
    WEAK_ACTS = "create make write generate add extract convert put build produce insert record log dump note jot
        place transfer";
    /// Those of them for which `in x.txt` says where it goes.
    PLACING_ACTS = "write put place insert add log record jot note dump";
    /// Words after a verb that make the next thing its object.
    DETERMINERS = "the a an my your our this that these those all every each both it them its another any";
    /// Small words that may follow such a verb and change nothing.
    PARTICLES = "up out off down";
    /// Words that end a verb's object.
    PREPOSITIONS = "of from about for with in on under that which who to into as at by containing named called and or
        inside onto between over where";
    /// Words after which the place of a result is named.
    DESTINATIONS = "to into onto as called named";
    /// Words that may stand before the verb of a request without changing who is asked for what.
    POLITE = "please can could would will you i we want need like to now then and also just kindly artoo hey hi hello
        id i'd i’d let's lets let go ahead first next finally help me try";
    /// Openings of a request that asks for an answer.
    QUESTIONS = "what what's which who whom whose when where why how is are was were do does did has list show find
        count tell display print check verify compare search look give name
        welche welcher welches wie was wo wann wer zeige zeig liste finde zähle suche
        quels quelle quelles quel combien où quand montre trouve affiche qué que cuántos cuántas cuáles cuál dónde
        muestra encuentra busca cuenta quanti quante quali dove elenca mostra trova quantos quantas quais onde mostre
        encontre hoeveel welke waar toon zoek сколько какие какой какая где найди покажи перечисли посчитай";
    /// Articles and the like that make a `what is` a question about one thing.
    INDEFINITE = "a an";
    /// Words that tie a request to this machine.
    DEICTIC = "my mine our this here these those current";
    /// What is composed rather than found.
    COMPOSITIONS = "poem poems haiku story stories joke essay song limerick tale sonnet lyrics";
    /// Participles that claim a change of a thing.
    CLAIMS = "created wrote written saved stored generated deleted removed erased moved renamed copied appended edited
        updated replaced overwritten downloaded installed extracted added made";
    /// Participles that claim an act beyond words, whatever it was done to.
    DEEDS = "deleted removed erased moved renamed copied sent emailed installed uninstalled scheduled booked ordered
        restarted started stopped launched opened closed enabled disabled saved stored downloaded uploaded ran executed
        searched scanned inspected configured";
    /// Words of a request for how many or how much.
    NUMBERS = "many much count counts counted counting number numbers amount total totals sum quantity tally size
        anzahl viele vieler wieviel wieviele zähl zähle zählen groß grosse größe combien nombre compte compter taille
        cuánto cuánta cuántos cuántas número cuenta contar tamaño quanto quanta quanti quante numero conta contare
        quantos quantas tamanho hoeveel aantal tel grootte сколько количество число посчитай ile ilu liczba policz";
    /// Words that speak of all, of none, or of how many: a cut-off output can't carry them.
    QUANTIFIERS = "all every each none no nothing never only complete completely entire whole exhaustive missing absent
        without many number count total sum average largest smallest newest oldest biggest longest shortest most least
        alle jede jeder jedes keine kein nur vollständig anzahl tous toutes aucun aucune seul nombre todos todas ningún
        ninguna ninguno solo número tutti tutte nessun nessuna numero nenhum nenhuma apenas geen aantal все каждый
        никакой ни количество";
}

/// Beginnings of verbs of change in other languages, anywhere in a request that does not open as a question.
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

/// English words that begin like one of those and ask for nothing.
pub(super) const NOT_FOREIGN: &[&str] = &[
    "creat",
    "copied",
    "copies",
    "cancell",
    "exclud",
    "exclus",
    "eliminat",
    "salvag",
    "movers",
    "guardian",
    "scrivener",
];

/// Scripts without spaces: things, acts and question marks as substrings.
pub(super) const CJK_OBJECTS: &[&str] = &["文件", "資料夾", "目录", "目錄", "ファイル", "フォルダ", "파일", "폴더"];
pub(super) const CJK_FOLDERS: &[&str] = &["資料夾", "目录", "目錄", "文件夹", "フォルダ", "폴더"];
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
pub(super) const CJK_QUESTIONS: &[&str] =
    &["哪", "多少", "几个", "幾個", "吗", "嗎", "什么", "什麼", "列出", "查找", "いくつ", "どの", "何", "몇", "어떤"];
pub(super) const CJK_NUMBERS: &[&str] = &["多少", "几", "幾", "数", "數", "いくつ", "何", "몇", "개수"];
pub(super) const CJK_QUANTIFIERS: &[&str] = &["所有", "全部", "没有", "沒有", "すべて", "全て", "ない", "모든", "없"];
