//! Programs that show what runs, and those that run another one.

use crate::guard::programs::Operands::{By, Names, None, Runs, Text};
use crate::guard::programs::Program;
use crate::guard::{odd, ps, wrappers};

/// Processes.
pub(super) static PROCESSES: &[Program] = &[
    // Whole words only: a cluster it can't parse is read in the BSD way, where `e` shows every environment.
    Program::new("ps", "", "", "", By(ps::judge)),
    Program::new(
        "pgrep",
        "lafcinovxew",
        "uUPtgsGd",
        "list-name list-full count full ignore-case newest oldest exact delimiter= parent= euid= uid= terminal=",
        Text,
    )
    .answers(),
    Program::new("pidof", "sxq", "o", "single-shot", Names).answers(),
    Program::new(
        "pstree",
        "acGhglnpsStTuUZA",
        "H",
        "arguments ascii compact-not show-pids show-parents numeric-sort uid-changes long",
        Names,
    ),
    Program::new("pmap", "xXdqp", "", "extended device quiet", Names),
    Program::new("pwdx", "", "", "", Names),
    Program::new("top", "", "", "", By(odd::top)),
    Program::new("fuser", "vum", "", "verbose user mount", crate::guard::programs::Operands::Facts),
    Program::new("jobs", "lprs", "", "", None),
    Program::new("env", "", "", "", By(wrappers::env)).computes(),
    Program::new("nice", "0123456789", "n", "adjustment=", Runs { behind: 0 }).computes(),
    Program::new("nohup", "", "", "", Runs { behind: 0 }).computes(),
    Program::new("time", "p", "", "portability", Runs { behind: 0 }).computes(),
    Program::new("timeout", "pv", "ks", "foreground kill-after= preserve-status signal= verbose", Runs { behind: 1 })
        .computes(),
    Program::new("stdbuf", "", "ioe", "input= output= error=", Runs { behind: 0 }).computes(),
    Program::new("ionice", "t", "cn", "class= classdata= ignore", Runs { behind: 0 }).computes(),
    // The looking up is judged with the shell's own commands.
    Program::new("command", "p", "", "", Runs { behind: 0 }).computes(),
];
