//! Programs in a view may change any file, and the real files stay unchanged.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::in_view::{INSIDE, TIME, USER, also_as_user, home, inside, python, rerun_in_child};
use super::test_home::{TestHome, state};
use super::{SHOWN_CHARS, print_uncaptured};
use crate::fence::{Fence, views_in_words};
use crate::process;
use crate::view::{NoView, View};

const GIT: &str = "git -c user.name=a -c user.email=a@b";

/// A home with a repository in the workspace.
fn furnished() -> TestHome {
    let home = home();
    for (path, content) in [
        ("old", "held dear\n"),
        ("d/in/f", "held dear\n"),
        ("notes.txt", "b\na\n"),
        ("m.c", "int main(void) { return 0; }\n"),
    ] {
        home.file(&format!("artoo_workspace/{path}"), content);
    }
    home.file("artoo_workspace/Makefile", "all: x y\nx y:\n\techo made > $@\n");
    home.file("elsewhere/f", "held dear\n");
    fs::set_permissions(home.path.join("elsewhere/f"), fs::Permissions::from_mode(0o444)).unwrap();
    let (ended, view) = home.in_view("true");
    assert_eq!(ended.exit_code, Some(0), "{}", ended.text(SHOWN_CHARS).0);
    drop(view);
    let setup = format!("git init -q && git add old d && {GIT} commit -qm one && git branch other");
    assert_eq!(home.run(&setup).exit_code, Some(0));
    home
}

/// Commands in a view see their own changes, and the real files stay unchanged.
#[doc = "holds: law 1.16"]
#[test]
fn commands_change_only_their_layers() {
    also_as_user("view::commands_change_only_their_layers");
    let (home, git) = (furnished(), GIT);
    let before = home.all();
    for (command, needs) in [
        ("rm -rf d && test ! -e d", ""),
        ("rm -rf ~/elsewhere ~/work; test ! -e ~/work", ""),
        ("mv old new && mv d/in/f . && test -e new -a ! -e old", ""),
        ("mv d e && test -e e/in/f -a ! -e d", ""),
        ("sed -i s/held/gone/ old && grep gone old", ""),
        ("sort -o notes.txt notes.txt && test $(head -n 1 notes.txt) = a", ""),
        ("chmod 600 old && chmod -R 700 d && test $(stat -c %a old) = 600", ""),
        ("chmod 4755 old && test -u old", ""),
        ("touch -d 2001-01-01 old && test $(stat -c %Y old) -lt 1000000000", ""),
        (
            "ln old hard && ln -s old soft && echo x >> old && cmp hard old && test $(stat -c %h hard) = 2 && test -L soft",
            "",
        ),
        ("truncate -s 3 old && test $(stat -c %s old) = 3", ""),
        ("echo more >> ~/elsewhere/f || chmod u+w ~/elsewhere/f && echo more >> ~/elsewhere/f", ""),
        ("tar cf t.tar d old && rm -r d old && tar xf t.tar && cmp d/in/f old", ""),
        ("cp -a d e && find . -name f -delete && test ! -e d/in/f", ""),
        ("mkfifo p && dd if=old of=new bs=1 count=4 && test $(cat new) = held", ""),
        ("setfattr -n user.x -v y old && getfattr -n user.x old", "setfattr"),
        (
            "python3 -c 'import os; os.rename(\"d\", \"e\"); os.replace(\"old\", \"new\"); open(\"e/n\", \"w\").write(\"x\")'",
            "python3",
        ),
        ("node -e 'require(\"fs\").renameSync(\"d\", \"e\")' && test -e e/in/f", "node"),
        ("echo x > new && git add -A && $GIT commit -qm two && $GIT gc -q && git fsck", "git"),
        ("git mv d e && test -e e/in/f && git status --short | grep -q ^R", "git"),
        ("echo x > old && $GIT stash -q && git checkout -q other && git reset -q --hard && git clean -qfdx", "git"),
        ("make -sj2 && cat x y", "make"),
        ("sqlite3 db 'pragma journal_mode=wal; create table t(a); insert into t values(1)'", "sqlite3"),
        ("cc -o m m.c && ./m", "cc"),
    ] {
        if !needs.is_empty() && process::find_program(&home.config, needs).is_none() {
            print_uncaptured(&format!("skipped: {command}: {needs} is not installed"));
            continue;
        }
        let (ended, view) = home.in_view(&command.replace("$GIT", git));
        assert_eq!(
            (ended.exit_code, &ended.denied),
            (Some(0), &Vec::new()),
            "{command}: {}",
            ended.text(SHOWN_CHARS).0
        );
        assert_eq!(home.all(), before, "{command}: {}", ended.text(SHOWN_CHARS).0);
        let upper = &view.layers()[0].upper;
        assert!(fs::read_dir(upper).unwrap().next().is_some(), "{command} changed nothing");
        let upper = upper.clone();
        drop((ended, view));
        assert!(!upper.exists(), "{command}: its changes are still there");
    }
    let views = fs::read_dir(home.path.join(".artoo/views")).unwrap().flatten().collect::<Vec<_>>();
    assert!(views.is_empty(), "{views:?}");
}

