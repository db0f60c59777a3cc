//! A command reaches an approved address and no other; sockets that reach nothing need no approval.

use std::fs;
use std::io::Read;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use super::in_view::{TIME, also_as_user, home, python};
use super::reading::reading_run;
use super::stopping::is_installed;
use super::test_home::TestHome;
use super::{SHOWN_CHARS, print_uncaptured};
use crate::fence::{Denial, Fence, Reach};
use crate::process::Ended;

/// Runs a command with this access, in a view or outside.
fn run_in(home: &TestHome, reach: &Reach, in_view: bool, command: &str) -> Ended {
    let fence = Fence { reach: reach.clone(), ..home.fence() };
    if in_view { home.in_view_by(fence, command).0 } else { home.run_in(fence, command, TIME).unwrap() }
}

/// Runs a command in an overlay view and then outside of views; returns both results in this order.
fn both(home: &TestHome, reach: &Reach, command: &str) -> [Ended; 2] {
    [true, false].map(|in_view| run_in(home, reach, in_view, command))
}

/// Everything that was sent to a listener; each connection is marked with a `+`.
fn received(listener: &TcpListener) -> Vec<u8> {
    listener.set_nonblocking(true).unwrap();
    let mut all = Vec::new();
    while let Ok((mut stream, _)) = listener.accept() {
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        all.push(b'+');
        let _ = stream.read_to_end(&mut all);
    }
    all
}

/// The datagrams that a socket has received.
fn datagrams(socket: &UdpSocket) -> Vec<Vec<u8>> {
    socket.set_nonblocking(true).unwrap();
    let mut bytes = [0; 64];
    std::iter::from_fn(|| socket.recv(&mut bytes).ok().map(|length| bytes[..length].to_vec())).collect()
}

/// Two listeners of each kind, the first of which is approved.
struct Listeners {
    tcp: [TcpListener; 2],
    udp: [UdpSocket; 2],
}

impl Listeners {
    /// Opens two TCP listeners and two UDP sockets on free ports of loopback.
    fn new() -> Self {
        let tcp = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let udp = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
        Self { tcp, udp }
    }

    /// The address of a TCP listener; 0 is the approved one.
    fn tcp(&self, of: usize) -> SocketAddr {
        self.tcp[of].local_addr().unwrap()
    }

    /// The address of UDP socket number `of`; 0 is the approved one.
    fn udp(&self, of: usize) -> SocketAddr {
        self.udp[of].local_addr().unwrap()
    }

    /// The access that approves the first listener of each kind.
    fn reach(&self) -> Reach {
        Reach::of(&[Denial::Connection(self.tcp(0)), Denial::Connection(self.udp(0))])
    }
}

/// A program that may reach one approved address reaches no other.
#[doc = "holds: law 1.17; law 1.18"]
#[test]
fn approval_of_an_address_excludes_others() {
    also_as_user("network::approval_of_an_address_excludes_others");
    let home = home();
    for in_view in [true, false] {
        let listeners = Listeners::new();
        let (a, b) = (listeners.tcp(0).port(), listeners.tcp(1).port());
        let command = format!(
            "h=127.0.0.1; exec 3<>/dev/tcp/$h/{a} && echo asked >&3; exec 4<>/dev/tcp/$h/{b} && echo stolen >&4"
        );
        let ended = run_in(&home, &listeners.reach(), in_view, &command);
        let said = ended.text(SHOWN_CHARS).0;
        assert_eq!(received(&listeners.tcp[1]), b"", "{said}");
        assert_eq!(received(&listeners.tcp[0]), b"+asked\n", "{said}");
        assert_eq!(ended.denied, [Denial::Connection(listeners.tcp(1))], "{said}");
    }
}

