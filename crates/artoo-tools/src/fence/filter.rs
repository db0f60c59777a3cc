//! The fence as seccomp's filters: the network, and what Landlock does not cover.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use super::joined::{Known, Part, RETURN, Says, joined};
use super::syscalls::{
    ABSENT, ACTING_BITS, ATTRIBUTES, CLONE_NEWTIME, DENIED, ENTRIES, FACTS, FIRST_UNKNOWN, IDENTITY,
    INTERFACE_ADDRESSES, KIND_MASK, LINKS, MAKING, NAMESPACES, NODES, ON_PROCESSES, REACHING, RENAMING, REQUESTS,
    SOCKETS,
};
use super::{RunKind, kernel};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The program for one thread, compiled.
#[derive(Debug, Clone)]
pub(crate) struct Filters {
    asking: Arc<BpfProgram>,
    /// In the place of `asking` where nobody can be asked.
    denying: Arc<BpfProgram>,
    must_ask: bool,
}

impl Filters {
    /// The filters of a run, compiled once for each kind. A reading run never has the network.
    pub(crate) fn of(kind: RunKind, network: bool) -> Result<Self, BackendError> {
        static KEPT: [OnceLock<Filters>; 5] = [const { OnceLock::new() }; 5];
        let [fenced, fenced_network, reading, view, view_network] = &KEPT;
        let kept = match (kind, network) {
            (RunKind::Fenced, false) => fenced,
            (RunKind::Fenced, true) => fenced_network,
            (RunKind::Reading, _) => reading,
            (RunKind::View, false) => view,
            (RunKind::View, true) => view_network,
        };
        if let Some(filters) = kept.get() {
            return Ok(filters.clone());
        }
        // As `linux/audit.h` numbers them.
        let architecture = match architecture()? {
            TargetArch::x86_64 => 0xc000_003e,
            TargetArch::aarch64 => 0xc000_00b7,
            TargetArch::riscv64 => 0xc000_00f3,
        };
        let known = Known { architecture, first_unknown: FIRST_UNKNOWN };
        let program = |asks| Ok(Arc::new(joined(known, &parts(kind, network, asks)?)));
        let filters = Self { asking: program(true)?, denying: program(false)?, must_ask: kind == RunKind::Reading };
        Ok(kept.get_or_init(|| filters).clone())
    }

    /// Whether a program may not be started without somebody to ask.
    pub(crate) fn must_ask(&self) -> bool {
        self.must_ask
    }

    /// Puts the filters onto the calling thread and on all it will start, and returns what answers the questions that
    /// will be asked; `None` where this process can't be asked, since another already is.
    ///
    /// # Errors
    /// Also where a reading run can't be asked: it would not be known what it was denied.
    pub(crate) fn apply(&self) -> io::Result<Option<OwnedFd>> {
        match kernel::listen(&self.asking) {
            Ok(listener) => Ok(Some(listener)),
            // Another supervisor listens already, as in some containers: a view needs none.
            Err(error) if self.must_ask => Err(io::Error::new(io::ErrorKind::Unsupported, error)),
            Err(_) => {
                apply_filter(&self.denying).map_err(io::Error::other)?;
                Ok(None)
            }
        }
    }
}

/// The parts of a filter, the strictest first.
fn parts(kind: RunKind, network: bool, asks: bool) -> Result<Vec<Part>, BackendError> {
    let mut parts = Vec::new();
    for (rules, answer) in answers(kind, network, asks)? {
        let (always, by_arguments): (Rules, Rules) = rules.into_iter().partition(|(_, rules)| rules.is_empty());
        // What is said whatever the arguments are needs no program that looks for the number once more.
        parts.push(Part { calls: numbers(&always), says: Says::Always(answer.action()) });
        parts.push(Part { calls: numbers(&by_arguments), says: Says::ByArguments(compile(by_arguments, answer)?) });
    }
    Ok(parts)
}