/// A folder renamed in a view has all its content at the new path, and the rename is recorded.
#[test]
fn renamed_folders_are_recorded_with_their_content() {
    let home = home();
    home.file("artoo_workspace/d/in/f", "content");
    let from = home.path.join("artoo_workspace/d");
    fs::hard_link(from.join("in/f"), from.join("g")).unwrap();
    symlink("g", from.join("l")).unwrap();
    fs::set_permissions(from.join("in"), fs::Permissions::from_mode(0o750)).unwrap();
    let listing = "find . -printf '%P %y %m %T@ %n %l\\n' | grep -v '^ ' | sort";
    let plain = home.run(&format!("cd d; {listing}"));
    let (ended, view) =
        home.in_view(&format!("mv d e && mkdir n && mv n o && mv e x && test ! -e d && cd x && {listing}"));
    assert_eq!(ended.text(SHOWN_CHARS), plain.text(SHOWN_CHARS));
    let at = |name: &str| home.path.join("artoo_workspace").join(name);
    assert_eq!(view.renamed(), [(at("d"), at("e")), (at("n"), at("o")), (at("e"), at("x"))]);
    // Without the copying to which `mv` would resort.
    for (command, expected) in [
        (
            "mkdir full && touch full/f && python3 -c 'import os; os.rename(\"d\", \"full\")' 2>&1 | grep -o 'not empty'",
            "not empty",
        ),
        ("python3 -c 'import os; os.rename(\"d\", \"d/in/d\")' 2>&1 | grep -o 'Invalid argument'", "Invalid argument"),
        ("mkdir empty && python3 -c 'import os; os.rename(\"d\", \"empty\")' && cat empty/in/f", "content"),
        ("cd d && python3 -c 'import os; os.rename(\"../d\", \"../e\"); print(open(\"../e/in/f\").read())'", "content"),
        ("mv ~/.artoo ~/taken 2>&1 | grep -o busy; ls -A ~/taken 2>&1 | wc -l", "busy\n1"),
    ] {
        let (ended, _) = home.in_view(command);
        assert_eq!(ended.stdout.text(SHOWN_CHARS).0.trim(), expected, "{command}: {}", ended.text(SHOWN_CHARS).0);
    }
}

