//! The programs that are known, with the options that are known to write nothing. What is not here is not proven.

use super::programs::Operands::{
    self, Content, Facts, Find, Format, NewFolders, OneContent, OneOf, PatternThenContent,
};
use super::programs::{ExitOne, Program};

const fn program(
    name: &'static str,
    flags: &'static str,
    valued: &'static str,
    long: &'static str,
    operands: Operands,
) -> Program {
    Program {
        name,
        flags,
        valued,
        long,
        operands,
        recursive: &[],
        required: &[],
        measures: true,
        exit_one: ExitOne::Failure,
    }
}

/// A program that only computes with its own words, whatever they are.
const fn words_only(name: &'static str) -> Program {
    Program { measures: false, ..program(name, "", "", "", Operands::Anything) }
}

/// Without `check`: a list of sums names further files to open.
const SUM_LONG: &str = "binary text tag zero";

const GREP_LONG: &str = "extended-regexp fixed-strings basic-regexp perl-regexp regexp= ignore-case \
    no-ignore-case word-regexp line-regexp no-messages invert-match max-count= byte-offset line-number \
    line-buffered with-filename no-filename only-matching quiet silent binary-files= text recursive \
    include= exclude= exclude-dir= files-without-match files-with-matches count initial-tab null \
    before-context= after-context= context= color? colour?";

const fn grep(name: &'static str) -> Program {
    Program {
        recursive: &["r", "recursive"],
        exit_one: ExitOne::Answer,
        ..program(name, "EFGPivwxcnHhoqsablLTUVIZzr0123456789", "emABC", GREP_LONG, PatternThenContent)
    }
}

const fn sum(name: &'static str) -> Program {
    program(name, "btz", "", SUM_LONG, Content)
}

