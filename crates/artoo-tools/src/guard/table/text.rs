//! Programs that show, pick, sort, count or compare text.

use crate::guard::programs::Operands::{self, Anything, By, Content, None, OneContent, PatternThenContent, Text};
use crate::guard::programs::Program;
use crate::guard::{awk, jq, odd, search, sed, xargs};

/// For tables of other families.
pub(super) const CONTENT: Operands = Content;

const GREP_LONG: &str = "extended-regexp fixed-strings basic-regexp perl-regexp regexp= file= ignore-case \
    no-ignore-case word-regexp line-regexp no-messages invert-match max-count= byte-offset line-number \
    line-buffered with-filename no-filename only-matching quiet silent binary-files= text recursive \
    dereference-recursive include= exclude= exclude-dir= exclude-from= files-without-match files-with-matches count \
    initial-tab null null-data before-context= after-context= context= color? colour? label= directories= devices= \
    version";

const fn grep(name: &'static str) -> Program {
    Program::new(name, "", "", "", By(search::grep)).answers().tame()
}

/// Without `check`: a list of sums names further files to open.
pub(super) const fn sum(name: &'static str) -> Program {
    Program::new(name, "btz", "", "binary text tag zero", Content).tame()
}

const fn base(name: &'static str) -> Program {
    Program::new(name, "di", "w", "decode ignore-garbage wrap=", Content).tame()
}

/// A program that only computes with its own words, whatever they are.
const fn words_only(name: &'static str) -> Program {
    Program::new(name, "", "", "", Anything).computes()
}

