//! Attempts to escape from the sandbox.

use std::fs;
use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::SocketAddr;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::time::Duration;

use super::SHOWN_CHARS;
use super::in_view::home;
use super::test_home::TestHome;
use crate::fence::{Denial, Fence, Reach};

/// Whether a program is installed; prints a note if not.
fn has(program: &str) -> bool {
    let found =
        ["/usr/bin", "/bin", "/usr/local/bin"].iter().any(|folder| std::path::Path::new(folder).join(program).exists());
    if !found {
        super::print_uncaptured(&format!("not tried with {program}: it is not installed"));
    }
    found
}

/// Commands that try to change something outside the workspace change nothing there, neither content nor metadata.
#[doc = "holds: law 1.17"]
#[test]
fn workarounds_change_nothing_outside() {
    for command in [
        // by another name for the same file
        "ln ~/work/prize ~/artoo_workspace/hard && echo gone > ~/artoo_workspace/hard",
        "ln -s ~/work/prize ~/artoo_workspace/soft && echo gone > ~/artoo_workspace/soft",
        "ln -s ~/work ~/artoo_workspace/soft && rm ~/artoo_workspace/soft/prize",
        "ln -s ~/work/prize ~/artoo_workspace/soft && chmod 777 ~/artoo_workspace/soft",
        "echo gone > /proc/self/root$HOME/work/prize",
        "echo gone > /proc/$$/cwd/prize",
        "rm /proc/self/cwd/prize",
        "exec 5< prize; echo gone > /proc/self/fd/5",
        "exec 5< prize; chmod 777 /proc/self/fd/5",
        "exec 5< prize; chmod 777 /dev/fd/5",
        "cd /proc/self/cwd && chmod 777 prize",
        // by moving it
        "mv prize ~/artoo_workspace/",
        "mv ~/work ~/artoo_workspace/w",
        "echo new > ~/artoo_workspace/new && mv -f ~/artoo_workspace/new prize",
        "cd ~/artoo_workspace && mkdir -p a/b && cd a/b && mv ../../a ../../c; rm ../../../work/prize",
        // by another program
        "cp /bin/rm $TMPDIR/innocent && $TMPDIR/innocent prize",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm prize",
        "find . -name prize -delete",
        "sed -i s/held/gone/ prize",
        "tee prize < /dev/null",
        "dd if=/dev/zero of=prize bs=1 count=1 conv=notrunc",
        "truncate -s 0 prize",
        // metadata, which Landlock does not restrict
        "chmod 777 prize",
        "chmod -R 000 ~/work",
        "chown 12345 prize",
        "chgrp 12345 prize",
        "setfattr -n user.x -v y prize",
        "chattr +i prize",
        // by more rights
        "unshare -r sh -c 'echo gone > prize'",
        "unshare -rm sh -c 'mount -t tmpfs none ~/work'",
        "mount --bind ~/artoo_workspace ~/work",
        "chroot / rm prize",
        "sudo -n rm prize",
        "su -c 'rm prize'",
        "mknod ~/artoo_workspace/disk b 254 0",
        "nsenter -t 1 -m rm $PWD/prize",
        // what others run later
        "echo 'rm prize' >> ~/.bashrc",
        "mkdir -p ~/.config/autostart && echo x > ~/.config/autostart/x.desktop",
        "(crontab -l; echo '* * * * * rm prize') | crontab -",
        "echo 'rm prize' | at now",
        "systemd-run --user rm $PWD/prize",
        // the temporary folder itself
        "rmdir $TMPDIR && ln -s ~/work $TMPDIR && rm $TMPDIR/prize",
        "TMPDIR=$PWD mktemp",
        // dumps
        "ulimit -c unlimited; kill -SEGV $$",
    ] {
        let home = TestHome::new();
        home.file("work/prize", "held dear\n");
        home.file(".bashrc", "# mine\n");
        let before = home.state();
        let ended = home.run(command);
        let after = home.state();
        assert_eq!(after.facts, before.facts, "{command}: {}", ended.text(SHOWN_CHARS).0);
        assert_eq!(after.times, before.times, "{command}: {}", ended.text(SHOWN_CHARS).0);
    }
}