/// A program that may reach one address can send to no other one, by any system call.
#[doc = "holds: law 1.17; law 1.18"]
#[test]
fn other_addresses_are_denied_to_every_call() {
    also_as_user("network::other_addresses_are_denied_to_every_call");
    if !is_installed("python3") {
        return print_uncaptured("skipped: python3 is not installed");
    }
    let home = home();
    let listeners = Listeners::new();
    let [a, b, c, d] = [listeners.tcp(0), listeners.tcp(1), listeners.udp(0), listeners.udp(1)].map(|at| at.port());
    let script = format!(
        "import socket,errno,struct
def t(f):
    try: f(); print('ok')
    except OSError as e: print(errno.errorcode[e.errno])
h='127.0.0.1'
udp=lambda: socket.socket(2,2)
t(lambda: socket.create_connection((h,{a})).sendmsg([b'tcp',b' one']))
t(lambda: socket.socket(10,1).connect(('::ffff:127.0.0.1',{b})))
t(lambda: socket.socket().sendto(b'x',0x20000000,(h,{b})))
t(lambda: udp().sendto(b'one',(h,{c})))
s=udp(); s.connect((h,{c}))
t(lambda: s.send(b'two'))
t(lambda: s.sendmsg([b'th',b'ree']))
t(lambda: s.sendto(b'x',(h,{d})))
t(lambda: s.sendmsg([b'x'],[],0,(h,{d})))
t(lambda: udp().sendmsg([b'x'],[],0,(h,{d})))
t(lambda: udp().connect((h,{d})))
t(lambda: socket.socket().setsockopt(0,4,b'\\x83\\x07\\x04\\x7f\\0\\0\\1\\0'))
n=socket.socket(); n.setblocking(False); print(n.connect_ex((h,{a})) in (0,115))
n=socket.socket(); n.setblocking(False); print(n.connect_ex((h,{b}))==errno.EACCES)
s=socket.create_connection((h,{a})); s.setsockopt(6,1,1); print(s.getpeername()==(h,{a}))
"
    );
    for in_view in [true, false] {
        let ended = run_in(&home, &listeners.reach(), in_view, &python(&script));
        let said = ended.text(SHOWN_CHARS).0;
        let expected = "ok EACCES EACCES ok ok ok EACCES EACCES EACCES EACCES EPERM True True True";
        assert_eq!(
            ended.stdout.text(SHOWN_CHARS).0.split_whitespace().collect::<Vec<_>>().join(" "),
            expected,
            "{said}"
        );
        assert_eq!(received(&listeners.tcp[1]), b"", "{said}");
        assert_eq!(received(&listeners.tcp[0]), b"+tcp one++", "{said}");
        assert_eq!(datagrams(&listeners.udp[1]), Vec::<Vec<u8>>::new(), "{said}");
        assert_eq!(datagrams(&listeners.udp[0]), [&b"one"[..], b"two", b"three"], "{said}");
        let [tcp, udp] = [listeners.tcp(1), listeners.udp(1)].map(Denial::Connection);
        assert_eq!(ended.denied, [tcp, udp], "{said}");
    }
}

/// Sockets that reach no other program are not denied, in a view, outside of one or in a reading run; a connection is.
#[test]
fn unused_sockets_ask_nothing_in_views() {
    also_as_user("network::unused_sockets_ask_nothing_in_views");
    if !is_installed("python3") {
        return print_uncaptured("skipped: python3 is not installed");
    }
    let home = home();
    let script = "import socket,fcntl,struct
for f in (2,10):
    for k in (1,2): socket.socket(f,k).close()
s=socket.socket(10); s.bind(('::1',0)); s.setsockopt(6,1,1); s.setsockopt(41,26,1); s.close()
n=socket.socket(16,3,0); n.bind((0,0)); n.getsockname()
n.sendto(struct.pack('IHHIIB3x',20,18,0x301,1,0,0),(0,0)); print(len(n.recv(65536))>0)
print(fcntl.ioctl(socket.socket(2,2),0x8915,struct.pack('16s24x',b'lo'))[20:24])";
    let reading = reading_run(&home, &python(script));
    for ended in both(&home, &Reach::default(), &python(script)).into_iter().chain([reading]) {
        let said = ended.text(SHOWN_CHARS).0;
        assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "True\nb'\\x7f\\x00\\x00\\x01'\n", "{said}");
        assert_eq!(ended.denied, [], "{said}");
    }
    let listeners = Listeners::new();
    let script = format!("import socket; socket.create_connection(('127.0.0.1',{}))", listeners.tcp(1).port());
    for ended in both(&home, &Reach::default(), &python(&script)) {
        assert_eq!(ended.denied, [Denial::Connection(listeners.tcp(1))], "{}", ended.text(SHOWN_CHARS).0);
    }
    assert_eq!(received(&listeners.tcp[1]), b"");
}

/// A reading run can't reach services that resolve names, since they may pass a query on to any host; tested as root.
#[doc = "holds: law 1.16; law 1.18"]
#[test]
fn name_services_are_not_reached() {
    if !is_installed("python3") || !rustix::process::geteuid().is_root() {
        return print_uncaptured("skipped: name services: no python3, or not root");
    }
    let _ = fs::create_dir_all("/run/systemd/userdb");
    let path = format!("/run/systemd/userdb/artoo.test.{}", std::process::id());
    let Ok(listener) = UnixListener::bind(&path) else {
        return print_uncaptured("skipped: name services: no folder for them");
    };
    listener.set_nonblocking(true).unwrap();
    let script = format!(
        "import socket,errno,pwd\ntry: s=socket.socket(1); s.connect({path:?}); s.send(b'sent by the run')\nexcept OSError as e: print(errno.errorcode[e.errno])\n\
         print(pwd.getpwuid(0).pw_name)"
    );
    let ended = reading_run(&home(), &python(&script));
    fs::remove_file(&path).unwrap();
    // Other programs on this machine may look names up meanwhile.
    let mut heard = Vec::new();
    for mut stream in listener.incoming().map_while(Result::ok) {
        stream.set_nonblocking(true).unwrap();
        let _ = stream.read_to_end(&mut heard);
    }
    assert_eq!(ended.stdout.text(SHOWN_CHARS).0, "ECONNREFUSED\nroot\n", "{}", ended.text(SHOWN_CHARS).0);
    assert!(!String::from_utf8_lossy(&heard).contains("sent by the run"));
    assert_eq!(ended.denied, []);
}
