//! Builds the sandbox's seccomp filters: they restrict the network, and what Landlock does not cover.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};

use libc::{c_long, sock_filter};

use super::bpf::{Condition, Rule, compile};
use super::kernel;
use super::syscalls::{
    ABSENT, ADDRESSED, ATTRIBUTES, CLONE_NEWTIME, DENIED, ENTRIES, FIRST_UNKNOWN, IDENTITY, INTERFACE_ADDRESSES,
    KIND_MASK, LINKS, MAKING, METADATA, NAMESPACES, NODES, ON_PROCESSES, REACHING, RENAMING, REQUESTS, ROUTING_OPTIONS,
    SET_ID_BITS, SOCKETS,
};
use crate::fence::{NetworkScope, RunKind};

/// The number of this processor's architecture in `linux/audit.h`; `None` if it is not supported.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else if cfg!(target_arch = "riscv64") {
    Some(0xc000_00f3)
} else {
    None
};

/// A filter rule without its action: a system call and the conditions that its arguments must all meet.
type Match = (c_long, Vec<Condition>);

/// The compiled seccomp filters of one kind of run, with and without a supervisor.
#[derive(Debug, Clone)]
pub(crate) struct Filters {
    asking: Arc<Vec<sock_filter>>,
    /// The filter in place of `asking` if the kernel allows no listener.
    denying: Arc<Vec<sock_filter>>,
    must_ask: bool,
}

impl Filters {
    /// The seccomp filters of a run, compiled once for each kind and network scope. A reading run never has the
    /// network.
    ///
    /// # Errors
    /// If there are no filters for this processor.
    pub(crate) fn of(kind: RunKind, network: NetworkScope) -> io::Result<Self> {
        static CACHED: [[OnceLock<Filters>; 3]; 3] = [const { [const { OnceLock::new() }; 3] }; 3];
        let [fenced, [reading, ..], view] = &CACHED;
        let of_scope = |[nothing, addresses, everything]: &'static [OnceLock<Self>; 3]| match network {
            NetworkScope::Nothing => nothing,
            NetworkScope::Addresses => addresses,
            NetworkScope::Everything => everything,
        };
        let cached = match kind {
            RunKind::Fenced => of_scope(fenced),
            RunKind::Reading => reading,
            RunKind::View => of_scope(view),
        };
        let architecture = ARCHITECTURE.ok_or(io::ErrorKind::Unsupported)?;
        let program = |asks| Arc::new(compile(architecture, FIRST_UNKNOWN, &rules(kind, network, asks)));
        let made = || Self { asking: program(true), denying: program(false), must_ask: kind == RunKind::Reading };
        Ok(cached.get_or_init(made).clone())
    }

    /// Whether a program with these filters must have a supervisor that answers its system calls.
    pub(crate) fn must_ask(&self) -> bool {
        self.must_ask
    }

    /// Installs the filters for the calling thread and its descendants; returns the seccomp listener, or `None` if
    /// there can be none, and then the filter without a supervisor is installed.
    ///
    /// # Errors
    /// Also if a reading run can have no listener: its denials would not be known.
    pub(crate) fn apply(&self) -> io::Result<Option<OwnedFd>> {
        match kernel::listen(&self.asking) {
            Ok(listener) => Ok(Some(listener)),
            // Another supervisor listens already, as in some containers: a view needs none.
            Err(error) if self.must_ask => Err(io::Error::new(io::ErrorKind::Unsupported, error)),
            Err(_) => {
                kernel::set_filter(&self.denying, 0)?;
                Ok(None)
            }
        }
    }
}

/// All seccomp rules for a kind of run, with this network access; `asks`: a supervisor answers.
fn rules(kind: RunKind, network: NetworkScope, asks: bool) -> Vec<Rule> {
    let parts = parts(kind, network, asks).into_iter();
    let rules = parts.flat_map(|(matches, action)| matches.into_iter().map(move |matched| (matched, action)));
    rules.map(|((call, conditions), action)| Rule { call, conditions, action }).collect()
}