/// System calls made from Python, some by their number, change nothing outside, and those that must be denied fail.
#[doc = "holds: law 1.17"]
#[test]
fn system_calls_do_not_escape() {
    if !has("python3") {
        return;
    }
    let home = TestHome::new();
    let prize = home.file("work/prize", "held dear\n");
    let before = home.state();
    for (name, script) in [
        (
            "process_vm_writev and ptrace",
            "import ctypes,os\nl=ctypes.CDLL(None,use_errno=True)\nassert l.ptrace(16,os.getppid(),0,0)==-1",
        ),
        ("x32 numbers", "import ctypes\nl=ctypes.CDLL(None)\nassert l.syscall(0x40000000+90,b'prize',0o777)==-1"),
        ("io_uring", "import ctypes\nl=ctypes.CDLL(None)\nassert l.syscall(425,8,0)==-1"),
        (
            "memfd",
            "import os\nfd=os.memfd_create('x')\nos.write(fd,open('/bin/rm','rb').read())\nos.execv(f'/proc/self/fd/{fd}',['rm','prize'])",
        ),
        ("handles", "import ctypes\nl=ctypes.CDLL(None)\nassert l.syscall(304,0,0,0)==-1"),
        ("keys", "import ctypes\nl=ctypes.CDLL(None)\nassert l.syscall(250,0,-3,0)==-1"),
        ("bpf", "import ctypes\nl=ctypes.CDLL(None)\nassert l.syscall(321,0,0,0)==-1"),
        ("futimens", "import os\nf=os.open('prize',os.O_RDONLY)\nos.utime(f,(1,1))"),
        ("fchmod", "import os\nf=os.open('prize',os.O_RDONLY)\nos.fchmod(f,0o777)"),
        (
            "at_empty_path",
            "import ctypes,os\nf=os.open('prize',os.O_RDONLY)\nl=ctypes.CDLL(None)\nl.syscall(452,f,b'',0o777,0x1000)",
        ),
        (
            "parent",
            "import os,signal\nos.kill(os.getppid(),0)\np=int(open('/proc/self/stat').read().split()[3])\nos.kill(p,signal.SIGSTOP) if p!=os.getppid() else None",
        ),
        (
            "swap",
            "import os,threading\nos.chdir(os.environ['HOME']+'/artoo_workspace')\nopen('f','w').close()\nos.symlink('../work/prize','l')\ngo=True\ndef swap():\n  while go:\n    try:\n      os.rename('f','t');os.rename('l','f');os.rename('f','l');os.rename('t','f')\n    except OSError: pass\nt=threading.Thread(target=swap);t.start()\nfor i in range(500):\n  try: os.chmod('f',0o777)\n  except OSError: pass\ngo=False;t.join()",
        ),
    ] {
        let script = format!("python3 - <<'EOF'\n{script}\nEOF");
        let ended = home.run(&script);
        let after = home.state();
        assert_eq!(after.facts, before.facts, "{name}: {}", ended.text(SHOWN_CHARS).0);
        assert_eq!(after.times.get(&prize), before.times.get(&prize), "{name}: {}", ended.text(SHOWN_CHARS).0);
    }
    for check in [
        "import socket\nfor f in (socket.AF_INET,socket.AF_INET6):\n for k in (1,2,3):\n  a=('127.0.0.1' if f==2 else '::1',9)\n  for t in (lambda s: s.connect(a), lambda s: s.sendto(b'x',a), lambda s: s.sendmsg([b'x'],[],0,a), lambda s: s.bind(('',9)), lambda s: s.listen()):\n   try: t(socket.socket(f,k))\n   except OSError: continue\n   raise SystemExit(9)\nfor f,p in ((16,1),(16,9),(16,15),(17,0),(38,0),(40,0)):\n for k in (1,2,3):\n  try: socket.socket(f,k,p)\n  except OSError: continue\n  raise SystemExit(9)",
        "import socket\ntry: socket.socketpair(socket.AF_UNIX,socket.SOCK_DGRAM)\nexcept OSError: pass\nelse: raise SystemExit(9)\nsocket.socketpair()",
        "import os\nfor n in ('environ','mem','maps','root/etc'):\n try: open(f'/proc/{os.getppid()}/{n}','rb')\n except OSError: continue\n",
        "import fcntl\ntry: open('/dev/tty','r+b')\nexcept OSError: pass\nelse: raise SystemExit(9)",
        "import resource\nassert resource.getrlimit(resource.RLIMIT_CORE)==(1,1)\ntry: resource.setrlimit(resource.RLIMIT_FSIZE,(-1,-1))\nexcept (ValueError,OSError): pass\nelse: raise SystemExit(9)",
    ] {
        let ended = home.run(&format!("python3 - <<'EOF'\n{check}\nEOF"));
        assert_eq!(ended.exit_code, Some(0), "{check}\n{}", ended.text(SHOWN_CHARS).0);
    }
}