/// A program in a view can't read secrets: attempts fail with "Permission denied", and no layer gets a copy.
#[doc = "holds: law 1.20"]
#[test]
fn secrets_are_covered() {
    also_as_user("view::secrets_are_covered");
    let home = home();
    let shown = home.file(".bashrc", "start\n");
    let left_out = home.file("work/token.txt", "SECRET");
    let secrets = [".ssh/id_rsa", ".artoo/history", ".aws/credentials", ".config/gh/hosts.yml", ".netrc"];
    for secret in secrets {
        home.file(secret, "SECRET");
    }
    home.file(".config/other", "open");
    symlink(home.path.join(".ssh"), home.path.join("work/keys")).unwrap();
    let fence = Fence {
        readable: vec![shown, home.path.clone(), home.path.join(".config")],
        left_out: vec![left_out],
        ..home.fence()
    };
    let command = "cd ~; cat .ssh/* .artoo/* .artoo/views/*/*/*/.ssh/* .aws/* .config/gh/* .netrc work/keys/* work/token.txt \
                   /proc/self/root$HOME/.ssh/id_rsa /proc/self/cwd/.netrc; ln .netrc n; cp -r .ssh s; mv .ssh t; \
                   mv .config c; cat n s/* t/* c/gh/*; tar cf - . | tr -d '\\0' | grep -ao SECRET; \
                   cat /etc/shadow | head -c 9; cat c/other .config/other .bashrc";
    let (ended, view) = home.in_view_by(fence, command);
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "openstart\n", "{}", ended.text(SHOWN_CHARS).0);
    // Copying only metadata would be wrong for root and ordinary users alike.
    let fence = || Fence { left_out: vec![home.path.join("work/token.txt")], ..home.fence() };
    for (command, code) in [
        ("cat work/token.txt", 1),
        ("cp -a .netrc artoo_workspace/n", 1),
        ("cp -r .ssh artoo_workspace/s", 1),
        ("tar cf artoo_workspace/t.tar work", 2),
        ("ls .aws", 2),
        ("chmod 644 work/token.txt; cat work/token.txt", 1),
    ] {
        let (ended, _) = home.in_view_by(fence(), &format!("cd ~; {command}"));
        let errors = ended.stderr.text(SHOWN_CHARS).0;
        assert_eq!(ended.exit_code, Some(code), "{command}: {errors}");
        assert!(errors.contains("Permission denied"), "{command}: {errors}");
    }
    let upper = &view.layers()[0].upper;
    let found = Command::new("grep").arg("-rl").arg("SECRET").arg(upper).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    for secret in secrets {
        assert_eq!(fs::read_to_string(home.path.join(secret)).unwrap(), "SECRET");
    }
}

/// Programs in a view can't change the real files, whatever they try.
#[doc = "holds: law 1.17; law 1.18; law 1.20"]
#[test]
fn real_files_stay_unchanged_in_views() {
    also_as_user("view::real_files_stay_unchanged_in_views");
    let home = home();
    let prize = home.file("work/prize", "held dear\n");
    let outside = tempfile::TempDir::new().unwrap();
    fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(outside.path().join("prize"), "held dear\n").unwrap();
    fs::set_permissions(outside.path().join("prize"), fs::Permissions::from_mode(0o666)).unwrap();
    let mut victim = Command::new("sleep").arg("60").spawn().unwrap();
    let (own, before) = (std::process::id(), home.all());
    let outer = state(&[outside.path()], Path::new("/none"));
    let elsewhere = outside.path().display();
    for command in [
        "umount ~; umount -l ~/.artoo; umount -a".to_owned(),
        "mount -t tmpfs none ~/work; mount --bind / ~/work; mount -o remount,rw /; mount -o remount,bind,rw /"
            .to_owned(),
        "unshare -rm sh -c 'umount ~'; nsenter -t 1 -m true; nsenter -t $PPID -m true".to_owned(),
        format!(
            "echo gone > {elsewhere}/prize; rm {elsewhere}/prize; chmod 600 {elsewhere}/prize; touch {elsewhere}/new"
        ),
        format!(
            "mv {elsewhere}/prize .; ln {elsewhere}/prize hard && echo gone > hard; mv d {elsewhere}/; cp -r ~ {elsewhere}/"
        ),
        format!("echo gone > /proc/{own}/root{}; echo gone > /proc/$PPID/root{}", prize.display(), prize.display()),
        format!("echo gone > /proc/{own}/cwd/prize; cd /proc/{own}/cwd && touch x"),
        format!("kill -9 {own} $PPID {}; kill -9 -1", victim.id()),
        "touch /tmp/artoo-view-test /var/tmp/artoo-view-test /dev/shm/artoo-view-test /run/artoo-view-test".to_owned(),
        "mknod disk b 254 0; mknod ~/work/null c 1 3".to_owned(),
    ] {
        let (ended, _) = home.in_view(&command);
        let said = ended.text(SHOWN_CHARS).0;
        assert_eq!(home.all(), before, "{command}: {said}");
        assert_eq!(state(&[outside.path()], Path::new("/none")), outer, "{command}: {said}");
    }
    for place in ["/tmp", "/var/tmp", "/dev/shm", "/run"] {
        assert!(!Path::new(place).join("artoo-view-test").exists(), "{place}");
    }
    assert!(victim.try_wait().unwrap().is_none());
    victim.kill().unwrap();
    victim.wait().unwrap();
    let ended = home.in_view(&format!(
        "for p in self $PPID {own} 1; do for f in environ mem; do head -c 64 /proc/$p/$f; done; done 2>/dev/null | tr '\\0' '\\n' | grep -v '^HOME\\|^PATH' | grep -c ARTOO_TEST"
    ));
    assert_eq!(ended.0.stdout.text(SHOWN_CHARS).0, "0\n", "{}", ended.0.text(SHOWN_CHARS).0);
}

