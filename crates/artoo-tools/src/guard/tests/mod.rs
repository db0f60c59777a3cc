//! The guard over labelled commands, against real shells, and against real runs in a scratch home.

mod oracle;
mod reading;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use artoo_proto::Environment;
use tempfile::TempDir;

use super::{Proof, classify};
use crate::config::ToolConfig;
use crate::protect::Protected;

/// A scratch home: `work` is the working folder.
struct Yard {
    _dir: TempDir,
    home: PathBuf,
    config: ToolConfig,
    protected: Protected,
}

impl Yard {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for folder in ["work/dir", "artoo_workspace", ".ssh", ".artoo", ".aws", ".docker"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for file in ["work/old.txt", "work/other.txt", "work/dir/in.txt", "artoo_workspace/old.txt"] {
            fs::write(home.join(file), "one x\ntwo y\n").unwrap();
        }
        for key in [".ssh/id_rsa", ".artoo/audit.jsonl", ".netrc", ".docker/config.json", ".aws/credentials"] {
            fs::write(home.join(key), "key\n").unwrap();
        }
        std::os::unix::fs::symlink(&home, home.join("artoo_workspace/out")).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let environment = Environment {
            cwd: text(&home.join("work")),
            workspace: text(&home.join("artoo_workspace")),
            home: text(&home),
            os: "linux".to_owned(),
            utc_offset_s: 0,
        };
        let protected = Protected::new(&environment, &[]);
        Self { _dir: dir, home, config: ToolConfig::new(environment), protected }
    }

    /// The same with a link that leads to keys under a harmless name.
    fn with_trap() -> Self {
        let yard = Self::new();
        std::os::unix::fs::symlink(yard.home.join(".ssh"), yard.home.join("work/innocent")).unwrap();
        yard
    }

    fn classify(&self, command: &str) -> Proof {
        classify(&self.config, &self.protected, command)
    }

    fn is_proven(&self, command: &str) -> bool {
        matches!(self.classify(command), Proof::Proven(_))
    }
}

/// Rows of a labelled file: class and command; `␤` stands for a line break.
fn rows(text: &str) -> impl Iterator<Item = (&str, String)> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.map(|line| {
        let (class, command) = line.split_once('\t').unwrap_or_else(|| panic!("no tab in {line:?}"));
        (class, command.replace('␤', "\n"))
    })
}

const EVERYDAY: &str = include_str!("../../../../../fixtures/commands/everyday.tsv");
const BYPASS: &str = include_str!("../../../../../fixtures/commands/bypass.tsv");
