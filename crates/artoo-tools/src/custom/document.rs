//! Checks what may be opened with the user's own programs: documents, folders and addresses.

use std::os::unix::fs::PermissionsExt;

use artoo_proto::Environment;

use crate::input::InputProblem;
use crate::paths;
use crate::protect::Protected;

const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// Extensions of files that a desktop runs instead of showing them.
const LAUNCHERS: [&str; 5] = ["desktop", "appimage", "exe", "jar", "sh"];

/// The address as given, or the absolute path of an existing document or folder that is neither protected nor a program.
pub(super) fn openable(environment: &Environment, protected: &Protected, target: &str) -> Result<String, InputProblem> {
    let unfit = || {
        let expected = "give an http, https or mailto address, or the path of a file or folder that is there";
        InputProblem::Unfit(expected.to_owned())
    };
    if SCHEMES.iter().any(|scheme| target.to_ascii_lowercase().starts_with(scheme)) {
        let is_one = !target.chars().any(|c| c.is_whitespace() || !c.is_ascii());
        return if is_one { Ok(target.to_owned()) } else { Err(unfit()) };
    }
    let path = paths::absolute(environment, target).map_err(|_| unfit())?;
    if let Some(reason) = protected.refusal(&path) {
        return Err(InputProblem::Denied(reason));
    }
    let found = path.metadata().map_err(|_| unfit())?;
    let is_launcher = path.extension().is_some_and(|end| LAUNCHERS.iter().any(|known| end.eq_ignore_ascii_case(known)));
    if is_launcher || (found.is_file() && found.permissions().mode() & 0o111 != 0) {
        return Err(InputProblem::Denied("it is a program; opening is for documents".to_owned()));
    }
    let is_openable = found.is_dir() || found.is_file();
    path.to_str().filter(|_| is_openable).map(str::to_owned).ok_or_else(unfit)
}
