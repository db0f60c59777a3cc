//! Checks what may be opened with the user's own programs: documents, folders and addresses.

use std::os::unix::fs::PermissionsExt;

use artoo_proto::Environment;

use crate::input;
use crate::paths;
use crate::protect::Protected;
use crate::record::Record;

const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// Extensions of files, such as `.desktop`, that a desktop runs instead of showing them.
const LAUNCHERS: [&str; 5] = ["desktop", "appimage", "exe", "jar", "sh"];

/// The web or mail address as given, or the absolute path of an existing document or folder; `Err` is the record if it
/// is neither, protected, or a program.
pub(super) fn openable(environment: &Environment, protected: &Protected, target: &str) -> Result<String, Box<Record>> {
    let unfit = || {
        let expected = "give an http, https or mailto address, or the path of a file or folder that is there";
        input::unfit(expected)
    };
    if SCHEMES.iter().any(|scheme| target.to_ascii_lowercase().starts_with(scheme)) {
        let is_one = !target.chars().any(|c| c.is_whitespace() || !c.is_ascii());
        return if is_one { Ok(target.to_owned()) } else { Err(unfit()) };
    }
    let path = paths::absolute(environment, target).map_err(|_| unfit())?;
    if let Some(reason) = protected.refusal(&path) {
        return Err(input::denied(&reason));
    }
    let found = path.metadata().map_err(|_| unfit())?;
    let is_launcher = path.extension().is_some_and(|end| LAUNCHERS.iter().any(|known| end.eq_ignore_ascii_case(known)));
    if is_launcher || (found.is_file() && found.permissions().mode() & 0o111 != 0) {
        return Err(input::denied("it is a program; opening is for documents"));
    }
    let is_openable = found.is_dir() || found.is_file();
    path.to_str().filter(|_| is_openable).map(str::to_owned).ok_or_else(unfit)
}