/// A program in a view can't reach sockets and threads of other processes.
#[doc = "holds: law 1.17; law 1.18"]
#[test]
fn sockets_and_threads_outside_are_unreachable() {
    also_as_user("view::sockets_and_threads_outside_are_unreachable");
    let (home, own) = (home(), std::process::id());
    let path = home.path.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let name = format!("artoo-view-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    hidden.set_nonblocking(true).unwrap();
    if process::find_program(&home.config, "python3").is_none() {
        return print_uncaptured("skipped: sockets and threads: python3 is not installed");
    }
    let script = format!(
        "import os,socket,ctypes,signal\n\
         for a in ({:?},'\\0{name}'):\n\
         \x20for f in (socket.AF_UNIX,):\n\
         \x20 try: socket.socket(f).connect(a)\n\
         \x20 except OSError: continue\n\
         \x20 raise SystemExit(9)\n\
         l=ctypes.CDLL(None)\n\
         for p in (os.getppid(), os.getppid() and {own}):\n\
         \x20for t in os.listdir(f'/proc/{{p}}/task'):\n\
         \x20 if int(t) in (os.getpid(),): continue\n\
         \x20 assert l.syscall({tgkill},p,int(t),18)==-1, (p,t)\n\
         print('held')",
        path.to_str().unwrap(),
        tgkill = libc::SYS_tgkill
    );
    let (ended, _) = home.in_view(&format!("exec {}", python(&script)));
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "held\n", "{}", ended.text(SHOWN_CHARS).0);
    assert!(listener.accept().is_err() && hidden.accept().is_err());
}

/// A command that only reads prints the same in a view as in the sandbox without a view.
#[test]
fn views_print_what_bare_runs_print() {
    also_as_user("view::views_print_what_bare_runs_print");
    let home = home();
    home.file("artoo_workspace/f", "x");
    let command = "pwd; readlink /proc/self/cwd; id; ls -la /usr | head; hostname; cat /proc/sys/kernel/ns_last_pid >/dev/null; \
                   stat -c '%i %a %U %h %s' f /etc/passwd; df --output=source,target /usr | tail -n 1; ls -la f; umask; ulimit -a; \
                   readlink /proc/self/ns/pid /proc/self/ns/net /proc/self/ns/ipc /proc/self/ns/uts";
    let (ended, _) = home.in_view(command);
    let plain = home.run(command);
    let (mut seen, mut expected) = (ended.text(SHOWN_CHARS).0, plain.text(SHOWN_CHARS).0);
    if !rustix::process::getuid().is_root() {
        // Other users have no ID in a user namespace.
        for text in [&mut seen, &mut expected] {
            *text = text.replace("nobody nogroup", "root root").replace("644 nobody", "644 root");
        }
    }
    assert_eq!(seen, expected);
}

