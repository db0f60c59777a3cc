//! Reading subcommands of `git`, with their options.

use crate::guard::git;
use crate::guard::programs::Operands::{By, None, OneText, Subcommand, Text};
use crate::guard::programs::Program;

/// How a difference is computed and shown; no output file, no external program.
macro_rules! diff_long {
    () => {
        "patch no-patch unified= raw patch-with-raw patch-with-stat minimal patience histogram diff-algorithm= \
            stat? numstat shortstat dirstat? summary name-only name-status submodule? color? no-color color-moved? \
            word-diff? color-words? word-diff-regex= no-renames rename-empty check full-index binary abbrev? \
            break-rewrites? find-renames? find-copies? find-copies-harder irreversible-delete diff-filter= \
            pickaxe-regex pickaxe-all relative? no-relative text ignore-cr-at-eol ignore-space-at-eol \
            ignore-space-change ignore-all-space ignore-blank-lines function-context inter-hunk-context= exit-code \
            quiet ignore-submodules? src-prefix= dst-prefix= no-prefix cached staged merge-base no-ext-diff \
            no-textconv compact-summary cc combined-all-paths indent-heuristic no-indent-heuristic stat-width= \
            stat-name-width= stat-count= no-index \
            "
    };
}

/// How commits are picked and shown.
const LOG_LONG: &str = concat!(
    diff_long!(),
    "oneline pretty? format= abbrev-commit no-abbrev-commit graph no-graph decorate? no-decorate decorate-refs= \
        source follow full-diff log-size max-count= skip= since= after= until= before= author= committer= grep= \
        all-match invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp merges \
        no-merges min-parents= max-parents= first-parent not all branches? tags? remotes? glob= exclude= reflog \
        walk-reflogs cherry-pick cherry-mark cherry left-right left-only right-only boundary simplify-by-decoration \
        full-history dense sparse simplify-merges ancestry-path? topo-order date-order author-date-order reverse \
        date= relative-date parents children root show-pulls clear-decorations count objects timestamp no-notes \
        notes? expand-tabs? no-expand-tabs mailmap no-mailmap no-walk? line-prefix= left-only email numbered \
        summary group= header quiet"
);

const LOG_FLAGS: &str = "0123456789puzsicmrtgEFPRabwqWBMCD";
const LOG_VALUED: &str = "nSGLUl";

const fn log(name: &'static str) -> Program {
    Program::new(name, LOG_FLAGS, LOG_VALUED, LOG_LONG, Text)
}

const fn diff(name: &'static str) -> Program {
    Program::new(name, "puzsRabwqWBMCDrtcm0123456789", "SGUl", concat!(diff_long!(), "root no-commit-id stdin"), Text)
        .answers()
}

