//! Players of music and films over D-Bus (MPRIS): which run, one told to play or stop, and what it does then.

use std::ffi::OsString;
use std::path::Path;

use crate::desktop::act::MediaCommand;
use crate::desktop::backend::Desktop;
use crate::process::Ended;
use crate::record::Record;
use crate::tool::Call;

/// Characters told of what the bus said that gave no answer.
const SHOWN_CHARS: usize = 300;

/// What every player's name on the bus begins with.
const PLAYERS: &str = "org.mpris.MediaPlayer2.";

/// Tells the player and reads back what it does; its record says so.
pub(super) async fn run(
    desktop: &Desktop,
    bus: &Path,
    command: MediaCommand,
    wanted: Option<&str>,
    call: &Call,
) -> Record {
    match told(desktop, bus, command, wanted, call).await {
        Ok(text) => Record::read(text),
        Err(why) => Record::hindered(why),
    }
}

async fn told(
    desktop: &Desktop,
    bus: &Path,
    command: MediaCommand,
    wanted: Option<&str>,
    call: &Call,
) -> Result<String, String> {
    let list = "org.freedesktop.DBus.ListNames";
    let names = answer(desktop, bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", &[list], call).await?;
    let player = chosen(&players(&names), wanted)?;
    let name = format!("{PLAYERS}{player}");
    let path = "/org/mpris/MediaPlayer2";
    let method = format!("org.mpris.MediaPlayer2.Player.{}", command.method());
    answer(desktop, bus, &name, path, &[&method], call).await?;
    let get = ["org.freedesktop.DBus.Properties.Get", "org.mpris.MediaPlayer2.Player", "PlaybackStatus"];
    let status = answer(desktop, bus, &name, path, &get, call).await?;
    let status = artoo_proto::escape::one_line(quoted(&status).first().map_or("in no known state", |word| word));
    Ok(format!("{player} was told {}; it says that it is {status}", command.method()))
}

async fn answer(
    desktop: &Desktop,
    bus: &Path,
    destination: &str,
    path: &str,
    method: &[&str],
    call: &Call,
) -> Result<String, String> {
    let options = ["call", "--session", "--timeout", "5", "--dest", destination, "--object-path", path, "--method"];
    let arguments = options.iter().chain(method).map(OsString::from).collect();
    let ended: Ended = call
        .ask_system(desktop.program(bus.to_path_buf(), arguments), call.watch.left())
        .await
        .map_err(|error| format!("gdbus could not be started: {error}"))?;
    if ended.exit_code != Some(0) {
        return Err(format!("{destination} gave no answer: {}", ended.text(SHOWN_CHARS).0));
    }
    Ok(String::from_utf8_lossy(ended.stdout.head()).into_owned())
}

/// The texts in quotes.
fn quoted(answer: &str) -> Vec<&str> {
    answer.split('\'').skip(1).step_by(2).collect()
}

fn players(names: &str) -> Vec<&str> {
    let is_name =
        |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    quoted(names).into_iter().filter_map(|name| name.strip_prefix(PLAYERS)).filter(is_name).collect()
}

fn chosen<'a>(players: &[&'a str], wanted: Option<&str>) -> Result<&'a str, String> {
    let fits = |player: &&&str| {
        wanted.is_none_or(|wanted| player.to_ascii_lowercase().starts_with(&wanted.to_ascii_lowercase()))
    };
    let fitting: Vec<&&str> = players.iter().filter(fits).collect();
    match (fitting.as_slice(), players) {
        ([one], _) => Ok(one),
        ([], []) => Err("no media player runs".to_owned()),
        ([], others) => Err(format!("no player of that name runs; there are {}", others.join(", "))),
        (_, many) => Err(format!("several players run, so give player: {}", many.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::{chosen, players, quoted};

    #[test]
    fn a_player_is_chosen_by_name_or_because_it_is_alone() {
        let names = "(['org.freedesktop.DBus', ':1.2', 'org.mpris.MediaPlayer2.vlc', 'org.mpris.MediaPlayer2.a b'],)";
        assert_eq!(players(names), ["vlc"]);
        assert_eq!(quoted("(<'Paused'>,)"), ["Paused"]);
        let check = |players: &[&str], wanted: Option<&str>, expected: Result<&str, &str>| match (
            chosen(players, wanted),
            expected,
        ) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        };
        check(&["vlc"], None, Ok("vlc"));
        check(&["vlc", "firefox.instance_1"], Some("Firefox"), Ok("firefox.instance_1"));
        check(&["vlc", "mpd"], None, Err("give player: vlc, mpd"));
        check(&["vlc"], Some("mpd"), Err("there are vlc"));
        check(&[], None, Err("no media player runs"));
    }
}
