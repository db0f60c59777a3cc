//! A reading run ends at its first attempt to change something outside its own folder.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::reading::{bare, furnished, reading_run};
use super::test_home::TestHome;
use crate::fence::{Denial, Fence};
use crate::process::Ended;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/commands/changing.tsv");

/// Abbreviations in the table of commands, each with the shell text that it stands for.
const FORMS: [(&str, &str); 4] = [
    (
        "{GIT}",
        "git init -q . && git config user.email a@b && git config user.name n && echo one > f && git add f && git commit -qm m",
    ),
    ("{DRIVER}", "echo 'f diff=x' > .gitattributes; echo two > f"),
    ("{EVIL}", "printf '[diff \"x\"]\\ntextconv = touch pwned;cat\\n' > evil"),
    ("␤", "\n"),
];

/// A text of the table in which each abbreviation is replaced by the text it stands for.
fn in_full(text: &str) -> String {
    FORMS.iter().fold(text.to_owned(), |text, (form, full)| text.replace(form, full))
}

/// Whether a test finds this program in the usual folders; one with a `/` counts as installed.
pub(super) fn is_installed(program: &str) -> bool {
    let mut folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"].iter();
    program.contains('/') || folders.any(|folder| std::path::Path::new(folder).join(program).exists())
}

/// Parts of commands that only root could run with effect; for other users they fail anyway, so they are skipped.
const OF_ROOT: [&str; 2] = [" > /proc/1/", " > /etc/"];

/// A program that a row of the table needs and this machine lacks; `None` if all are installed.
fn missing(row: &str) -> Option<&'static str> {
    const PROGRAMS: [&str; 14] = [
        "bzip2", "xz", "zstd", "zip", "gcc", "git", "python3", "perl", "node", "npm", "sqlite3", "setfattr", "chattr",
        "make",
    ];
    let is_word = |word: &str| row.split(|c: char| !c.is_alphanumeric()).any(|found| found == word);
    PROGRAMS.into_iter().find(|program| is_word(program) && !is_installed(program))
}

/// Each command of a table that changes something is ended by the reading run, which then names what it denied.
#[doc = "holds: law 1.16"]
#[test]
fn changing_commands_are_stopped() {
    let table = fs::read_to_string(TABLE).unwrap();
    let (mut stopped, mut wrong) = (0, Vec::new());
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let (command, setup) = row.split_once('\t').unwrap_or((row, "true"));
        let (command, setup) = (in_full(command), in_full(setup));
        if let Some(program) = missing(row) {
            super::print_uncaptured(&format!("skipped: {program} is not installed: {command:?}"));
            continue;
        }
        if !rustix::process::geteuid().is_root() && OF_ROOT.iter().any(|place| command.contains(place)) {
            super::print_uncaptured(&format!("skipped: not root: {command:?}"));
            continue;
        }
        let home = TestHome::new();
        home.file("work/old", "keep\n");
        home.file("work/new_text", "n\n");
        home.file(".bashrc", "# mine\n");
        bare(&home, &setup);
        let before = home.state();
        let ended = reading_run(&home, &command);
        let after = home.state();
        let is_unchanged = after.facts == before.facts && after.times == before.times;
        if ended.denied.is_empty() || !ended.is_stopped || ended.total() > 0 || !is_unchanged {
            let first = after.facts.iter().find(|(path, facts)| before.facts.get(*path) != Some(facts));
            wrong.push(format!("{command:?}: {}, {first:?}", outcome(&ended)));
        } else {
            stopped += 1;
        }
    }
    for path in ["/tmp", "/dev/shm", "/etc"].map(|folder| PathBuf::from(folder).join("artoo-test-changing")) {
        assert!(!path.exists(), "{}", path.display());
    }
    super::print_uncaptured(&format!("{stopped} commands were stopped"));
    assert!(wrong.is_empty(), "{} of {}: {}", wrong.len(), wrong.len() + stopped, wrong.join("\n"));
    assert!(stopped >= 80, "{stopped}");
}