/// The groups of filter rules, each with its action: calls that fail, then calls that the supervisor is asked about.
fn parts(kind: RunKind, network: NetworkScope, asks: bool) -> Vec<(Vec<Match>, u32)> {
    let fails = |errno: i32| libc::SECCOMP_RET_ERRNO | errno.unsigned_abs();
    let is_asked = libc::SECCOMP_RET_USER_NOTIF;
    let in_view = kind == RunKind::View;
    let is_open = network == NetworkScope::Everything;
    if kind == RunKind::Reading && asks {
        return vec![(always(ABSENT), fails(libc::ENOSYS)), (asked_reading(), is_asked)];
    }
    let last = match (asks, in_view) {
        (true, true) => ([always(RENAMING), always(REACHING), locks(), sockets(network)].concat(), is_asked),
        (true, false) => ([asked(), sockets(network)].concat(), is_asked),
        (false, _) => {
            let files = if in_view { Vec::new() } else { always(METADATA) };
            let sockets = if is_open { Vec::new() } else { always(&[libc::SYS_socket]) };
            ([files, sockets].concat(), fails(libc::EPERM))
        }
    };
    vec![
        ([denied(), set_id_modes()].concat(), fails(libc::EPERM)),
        (vec![(libc::SYS_ioctl, other_requests())], fails(libc::ENOTTY)),
        (always(ABSENT), fails(libc::ENOSYS)),
        (if in_view { Vec::new() } else { always(ATTRIBUTES) }, fails(libc::EOPNOTSUPP)),
        (if is_open { network_allowed(asks) } else { pairs() }, fails(libc::EACCES)),
        (if network == NetworkScope::Addresses { routing() } else { Vec::new() }, fails(libc::EPERM)),
        last,
    ]
}

/// Filter rules for calls that act on the machine or on other processes: they fail, and in a reading run are recorded
/// as denied.
fn denied() -> Vec<Match> {
    let one_of = |call: c_long, bits: u32| {
        let set = (0..32).map(|bit| 1_u32 << bit).filter(move |bit| bits & bit != 0);
        set.map(move |bit| (call, vec![Condition::set(0, bit)]))
    };
    let mut denied = always(&names(DENIED));
    denied.extend(one_of(libc::SYS_clone, NAMESPACES));
    denied.extend(one_of(libc::SYS_unshare, NAMESPACES | CLONE_NEWTIME));
    for (call, _, process, everyone) in ON_PROCESSES {
        denied.push((call, vec![Condition::is_not(process, 0)]));
        denied.extend(everyone.map(|kind| (call, vec![Condition::is(0, kind)])));
    }
    // Setting limits of another process. A program may set its own, which can only be lowered.
    for new_limit in [Condition::is_not(2, 0), Condition::upper_is_not(2, 0)] {
        denied.push((libc::SYS_prlimit64, vec![new_limit, Condition::is_not(0, 0)]));
    }
    // A lease blocks other programs that open the file.
    denied.push((libc::SYS_fcntl, vec![Condition::is(1, libc::F_SETLEASE.unsigned_abs())]));
    denied
}

/// Filter rules for calls that a reading run asks the supervisor about: all that other runs refuse, so that the denials
/// are recorded.
fn asked_reading() -> Vec<Match> {
    let files = [ATTRIBUTES, NODES, LINKS, &names(IDENTITY)].concat();
    let requests = [always(SOCKETS), interface_addresses(), vec![(libc::SYS_ioctl, other_requests())]].concat();
    [asked(), denied(), pairs(), always(&files), requests].concat()
}