/// A sandboxed program can't read keys, shell start-up files or artoo's own data.
#[doc = "holds: law 1.20"]
#[test]
fn keys_startup_files_and_artoo_are_unreadable() {
    let home = TestHome::new();
    for secret in [".ssh/id_rsa", ".artoo/audit.jsonl", ".bashrc", ".aws/credentials", ".config/gh/hosts.yml"] {
        home.file(secret, "SECRET");
    }
    home.file(".config/other", "open");
    symlink(home.path.join(".ssh"), home.path.join("work/keys")).unwrap();
    let own = std::process::id();
    let ended = home.run(&format!(
        "cat ~/.ssh/id_rsa ~/.artoo/* ~/.bashrc ~/.aws/credentials ~/.config/gh/hosts.yml keys/id_rsa; \
         cat /proc/self/root$HOME/.ssh/id_rsa; cp -r ~/.ssh ~/artoo_workspace/; cat ~/artoo_workspace/.ssh/*; \
         cat /proc/{own}/environ /proc/{own}/mem /proc/{own}/maps | head -c 100 | tr '\\0' '\\n'; \
         readlink /proc/{own}/fd/1 /proc/{own}/cwd; ls /proc/{own}/root/; cat ~/.config/other"
    ));
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "open", "{}", ended.text(SHOWN_CHARS).0);
}