/// Subcommands that read.
pub(super) static GIT: &[Program] = &[
    Program::new("git", "", "", "", By(git::judge)),
    Program::new("git branch", "", "", "", By(git::branch)),
    Program::new("git tag", "", "", "", By(git::tag)),
    log("git log"),
    log("git show"),
    Program::new(
        "git shortlog",
        "nsec",
        "",
        "numbered summary email committer group= since= until= after= before= author= all no-merges",
        Text,
    ),
    log("git whatchanged"),
    log("git reflog show"),
    log("git rev-list"),
    Program::new("git reflog", "", "", "", By(reflog)),
    Program::new("git stash", "", "", "", Subcommand),
    log("git stash list"),
    log("git stash show"),
    diff("git diff"),
    diff("git diff-tree"),
    diff("git diff-files"),
    diff("git diff-index"),
    Program::new("git range-diff", "s", "", "no-patch no-color color? creation-factor=", Text),
    Program::new(
        "git status",
        "sbvuzM0123456789",
        "",
        "short branch show-stash porcelain? long verbose untracked-files? ignore-submodules? ignored? no-renames \
            find-renames? ahead-behind no-ahead-behind column? no-column null",
        Text,
    ),
    Program::new(
        "git ls-files",
        "cdmoiskutvzf",
        "xX",
        "cached deleted modified others ignored stage unmerged killed directory no-empty-directory exclude= \
            exclude-standard error-unmatch full-name abbrev? deduplicate eol recurse-submodules format=",
        Text,
    ),
    Program::new(
        "git ls-tree",
        "drtlz",
        "",
        "long name-only name-status object-only full-name full-tree abbrev? format=",
        Text,
    ),
    Program::new(
        "git grep",
        "inwlLcvEFGPphHoIarqzW0123456789",
        "eABCm",
        "ignore-case line-number word-regexp files-with-matches name-only files-without-match count invert-match \
            extended-regexp fixed-strings basic-regexp perl-regexp cached untracked text max-depth= recursive \
            heading break show-function function-context context= after-context= before-context= only-matching \
            column max-count= and or not all-match color? no-color null quiet full-name threads= exclude-standard",
        Text,
    )
    .answers(),
    Program::new(
        "git blame",
        "bltfnsepwMC",
        "L",
        "root show-stats porcelain line-porcelain show-name show-number show-email since= date= abbrev= \
            ignore-rev= color-lines color-by-age incremental encoding= first-parent minimal",
        Text,
    ),
    Program::new(
        "git rev-parse",
        "q",
        "",
        "show-toplevel git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir \
            is-bare-repository is-shallow-repository show-prefix show-cdup show-superproject-working-tree \
            abbrev-ref? symbolic symbolic-full-name verify quiet short? all branches? tags? remotes? \
            path-format= git-path= sq not revs-only no-revs flags no-flags default= show-object-format?",
        Text,
    )
    .answers(),
    Program::new("git cat-file", "tspe", "", "batch-check? batch? batch-all-objects", Text).answers(),
    Program::new(
        "git describe",
        "",
        "",
        "all tags contains abbrev= candidates= exact-match long match= exclude= always first-parent dirty? broken?",
        Text,
    ),
    Program::new("git merge-base", "a", "", "all octopus independent is-ancestor fork-point", Text).answers(),
    Program::new("git name-rev", "", "", "tags refs= exclude= all name-only always", Text),
    Program::new(
        "git for-each-ref",
        "",
        "",
        "count= sort= format= points-at= merged? no-merged? contains? no-contains? ignore-case color? exclude=",
        Text,
    ),
    Program::new(
        "git show-ref",
        "dqs0123456789",
        "",
        "heads branches tags dereference hash? verify abbrev? quiet head exists",
        Text,
    )
    .answers(),
    Program::new("git symbolic-ref", "q", "", "quiet short", OneText).answers(),
    Program::new(
        "git show-branch",
        "ar",
        "",
        "all remotes current list topics no-color color? sha1-name no-name",
        Text,
    ),
    Program::new("git count-objects", "vH", "", "verbose human-readable", None),
    Program::new("git cherry", "v", "", "abbrev?", Text),
    Program::new("git check-ignore", "qvnz", "", "quiet verbose non-matching no-index", Text).answers(),
    Program::new("git check-attr", "az", "", "all cached source=", Text),
    Program::new("git check-ref-format", "", "", "branch normalize allow-onelevel", Text).answers(),
    Program::new("git version", "", "", "build-options", None),
    Program::new("git var", "l", "", "", OneText),
    Program::new("git remote", "v", "", "verbose", Subcommand),
    Program::new("git remote -", "", "", "", None),
    Program::new("git remote get-url", "", "", "all push", Text),
    Program::new("git worktree", "", "", "", Subcommand),
    Program::new("git worktree list", "vz", "", "porcelain verbose", None),
    Program::new("git notes", "", "", "", Subcommand),
    Program::new("git notes list", "", "", "", Text),
    Program::new("git notes show", "", "", "", Text),
    Program::new("git bisect", "", "", "", Subcommand),
    Program::new("git bisect log", "", "", "", None),
    Program::new("git config", "", "", "", By(git::config)).answers(),
    Program::new("git submodule", "", "", "", Subcommand),
    Program::new("git fsck", "", "", "no-dangling full strict verbose no-progress connectivity-only", None),
    Program::new("git verify-pack", "vs", "", "verbose stat-only", Text),
];

/// `git reflog` shows unless its first word is another verb.
fn reflog(
    judge: &mut crate::guard::judge::Judge<'_>,
    state: &crate::guard::judge::State,
    arguments: &[crate::guard::value::Arg],
) -> Result<crate::guard::value::Stream, crate::guard::objection::Objection> {
    use crate::guard::{danger, programs};
    let first = arguments.first().and_then(crate::guard::value::Arg::text);
    if matches!(first, Some("expire" | "delete" | "drop" | "write")) {
        return Err(danger::objection("git", arguments));
    }
    let skipped = usize::from(matches!(first, Some("show")));
    let shows = programs::find("git reflog show").ok_or_else(|| danger::objection("git", arguments))?;
    judge.program(state, shows, arguments.get(skipped..).unwrap_or_default(), judge.depth)
}