/// Filter rules for calls on sockets that the supervisor is asked about, by the network access; `socket` and `connect`
/// are elsewhere.
fn sockets(network: NetworkScope) -> Vec<Match> {
    let to_address = [Condition::is_not(4, 0), Condition::upper_is_not(4, 0)];
    let to_address = to_address.map(|condition| (libc::SYS_sendto, vec![condition])).to_vec();
    match network {
        NetworkScope::Nothing => {
            let others: Vec<c_long> = SOCKETS.iter().copied().filter(|call| *call != libc::SYS_sendto).collect();
            [always(&others), to_address, interface_addresses()].concat()
        }
        NetworkScope::Addresses => [always(ADDRESSED), to_address].concat(),
        NetworkScope::Everything => Vec::new(),
    }
}

/// Filter rules for requests for addresses of network interfaces, which the supervisor answers.
fn interface_addresses() -> Vec<Match> {
    INTERFACE_ADDRESSES.map(|request| (libc::SYS_ioctl, vec![Condition::is(1, request)])).to_vec()
}

/// Filter rules that match socket options by which packets would reach other hosts than the approved ones.
fn routing() -> Vec<Match> {
    let options = ROUTING_OPTIONS.iter().flat_map(|(level, options)| options.iter().map(move |option| (level, option)));
    let is = |argument, value: &i32| Condition::is(argument, value.unsigned_abs());
    options.map(|(level, option)| (libc::SYS_setsockopt, vec![is(1, level), is(2, option)])).collect()
}

/// Filter rules for calls that the supervisor is asked about, such as changes of metadata and calls that reach other
/// processes.
fn asked() -> Vec<Match> {
    let mut asked =
        [always(METADATA), always(ENTRIES), always(REACHING), always(&[libc::SYS_setpgid]), locks()].concat();
    for (call, flags) in [
        (libc::SYS_openat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, 1),
    ] {
        for (mask, value) in [
            (libc::O_ACCMODE, libc::O_WRONLY),
            (libc::O_ACCMODE, libc::O_RDWR),
            (libc::O_CREAT, libc::O_CREAT),
            (libc::O_TRUNC, libc::O_TRUNC),
        ] {
            asked.push((call, vec![Condition::masked(flags, mask.unsigned_abs(), value.unsigned_abs())]));
        }
    }
    asked
}

/// Filter rules for exclusive file locks, which would block other readers. Some files can't be read without a shared
/// lock.
fn locks() -> Vec<Match> {
    vec![(libc::SYS_flock, vec![Condition::set(1, libc::LOCK_EX.unsigned_abs())])]
}

/// The system call numbers of these pairs of number and name.
fn names(calls: &[(c_long, &str)]) -> Vec<c_long> {
    calls.iter().map(|(call, _)| *call).collect()
}