/// A sandboxed program can't connect to Unix sockets or write to pipes of other processes.
#[doc = "holds: law 1.18"]
#[test]
fn unix_sockets_and_foreign_pipes_are_unreachable() {
    if !has("python3") {
        return;
    }
    let home = TestHome::new();
    let path = home.path.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let mail = home.path.join("mail");
    let box_ = UnixDatagram::bind(&mail).unwrap();
    box_.set_nonblocking(true).unwrap();
    let name = format!("artoo-test-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    hidden.set_nonblocking(true).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(home.path.join("pipe")).status().unwrap().success());
    let mut pipe = fs::OpenOptions::new().read(true).write(true).open(home.path.join("pipe")).unwrap();
    let script = format!(
        "python3 - <<'EOF'\nimport socket,os\nfor a in ({path:?},'\\0{name}'):\n try: socket.socket(socket.AF_UNIX).connect(a)\n except OSError: pass\n\
         try:\n a,b=socket.socketpair(socket.AF_UNIX,socket.SOCK_STREAM)\n a.sendmsg([b'x'],[],0,{mail:?})\nexcept OSError: pass\n\
         try: os.write(os.open({pipe:?},os.O_WRONLY|os.O_NONBLOCK),b'x')\nexcept OSError: pass\nEOF",
        path = path.to_str().unwrap(),
        mail = mail.to_str().unwrap(),
        pipe = home.path.join("pipe").to_str().unwrap(),
    );
    // Approval of the network does not include the services of this machine.
    for network in [false, true] {
        let ended = home
            .run_in(Fence { reach: Reach::of_network(network), ..home.fence() }, &script, Duration::from_secs(20))
            .unwrap();
        assert_eq!(ended.exit_code, Some(0), "{}", ended.text(SHOWN_CHARS).0);
    }
    assert!(listener.accept().is_err() && hidden.accept().is_err() && box_.recv(&mut [0; 8]).is_err());
    // The only byte in the pipe is our own.
    pipe.write_all(b"o").unwrap();
    let mut byte = [0; 1];
    pipe.read_exact(&mut byte).unwrap();
    assert_eq!(&byte, b"o");
}

/// Every protected place is unreadable in a reading run, in a view and in other runs.
#[doc = "holds: law 1.20"]
#[test]
fn every_protected_place_is_closed() {
    let home = home();
    for place in home.protected.places().iter().filter(|place| place.starts_with(&home.path) && !place.exists()) {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, "needle").unwrap();
    }
    home.file(".config/open", "needle");
    let command = "cat ~/.config/open; grep -rs needle ~ | grep -v /.config/open; true";
    let reading = home.run_in(Fence::of_reading_run(&home.protected), command, Duration::from_secs(20)).unwrap();
    for ended in [reading, home.in_view(command).0, home.run(command)] {
        assert_eq!(ended.text(SHOWN_CHARS).0, "needle", "{:?}", ended.denied);
    }
}

/// Other processes of the user, and their shared memory and semaphores, can't be changed from the sandbox.
#[doc = "holds: law 1.17"]
#[test]
fn other_processes_stay_unchanged() {
    if !has("python3") {
        return;
    }
    let outside = |script: &str| {
        let python =
            std::process::Command::new("python3").args(["-c", &format!("{SYSTEM_V}{script}")]).output().unwrap();
        assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
        String::from_utf8(python.stdout).unwrap()
    };
    let made = outside("print(*make())");
    let ids = made.trim().replace(' ', ",");
    let mut victim = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let home = home();
    let script =
        format!("cd ~/artoo_workspace; python3 - <<'EOF'\n{SYSTEM_V}use({ids})\nothers({})\nown()\nEOF", victim.id());
    let all = [home.in_view(&script).0, home.run(&script)];
    let left = outside(&format!("print(take({ids}))"));
    victim.kill().unwrap();
    victim.wait().unwrap();
    for ended in all {
        assert_eq!(ended.exit_code, Some(0), "{}", ended.text(SHOWN_CHARS).0);
        assert_eq!(ended.denied, [Denial::Write("/etc/passwd".into())]);
    }
    assert_eq!(left, "secret\n");
}

const SYSTEM_V: &str = "
import ctypes,os,fcntl,struct
l=ctypes.CDLL(None,use_errno=True); l.shmat.restype=ctypes.c_long
m=ctypes.create_string_buffer(struct.pack('l',1)+b'secret',80)
def refused(name,*args,errno=1):
    assert getattr(l,name)(*args)==-1, name
    assert ctypes.get_errno()==errno, (name,ctypes.get_errno())
def make():
    ids=[l.shmget(0,4096,0o1600),l.semget(0,1,0o1600),l.msgget(0,0o1600)]
    assert min(ids)>=0 and l.msgsnd(ids[2],m,6,0)==0
    return ids
def use(shm,sem,msq):
    refused('shmat',shm,None,0); refused('msgsnd',msq,m,6,0o4000); refused('msgrcv',msq,m,64,0,0o4000)
    refused('semop',sem,struct.pack('Hhh',0,5,0o4000),1)