/// Text.
pub(super) static TEXT: &[Program] = &[
    Program::new("cat", "AbeEnstTuv", "", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting", Content).tame().selects(),
    Program::new("tac", "br", "s", "before regex separator=", Content).tame().selects(),
    Program::new("nl", "p", "bdfhilnsvw", "body-numbering= number-format= number-width= number-separator= starting-line-number= header-numbering= footer-numbering= line-increment= no-renumber join-blank-lines= section-delimiter=", Content).tame(),
    Program::new("rev", "0", "", "zero", Content).tame(),
    Program::new("head", "qvz0123456789", "nc", "bytes= lines= quiet silent verbose zero-terminated", Content).tame().selects(),
    Program::new("tail", "qvzr0123456789", "nc", "bytes= lines= quiet silent verbose zero-terminated", Content).tame().selects(),
    Program::new("wc", "clmwL", "", "bytes chars lines max-line-length words total=", Content).tame(),
    Program::new("fold", "bs", "w", "bytes spaces width= characters", Content).tame(),
    Program::new("fmt", "cstu", "wpg", "width= goal= split-only uniform-spacing crown-margin tagged-paragraph prefix=", Content).tame(),
    Program::new("pr", "adFfJmrtTn0123456789", "heiloswWN", "columns= header= length= width= page-width= double-space merge omit-header omit-pagination number-lines? indent= across", Content),
    Program::new("expand", "i", "t", "initial tabs=", Content).tame(),
    Program::new("unexpand", "a", "t", "all first-only tabs=", Content).tame(),
    Program::new("cut", "nsz", "bcdf", "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated", Content).tame(),
    Program::new("paste", "sz", "d", "delimiters= serial zero-terminated", Content).tame(),
    Program::new("column", "tLexnJ", "csoNHRTEWd", "table separator= output-separator= columns= table-columns= table-right= table-hide= table-truncate= table-wrap= table-noheadings json keep-empty-lines fillrows output-width= table-name= table-order=", Content).tame(),
    Program::new(
        "sort",
        "bdfgiMhnRrVcCmsuz",
        "kto",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort \
            human-numeric-sort numeric-sort random-sort reverse sort= version-sort check? key= merge stable \
            field-separator= unique zero-terminated parallel= output=",
        Content,
    )
    .creates(&["o", "output"])
    .selects(),
    Program::new("shuf", "ezr", "nio", "echo input-range= head-count= output= repeat zero-terminated", Content).creates(&["o", "output"]).selects(),
    Program::new(
        "uniq",
        "cdDiuz",
        "fsw",
        "count repeated all-repeated? skip-fields= ignore-case skip-chars= unique zero-terminated check-chars= group?",
        OneContent,
    )
    .selects(),
    Program::new("comm", "123z", "", "check-order nocheck-order output-delimiter= total zero-terminated", Content).tame(),
    Program::new("join", "iz", "aejotv12", "ignore-case check-order nocheck-order header zero-terminated", Content).tame(),
    Program::new("tsort", "", "", "", Content).tame(),
    Program::new("tr", "cCdst", "", "complement delete squeeze-repeats truncate-set1", Text).computes(),
    Program::new("look", "abdf", "t", "", PatternThenContent),
    Program::new("od", "bcdfilosxvah", "AjNtSw", "address-radix= skip-bytes= read-bytes= format= output-duplicates strings? width? endian= traditional", Content).tame(),
    Program::new("hexdump", "bcCdovxX", "ens", "canonical length= skip= no-squeezing one-byte-octal", Content).tame(),
    Program::new("hd", "bcCdovx", "ens", "", Content).tame(),
    Program::new("strings", "afwT", "nteso", "all print-file-name bytes= radix= encoding= include-all-whitespace output-separator=", Content),
    grep("grep"),
    grep("egrep"),
    grep("fgrep"),
    grep("rgrep"),
    Program::new("grep words", "EFGPivwyxcnHhoqsablLTUVIZzrR0123456789", "efmABCdD", GREP_LONG, PatternThenContent)
        .recurses(&["r", "R", "recursive", "dereference-recursive"])
        .tame(),
    Program::new("zgrep", "EFGivwxcnHhoqsalL", "emABC", "ignore-case count line-number fixed-strings extended-regexp", PatternThenContent).answers(),
    Program::new("diff", "abBcdeEinNpqrsuwyTtZ0123456789", "CFIUWxL", "brief report-identical-files unified? context? \
        side-by-side width= left-column suppress-common-lines show-c-function show-function-line= label= recursive \
        no-dereference new-file unidirectional-new-file ignore-case ignore-all-space ignore-space-change \
        ignore-trailing-space ignore-blank-lines ignore-tab-expansion ignore-matching-lines= strip-trailing-cr text \
        exclude= minimal color? normal speed-large-files expand-tabs initial-tab horizon-lines= ed rcs \
        old-line-format= new-line-format= unchanged-line-format= line-format=", Content)
        .recurses(&["r", "recursive"])
        .answers(),
    Program::new("cmp", "bls", "in", "print-bytes verbose silent quiet bytes= ignore-initial=", Content).answers().tame(),
    Program::new("diff3", "aeEixX3Am", "L", "text merge easy-only show-all label=", Content).answers(),
    Program::new("colordiff", "abBiNpqrsuwy", "CUWL", "unified? side-by-side brief", Content).answers(),
    Program::new("less words", "FRSXNEeiIKmMnqrsWw", "", "quit-if-one-screen RAW-CONTROL-CHARS chop-long-lines no-init LINE-NUMBERS quit-at-eof raw-control-chars", Content),
    Program::new("less", "", "", "", By(odd::pager)),
    Program::new("more", "", "", "", By(odd::pager)),
    Program::new("sed", "", "", "", By(sed::judge)),
    Program::new("gsed", "", "", "", By(sed::judge)),
    Program::new("awk", "", "", "", By(awk::judge)),
    Program::new("gawk", "", "", "", By(awk::judge)),
    Program::new("mawk", "", "", "", By(awk::judge)),
    Program::new("nawk", "", "", "", By(awk::judge)),
    Program::new("jq", "", "", "", By(jq::judge)).answers(),
    Program::new("xargs", "", "", "", By(xargs::judge)),
    base("base64"),
    base("base32"),
    Program::new("basenc", "di", "w", "base64 base64url base32 base32hex base16 base2msbf base2lsbf z85 decode ignore-garbage wrap=", Content).tame(),
    Program::new("iconv", "cls", "ft", "from-code= to-code= list silent", Content),
    Program::new("uconv", "", "ftx", "", Content),
    Program::new("cmark", "", "t", "to=", Content),
    Program::new("bc", "lqsiw", "", "mathlib quiet standard", Content),
    Program::new("numfmt", "dz", "", "from= to= from-unit= to-unit= field= format= grouping header? invalid= padding= round= suffix= delimiter= zero-terminated", Text).computes(),
    words_only("echo"),
    // Its own options would be those of a shell's printf; the program has none.
    Program::new("printf", "", "", "", Text).computes(),
    Program::new("seq", "w", "sf", "equal-width separator= format=", Text).computes(),
    words_only("expr"),
    words_only("factor"),
    words_only("true"),
    words_only("false"),
    Program::new("sleep", "", "", "", Text).computes(),
    Program::new("cal", "13jmsywnh", "ABd", "three one year monday sunday", Text),
    Program::new("ncal", "13jmswybhMSe", "ABd", "", Text),
    Program::new("pdfinfo", "", "fl", "", OneContent),
    Program::new("pdffonts", "", "fl", "", OneContent),
    Program::new("exiftool", "sSnaGgjhfcT", "", "", Content),
    Program::new("mediainfo", "f", "", "", Content),
    Program::new("xmllint", "", "", "noout format xpath= nonet html recover version", Content),
    Program::new("pdftotext", "", "", "", By(odd::pdf_text)),
    Program::new("whoami", "", "", "", None),
];
