//! Tools of developers: their version, and what they list without running a project's code.

use crate::guard::programs::Operands::{Names, None, OneOf, Subcommand, Text};
use crate::guard::programs::Program;

const VERSION: &[&str] = &["--version", "-V", "-v", "version", "-version"];

/// `program --version` and nothing else.
const fn version(name: &'static str) -> Program {
    Program::new(name, "", "", "", OneOf(VERSION))
}

/// For those to whom `-v` or `version` means more than that.
const fn long_version(name: &'static str) -> Program {
    Program::new(name, "", "", "", OneOf(&["--version"]))
}

const fn docker(name: &'static str) -> Program {
    Program::new(
        name,
        "aqsn",
        "f",
        "all quiet filter= format= no-trunc size latest last= tail= since= until= timestamps type= no-stream digests",
        Names,
    )
}

/// Developers' tools.
pub(super) static DEVELOPER: &[Program] = &[
    Program::new("python3", "", "", "", OneOf(&["--version", "-V", "-VV"])),
    Program::new("python", "", "", "", OneOf(&["--version", "-V", "-VV"])),
    Program::new("node", "", "", "", OneOf(&["--version", "-v"])),
    Program::new("npm", "", "", "", OneOf(&["--version", "-v"])),
    Program::new("perl", "", "", "", OneOf(&["--version", "-v"])),
    Program::new("ruby", "", "", "", OneOf(&["--version"])),
    Program::new("php", "", "", "", OneOf(&["--version", "-v"])),
    Program::new("lua", "", "", "", OneOf(&["-v"])),
    Program::new("java", "", "", "", OneOf(&["--version", "-version"])),
    Program::new("javac", "", "", "", OneOf(&["--version", "-version"])),
    Program::new("go", "", "", "", OneOf(&["version"])),
    Program::new("rustc", "", "", "", OneOf(&["--version", "-V", "-vV"])),
    Program::new("cargo", "", "", "", OneOf(&["--version", "-V"])),
    Program::new("rustup", "", "", "", OneOf(&["--version", "-V"])),
    Program::new("gcc", "", "", "", OneOf(&["--version", "-dumpversion", "-dumpmachine"])),
    Program::new("g++", "", "", "", OneOf(&["--version", "-dumpversion"])),
    Program::new("cc", "", "", "", OneOf(&["--version"])),
    Program::new("clang", "", "", "", OneOf(&["--version"])),
    Program::new("make", "", "", "", OneOf(&["--version", "-v"])),
    Program::new("cmake", "", "", "", OneOf(&["--version"])),
    Program::new("ssh", "", "", "", OneOf(&["-V"])),
    Program::new("openssl", "", "", "", OneOf(&["version", "-a"])),
    Program::new("curl", "", "", "", OneOf(&["--version", "-V"])),
    Program::new("wget", "", "", "", OneOf(&["--version", "-V"])),
    Program::new("rsync", "", "", "", OneOf(&["--version"])),
    long_version("bash"),
    long_version("zsh"),
    long_version("sh"),
    long_version("vim"),
    long_version("nano"),
    long_version("emacs"),
    long_version("code"),
    long_version("gdb"),
    long_version("valgrind"),
    long_version("ffmpeg"),
    long_version("pip"),
    long_version("pip3"),
    long_version("yarn"),
    long_version("pnpm"),
    long_version("deno"),
    long_version("bun"),
    long_version("tmux"),
    long_version("sqlite3"),
    long_version("psql"),
    long_version("mysql"),
    long_version("gh"),
    long_version("jj"),
    long_version("kubectl"),
    long_version("systemd"),
    version("ninja"),
    version("meson"),
    Program::new("docker", "v", "", "version", Subcommand),
    docker("docker ps"),
    docker("docker images"),
    docker("docker info"),
    docker("docker version"),
    Program::new("docker logs", "tn", "", "tail= since= until= timestamps details", Names),
    docker("docker port"),
    docker("docker top"),
    docker("docker history"),
    Program::new("docker container", "", "", "", Subcommand),
    docker("docker container ls"),
    docker("docker container list"),
    Program::new("docker image", "", "", "", Subcommand),
    docker("docker image ls"),
    Program::new("docker volume", "", "", "", Subcommand),
    docker("docker volume ls"),
    Program::new("docker network", "", "", "", Subcommand),
    docker("docker network ls"),
    Program::new("docker system", "", "", "", Subcommand),
    Program::new("docker system df", "v", "", "verbose format=", None),
    Program::new("tmux ls", "", "", "", Text),
];
