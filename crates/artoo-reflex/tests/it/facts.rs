//! Tests of facts of the machine: their commands, and their values read without the commands.

use artoo_proto::{Timestamp, pipeline};

use artoo_reflex::algebra::{Fact, Query};
use artoo_reflex::eval::{Answer, evaluate};
use artoo_reflex::testing::{MemoryFileSystem, programs};

/// A routing table as the kernel prints it: a default route and one of a network with a prefix of 20 bits.
const ROUTES: &str = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
    eth0 00000000 0101A8C0 0003 0 0 0 00000000 0 0 0\neth0 0000A8C0 00000000 0001 0 0 0 00F0FFFF 0 0 0\n";

/// The addresses of a machine as the kernel prints them; the first one is that of the loopback interface.
const ADDRESSES: &str = "Main:\n  |-- 127.0.0.1\n     /32 host LOCAL\n  |-- 192.168.0.0\n     /20 link UNICAST\n  \
    |-- 192.168.1.7\n     /32 host LOCAL\n  |-- 192.168.15.255\n     /32 link BROADCAST\n";

/// A file system in memory with the system files that facts are read from.
fn machine() -> MemoryFileSystem {
    let mut fs = MemoryFileSystem::default();
    (fs.now, fs.utc_offset_s) = (super::now().wall, 3600);
    let files = [
        (
            "/proc/self/status",
            "Umask:\t0022\nUid:\t1000\t1001\t1000\t1000\nGid:\t100\t101\t100\t100\nGroups:\t100 27\n",
        ),
        ("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nada:x:1001:100:Ada:/home/ada:/bin/zsh\nbo:x:7:27::/:/bin/sh\n"),
        ("/etc/group", "root:x:0:\nusers:x:100:\nstaff:x:101:bo,ada\nsudo:x:27:bo\n"),
        ("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n"),
        ("/proc/self/limits", "Max processes  77  99  processes\nMax open files  1024  4096  files\n"),
        ("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 12\"\n"),
        ("/etc/resolv.conf", "# comment\nnameserver 9.9.9.9\nsearch x\nnameserver\t1.1.1.1\n"),
        ("/etc/shells", "# shells\n/bin/sh\n/bin/zsh\n"),
        ("/proc/modules", "ext4 1 2\nxfs 3 4\n"),
        ("/proc/stat", "cpu 1\nbtime 1715770800\n"),
        ("/proc/sys/vm/swappiness", "60\n"),
        ("/proc/net/route", ROUTES),
        ("/proc/net/fib_trie", ADDRESSES),
        (
            "/proc/net/tcp",
            "  sl local rem st\n 0: 0100007F:1F90 00000000:0000 0A 0\n 1: 0100007F:C350 0200007F:0016 01 0\n",
        ),
        ("/proc/net/tcp6", "  sl local rem st\n 0: 00000000000000000000000000000000:0016 0:0000 0A 0\n"),
    ];
    for (path, content) in files {
        fs.add_file(path, content, Timestamp::default());
    }
    fs.variables.insert("LANG".to_owned(), b"de_DE.UTF-8".to_vec());
    fs
}

/// The evaluated value of a fact, on one line.
fn value(fact: Fact, fs: &MemoryFileSystem) -> String {
    match evaluate(&Query::System { fact: fact.clone() }, fs) {
        Ok(Answer::Text(text)) => text,
        Ok(Answer::Number(number)) => number.to_string(),
        Ok(Answer::Lines(lines)) => {
            let lines: Vec<String> = lines.into_iter().map(|line| String::from_utf8(line.text).unwrap()).collect();
            lines.join(",")
        }
        other => panic!("{fact:?}: {other:?}"),
    }
}

#[test]
fn facts_agree_with_their_second_source() {
    let ada = || "ada".to_owned();
    for (fact, expected) in [
        (Fact::Date, "2024-05-15"),
        (Fact::DateTime, "2024-05-15 14:00"),
        (Fact::DateInDays { days: 3 }, "2024-05-18"),
        (Fact::DateInDays { days: -15 }, "2024-04-30"),
        (Fact::DayOfWeek { date: "2024-05-15".to_owned() }, "Wednesday"),
        (Fact::Week, "20"),
        (Fact::TimeZone, "+0100"),
        (Fact::BootTime, "2024-05-15 12:00:00"),
        (Fact::UnixTime, "1715778000"),
        (Fact::User, "ada"),
        (Fact::Shell, "/bin/zsh"),
        (Fact::UserId, "1001"),
        (Fact::GroupId, "101"),
        (Fact::GroupName, "staff"),
        (Fact::Groups, "staff,sudo,users"),
        (Fact::GroupsOf { user: ada() }, "staff,users"),
        (Fact::UserIdOf { user: ada() }, "1001"),
        (Fact::AllUsers, "root,ada,bo"),
        (Fact::MemoryTotal, "1024000"),
        (Fact::MemoryUsed, "614400"),
        (Fact::SwapUsed, "30720"),
        (Fact::ProcessLimit, "77"),
        (Fact::OpenFilesLimit, "1024"),
        (Fact::System, "Some Linux 12"),
        (Fact::NameServers, "9.9.9.9,1.1.1.1"),
        (Fact::Shells, "/bin/sh,/bin/zsh"),
        (Fact::KernelModules, "ext4,xfs"),
        (Fact::KernelParameter { name: "vm.swappiness".to_owned() }, "60"),
        (Fact::Umask, "0022"),
        (Fact::Addresses, "192.168.1.7"),
        (Fact::Ports, "22,8080"),
        (Fact::Gateway, "192.168.1.1"),
        (Fact::Routes, "default via 192.168.1.1 dev eth0,192.168.0.0/20 dev eth0"),
        (Fact::Locale, "de_DE.UTF-8"),
    ] {
        assert_eq!(value(fact.clone(), &machine()), expected, "{fact:?}");
    }
}

#[test]
fn fact_arguments_are_quoted_or_refused() {
    let command =
        |fact: Fact| programs(&Query::System { fact }, "linux").ok().map(|pipeline| pipeline::command(&pipeline));
    let free = |path: &str| command(Fact::DiskFree { path: path.to_owned() }).unwrap();
    assert_eq!(free("/x y"), "df -B1 --output=avail -- '/x y' | tail -n 1");
    assert_eq!(free("/{}'|"), "df -B1 --output=avail -- '/{}'\"'\"'|' | tail -n 1");
    assert_eq!(command(Fact::DateInDays { days: -3 }).unwrap(), "env LC_ALL=C date -d '-3 days' +%Y-%m-%d");
    for name in ["git", "x.y", "g++"] {
        assert_eq!(command(Fact::Program { name: name.to_owned() }), Some(format!("which {name}")));
    }
    for name in ["", "-a", "a b", "a;b", "$(x)", "../x", "a/b"] {
        let name = || name.to_owned();
        for fact in [
            Fact::Program { name: name() },
            Fact::KernelParameter { name: name() },
            Fact::GroupsOf { user: name() },
            Fact::UserIdOf { user: name() },
            Fact::Variable { name: name() },
        ] {
            assert_eq!(command(fact.clone()), None, "{fact:?}");
        }
    }
    assert_eq!(command(Fact::Variable { name: "SECRET".to_owned() }), None, "hidden from programs");
}
