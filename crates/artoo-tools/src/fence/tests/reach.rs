//! Granted access beyond files works, and no other access.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{SocketAddrUnix, connect, connect_unspec};

use super::in_view::{TIME, also_as_user, home, python};
use super::stopping::{Victim, is_installed};
use super::test_home::TestHome;
use super::{SHOWN_CHARS, print_uncaptured};
use crate::fence::{Denial, Fence, Reach};
use crate::process::Ended;

/// Runs a command with this access in a view and then outside; returns both results in this order.
fn both(home: &TestHome, reach: &Reach, command: &str) -> [Ended; 2] {
    let fence = || Fence { reach: reach.clone(), ..home.fence() };
    let in_view = home.in_view_by(fence(), command).0;
    [in_view, home.run_in(fence(), command, TIME).unwrap()]
}

/// Starts a server on a Unix socket that answers each connection with the socket's file name.
fn listening(path: &Path) {
    let listener = UnixListener::bind(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 4];
            let _ = stream.read_exact(&mut asked);
            let _ = stream.write_all(name.as_bytes());
        }
    });
}

const CLIENT: &str = "
import socket,sys,os,errno
def ask(a,blocking=True):
    s=socket.socket(socket.AF_UNIX); s.setblocking(blocking)
    try:
        s.connect(a); s.setblocking(True); s.sendall(b'name'); print(s.recv(9).decode(), os.get_inheritable(s.fileno()))
    except OSError as e: print(errno.errorcode[e.errno])
    return s
";

/// A program can connect to the Unix sockets that the user approved and to no other, even with access to the network.
#[doc = "holds: law 1.17"]
#[test]
fn granted_socket_is_connected() {
    also_as_user("reach::granted_socket_is_connected");
    if !is_installed("python3") {
        return print_uncaptured("skipped: python3 is not installed");
    }
    let home = home();
    let at = |name: &str| home.path.join("artoo_workspace").join(name);
    let outside = tempfile::TempDir::with_prefix("sockets-").unwrap();
    let outside = outside.path().canonicalize().unwrap();
    for path in [at("one"), at("two"), outside.join("far")] {
        listening(&path);
    }
    symlink(at("one"), at("link")).unwrap();
    fs::write(at("file"), "").unwrap();
    let abstract_name = format!("artoo-reach-{}", std::process::id());
    let _hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name).unwrap()).unwrap();
    let reach = Reach { sockets: vec![at("one"), outside.join("far")], ..Reach::default() };
    let (one, two) = (at("one"), at("two"));
    let script = format!(
        "{CLIENT}
os.chdir({folder:?})
ask({one:?}); ask('one'); ask('link',False); ask({far:?})
ask('two'); ask('\\0{abstract_name}'); ask('file'); ask('none')
s=ask('two'); s.listen
try: s.listen(1)
except OSError as e: print('listen',errno.errorcode[e.errno])
os.symlink('two','x'); os.rename('x','one') if os.access('one',0) else None
ask('one')
try: socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM).connect('one')
except OSError as e: print('datagram')
try: socket.socket(socket.AF_INET).connect(('127.0.0.1',9))
except OSError as e: print('inet',errno.errorcode[e.errno])",
        folder = at("").to_str().unwrap(),
        one = one.to_str().unwrap(),
        far = outside.join("far").to_str().unwrap(),
    );
    let expected = "one False\none False\none False\nfar False\nEACCES\nEACCES\nECONNREFUSED\nENOENT\nEACCES\n\
                    listen EINVAL\n";
    for ended in both(&home, &reach, &python(&script)) {
        let said = ended.stdout.text(SHOWN_CHARS).0;
        assert!(said.starts_with(expected), "{said}{}", ended.text(SHOWN_CHARS).0);
        assert!(said.ends_with("EACCES\ndatagram\ninet EACCES\n"), "{said}");
        let abstract_socket = Denial::UnixSocket(format!("@{abstract_name}").into());
        assert_eq!(
            ended.denied,
            [Denial::UnixSocket(two.clone()), abstract_socket, Denial::Connection(([127, 0, 0, 1], 9).into())],
            "{said}"
        );
    }
    // Without a grant all of it is denied, even with access to the network.
    for reach in [Reach::default(), Reach::of_network(true)] {
        let script = format!("{CLIENT}\nask({one:?})", one = two.to_str().unwrap());
        for ended in both(&home, &reach, &python(&script)) {
            assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "EACCES\n", "{}", ended.text(SHOWN_CHARS).0);
            assert_eq!(ended.denied, [Denial::UnixSocket(two.clone())]);
        }
    }
}

/// A socket given in place of an internet socket can neither be connected to an address nor be disconnected.
#[test]
fn substitute_socket_stays_unconnected() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let (socket, other) = UnixStream::pair().unwrap();
    drop(other);
    let address = SocketAddrUnix::new(&path).unwrap();
    assert_eq!(connect(&socket, &address), Err(Errno::ISCONN));
    assert!(connect_unspec(&socket).is_err(), "it can't be disconnected");
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