/// When a command ends, its descendants are killed too, even those in sessions of their own.
#[doc = "holds: law 1.27"]
#[test]
fn descendants_end_with_their_command() {
    let home = home();
    let nap = format!("60.{}", std::process::id());
    let (ended, _) =
        home.in_view(&format!("setsid sleep {nap} & (setsid sh -c 'sleep {nap} & sleep {nap}' &); sleep 0.1"));
    assert!(ended.left_behind, "{}", ended.text(SHOWN_CHARS).0);
    assert_eq!(running(&nap), 0);
}

/// The number of `sleep` processes that have this text in their command line.
fn running(text: &str) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let words = all.filter_map(|path| fs::read(path.join("cmdline")).ok());
    words.filter(|words| String::from_utf8_lossy(words).contains(text) && words.starts_with(b"sleep")).count()
}

/// If artoo is killed while a command runs, the command and its descendants are killed too.
#[doc = "holds: law 1.27"]
#[test]
fn killed_process_leaves_nothing() {
    let nap = inside().unwrap_or_else(|| format!("61.{}", std::process::id()));
    let command = format!("setsid sleep {nap} & sleep {nap}");
    if inside().is_some() {
        let home = home();
        home.in_view(&command);
        panic!("the command ended by itself");
    }
    let own = std::env::current_exe().unwrap();
    let test = "fence::tests::view::killed_process_leaves_nothing";
    let mut child = Command::new(own).args(["--exact", test]).env(INSIDE, &nap).stdout(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + TIME;
    while running(&nap) < 2 {
        assert!(Instant::now() < until && child.try_wait().unwrap().is_none(), "the command has not begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id();
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = Instant::now();
    while running(&nap) > 0 {
        assert!(killed.elapsed() < Duration::from_secs(5), "{} processes are left", running(&nap));
        std::thread::sleep(Duration::from_millis(5));
    }
    // Its namespace ends with its last process.
    std::thread::sleep(Duration::from_millis(100));
    let mounted = |path: PathBuf| fs::read_to_string(path.join("mountinfo")).unwrap_or_default();
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| mounted(entry.path()));
    let views: Vec<String> = all.filter(|mounts| mounts.contains(&format!("/views/{pid}-"))).collect();
    assert!(views.is_empty(), "{views:?}");
}

/// Folders with mounts below them are overlaid in parts. The test mounts file systems in a process of its own, if it
/// can.
#[test]
fn folders_with_mounts_below_are_divided() {
    let test = "view::folders_with_mounts_below_are_divided";
    match inside().as_deref() {
        None if rustix::process::getuid().is_root() => {
            rerun_in_child(test, &["unshare", "--mount"], "mount");
            return;
        }
        None => {
            rerun_in_child(test, &["unshare", "--user", "--map-root-user", "--mount"], "mount");
            return;
        }
        Some("mount") => {}
        Some(home) => return below_mounts(Path::new(home)),
    }
    let home = home();
    let disk = home.path.join("work/disk");
    fs::create_dir_all(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&disk).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return print_uncaptured("skipped: no file system can be mounted here");
    }
    fs::write(disk.join("f"), "held dear").unwrap();
    // An overlay can't copy files of a user without an ID in the namespace.
    let _ = std::os::unix::fs::chown(disk.join("f"), Some(USER), Some(USER));
    fs::write(home.path.join("beside"), "held dear").unwrap();
    let everyone = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for path in [&disk, &home.path, &home.path.join("work"), home.path.parent().unwrap(), &home.path.join(".artoo")] {
        everyone(path, 0o777);
    }
    below_mounts(&home.path);
    // It belongs to root.
    fs::remove_dir_all(home.path.join(".artoo/views")).unwrap();
    let path = home.path.to_str().unwrap();
    // Locked mounts: in a user namespace the kernel refuses more.
    if rustix::process::getuid().is_root() && fs::read_to_string("/proc/self/uid_map").unwrap().contains("4294967295") {
        rerun_in_child(test, &["setpriv", "--reuid", "4242", "--regid", "4242", "--clear-groups"], path);
    }
}

/// Runs a command in a view of a home below which file systems are mounted, and checks which files it could change.
fn below_mounts(path: &Path) {
    let mut home = TestHome::new();
    let text = path.to_str().unwrap().to_owned();
    home.config.environment.home.clone_from(&text);
    home.config.environment.cwd = format!("{text}/work/disk");
    home.config.data_dir = Some(path.join(".artoo"));
    let command =
        "echo new > f; echo new > new; mkdir -p ~/artoo_workspace/n; echo x > ~/beside; echo x > ~/work/x; cat f";
    let (ended, view) = home.in_view(command);
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "new\n", "{}", ended.text(SHOWN_CHARS).0);
    assert_eq!(fs::read_to_string(path.join("work/disk/f")).unwrap(), "held dear");
    assert_eq!(fs::read_to_string(path.join("beside")).unwrap(), "held dear");
    let changed = view.layers().iter().filter(|layer| fs::read_dir(&layer.upper).unwrap().next().is_some());
    let changed: Vec<&Path> = changed.map(|layer| layer.lower.as_path()).collect();
    assert_eq!(changed, [path.join("artoo_workspace"), path.join("work/disk")], "{}", ended.text(SHOWN_CHARS).0);
    assert_eq!(view.read_only(), [path.to_path_buf(), path.join("work")]);
    assert_eq!(ended.stderr.text(SHOWN_CHARS).0.matches("Read-only file system").count(), 2);
}