/// Every known program.
pub(super) static PROGRAMS: &[Program] = &[
    program(
        "ls",
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        "ITw",
        "all almost-all author escape block-size= ignore-backups color? directory classify? file-type \
            format= full-time group-directories-first no-group human-readable si \
            dereference-command-line hide= hyperlink? indicator-style= inode ignore= kibibytes \
            dereference numeric-uid-gid literal hide-control-chars show-control-chars quote-name \
            quoting-style= reverse recursive size sort= time= time-style= width= zero",
        Facts,
    ),
    program("stat", "Lft", "c", "dereference file-system format= printf= terse", Facts),
    program(
        "du",
        "0abcDhHklLmPsSx",
        "Bdt",
        "null all apparent-size block-size= bytes total dereference-args max-depth= human-readable inodes \
            dereference count-links no-dereference separate-dirs si summarize threshold= time? \
            time-style= exclude= one-file-system",
        Facts,
    ),
    program(
        "df",
        "ahHiklmPT",
        "Btx",
        "all block-size= human-readable si inodes local portability total type= print-type exclude-type= \
            output?",
        Facts,
    ),
    program("tree", "adfilpsughDFrtcUvnCAQN", "LPI", "dirsfirst du si noreport", Facts),
    program(
        "realpath",
        "emLPsqz",
        "",
        "canonicalize-existing canonicalize-missing logical physical quiet no-symlinks strip zero \
            relative-to= relative-base=",
        Facts,
    ),
    program(
        "readlink",
        "femnqsvz",
        "",
        "canonicalize canonicalize-existing canonicalize-missing no-newline quiet zero",
        Facts,
    ),
    program("find", "", "", "", Find),
    program(
        "cat",
        "AbeEnstTuv",
        "",
        "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
        Content,
    ),
    program("head", "qvz0123456789", "nc", "bytes= lines= quiet silent verbose zero-terminated", Content),
    program("tail", "qvz0123456789", "nc", "bytes= lines= quiet silent verbose zero-terminated", Content),
    program("wc", "clmwL", "", "bytes chars lines max-line-length words total=", Content),
    program("tac", "br", "s", "before regex separator=", Content),
    program("rev", "", "", "", Content),
    program(
        "nl",
        "p",
        "bdfhilnsvw",
        "body-numbering= number-format= number-width= number-separator= starting-line-number=",
        Content,
    ),
    program("fold", "bs", "w", "bytes spaces width=", Content),
    program(
        "cut",
        "nsz",
        "bcdf",
        "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated",
        Content,
    ),
    program("paste", "sz", "d", "delimiters= serial zero-terminated", Content),
    program("column", "tLexn", "csoN", "table separator= output-separator= columns=", Content),
    program(
        "sort",
        "bdfgiMhnRrVcCmsuz",
        "kt",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting \
            month-sort human-numeric-sort numeric-sort random-sort reverse sort= version-sort check? \
            key= merge stable field-separator= unique zero-terminated",
        Content,
    ),
    program(
        "uniq",
        "cdDiuz",
        "fsw",
        "count repeated all-repeated? skip-fields= ignore-case skip-chars= unique zero-terminated \
            check-chars= group?",
        OneContent,
    ),
    program("comm", "123z", "", "check-order nocheck-order output-delimiter= total zero-terminated", Content),
    program("join", "iz", "aejotv12", "ignore-case check-order nocheck-order header zero-terminated", Content),
    program(
        "file",
        "bihLkNrn0",
        "",
        "brief mime mime-type mime-encoding dereference no-dereference keep-going raw extension",
        Content,
    ),
    program(
        "od",
        "bcdfilosxv",
        "AjNtS",
        "address-radix= skip-bytes= read-bytes= format= output-duplicates width?",
        Content,
    ),
    program("hexdump", "bcCdovx", "ns", "", Content),
    program("xxd", "abeipuE", "cglos", "", OneContent),
    program("strings", "afw", "nte", "all print-file-name bytes= radix= encoding=", Content),
    program("base64", "di", "w", "decode ignore-garbage wrap=", OneContent),
    sum("md5sum"),
    sum("sha1sum"),
    sum("sha224sum"),
    sum("sha256sum"),
    sum("sha384sum"),
    sum("sha512sum"),
    sum("b2sum"),
    program("cksum", "z", "a", "algorithm= tag untagged zero", Content),
    program("sum", "rs", "", "sysv", Content),
    grep("grep"),
    grep("egrep"),
    grep("fgrep"),
    Program {
        // Not recursive: it would follow links below the folders.
        exit_one: ExitOne::Answer,
        ..program(
            "diff",
            "qscuyeniEZbwBadtT0123456789",
            "CUWIxL",
            "brief report-identical-files context? unified? side-by-side width= left-column \
                suppress-common-lines new-file exclude= ignore-case ignore-tab-expansion \
                ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines \
                ignore-matching-lines= text strip-trailing-cr label= minimal color? normal",
            Content,
        )
    },
    Program {
        exit_one: ExitOne::Answer,
        ..program("cmp", "bls", "in", "print-bytes verbose silent quiet bytes= ignore-initial=", Content)
    },
    program("date", "uRI", "dr", "utc universal rfc-email iso-8601? rfc-3339= date= reference=", Format),
    program(
        "uname",
        "asnrvmpio",
        "",
        "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform \
            operating-system",
        Operands::None,
    ),
    program("whoami", "", "", "", Operands::None),
    program("logname", "", "", "", Operands::None),
    program("id", "gGnruz", "", "group groups name real user zero", Operands::Text),
    program("groups", "", "", "", Operands::Text),
    program("who", "abdHlmpqrstTuw", "", "all boot heading count users", Operands::None),
    program("users", "", "", "", Operands::None),
    program("pwd", "LP", "", "logical physical", Operands::None),
    program("hostname", "sfidIA", "", "short fqdn long ip-address all-ip-addresses", Operands::None),
    program("arch", "", "", "", Operands::None),
    program("nproc", "", "", "all ignore=", Operands::None),
    program("uptime", "ps", "", "pretty since", Operands::None),
    program(
        "free",
        "bkmghtlwv",
        "",
        "bytes kibi mebi gibi tebi kilo mega giga human si total wide lohi",
        Operands::None,
    ),
    program("lscpu", "abcexyJ", "", "json all online offline", Operands::None),
    program(
        "lsblk",
        "abfiJlmnpPrSt",
        "o",
        "all bytes fs json list noheadings output= paths raw topology tree",
        Operands::None,
    ),
    program("sw_vers", "", "", "productName productVersion buildVersion", Operands::None),
    program("vm_stat", "", "", "", Operands::None),
    program("cal", "13jmsywh", "", "", Operands::Text),
    // Whole words only: procps reads a cluster it can't parse in the BSD way, where `e` shows every environment.
    program(
        "ps",
        "",
        "",
        "",
        OneOf(&["a", "ax", "aux", "axu", "x", "ux", "-e", "-A", "-ef", "-eF", "-ely", "-ejH", "--forest"]),
    ),
    program(
        "pgrep",
        "lafcinovxe",
        "uUPt",
        "list-name list-full count full ignore-case newest oldest exact",
        Operands::Text,
    ),
    program("which", "a", "", "all", Operands::Text),
    words_only("echo"),
    // Its own options would be those of a shell's printf; the program has none.
    Program { measures: false, ..program("printf", "", "", "", Operands::Text) },
    words_only("seq"),
    words_only("expr"),
    words_only("factor"),
    words_only("basename"),
    words_only("dirname"),
    words_only("sleep"),
    words_only("true"),
    words_only("false"),
    words_only("test"),
    Program { measures: false, ..program("mkdir", "pv", "m", "parents verbose mode=", NewFolders) },
    Program { measures: false, ..program("touch", "", "", "", Operands::NewFiles) },
    Program {
        required: &["n", "no-clobber"],
        measures: false,
        ..program("cp", "nvp", "", "no-clobber verbose", Operands::CopyToNew)
    },
];