/// How a run ended as one line of text: denials, exit code, signal, timeout and output.
fn outcome(ended: &Ended) -> String {
    let Ended { denied, exit_code, signal, timed_out, is_full, .. } = ended;
    let text = ended.text(400).0.replace('\n', " / ");
    format!("{denied:?}, exit {exit_code:?}, signal {signal:?}, timeout {timed_out:?}, disk full {is_full}, {text:?}")
}

/// A process outside the sandbox that the commands try to signal.
pub(super) struct Victim(pub(super) Child);

impl Victim {
    /// Starts a process that sandboxed programs try to signal; it is killed at the test's end.
    pub(super) fn new() -> Self {
        // Longer than any test takes on a slow machine; it is killed at the test's end.
        Self(Command::new("sleep").arg("3600").process_group(0).spawn().unwrap())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        self.0.wait().unwrap();
    }
}

const PYTHON: &str = "
import ctypes,os,fcntl,struct,signal,socket,sys
l=ctypes.CDLL(None,use_errno=True); l.shmat.restype=ctypes.c_long
m=ctypes.create_string_buffer(struct.pack('l',1)+b'secret',80)
def call(*a): l.syscall(*[ctypes.c_long(x) if isinstance(x,int) else x for x in a])
";

/// A predicate: whether a denial is the expected one.
type Check = Box<dyn Fn(&Denial) -> bool>;