/// If a view can't be made, the error has the reason.
#[test]
fn missing_views_have_a_reason() {
    let test = "view::missing_views_have_a_reason";
    let mut home = home();
    if inside().is_none() {
        assert!(View::prepare(&home.config, &home.protected, &[]).is_ok());
        assert!(views_in_words(&home.config).contains("in a view first"));
        home.config.views = false;
        assert!(matches!(View::prepare(&home.config, &home.protected, &[]), Err(NoView::Off)));
        assert!(views_in_words(&home.config).contains("views = false"), "{}", views_in_words(&home.config));
        // In its own user namespace no other process is affected.
        let script =
            "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --bounding-set=-all \"$@\"";
        rerun_in_child(test, &["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"], "none");
        return;
    }
    let problem = View::prepare(&home.config, &home.protected, &[]).unwrap_err().to_string();
    for part in ["making a user and mount namespace", "os error 28", "sysctl user.max_user_namespaces="] {
        assert!(problem.contains(part), "{problem}");
        assert!(views_in_words(&home.config).contains(part));
    }
}

/// Changes stored for a later approval still exist after the view that they were made in has ended.
#[test]
fn kept_changes_outlive_their_view() {
    let home = home();
    home.file("artoo_workspace/old", "old");
    let (_, view) = home.in_view("echo new > old");
    let upper = view.layers()[0].upper.join("artoo_workspace/old");
    view.keep().unwrap();
    drop(view);
    assert_eq!(fs::read_to_string(upper).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(home.path.join("artoo_workspace/old")).unwrap(), "old");
}

/// The limit on file size also applies to the kernel's copy of a changed file in a view.
#[test]
fn limits_hold_in_a_view() {
    let mut home = home();
    home.config.limits.file_bytes = 1 << 20;
    home.file("artoo_workspace/small", "x");
    let big = home.file("artoo_workspace/big", vec![b'x'; 2 << 20]);
    let (ended, _) = home.in_view("(head -c 2000000 /dev/zero > new); (echo x >> big); echo x >> small; wc -c small");
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "3 small\n", "{}", ended.text(SHOWN_CHARS).0);
    assert_eq!(fs::metadata(big).unwrap().size(), 2 << 20);
}
