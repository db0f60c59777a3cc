//! Paths a command names, judged against the disk: what may be read, what may be made.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Component, Path, PathBuf};

use super::judge::{Judge, State};
use super::objection::Objection;
use super::pattern;
use super::value::{Arg, Value};
use crate::{open, paths, secret};

/// Devices that are only data; all others act or never end.
const DATA_DEVICES: [&str; 4] = ["/dev/null", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// How a named file is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Its name, size and times, or the entries of a folder.
    Facts,
    /// Its content.
    Content,
    /// The content of everything below it as well.
    Everything,
}

/// What is made at a new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum New {
    /// A folder, which may be there already.
    Folder,
    File,
    /// A link, or a copy that may hold links.
    Links,
}

impl Judge<'_> {
    /// The places a text may mean as a path: one a working folder, by its letters and as the kernel walks it.
    pub(crate) fn places(&self, state: &State, text: &str) -> Result<Vec<PathBuf>, Objection> {
        // A tilde was expanded when the words were read; here it is a letter.
        let text = if text.starts_with('~') { format!("./{text}") } else { text.to_owned() };
        let mut places = Vec::new();
        for cwd in &state.cwds {
            let environment =
                artoo_proto::Environment { cwd: cwd.to_string_lossy().into_owned(), ..self.config.environment.clone() };
            let written =
                paths::absolute(&environment, &text).map_err(|problem| Objection::opaque(problem.to_string()))?;
            let walked = walked(&cwd.join(&text));
            if walked != written {
                places.push(walked);
            }
            places.push(written);
        }
        match places.iter().find(|place| self.effects.is_unknown(place)) {
            Some(place) => Err(Objection::opaque(format!("{} is made by the command itself", paths::line(place)))),
            None => Ok(places),
        }
    }

    /// Options too are looked at: a value behind one may be a file. Reading a key is not harmless, whoever reads it.
    pub(crate) fn must_not_be_protected(&self, state: &State, word: &str) -> Result<(), Objection> {
        let value = word.split_once('=').map_or("", |(_, value)| value);
        let glued = if word.starts_with('-') && !word.starts_with("--") { word.get(2..).unwrap_or("") } else { "" };
        let behind_colon = word.split_once(':').map_or("", |(_, path)| path);
        for part in [word, value, glued, behind_colon] {
            // Too long for a path: whatever it is, it is no name of a file.
            if part.is_empty() || part.len() > paths::PATH_MAX_BYTES || (part.contains('\n') && part == word) {
                continue;
            }
            for place in self.places(state, part)? {
                if let Some(reason) = self.protected.refusal(&place) {
                    return Err(Objection::reveals(reason));
                }
            }
        }
        Ok(())
    }

    /// Objects to git where it would show a secret that it keeps: a file in its history, a password in its settings.
    pub(crate) fn git_must_show_no_secret(&self, state: &State, name: &str, words: &[Arg]) -> Result<(), Objection> {
        let settings = || state.cwds.iter().flat_map(|cwd| cwd.ancestors()).map(|folder| folder.join(".git/config"));
        let named =
            || words.iter().filter_map(Arg::text).map(|word| PathBuf::from(word.rsplit(':').next().unwrap_or(word)));
        let refusal = match name {
            "git config" | "git remote" => settings().find_map(|path| self.protected.secret(&path)),
            "git status" | "git ls-files" | "git check-ignore" => None,
            _ => named().filter(|path| secret::is_named_so(path)).find_map(|path| self.protected.secret(&path)),
        };
        refusal.map_or(Ok(()), |reason| Err(Objection::reveals(reason)))
    }

    /// Notes a use of what an operand names, or objects to it.
    pub(crate) fn reads(&mut self, state: &State, operand: &Arg, how: Use) -> Result<(), Objection> {
        match &operand.value {
            Value::Literal(text) if text == "-" => Ok(()),
            Value::Literal(text) if text.is_empty() => Ok(()),
            Value::Literal(text) => self.reads_path(state, text, how),
            Value::Matches { pattern, found } => {
                pattern::must_not_reach(self, state, pattern)?;
                found.iter().try_for_each(|name| self.reads_path(state, name, how))
            }
            Value::Below(folders) => folders.clone().iter().try_for_each(|folder| {
                if how == Use::Facts { Ok(()) } else { self.reads_place(folder, Use::Everything) }
            }),
            Value::Number => Ok(()),
            Value::Unknown { .. } if how == Use::Facts => Ok(()),
            Value::Unknown { .. } => Err(Objection::reveals("it opens files whose names are not known before it runs")),
        }
    }

    fn reads_path(&mut self, state: &State, text: &str, how: Use) -> Result<(), Objection> {
        self.must_not_be_protected(state, text)?;
        for place in self.places(state, text)? {
            self.reads_place(&place, how)?;
        }
        // A whole home folder is more than a question needs; its keys lie there under names nobody listed.
        let spelled_from_root = text.starts_with('/');
        let home = Path::new(&self.config.environment.home);
        if how == Use::Everything && spelled_from_root && home.starts_with(paths::normalise(Path::new(text))) {
            return Err(Objection::reveals(format!("{text} holds a whole home folder, keys and all")));
        }
        Ok(())
    }

    fn reads_place(&mut self, place: &Path, how: Use) -> Result<(), Objection> {
        if let Some(reason) = self.protected.refusal(place) {
            return Err(Objection::reveals(reason));
        }
        if how != Use::Facts
            && let Ok(found) = fs::metadata(place)
        {
            let kind = found.file_type();
            let is_odd = kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device();
            if is_odd && !DATA_DEVICES.iter().any(|device| place == Path::new(device)) {
                return Err(Objection::changes(format!("{} is {}", paths::line(place), open::kind_name(kind))));
            }
            if found.is_dir() && self.protected.lies_below(place) {
                return Err(Objection::reveals(format!("{} holds protected files", paths::line(place))));
            }
            if found.is_dir() && how == Use::Everything {
                self.leaves_secrets(place)?;
            }
        }
        // Also what is not there yet: an earlier part of the command may make it, or a link to it.
        if how != Use::Facts
            && !place.is_dir()
            && let Some(reason) = self.protected.secret(place)
        {
            return Err(Objection::reveals(reason));
        }
        if how != Use::Facts && place.starts_with("/dev/tcp")
            || place.starts_with("/dev/udp")
            || place.starts_with("/inet")
        {
            return Err(Objection::reveals(format!("{} is a connection", paths::line(place))));
        }
        self.effects.reads(place, how);
        Ok(())
    }

    /// Leaves out the files below a folder that may hold secrets, if it is known which they are.
    pub(crate) fn leaves_secrets(&mut self, folder: &Path) -> Result<(), Objection> {
        let (found, is_all) = self.protected.secrets_below(folder, secret::SEARCHED_MAX);
        self.effects.leaves_out(&found);
        let unknown = || format!("{} is too large to know where secrets lie in it", paths::line(folder));
        if is_all { Ok(()) } else { Err(Objection::reveals(unknown())) }
    }

    /// Notes something to be made in the workspace.
    pub(crate) fn makes(&mut self, state: &State, operand: &Arg, what: New) -> Result<(), Objection> {
        let Some(text) = operand.text().filter(|text| !text.is_empty()) else {
            return Err(Objection::changes("it writes to a name that is not known before it runs"));
        };
        let places = self.places(state, text)?;
        for place in places {
            self.must_lie_in_workspace(&place)?;
            if what != New::Folder {
                self.must_be_absent(&place)?;
            }
            if let Some(reason) = self.protected.refusal(&place) {
                return Err(Objection::changes(reason));
            }
            self.effects.creates(&place, what);
        }
        Ok(())
    }

    /// A path that really lies in the workspace and is not the workspace itself.
    fn must_lie_in_workspace(&self, place: &Path) -> Result<(), Objection> {
        let workspace = paths::real(Path::new(&self.config.environment.workspace));
        let real = paths::real(place);
        if real.starts_with(&workspace) {
            return Ok(());
        }
        Err(Objection::changes(format!("{} is not inside the workspace", paths::line(place))))
    }

    fn must_be_absent(&self, place: &Path) -> Result<(), Objection> {
        if paths::real(place) == paths::real(Path::new(&self.config.environment.workspace)) {
            return Err(Objection::changes("the workspace itself is a folder"));
        }
        match fs::symlink_metadata(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Objection::changes(format!("{}: {error}", paths::line(place)))),
            Ok(_) => Err(Objection::changes(format!("{} is there already", paths::line(place)))),
        }
    }
}

/// A path as the kernel walks it: `..` behind a symbolic link leads out of where the link points to.
fn walked(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out = paths::real(&out);
                out.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}