/// What is refused, each in its own words, and at last what is asked about or, where nobody can be asked, refused too.
fn answers(kind: RunKind, network: bool, asks: bool) -> Result<Vec<(Rules, Answer)>, BackendError> {
    let in_view = kind == RunKind::View;
    let mut denied = denied()?;
    if kind == RunKind::Reading && asks {
        return Ok(vec![(always(ABSENT), Answer::Fails(libc::ENOSYS)), (asked_reading(denied)?, Answer::IsAsked)]);
    }
    denied.extend(acting_modes()?);
    let attributes = if in_view { Rules::new() } else { always(ATTRIBUTES) };
    let last = match (asks, in_view) {
        (true, true) => {
            let mut rules = always(&[RENAMING, REACHING].concat());
            rules.extend(locks()?);
            (rules, Answer::IsAsked)
        }
        (true, false) => (asked()?, Answer::IsAsked),
        (false, _) => (denied_instead(network, in_view), Answer::Fails(libc::EPERM)),
    };
    Ok(vec![
        (denied, Answer::Fails(libc::EPERM)),
        ([(libc::SYS_ioctl, vec![other_requests()?])].into(), Answer::Fails(libc::ENOTTY)),
        (always(ABSENT), Answer::Fails(libc::ENOSYS)),
        (attributes, Answer::Fails(libc::EOPNOTSUPP)),
        (if network { network_allowed(asks)? } else { pairs()? }, Answer::Fails(libc::EACCES)),
        last,
    ])
}

/// What acts on the machine or on other processes.
fn denied() -> Result<Rules, BackendError> {
    let mut denied = always(&names(DENIED));
    denied.extend(namespaces()?);
    denied.extend(on_others()?);
    denied.insert(libc::SYS_prlimit64, limits_of_others()?);
    // A lease holds up whoever else opens the file.
    denied.insert(libc::SYS_fcntl, vec![rule(&[(1, SeccompCmpOp::Eq, libc::F_SETLEASE.unsigned_abs().into())])?]);
    Ok(denied)
}

/// A reading run is asked about whatever is refused elsewhere, so that it is known what it was denied.
fn asked_reading(denied: Rules) -> Result<Rules, BackendError> {
    let mut rules = asked()?;
    rules.extend(denied);
    rules.extend(pairs()?);
    rules.extend(always(&[ATTRIBUTES, SOCKETS, NODES, LINKS, &names(IDENTITY)].concat()));
    let told = INTERFACE_ADDRESSES.map(|request| rule(&[(1, SeccompCmpOp::Eq, request.into())]));
    rules.insert(libc::SYS_ioctl, told.into_iter().chain([other_requests()]).collect::<Result<_, _>>()?);
    Ok(rules)
}

/// What becomes of a call that a rule fits.
#[derive(Debug, Clone, Copy)]
enum Answer {
    Fails(i32),
    IsAsked,
}

impl Answer {
    /// As a filter returns it.
    fn action(self) -> u32 {
        match self {
            Self::Fails(errno) => libc::SECCOMP_RET_ERRNO | errno.unsigned_abs(),
            Self::IsAsked => libc::SECCOMP_RET_USER_NOTIF,
        }
    }
}

fn numbers(rules: &Rules) -> Vec<u32> {
    rules.keys().filter_map(|call| u32::try_from(*call).ok()).collect()
}

fn compile(rules: Rules, answer: Answer) -> Result<BpfProgram, BackendError> {
    // The compiler has no word for "is asked about": it is put in afterwards.
    let (fits, is_fit) = (SeccompAction::Errno(0), u32::from(SeccompAction::Errno(0)));
    let program: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, fits, architecture()?)?.try_into()?;
    let answered = |made: sock_filter| match (made.code, made.k) {
        (RETURN, action) if action == is_fit => sock_filter { k: answer.action(), ..made },
        _ => made,
    };
    Ok(program.into_iter().map(answered).collect())
}

fn architecture() -> Result<TargetArch, BackendError> {
    TargetArch::try_from(std::env::consts::ARCH)
}

