//! Package managers: what is installed and what is known of it, from the local database.

use crate::guard::programs::Operands::{Facts, Names, None, Subcommand};
use crate::guard::programs::Program;

const fn apt(name: &'static str) -> Program {
    Program::new(
        name,
        "anq",
        "",
        "installed upgradable all-versions manual-installed no-all-versions names-only full quiet recurse important \
            installed no-recommends no-suggests",
        Names,
    )
}

/// Packages.
pub(super) static PACKAGES: &[Program] = &[
    Program::new(
        "dpkg",
        "lLsSpV",
        "",
        "list listfiles status search print-avail verify print-architecture get-selections version",
        Facts,
    )
    .requires(&[
        "l",
        "L",
        "s",
        "S",
        "p",
        "V",
        "list",
        "listfiles",
        "status",
        "search",
        "print-avail",
        "verify",
        "print-architecture",
        "get-selections",
        "version",
    ])
    .answers(),
    Program::new("dpkg-query", "lLsSWpf", "f", "list listfiles status search show showformat=", Facts)
        .requires(&["l", "L", "s", "S", "W", "p", "list", "listfiles", "status", "search", "show"])
        .answers(),
    Program::new("dpkg-deb", "cIfW", "", "contents info field show", Facts)
        .requires(&["c", "I", "f", "W", "contents", "info", "field", "show"]),
    Program::new("apt", "", "", "", Subcommand),
    apt("apt list"),
    apt("apt show"),
    apt("apt search"),
    apt("apt policy"),
    apt("apt depends"),
    apt("apt rdepends"),
    Program::new("apt-cache", "", "", "", Subcommand),
    apt("apt-cache show"),
    apt("apt-cache search"),
    apt("apt-cache policy"),
    apt("apt-cache depends"),
    apt("apt-cache rdepends"),
    apt("apt-cache pkgnames"),
    apt("apt-cache stats"),
    apt("apt-cache showpkg"),
    apt("apt-cache madison"),
    Program::new("apt-mark", "", "", "", Subcommand),
    apt("apt-mark showmanual"),
    apt("apt-mark showauto"),
    apt("apt-mark showhold"),
    Program::new(
        "rpm",
        "qailRfpcdVsv",
        "",
        "query all info list queryformat= qf= requires provides changelog last whatprovides= verify",
        Facts,
    )
    .requires(&["q", "query", "V", "verify"]),
    Program::new("snap", "", "", "", Subcommand),
    Program::new("snap list", "", "", "all", Names),
    Program::new("flatpak", "", "", "", Subcommand),
    Program::new("flatpak list", "da", "", "app runtime user system show-details columns= all", Names),
    Program::new("brew", "", "", "", Subcommand),
    Program::new("brew list", "1l", "", "versions formula cask full-name", Names),
    Program::new("brew leaves", "", "", "", None),
    Program::new("npm ls", "", "", "", None),
];