/// Filter rules for these system calls that match whatever their arguments are.
fn always(calls: &[c_long]) -> Vec<Match> {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

/// Filter conditions that are all met if an `ioctl` request is none of the allowed [`REQUESTS`].
fn other_requests() -> Vec<Condition> {
    let known = REQUESTS.iter().flat_map(|(upper, lowest)| lowest.iter().map(move |byte| upper | u32::from(*byte)));
    known.map(|request| Condition::is_not(1, request)).collect()
}

/// Filter rules that match calls which would create a file with set-user-id or set-group-id bits.
fn set_id_modes() -> Vec<Match> {
    let mut modes = Vec::new();
    for (call, mode, flags) in MAKING {
        for acts in SET_ID_BITS.map(|bit| Condition::set(*mode, bit)) {
            match flags {
                None => modes.push((*call, vec![acts])),
                Some(flags) => modes.extend(
                    [libc::O_CREAT, libc::O_TMPFILE]
                        .map(|makes| (*call, vec![acts, Condition::set(*flags, makes.unsigned_abs())])),
                ),
            }
        }
    }
    modes
}

/// Filter rules for sockets that are refused although the network is allowed: all but IPv4 and IPv6 (not raw), route
/// queries, and Unix sockets if a supervisor decides.
fn network_allowed(asks: bool) -> Vec<Match> {
    let [inet, inet6, netlink] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(libc::c_int::unsigned_abs);
    let families = [inet, inet6, netlink, if asks { libc::AF_UNIX.unsigned_abs() } else { inet }];
    let is_raw = Condition::masked(1, KIND_MASK, libc::SOCK_RAW.unsigned_abs());
    let refused = [
        families.map(|family| Condition::is_not(0, family)).to_vec(),
        vec![Condition::is(0, inet), is_raw],
        vec![Condition::is(0, inet6), is_raw],
        vec![Condition::is(0, netlink), Condition::is_not(2, 0)],
    ];
    refused.map(|conditions| (libc::SYS_socket, conditions)).into_iter().chain(pairs()).collect()
}

/// Filter rules for `socketpair` calls except for streams: a datagram socket can send to any address.
fn pairs() -> Vec<Match> {
    let other_family = Condition::is_not(0, libc::AF_UNIX.unsigned_abs());
    let streams = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(libc::c_int::unsigned_abs);
    let other_kind = (0..=KIND_MASK).filter(|kind| !streams.contains(kind));
    let other_kind = other_kind.map(|kind| Condition::masked(1, KIND_MASK, kind));
    std::iter::once(other_family).chain(other_kind).map(|other| (libc::SYS_socketpair, vec![other])).collect()
}

/// Tests that compiled filters decide as intended for every kind of run.
#[cfg(test)]
mod tests {
    use super::super::bpf::testing::{ARCHITECTURE, decision, is_met};
    use super::*;

    const KINDS: [RunKind; 3] = [RunKind::Fenced, RunKind::Reading, RunKind::View];

    const SCOPES: [NetworkScope; 3] = [NetworkScope::Nothing, NetworkScope::Addresses, NetworkScope::Everything];

    /// The compiled seccomp filter of one kind of run.
    fn program(kind: RunKind, network: NetworkScope, asks: bool) -> Vec<sock_filter> {
        compile(ARCHITECTURE, FIRST_UNKNOWN, &rules(kind, network, asks))
    }

    /// The strictest of several filters' actions, which the kernel chooses.
    fn strictest(decisions: impl Iterator<Item = u32>) -> u32 {
        // Actions are ordered by their numbers as signed integers.
        decisions.min_by_key(|made| (made & libc::SECCOMP_RET_ACTION_FULL).cast_signed()).unwrap()
    }

    /// A compiled filter decides as the strictest of its groups of rules that a call meets.
    #[doc = "holds: law 1.17"]
    #[test]
    fn filter_decides_as_strictest_of_its_parts() {
        for of in 0..18 {
            let (kind, network, asks) = (KINDS[of / 6], SCOPES[of / 2 % 3], of % 2 != 0);
            let program = program(kind, network, asks);
            let parts = parts(kind, network, asks);
            let mut refused = 0;
            for call in 0..FIRST_UNKNOWN {
                for argument in [0, 1, 2, 3, 10, 16, 0x40, 0x5412, 0x241, 0x1000_0000, u64::MAX] {
                    let is_met = |(number, conditions): &Match| {
                        *number == c_long::from(call) && conditions.iter().all(|found| is_met(*found, argument))
                    };
                    let decided =
                        parts.iter().map(
                            |(matches, action)| {
                                if matches.iter().any(is_met) { *action } else { libc::SECCOMP_RET_ALLOW }
                            },
                        );
                    let expected = strictest(decided);
                    let said = decision(&program, ARCHITECTURE, call, argument);
                    assert_eq!(said, expected, "call {call} with {argument:#x}, {kind:?}, {network:?}, {asks}");
                    refused += u32::from(said != libc::SECCOMP_RET_ALLOW);
                }
            }
            let least = if kind == RunKind::View { 800 } else { 900 };
            assert!(refused > least, "{refused} of all were refused or asked about, {kind:?}");
        }
    }

    /// In a fenced run, calls that create set-id files or act on other processes, and other `ioctl` requests, are
    /// refused.
    #[doc = "holds: law 1.17"]
    #[test]
    fn setuid_and_unknown_requests_are_refused() {
        let fails = |errno: i32| libc::SECCOMP_RET_ERRNO | errno.unsigned_abs();
        let (allowed, denied) = (libc::SECCOMP_RET_ALLOW, fails(libc::EPERM));
        let making = libc::O_CREAT.unsigned_abs().into();
        for (call, argument, expected) in [
            (libc::SYS_shmat, 0, denied),
            (libc::SYS_shmdt, 0, denied),
            (libc::SYS_semop, 0, denied),
            (libc::SYS_semtimedop, 0, denied),
            (libc::SYS_msgsnd, 0, denied),
            (libc::SYS_msgrcv, 0, denied),
            (libc::SYS_setpriority, 7, denied),
            (libc::SYS_setpriority, 0, allowed),
            (libc::SYS_getpriority, 7, allowed),
            (libc::SYS_ioprio_set, 7, denied),
            (libc::SYS_ioprio_set, 0, allowed),
            (libc::SYS_sched_setscheduler, 7, denied),
            (libc::SYS_sched_setparam, 7, denied),
            (libc::SYS_sched_setattr, 7, denied),
            (libc::SYS_sched_setaffinity, 7, denied),
            (libc::SYS_sched_setaffinity, 0, allowed),
            (libc::SYS_sched_getaffinity, 7, allowed),
            // TCGETS, TIOCGWINSZ, FIONREAD, FIOCLEX, FICLONE, FS_IOC_GETFLAGS
            (libc::SYS_ioctl, 0x5401, allowed),
            (libc::SYS_ioctl, 0x5413, allowed),
            (libc::SYS_ioctl, 0x541b, allowed),
            (libc::SYS_ioctl, 0x5451, allowed),
            (libc::SYS_ioctl, 0x4004_9409, allowed),
            (libc::SYS_ioctl, 0x8008_6601, allowed),
            // TIOCSTI, also with bits the kernel does not look at; FS_IOC_SETVERSION, FS_IOC_SETFLAGS, FITRIM
            (libc::SYS_ioctl, 0x5412, fails(libc::ENOTTY)),
            (libc::SYS_ioctl, 0x1_0000_5412, fails(libc::ENOTTY)),
            (libc::SYS_ioctl, 0x4008_7602, fails(libc::ENOTTY)),
            (libc::SYS_ioctl, 0x4008_6602, fails(libc::ENOTTY)),
            (libc::SYS_ioctl, 0xc018_5879, fails(libc::ENOTTY)),
            (libc::SYS_openat, making | 0o4000, denied),
            (libc::SYS_openat, making | 0o2000, denied),
            (libc::SYS_openat, u64::from(libc::O_TMPFILE.unsigned_abs()) | 0o4000, denied),
            (libc::SYS_openat, making, libc::SECCOMP_RET_USER_NOTIF),
            // Without O_CREAT the kernel ignores the mode.
            (libc::SYS_openat, 0o6000, allowed),
            (libc::SYS_fcntl, 1024, denied),
            (libc::SYS_fcntl, 3, allowed),
            (libc::SYS_mknodat, 0o4000, denied),
            (libc::SYS_mknodat, 0o600, allowed),
        ] {
            let program = program(RunKind::Fenced, NetworkScope::Nothing, true);
            let said = decision(&program, ARCHITECTURE, u32::try_from(call).unwrap(), argument);
            assert_eq!(said, expected, "call {call} with {argument:#x}: {said:#x}");
        }
    }

    /// In a view files may be changed but not created with set-id bits, and calls on other processes are refused.
    #[doc = "holds: law 1.17"]
    #[test]
    fn views_allow_only_file_changes() {
        let program = program(RunKind::View, NetworkScope::Nothing, true);
        let denied = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
        let (allowed, asked) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_USER_NOTIF);
        for (call, argument, expected) in [
            (libc::SYS_openat, u64::from(libc::O_CREAT.unsigned_abs()) | 0o4000, denied),
            (libc::SYS_openat, u64::from(libc::O_CREAT.unsigned_abs()) | 0o755, allowed),
            (libc::SYS_fchmod, 0o4755, allowed),
            (libc::SYS_mknodat, 0o4755, denied),
            (libc::SYS_mknodat, 0o755, allowed),
            (libc::SYS_flock, 1, allowed),
            (libc::SYS_flock, 6, asked),
            (libc::SYS_unlinkat, 0, allowed),
            (libc::SYS_fsetxattr, 0, allowed),
            (libc::SYS_renameat2, 0, asked),
            (libc::SYS_setsid, 0, asked),
            (libc::SYS_socket, 1, asked),
            (libc::SYS_socketpair, 2, libc::SECCOMP_RET_ERRNO | libc::EACCES.unsigned_abs()),
            (libc::SYS_mount, 0, denied),
            (libc::SYS_umount2, 0, denied),
            (libc::SYS_setns, 0, denied),
            (libc::SYS_unshare, 0x1000_0000, denied),
            (libc::SYS_ptrace, 0, denied),
            (libc::SYS_shmat, 0, denied),
            (libc::SYS_setpriority, 7, denied),
            (libc::SYS_ioctl, 0x5412, libc::SECCOMP_RET_ERRNO | libc::ENOTTY.unsigned_abs()),
        ] {
            let said = decision(&program, ARCHITECTURE, u32::try_from(call).unwrap(), argument);
            assert_eq!(said, expected, "call {call} with {argument:#x}: {said:#x}");
        }
    }

    /// A reading run asks about every call that other runs refuse or ask about.
    #[doc = "holds: law 1.16"]
    #[test]
    fn reading_runs_ask_about_every_refusal() {
        let (elsewhere, reading) = (
            program(RunKind::Fenced, NetworkScope::Nothing, true),
            program(RunKind::Reading, NetworkScope::Nothing, true),
        );
        let mut asked = 0;
        for call in 0..FIRST_UNKNOWN {
            for argument in [0, 1, 2, 3, 10, 16, 0x40, 0x5412, 0x241, 0x1000_0000, 0x4008_7602, u64::MAX] {
                let other = decision(&elsewhere, ARCHITECTURE, call, argument);
                let found = decision(&reading, ARCHITECTURE, call, argument);
                let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
                match other {
                    libc::SECCOMP_RET_ALLOW => {
                        assert!(found == other || found == libc::SECCOMP_RET_USER_NOTIF, "{call}")
                    }
                    other if other == absent => assert_eq!(found, absent, "{call}"),
                    _ => assert_eq!(found, libc::SECCOMP_RET_USER_NOTIF, "call {call} with {argument:#x}"),
                }
                asked += u32::from(found == libc::SECCOMP_RET_USER_NOTIF);
            }
        }
        assert!(asked > 900, "{asked}");
        for (call, argument) in
            [(libc::SYS_openat, 0), (libc::SYS_ioctl, 0x5401), (libc::SYS_clone, 0), (libc::SYS_read, 0)]
        {
            let found = decision(&reading, ARCHITECTURE, u32::try_from(call).unwrap(), argument);
            assert_eq!(found, libc::SECCOMP_RET_ALLOW, "call {call}");
        }
    }

    /// A filter fails unreviewed system calls with `ENOSYS`, and kills a process that calls for another architecture.
    #[doc = "holds: law 1.17"]
    #[test]
    fn unknown_calls_and_architectures_are_refused() {
        let program = program(RunKind::Fenced, NetworkScope::Everything, true);
        let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
        for call in [FIRST_UNKNOWN, 464, 1000, 0x4000_0000, 0x4000_0000 + 59, u32::MAX] {
            assert_eq!(decision(&program, ARCHITECTURE, call, 0), absent, "{call}");
        }
        for architecture in [0, 0x4000_0003, ARCHITECTURE + 1] {
            assert_eq!(decision(&program, architecture, 0, 0), libc::SECCOMP_RET_KILL_PROCESS, "{architecture:#x}");
        }
    }
}