/// Runs each script in Python, and checks the denial that ends it. Python neither writes compiled modules nor reads the
/// user's settings at its start: another denial would come first.
fn are_stopped(home: &TestHome, rows: Vec<(String, Check)>) {
    if !is_installed("python3") {
        super::print_uncaptured("skipped: python3 is not installed");
        return;
    }
    let mut wrong = Vec::new();
    for (script, fits) in &rows {
        let ended = reading_run(home, &format!("python3 -IB - <<'EOF'\n{PYTHON}{script}\nEOF"));
        if !ended.is_stopped || ended.denied.len() != 1 || !fits(&ended.denied[0]) || ended.total() > 0 {
            wrong.push(format!("{script}: {}", outcome(&ended)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// A check that a denial is exactly this one.
fn exactly(denial: Denial) -> Check {
    Box::new(move |found| *found == denial)
}

/// A signal to processes outside ends a reading run with a denial of a signal; for a single process it names that
/// process.
#[doc = "holds: law 1.17"]
#[test]
fn signals_to_others_are_stopped_and_named() {
    let home = furnished();
    let mut victim = Victim::new();
    let (pid, own) = (victim.0.id(), std::process::id());
    let named =
        |script: String| (script, exactly(Denial::Signal { pid: pid.cast_signed(), program: "sleep".to_owned() }));
    let mut rows = vec![
        named(format!("os.kill({pid},9)")),
        named(format!("l.tgkill({pid},{pid},9)")),
        named(format!("l.sigqueue({pid},9,None)")),
        named(format!("signal.pidfd_send_signal(os.pidfd_open({pid}),9)")),
        named(format!("signal.pidfd_send_signal(os.open('/proc/{pid}',os.O_DIRECTORY),9)")),
    ];
    let mut others = vec!["os.kill(-1,9)".to_owned(), format!("os.kill({own},9)"), format!("os.killpg({pid},9)")];
    if rustix::process::geteuid().is_root() {
        // In a container its session may have no number in this namespace.
        others.push("os.kill(1,9)".to_owned());
    }
    for script in others {
        rows.push((script, Box::new(|denial| matches!(denial, Denial::Signal { .. }))));
    }
    are_stopped(&home, rows);
    assert!(victim.0.try_wait().unwrap().is_none(), "the other process lives");
}

/// Calls that connect, send, listen, bind a name or make special sockets end a reading run, and the denial names the
/// target or the call.
#[doc = "holds: law 1.18"]
#[test]
fn sockets_to_others_are_stopped_and_named() {
    let home = furnished();
    let path = home.path.join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let name = format!("artoo-test-stop-{}", std::process::id());
    let _hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let text = path.to_str().unwrap();
    let at = |path: PathBuf| exactly(Denial::UnixSocket(path));
    let mut rows = vec![
        (format!("socket.socket(1).connect({text:?})"), at(path.clone())),
        (format!("socket.socket(1,2).sendto(b'x',{text:?})"), at(path.clone())),
        (format!("socket.socket(1,2).sendmsg([b'x'],[],0,{text:?})"), at(path.clone())),
        (format!("socket.socket(1,2).connect({text:?})"), at(path.clone())),
        (format!("socket.socket(1,5).connect('\\0{name}')"), at(format!("@{name}").into())),
        ("socket.socket(1).bind('\\0artoo-test')".to_owned(), at("@".into())),
        ("socket.socket(1).bind('s')".to_owned(), exactly(Denial::Write(home.path.join("work/s")))),
    ];
    for script in [
        "socket.socket().listen()",
        "socket.socket().bind(('',0))",
        "socket.socket().setsockopt(socket.IPPROTO_IP,socket.IP_ADD_MEMBERSHIP,b'\\xe0\\0\\0\\5\\0\\0\\0\\0')",
        "s=socket.socket(); s.bind(('127.0.0.1',0)); s.getsockname()",
        "socket.socket(socket.AF_INET,socket.SOCK_RAW,1)",
    ] {
        rows.push((script.to_owned(), exactly(Denial::Network)));
    }
    for (script, to) in [
        ("socket.socket().connect(('127.0.0.1',9))", "127.0.0.1:9"),
        ("socket.socket(socket.AF_INET6).connect(('::1',9))", "[::1]:9"),
        ("socket.socket(2,2).sendto(b'x',('203.0.113.9',53))", "203.0.113.9:53"),
        ("socket.socket(2,2).sendmsg([b'x'],[],0,('203.0.113.9',53))", "203.0.113.9:53"),
        ("socket.socket().sendto(b'x',0x20000000,('203.0.113.9',80))", "203.0.113.9:80"),
    ] {
        rows.push((script.to_owned(), exactly(Denial::Connection(to.parse().unwrap()))));
    }
    for (script, name) in [
        ("socket.socketpair(1,2)", "socketpair"),
        ("socket.socket(16,3,16)", "socket"),
        ("socket.socket(38,5,0)", "socket"),
    ] {
        rows.push((script.to_owned(), exactly(Denial::Call(name))));
    }
    if rustix::process::geteuid().is_root() {
        // RTM_NEWADDR for lo, and SOCK_DESTROY.
        for (protocol, kind) in [(0, 20), (4, 21)] {
            let script = format!(
                "s=socket.socket(16,3,{protocol}); s.bind((0,0)); s.send(struct.pack('IHHII',40,{kind},5,1,0)+b'\\0'*24)"
            );
            rows.push((script, exactly(Denial::Call("netlink"))));
        }
    }
    are_stopped(&home, rows);
}

/// System calls (numbers and arguments on x86-64) that a sandboxed program must not make, each with the name that the
/// denial must have.
#[cfg(target_arch = "x86_64")]
const CALLS: &[(&str, &str)] = &[
    ("30,0,0,0", "shmat"),
    ("67,0", "shmdt"),
    ("29,0,4096,0o1600", "shmget"),
    ("64,0,1,0o1600", "semget"),
    ("65,0,m,1", "semop"),
    ("220,0,m,1,0", "semtimedop"),
    ("68,0,0o1600", "msgget"),
    ("69,0,m,6,0o4000", "msgsnd"),
    ("70,0,m,64,0,0o4000", "msgrcv"),
    ("141,0,PID,19", "setpriority"),
    ("141,2,os.getuid(),19", "setpriority"),
    ("141,2,0,19", "setpriority"),
    ("144,PID,5,m", "sched_setscheduler"),
    ("142,PID,m", "sched_setparam"),
    ("314,PID,m,0", "sched_setattr"),
    ("203,PID,8,m", "sched_setaffinity"),
    ("251,1,PID,3<<13", "ioprio_set"),
    ("251,3,os.getuid(),3<<13", "ioprio_set"),
    ("302,PID,4,m,0", "prlimit64"),
    ("101,16,PID,0,0", "ptrace"),
    ("311,PID,0,0,0,0,0", "process_vm_writev"),
    ("310,PID,0,0,0,0,0", "process_vm_readv"),
    ("438,os.pidfd_open(PID),0,0", "pidfd_getfd"),
    ("248,0,0,0,0,0", "add_key"),
    ("250,0,-3,1", "keyctl"),
    ("321,0,0,0", "bpf"),
    ("323,0", "userfaultfd"),
    ("272,0x10000000", "unshare"),
    ("56,0x10000011,0,0,0,0", "clone"),
    ("308,3,0", "setns"),
    ("165,b'none',b'/mnt',b'tmpfs',0,0", "mount"),
    ("166,b'/proc',2", "umount2"),
    ("161,b'/'", "chroot"),
    ("170,b'x',1", "sethostname"),
    ("164,m,0", "settimeofday"),
    ("227,0,m", "clock_settime"),
    ("240,b'q',0o102,0o600,0", "mq_open"),
    ("304,0,0,0", "open_by_handle_at"),
    ("298,m,0,-1,-1,0", "perf_event_open"),
    ("103,5,0,0", "syslog"),
    ("72,0,1024,0", "fcntl"),
    ("16,os.open('old.txt',0),0x40087602,m", "ioctl"),
    ("169,0,0,0,0", "reboot"),
];

/// System calls that act beyond files end a reading run, and the denial names the call.
#[cfg(target_arch = "x86_64")]
#[doc = "holds: law 1.17"]
#[test]
fn calls_beyond_files_are_stopped_and_named() {
    let home = furnished();
    let mut victim = Victim::new();
    let pid = victim.0.id().to_string();
    let row = |(call, name): &(&str, &'static str)| {
        (format!("call({})", call.replace("PID", &pid)), exactly(Denial::Call(name)))
    };
    let mut rows: Vec<_> = CALLS.iter().map(row).collect();
    if rustix::process::geteuid().is_root() {
        rows.push(("os.setuid(4242)".to_owned(), exactly(Denial::Call("setuid"))));
        rows.push(("os.setgroups([1])".to_owned(), exactly(Denial::Call("setgroups"))));
    }
    are_stopped(&home, rows);
    assert!(victim.0.try_wait().unwrap().is_none(), "the other process lives");
}

/// Calls in a reading run that reach no other program and change nothing outside print the same as without a sandbox.
#[doc = "holds: law 1.18"]
#[test]
fn missing_services_are_not_counted_as_denials() {
    let home = furnished();
    if !is_installed("python3") {
        super::print_uncaptured("skipped: python3 is not installed");
        return;
    }
    for script in [
        "try: socket.socket(socket.AF_UNIX).connect('/run/nosuch/socket')\nexcept FileNotFoundError: print('none')",
        "try: socket.socket(socket.AF_UNIX).connect('\\0artoo-no-such')\nexcept ConnectionRefusedError: print('none')",
        "open('file','w') if 0 else None\ntry: socket.socket(socket.AF_UNIX).connect('old.txt')\nexcept ConnectionRefusedError: print('none')",
        "s=socket.socket(16,3,0); s.bind((0,0)); s.send(struct.pack('IHHIIB',17,18,0x301,1,0,0)); print(len(s.recv(65536))>100)",
        "a,b=socket.socketpair(); socket.send_fds(a,[b'x'],[1]); print(socket.recv_fds(b,1,1)[0])",
        "p=os.fork()\nif p==0: signal.pause()\nos.kill(p,9); print(os.waitpid(p,0)[1])",
        "p=os.fork()\nif p==0:\n os.setsid(); signal.pause()\nimport time; time.sleep(.1); os.kill(p,9); print(os.waitpid(p,0)[1])",
        "os.setpgid(0,0); signal.signal(15,lambda *a: print('got')); os.killpg(0,15)",
        "os.setpriority(os.PRIO_PROCESS,os.getpid(),5); os.sched_setaffinity(os.getpid(),os.sched_getaffinity(0)); print(os.getpriority(0,0))",
        "f=os.memfd_create('x'); os.fchmod(f,0o600); os.write(f,b'x'); os.open(f'/proc/self/fd/{f}',os.O_RDWR); print('own')",
        "os.utime('old.txt',ns=(os.stat('old.txt').st_atime_ns,os.stat('old.txt').st_mtime_ns)); print('same')",
        "os.chown('old.txt',-1,-1); os.chown('old.txt',os.getuid(),-1); print('same')",
        "os.rename('old.txt','old.txt'); print('same')",
        "socket.socket(socket.AF_INET6,socket.SOCK_DGRAM).close(); s=socket.socket(); s.bind(('127.0.0.1',0)); s.close(); print('none')",
        "s=socket.socket(); print(fcntl.ioctl(s,0x8913,struct.pack('16s16x',b'lo'))[:2]); s.close()",
        "os.setuid(os.getuid()); os.setresuid(-1,-1,-1); print('same')",
        "d=os.environ['TMPDIR']+'/'; open(d+'a','w').close(); os.chmod(d+'a',0o600); os.mkfifo(d+'p'); os.symlink('/etc',d+'l'); os.rename(d+'a',d+'b'); os.truncate(d+'b',5); print(sorted(os.listdir(d)))",
    ] {
        let command = format!("python3 - <<'EOF'\n{PYTHON}{script}\nEOF");
        let (expected, found) = (bare(&home, &command), reading_run(&home, &command));
        assert_eq!(found.denied, [], "{script}");
        assert_eq!(found.text(2000), expected.text(2000), "{script}");
        assert_eq!(
            (found.exit_code, found.exit_code),
            (Some(0), expected.exit_code),
            "{script}: {}",
            found.text(2000).0
        );
    }
}

/// Environment and memory of other processes, including artoo, and secrets can't be read.
#[doc = "holds: law 1.20"]
#[test]
fn secrets_and_other_processes_stay_closed() {
    let home = furnished();
    let victim = Command::new("sleep").arg("60").env("SECRET", "held dear").spawn().unwrap();
    let _victim = Victim(victim);
    home.file(".ssh/id_rsa", "held dear\n");
    home.file(".config/artoo/key", "held dear\n");
    let (own, other) = (std::process::id(), _victim.0.id());
    let ended = reading_run(&home, &format!(
        "cat ~/.ssh/id_rsa ~/.config/artoo/key /proc/self/root$HOME/.ssh/id_rsa; cat < ~/.ssh/id_rsa
         ln -s ~ $TMPDIR/h; cat $TMPDIR/h/.ssh/id_rsa
         for p in 1 {own} {other}; do cat /proc/$p/environ; head -c 10 /proc/$p/mem; cat /proc/$p/maps; ls /proc/$p/root/; done
         ps eww {other} | grep -o held; head -c 10 /dev/vda /dev/sda /dev/mem; head -c 10 /proc/kcore; true"
    ));
    assert_eq!(ended.denied, []);
    assert_eq!(ended.stdout.total(), 0, "{}", ended.text(2000).0);
}

/// A reading run that is killed at a denial leaves no process behind.
#[doc = "holds: law 1.16"]
#[test]
fn stopped_run_ends_with_all_descendants() {
    let home = furnished();
    let marker = format!("61.{}", std::process::id());
    let command = format!(
        "echo said; sleep {marker} & (setsid sleep {marker} &) ; (sleep 0.2; rm old.txt) | sleep {marker}; echo after"
    );
    let begun = Instant::now();
    let ended = reading_run(&home, &command);
    let took = begun.elapsed();
    assert_eq!(ended.denied, [Denial::Write(home.path.join("work/old.txt"))]);
    assert_eq!((ended.is_stopped, ended.exit_code, ended.total()), (true, None, 0));
    assert!(took < Duration::from_secs(3), "{took:?}");
    let is_left = || {
        let lines = fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .map(|entry| fs::read(entry.path().join("cmdline")).unwrap_or_default());
        lines.filter(|line| line.windows(marker.len()).any(|part| part == marker.as_bytes())).count()
    };
    let gone = (0..100).any(|_| {
        is_left() == 0 || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }
    });
    assert!(gone, "{} processes are left", is_left());
    assert_eq!(
        ended.kept().unwrap(),
        format!("it was not allowed to change {}", home.path.join("work/old.txt").display())
    );
}

/// A run that is not a reading run continues after denials, and all of them are recorded.
#[test]
fn fenced_runs_record_every_denial() {
    let home = furnished();
    let fence = Fence::of_reading(&home.protected, &[]);
    let ended =
        home.run_in(fence, "rm old.txt; chmod 600 other.txt; rm old.txt; echo on", Duration::from_secs(20)).unwrap();
    let at = |name: &str| home.path.join("work").join(name);
    assert_eq!(ended.denied, [Denial::Write(at("old.txt")), Denial::Metadata(at("other.txt"))]);
    assert_eq!((ended.is_stopped, ended.stdout.total()), (false, 3));
}

/// A program in a reading run that changes a path during its own call changes nothing outside the sandbox.
#[doc = "holds: law 1.17"]
#[test]
fn swapped_paths_do_not_escape_the_sandbox() {
    if !is_installed("python3") {
        super::print_uncaptured("skipped: python3 is not installed");
        return;
    }
    let home = furnished();
    let before = home.state();
    // One thread switches a link between the run's folder and the outside while another uses it.
    for act in [
        "os.chmod(l,0o777)",
        "os.truncate(l,0)",
        "open(l,'w').close()",
        "os.utime(l,(1,1))",
        "os.setxattr(l,'user.x',b'y')",
    ] {
        let script = format!(
            "import os,threading\nd=os.environ['TMPDIR']+'/'\nopen(d+'in','w').close()\nl=d+'l'\nos.symlink(d+'in',d+'a')\nos.symlink(os.getcwd()+'/old.txt',d+'b')\ngo=True\n\
             def swap():\n  while go:\n    for s in 'ab':\n      os.symlink(os.readlink(d+s),d+'n'); os.rename(d+'n',l)\n\
             t=threading.Thread(target=swap);t.start()\nfor i in range(300):\n  try: {act}\n  except OSError: pass\ngo=False;t.join()"
        );
        for _ in 0..5 {
            let ended = reading_run(&home, &format!("python3 - <<'EOF'\n{script}\nEOF"));
            let after = home.state();
            assert_eq!(after.facts, before.facts, "{act}: {}", ended.text(400).0);
            assert_eq!(after.times, before.times, "{act}");
        }
    }
}

/// A reading run learns of another program's lock, and its own lock blocks no other program.
#[test]
fn reading_run_does_not_lock_files() {
    let home = furnished();
    let path = home.file("work/locked", "x");
    let file = fs::File::open(&path).unwrap();
    let command = "flock -n locked sh -c 'echo got; sleep 2' || echo taken";
    std::thread::scope(|scope| {
        let run = scope.spawn(|| reading_run(&home, command).text(400).0);
        std::thread::sleep(Duration::from_millis(1000));
        assert!(file.try_lock().is_ok(), "no process holds the lock");
        assert_eq!(run.join().unwrap(), "got\n");
        assert_eq!(reading_run(&home, command).text(400).0, "taken\n");
    });
}