/// A program can signal its own processes and the one that the user approved, and no other.
#[doc = "holds: law 1.17"]
#[test]
fn granted_process_is_signalled() {
    also_as_user("reach::granted_process_is_signalled");
    let home = home();
    let pid = |victim: &Victim| i32::try_from(victim.0.id()).unwrap();
    for in_view in [false, true] {
        let (mut granted, mut other) = (Victim::new(), Victim::new());
        let denials = [Denial::Signal { pid: pid(&granted), program: "sleep".to_owned() }, Denial::Call("ptrace")];
        let reach = Reach::of(&denials);
        let script = format!(
            "kill -0 {0} && echo there; kill -TERM {1}; kill -KILL -1; sleep 60 & kill $! && echo own; kill -TERM {0}",
            pid(&granted),
            pid(&other)
        );
        let fence = Fence { reach, ..home.fence() };
        let ended = match in_view {
            false => home.run_in(fence, &script, TIME).unwrap(),
            true => home.in_view_by(fence, &script).0,
        };
        assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "there\nown\n", "{}", ended.text(SHOWN_CHARS).0);
        let program = "sleep".to_owned();
        let everybody =
            Denial::Signal { pid: -1, program: ended.denied.last().map_or_else(String::new, |_| "systemd".into()) };
        assert_eq!(ended.denied.len(), 2, "{:?} {everybody:?}", ended.denied);
        assert_eq!(ended.denied[0], Denial::Signal { pid: pid(&other), program });
        assert!(matches!(ended.denied[1], Denial::Signal { pid: -1, .. }), "{:?}", ended.denied);
        std::thread::sleep(Duration::from_millis(50));
        assert!(granted.0.try_wait().unwrap().is_some(), "it was signalled");
        assert!(other.0.try_wait().unwrap().is_none(), "it was not");
        // After its end, another process that gets its number is not granted.
        let gone = Reach::of(&denials);
        assert_eq!(gone, Reach::default(), "no process is left to grant access to");
    }
}

/// The access named in a question is exactly what the denial was about, and nothing wider.
#[test]
fn grants_name_exactly_what_was_denied() {
    let own = i32::try_from(std::process::id()).unwrap();
    let program = fs::read_to_string("/proc/self/comm").unwrap().trim_end().to_owned();
    let signal = |pid: i32, program: &str| Denial::Signal { pid, program: program.to_owned() };
    for (denial, network, sockets, signals) in [
        (Denial::Network, true, 0, 0),
        (Denial::Connection(([127, 0, 0, 1], 80).into()), false, 0, 0),
        (Denial::UnixSocket("/run/s".into()), false, 1, 0),
        (signal(own, &program), false, 0, 1),
        (Denial::UnixSocket("@name".into()), false, 0, 0),
        (signal(own, "other"), false, 0, 0),
        (signal(-1, &program), false, 0, 0),
        (signal(-own, &program), false, 0, 0),
        (signal(0, &program), false, 0, 0),
        (Denial::Call("ptrace"), false, 0, 0),
        (Denial::Write("/f".into()), false, 0, 0),
        (Denial::Metadata("/f".into()), false, 0, 0),
    ] {
        let reach = Reach::of(std::slice::from_ref(&denial));
        let found = (reach.network, reach.sockets.len(), reach.signals.len());
        assert_eq!(found, (network, sockets, signals), "{denial:?}");
        let address = if let Denial::Connection(address) = denial { vec![address] } else { Vec::new() };
        assert_eq!(reach.addresses, address, "{denial:?}");
        let is_other = denial == signal(own, "other");
        assert_eq!(denial.is_reach(), reach != Reach::default() || is_other, "{denial:?}");
    }
}

/// Serialises the tests that fill the disk, because files that one test deletes hide the space that another one uses.
static DISK: Mutex<()> = Mutex::new(());

/// A run that exceeds its limit on disk space is killed; sparse files count by their blocks.
#[doc = "holds: law 1.17"]
#[test]
fn run_that_fills_disk_is_killed() {
    also_as_user("reach::run_that_fills_disk_is_killed");
    let _alone = DISK.lock();
    let mut home = home();
    home.config.limits.file_bytes = 512 << 20;
    home.config.limits.disk_bytes = 32 << 20;
    for (command, is_full) in [
        ("yes > big", true),
        ("yes > $TMPDIR/big", true),
        ("exec 3> gone; rm gone; yes >&3", true),
        ("mkdir closed; cd closed; exec 3> f; chmod 0 ../closed; yes >&3", true),
        ("head -c 1000000 /dev/zero > small; truncate -s 400M sparse; sleep 0.3", false),
        ("for n in 1 2 3 4 5 6 7 8; do head -c 8000000 /dev/zero > part; sleep 0.05; done", false),
    ] {
        let work: PathBuf = home.config.environment.workspace.clone().into();
        let command = format!("cd {}; {command}", work.display());
        for ended in both(&home, &Reach::default(), &command) {
            let said = ended.text(SHOWN_CHARS).0;
            assert_eq!(ended.is_full, is_full, "{command}: {said}");
            assert_eq!(ended.timed_out, None, "{command}");
            assert_eq!(ended.struck.is_some(), is_full, "{command}: {:?}", ended.struck);
            assert_eq!(said.contains("of disk space and was ended"), is_full, "{said}");
            assert_eq!(ended.exit_code.is_some(), !is_full, "{command}: {said}");
        }
        Command::new("chmod").arg("-R").arg("u+rwx").arg(&work).status().unwrap();
        fs::remove_dir_all(&work).unwrap();
        fs::create_dir(&work).unwrap();
    }
}

/// Disk space that was reserved but not written counts at the end of a run, since it may be used between two checks.
#[test]
fn reserved_space_counts_at_the_end() {
    if !std::path::Path::new("/usr/bin/fallocate").exists() {
        return print_uncaptured("skipped: fallocate is not installed");
    }
    let _alone = DISK.lock();
    let mut home = home();
    // Both sizes are far from the limit, because the free space also changes with the files of other processes.
    home.config.limits.disk_bytes = 256 << 20;
    let work = home.config.environment.workspace.clone();
    for (bytes, is_full) in [("128M", false), ("640M", true)] {
        let command = format!("cd {work}; : > reserved; fallocate -n -l {bytes} reserved");
        for ended in both(&home, &Reach::default(), &command) {
            assert_eq!(ended.is_full, is_full, "{bytes}: {}", ended.text(SHOWN_CHARS).0);
        }
    }
}
