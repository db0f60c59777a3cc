//! Programs that look for files, list them, add up their sizes, or make new ones.

use crate::guard::programs::Operands::{
    Anything, By, CopyToNew, Facts, Names, NewFiles, NewFolders, OneContent, PatternThenContent, Text,
};
use crate::guard::programs::Program;
use crate::guard::{archive, create, find, odd, search};

const LS_LONG: &str = "all almost-all author escape block-size= ignore-backups color? directory classify? file-type \
    format= full-time group-directories-first no-group human-readable si dereference-command-line hide= hyperlink? \
    indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars \
    show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= width= zero context \
    version help";

const fn ls(name: &'static str) -> Program {
    Program::new(name, "aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1", "ITw", LS_LONG, By(search::ls)).tame()
}

/// Files and folders.
pub(super) static FILES: &[Program] = &[
    ls("ls"),
    ls("dir"),
    ls("vdir"),
    Program::new("ls words", "aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1", "ITw", LS_LONG, Facts).tame(),
    Program::new("stat", "Lft", "c", "dereference file-system format= printf= terse cached=", Facts).tame(),
    Program::new(
        "du",
        "0abcDhHklLmPsSx",
        "Bdt",
        "null all apparent-size block-size= bytes total dereference-args max-depth= human-readable inodes \
            dereference count-links no-dereference separate-dirs si summarize threshold= time? time-style= exclude= \
            one-file-system",
        Facts,
    )
    .tame(),
    Program::new(
        "df",
        "ahHiklmPT",
        "Btx",
        "all block-size= human-readable si inodes local portability total type= print-type exclude-type= output? sync \
            no-sync",
        Facts,
    )
    .tame(),
    Program::new(
        "tree",
        "adfilpsughDFrtcUvnCAQNJXqxS",
        "LPI",
        "dirsfirst filesfirst du si noreport prune gitignore charset= filelimit= timefmt= inodes device sort? \
            matchdirs ignore-case metafirst",
        Facts,
    ),
    Program::new(
        "realpath",
        "emLPsqz",
        "",
        "canonicalize-existing canonicalize-missing logical physical quiet no-symlinks strip zero relative-to= \
            relative-base=",
        Facts,
    )
    .tame(),
    Program::new(
        "readlink",
        "femnqsvz",
        "",
        "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero",
        Facts,
    )
    .tame(),
    Program::new("namei", "lmoxvn", "", "long modes owners mountpoints vertical nosymlinks", Facts).tame(),
    Program::new(
        "getfacl",
        "acdeEsRLPtpn",
        "",
        "access default omit-header all-effective no-effective recursive tabular numeric absolute-names",
        Facts,
    )
    .tame(),
    Program::new("lsattr", "RVadlpv", "", "", Facts).tame(),
    Program::new("getfattr", "dhRLP", "em", "dump encoding= no-dereference match= absolute-names only-values", Facts),
    Program::new("find", "", "", "", By(find::judge)),
    Program::new("fd", "", "", "", By(search::fd)),
    Program::new("fdfind", "", "", "", By(search::fd)),
    Program::new(
        "fd words",
        "HIusgFapL0l1qi",
        "tedESj",
        "hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob \
        regex fixed-strings absolute-path list-details follow full-path print0 max-depth= min-depth= exact-depth= \
        type= extension= exclude= size= changed-within= changed-before= newer= older= max-results= quiet \
        show-errors strip-cwd-prefix color= threads= one-file-system prune",
        Text,
    ),
    Program::new(
        "locate",
        "bceiqrSw0AL",
        "nl",
        "basename count existing ignore-case limit= quiet regex regexp= statistics wholename null all",
        Text,
    )
    .answers(),
    Program::new(
        "plocate",
        "bceiqrw0A",
        "nl",
        "basename count existing ignore-case limit= quiet regex wholename null all",
        Text,
    )
    .answers(),
    Program::new(
        "mlocate",
        "bceiqrSw0A",
        "nl",
        "basename count existing ignore-case limit= quiet regex wholename null all",
        Text,
    )
    .answers(),
    Program::new("rg", "", "", "", By(search::rg)).answers(),
    Program::new(
        "rg words",
        "ivwxnNcloFPsSUuHIaL0hpqV.",
        "eABCgtTmjMrEd",
        "ignore-case invert-match word-regexp line-regexp line-number no-line-number count count-matches \
            files-with-matches files-without-match only-matching fixed-strings pcre2 case-sensitive smart-case \
            multiline multiline-dotall unrestricted with-filename no-filename text follow null hidden no-ignore \
            no-ignore-vcs no-heading heading column no-column regexp= after-context= before-context= context= glob= \
            iglob= type= type-not= max-count= threads= max-columns= replace= encoding= max-depth= files type-list \
            color= colors= sort= sortr= stats json vimgrep trim quiet no-messages passthru crlf max-filesize= \
            one-file-system byte-offset debug no-config version null-data auto-hybrid-regex engine= pretty",
        PatternThenContent,
    )
    .answers(),
    Program::new("which", "as", "", "all", Names).answers(),
    Program::new("whereis", "bmsul", "", "", Names).answers(),
    Program::new("basename", "az", "s", "multiple suffix= zero", Anything).computes(),
    Program::new("dirname", "z", "", "zero", Anything).computes(),
    Program::new("pathchk", "pP", "", "portability", Text).computes(),
    Program::new(
        "file",
        "bihLkNrn0sdpEelcv",
        "emFP",
        "brief mime mime-type mime-encoding dereference no-dereference keep-going raw extension print0 no-pad no-buffer \
            separator= apple special-files version",
        Facts,
    ),
    Program::new(
        "cksum",
        "bz",
        "al",
        "algorithm= length= untagged tag binary text zero base64 raw",
        super::text::CONTENT,
    )
    .tame(),
    super::text::sum("md5sum"),
    super::text::sum("sha1sum"),
    super::text::sum("sha224sum"),
    super::text::sum("sha256sum"),
    super::text::sum("sha384sum"),
    super::text::sum("sha512sum"),
    Program::new("b2sum", "btzl", "", "binary text tag zero length=", super::text::CONTENT).tame(),
    Program::new("sum", "rs", "", "sysv", super::text::CONTENT).tame(),
    Program::new("shasum", "btU0", "a", "algorithm= binary text portable UNIVERSAL", super::text::CONTENT),
    Program::new("md5", "qr", "s", "", super::text::CONTENT),
    Program::new("xxhsum", "qb", "", "", super::text::CONTENT),
    Program::new("tar", "", "", "", By(archive::tar)),
    Program::new("zip", "", "", "", By(archive::zip)).computes(),
    Program::new("unzip", "", "", "", By(odd::unzip)),
    Program::new("zipinfo", "12smlvhtTzC", "", "", super::text::CONTENT),
    Program::new(
        "gzip",
        "lvtdcknqNf",
        "",
        "list verbose test decompress uncompress stdout to-stdout keep quiet name no-name",
        super::text::CONTENT,
    )
    .requires(&["l", "t", "c", "list", "test", "stdout", "to-stdout"]),
    Program::new("gunzip", "cltvq", "", "stdout to-stdout list test verbose quiet", super::text::CONTENT).requires(&[
        "c",
        "l",
        "t",
        "stdout",
        "to-stdout",
        "list",
        "test",
    ]),
    Program::new(
        "xz",
        "ltdcvkqT",
        "",
        "list test decompress stdout to-stdout verbose keep quiet robot",
        super::text::CONTENT,
    )
    .requires(&["l", "t", "c", "list", "test", "stdout", "to-stdout"]),
    Program::new("bzip2", "tdcvkq", "", "test decompress stdout verbose keep quiet", super::text::CONTENT)
        .requires(&["t", "c", "test", "stdout"]),
    Program::new("bunzip2", "cvkq", "", "stdout", super::text::CONTENT).requires(&["c", "stdout"]),
    Program::new("unxz", "cvkq", "", "stdout", super::text::CONTENT).requires(&["c", "stdout"]),
    Program::new("zstd", "ltdcvkq", "", "list test decompress stdout verbose quiet", super::text::CONTENT)
        .requires(&["l", "t", "c", "list", "test", "stdout"]),
    Program::new("zcat", "fqvl", "", "", super::text::CONTENT),
    Program::new("bzcat", "", "", "", super::text::CONTENT),
    Program::new("xzcat", "", "", "", super::text::CONTENT),
    Program::new("zstdcat", "", "", "", super::text::CONTENT),
    Program::new("7z", "", "", "", By(odd::seven_zip)),
    Program::new("mkdir", "pv", "m", "parents verbose mode=", NewFolders).computes(),
    Program::new("touch", "", "", "", NewFiles).computes(),
    Program::new("cp", "nvprRa", "", "no-clobber verbose recursive archive preserve? no-target-directory", CopyToNew)
        .computes(),
    Program::new("ln", "", "", "", By(create::link)).computes(),
    Program::new("tee", "", "", "", By(create::tee)).computes(),
    Program::new("mktemp", "", "", "", By(create::temporary)).computes(),
    Program::new("xxd", "abCEeipuv", "clgnosR", "", OneContent),
];