/// What is asked about: facts and entries of files, files opened to be written, what reaches other processes, and, to be
/// told afterwards, leaving the group of processes.
fn asked() -> Result<Rules, BackendError> {
    let mut rules = always(FACTS);
    rules.extend(always(ENTRIES));
    let writes = |argument: u8| -> Result<Vec<SeccompRule>, BackendError> {
        let of = |mask: i32, value: i32| {
            let (mask, value) = (u64::from(mask.unsigned_abs()), u64::from(value.unsigned_abs()));
            rule(&[(argument, SeccompCmpOp::MaskedEq(mask), value)])
        };
        Ok(vec![
            of(libc::O_ACCMODE, libc::O_WRONLY)?,
            of(libc::O_ACCMODE, libc::O_RDWR)?,
            of(libc::O_CREAT, libc::O_CREAT)?,
            of(libc::O_TRUNC, libc::O_TRUNC)?,
        ])
    };
    rules.insert(libc::SYS_openat, writes(2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, writes(1)?);
    rules.extend(always(REACHING));
    rules.extend(always(&[libc::SYS_setpgid]));
    rules.extend(locks()?);
    Ok(rules)
}

/// Locks that hold up whoever else reads a file. A lock to be shared is needed to read some.
fn locks() -> Result<Rules, BackendError> {
    let alone = u64::from(libc::LOCK_EX.unsigned_abs());
    Ok([(libc::SYS_flock, vec![rule(&[(1, SeccompCmpOp::MaskedEq(alone), alone)])?])].into())
}

/// What is denied where nobody can be asked.
fn denied_instead(network: bool, in_view: bool) -> Rules {
    let mut rules = if in_view { Rules::new() } else { always(FACTS) };
    if !network {
        rules.extend(always(&[libc::SYS_socket]));
    }
    rules
}

fn names(calls: &[(c_long, &str)]) -> Vec<c_long> {
    calls.iter().map(|(call, _)| *call).collect()
}

fn always(calls: &[c_long]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn namespaces() -> Result<Rules, BackendError> {
    let one_of = |bits: u64| -> Result<Vec<SeccompRule>, BackendError> {
        let set = (0..64).map(|bit| 1_u64 << bit).filter(|bit| bits & bit != 0);
        set.map(|bit| rule(&[(0, SeccompCmpOp::MaskedEq(bit), bit)])).collect()
    };
    Ok([(libc::SYS_clone, one_of(NAMESPACES)?), (libc::SYS_unshare, one_of(NAMESPACES | CLONE_NEWTIME)?)].into())
}

fn other_requests() -> Result<SeccompRule, BackendError> {
    let known = REQUESTS.iter().flat_map(|(upper, lowest)| lowest.iter().map(move |byte| upper | u64::from(*byte)));
    let is_other: Vec<_> = known.map(|request| (1, SeccompCmpOp::Ne, request)).collect();
    rule(&is_other)
}

/// How processes share the machine: a program decides it for the caller alone.
fn on_others() -> Result<Rules, BackendError> {
    let rules = ON_PROCESSES.iter().map(|(call, _, process, everyone)| {
        let other = rule(&[(*process, SeccompCmpOp::Ne, 0)]);
        let everyone = everyone.map(|kind| rule(&[(0, SeccompCmpOp::Eq, kind)]));
        Ok((*call, [other].into_iter().chain(everyone).collect::<Result<_, _>>()?))
    });
    rules.collect()
}

/// New files that would let others act as their owner.
fn acting_modes() -> Result<Rules, BackendError> {
    let set = |argument: u8, bits: u32| (argument, SeccompCmpOp::MaskedEq(bits.into()), u64::from(bits));
    let rules = MAKING.iter().map(|(call, mode, flags)| {
        let acts = ACTING_BITS.iter().flat_map(|bit| match flags {
            None => vec![rule(&[set(*mode, *bit)])],
            Some(flags) => [libc::O_CREAT, libc::O_TMPFILE]
                .map(|makes| rule(&[set(*mode, *bit), set(*flags, makes.unsigned_abs())]))
                .into(),
        });
        Ok((*call, acts.collect::<Result<_, _>>()?))
    });
    rules.collect()
}

/// Setting the limits of another process; a program's own are only ever lowered.
fn limits_of_others() -> Result<Vec<SeccompRule>, BackendError> {
    let new_limit = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?;
    Ok(vec![SeccompRule::new(vec![new_limit, other])?])
}

/// The internet's two families, and asking the kernel about routes, which looking up a name does. Sockets of this
/// machine only where they are asked about: behind them stand services that act for whoever asks.
fn network_allowed(asks: bool) -> Result<Rules, BackendError> {
    let [inet, inet6, netlink] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(|family| family as u64);
    let raw = libc::SOCK_RAW as u64;
    let families = [inet, inet6, netlink, if asks { libc::AF_UNIX as u64 } else { inet }];
    let socket = vec![
        rule(&families.map(|family| (0, SeccompCmpOp::Ne, family)))?,
        rule(&[(0, SeccompCmpOp::Eq, inet), (1, SeccompCmpOp::MaskedEq(KIND_MASK), raw)])?,
        rule(&[(0, SeccompCmpOp::Eq, inet6), (1, SeccompCmpOp::MaskedEq(KIND_MASK), raw)])?,
        rule(&[(0, SeccompCmpOp::Eq, netlink), (2, SeccompCmpOp::Ne, 0)])?,
    ];
    let mut rules: Rules = [(libc::SYS_socket, socket)].into();
    rules.extend(pairs()?);
    Ok(rules)
}

/// A pair of datagram sockets can be sent from to any address; one of streams can't.
fn pairs() -> Result<Rules, BackendError> {
    let (stream, packets) = (libc::SOCK_STREAM as u64, libc::SOCK_SEQPACKET as u64);
    let other_family = rule(&[(0, SeccompCmpOp::Ne, libc::AF_UNIX as u64)])?;
    let kinds = (0..=KIND_MASK).filter(|kind| *kind != stream && *kind != packets);
    let other_kinds = kinds.map(|kind| rule(&[(1, SeccompCmpOp::MaskedEq(KIND_MASK), kind)]));
    let rules = std::iter::once(Ok(other_family)).chain(other_kinds).collect::<Result<_, _>>()?;
    Ok([(libc::SYS_socketpair, rules)].into())
}

/// All of the conditions: argument, comparison, value; arguments are compared as the kernel's `int`.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, BackendError> {
    let conditions = conditions.iter().map(|(argument, comparison, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, comparison.clone(), *value)
    });
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::super::joined::testing::{ARCHITECTURE, decision};
    use super::*;

    const KINDS: [RunKind; 3] = [RunKind::Fenced, RunKind::Reading, RunKind::View];
    const KNOWN: Known = Known { architecture: ARCHITECTURE, first_unknown: FIRST_UNKNOWN };

    /// What the kernel does with several filters: of all they say, the strictest counts.
    fn strictest(decisions: impl Iterator<Item = u32>) -> u32 {
        // Its order of actions is that of their numbers, taken as signed.
        decisions.min_by_key(|made| (made & libc::SECCOMP_RET_ACTION_FULL).cast_signed()).unwrap()
    }

    #[doc = "holds: law 1.17"]
    #[test]
    fn the_joined_filter_says_what_the_strictest_of_many_would_say() {
        for of in 0..12 {
            let (kind, [network, asks]) = (KINDS[of / 4], [1, 2].map(|bit| of & bit != 0));
            let program = joined(KNOWN, &parts(kind, network, asks).unwrap());
            let apart: Vec<BpfProgram> = answers(kind, network, asks)
                .unwrap()
                .into_iter()
                .map(|(rules, answer)| compile(rules, answer).unwrap())
                .collect();
            let mut refused = 0;
            for call in 0..FIRST_UNKNOWN {
                for argument in [0, 1, 2, 3, 10, 16, 0x40, 0x5412, 0x241, 0x1000_0000, u64::MAX] {
                    let expected = strictest(apart.iter().map(|part| decision(part, ARCHITECTURE, call, argument)));
                    let said = decision(&program, ARCHITECTURE, call, argument);
                    assert_eq!(said, expected, "call {call} with {argument:#x}, {kind:?}, {network}, {asks}");
                    refused += u32::from(said != libc::SECCOMP_RET_ALLOW);
                }
            }
            let least = if kind == RunKind::View { 800 } else { 900 };
            assert!(refused > least, "{refused} of all were refused or asked about, {kind:?}");
        }
    }

    /// Each argument has the same value: the number of a process, a request, or flags and a mode at once.
    #[doc = "holds: law 1.17"]
    #[test]
    fn others_requests_and_set_id_bits_are_refused() {
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
            let program = joined(KNOWN, &parts(RunKind::Fenced, false, true).unwrap());
            let said = decision(&program, ARCHITECTURE, u32::try_from(call).unwrap(), argument);
            assert_eq!(said, expected, "call {call} with {argument:#x}: {said:#x}");
        }
    }

    /// In a view files may be changed in any way but made to act as their owner; what acts on others is refused there too.
    #[doc = "holds: law 1.17"]
    #[test]
    fn only_files_are_free_in_a_view() {
        let program = joined(KNOWN, &parts(RunKind::View, false, true).unwrap());
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

    /// What is refused or asked about elsewhere is asked about in a reading run; what does not exist elsewhere does not there.
    #[doc = "holds: law 1.16"]
    #[test]
    fn reading_runs_are_asked_about_every_refusal() {
        let (elsewhere, reading) = (
            joined(KNOWN, &parts(RunKind::Fenced, false, true).unwrap()),
            joined(KNOWN, &parts(RunKind::Reading, false, true).unwrap()),
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

    #[doc = "holds: law 1.17"]
    #[test]
    fn what_is_not_known_is_refused_before_anything_else() {
        let program = joined(KNOWN, &parts(RunKind::Fenced, true, true).unwrap());
        let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
        for call in [FIRST_UNKNOWN, 464, 1000, 0x4000_0000, 0x4000_0000 + 59, u32::MAX] {
            assert_eq!(decision(&program, ARCHITECTURE, call, 0), absent, "{call}");
        }
        for architecture in [0, 0x4000_0003, ARCHITECTURE + 1] {
            assert_eq!(decision(&program, architecture, 0, 0), libc::SECCOMP_RET_KILL_PROCESS, "{architecture:#x}");
        }
    }
}