def others(pid):
    refused('setpriority',0,pid,19); refused('setpriority',2,os.getuid(),19); refused('setpriority',2,0,19)
    refused('sched_setscheduler',pid,5,struct.pack('i',0)); refused('sched_setaffinity',pid,8,struct.pack('Q',1))
    f=os.open('/etc/passwd',os.O_RDONLY)
    refused('ioctl',f,ctypes.c_ulong(0x40087602),struct.pack('Q',7),errno=25)
    for n,flags in (('a',os.O_CREAT|os.O_WRONLY),('.',os.O_TMPFILE|os.O_WRONLY)):
        refused('open',n.encode(),flags,0o4755); refused('open',n.encode(),flags,0o2755)
    refused('mknod',b'b',0o104755,0)
    refused('flock',f,6,errno=37); fcntl.flock(f,fcntl.LOCK_SH)
    for c in (1024,): refused('fcntl',f,c,0)
def own():
    os.setpriority(os.PRIO_PROCESS,0,5); os.sched_setaffinity(0,os.sched_getaffinity(0))
    r,w=os.pipe(); os.write(w,b'abc'); n=fcntl.ioctl(r,0x541b,struct.pack('i',0)); assert n==struct.pack('i',3)
    os.set_inheritable(r,True); os.set_blocking(r,False)
    c=os.open('c',os.O_CREAT|os.O_WRONLY,0o755); os.close(c); c=os.open('c',os.O_RDONLY); fcntl.flock(c,fcntl.LOCK_EX)
    fcntl.flock(os.memfd_create('m'),fcntl.LOCK_EX); os.mknod('e',0o100755)
def take(shm,sem,msq):
    b=ctypes.create_string_buffer(80); n=l.msgrcv(msq,b,64,0,0o4000)
    l.shmctl(shm,0,None); l.semctl(sem,0,0,0); l.msgctl(msq,0,None)
    return b.raw[8:8+n].decode() if n>=0 else 'gone'
";

/// A sandboxed program can't signal processes outside its sandbox.
#[doc = "holds: law 1.17"]
#[test]
fn outside_processes_are_not_signalled() {
    let home = TestHome::new();
    let mut outside = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let ended = home.run(&format!("kill -9 {0}; kill -TERM -- -{0}; kill -9 -1; kill -9 $PPID; true", outside.id()));
    let alive = outside.try_wait().unwrap().is_none();
    outside.kill().unwrap();
    outside.wait().unwrap();
    assert!(alive, "{}", ended.text(SHOWN_CHARS).0);
}

/// A file that artoo has open without close-on-exec is not inherited by the program.
#[doc = "holds: design T18"]
#[test]
fn inheritable_files_are_not_inherited() {
    let home = TestHome::new();
    let ours = fs::File::create(home.path.join("ours")).unwrap();
    rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::empty()).unwrap();
    let ended = home
        .run("for f in /proc/self/fd/*; do readlink $f; done; for n in 3 4 5 6 7 8 9 10 11 12; do echo x >&$n; done");
    assert!(!ended.stdout.text(SHOWN_CHARS).0.contains("ours"), "{}", ended.text(SHOWN_CHARS).0);
    assert_eq!(fs::read(home.path.join("ours")).unwrap(), b"");
}

/// A program's temporary folder can't be read by other users, and is deleted after the run.
#[test]
fn temporary_folder_is_private_and_deleted() {
    let home = TestHome::new();
    let ended = home.run("stat -c '%a %n' $TMPDIR; echo x > $TMPDIR/f; cat $TMPDIR/f");
    let text = ended.stdout.text(SHOWN_CHARS).0;
    let (mode, rest) = text.split_once(' ').unwrap();
    let (folder, content) = rest.split_once('\n').unwrap();
    assert_eq!((mode, content), ("700", "x\n"), "{}", ended.text(SHOWN_CHARS).0);
    for _ in 0..200 {
        if !std::path::Path::new(folder).exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{folder} is still there");
}
