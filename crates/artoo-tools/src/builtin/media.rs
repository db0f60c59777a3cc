//! Control of media players over D-Bus (MPRIS). A manifest can't express it: which player gets the command, and what it
//! does then, is in the replies of the bus.

use artoo_proto::escape;

use crate::process::Invocation;
use crate::record::Record;
use crate::tool::Call;

/// Longest error text of `gdbus` that is quoted in a record, in characters.
const ERROR_MAX_CHARS: usize = 300;

/// Prefix of the D-Bus names of all media players (MPRIS).
const PLAYERS: &str = "org.mpris.MediaPlayer2.";

/// Sends a command to a media player and reads its status back. `arguments`: the command in snake case, and the
/// player's name if several run.
pub(super) async fn run(gdbus: impl Fn(&[&str]) -> Invocation, arguments: &[&str], call: &Call) -> Record {
    let ask = async |destination: &str, path: &str, method: &[&str]| {
        let options = ["call", "--session", "--timeout", "5", "--dest", destination, "--object-path", path, "--method"];
        let ended = call.ask_system(gdbus(&[options.as_slice(), method].concat()), call.deadline.left()).await;
        let ended = ended.map_err(|error| format!("gdbus could not be started: {error}"))?;
        match ended.exit_code {
            Some(0) => Ok(String::from_utf8_lossy(ended.stdout.head()).into_owned()),
            _ => Err(format!("{destination} gave no answer: {}", ended.text(ERROR_MAX_CHARS).0)),
        }
    };
    let control = async || {
        let list = "org.freedesktop.DBus.ListNames";
        let names = ask("org.freedesktop.DBus", "/org/freedesktop/DBus", &[list]).await?;
        let player = chosen(&media_players(&names), arguments.get(1).copied())?;
        let (name, path) = (format!("{PLAYERS}{player}"), "/org/mpris/MediaPlayer2");
        let method = method(arguments.first().copied().unwrap_or_default());
        ask(&name, path, &[&format!("{PLAYERS}Player.{method}")]).await?;
        let get = ["org.freedesktop.DBus.Properties.Get", "org.mpris.MediaPlayer2.Player", "PlaybackStatus"];
        let status = ask(&name, path, &get).await?;
        let status = escape::one_line(quoted(&status).first().map_or("in no known state", |word| word));
        Ok::<_, String>(format!("sent {method} to {player}; its status is {status}"))
    };
    control().await.map_or_else(Record::hindered, Record::read)
}

/// The name of a command in MPRIS: `play_pause` is `PlayPause`.
fn method(command: &str) -> String {
    let capital =
        |word: &str| word.chars().take(1).map(|c| c.to_ascii_uppercase()).chain(word.chars().skip(1)).collect();
    command.split('_').map(capital).collect::<Vec<String>>().concat()
}

/// The texts in single quotes in the reply of a D-Bus program.
fn quoted(answer: &str) -> Vec<&str> {
    answer.split('\'').skip(1).step_by(2).collect()
}

/// The names of the media players in a reply of `ListNames`, without the prefix; only letters, digits, `.`, `_` and
/// `-`.
fn media_players(names: &str) -> Vec<&str> {
    let is_name =
        |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    quoted(names).into_iter().filter_map(|name| name.strip_prefix(PLAYERS)).filter(is_name).collect()
}

/// The only running player whose name starts with `wanted` in any letter case (`None`: any name); `Err` lists the
/// players, or says that none runs.
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

/// Tests of choosing a media player.
#[cfg(test)]
mod tests {
    use super::{chosen, media_players, quoted};

    /// The media player is the one named by the user, or the only one that runs; otherwise an error lists them.
    #[test]
    fn player_is_chosen_by_name_or_alone() {
        let names = "(['org.freedesktop.DBus', ':1.2', 'org.mpris.MediaPlayer2.vlc', 'org.mpris.MediaPlayer2.a b'],)";
        assert_eq!(media_players(names), ["vlc"]);
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
