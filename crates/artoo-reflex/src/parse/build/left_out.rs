//! Folders that a search of the home folder skips unless the request names them.

use std::path::Path;

use super::BuildContext;
use crate::algebra::Pred;

/// Predicates that exclude the trash, caches and artoo's own data, if these folders exist below the roots.
pub(super) fn left_out(cx: &mut BuildContext<'_>, roots: &[String]) -> Vec<Pred> {
    let context = cx.context;
    let variable = |name: &str| context.fs.variable(name).and_then(|value| String::from_utf8(value).ok());
    let set_or = |name: &str, usual: &str| variable(name).unwrap_or_else(|| usual.to_owned());
    let mut places = vec![
        format!("{}/Trash", set_or("XDG_DATA_HOME", "~/.local/share")),
        "~/.Trash".to_owned(),
        set_or("XDG_CACHE_HOME", "~/.cache"),
        set_or("ARTOO_DATA_DIR", "~/.artoo"),
    ];
    // Other disks have a trash folder for each user.
    if let Ok(home) = context.fs.metadata(Path::new(&context.environment.home)) {
        places.extend(roots.iter().map(|root| format!("{root}/.Trash-{}", home.owner)));
    }
    let is_below = |place: &str| roots.iter().any(|root| root != place && Path::new(place).starts_with(root));
    let mut left_out: Vec<String> = places.iter().filter_map(|place| context.resolve(place)).map(|p| p.path).collect();
    left_out.retain(|place| is_below(place) && context.is_folder(place));
    if !left_out.is_empty() {
        cx.notes.push(format!("the trash, caches and artoo's own data are left out: {}", left_out.join(", ")));
    }
    left_out.into_iter().map(|place| Pred::Not(Box::new(Pred::Inside(place)))).collect()
}
