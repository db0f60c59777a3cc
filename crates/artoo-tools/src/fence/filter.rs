//! The fence as seccomp's filters: the network, and what Landlock does not cover.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::joined::{Known, Part, joined};
use super::{Fence, kernel};

/// First number of a system call that was not looked at when this was written (Linux 6.13). What comes later does not
/// exist for a fenced program; programs have learnt to do without new calls. Those of the x32 interface lie beyond it, too.
const FIRST_UNKNOWN: u32 = 463;

/// What acts on the machine as a whole, on other processes, or takes back what holds the program. Never allowed.
const DENIED: &[c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Answered as if the kernel had no such call, so that programs take the older way, which can be looked into: flags of
/// `clone3` and `openat2` lie in memory, and `io_uring` makes calls that no filter sees.
const ABSENT: &[c_long] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// Extended attributes belong to no Landlock right. Programs that copy know file systems without them.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Modes, owners and times: no Landlock right covers them. They are asked about, or denied where nobody can be asked.
const FACTS: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// What adds, takes away or renames an entry of a folder, and a new session, at which a program's limits are set.
const ENTRIES: &[c_long] = &[
    libc::SYS_setsid,
    libc::SYS_unlinkat,
    libc::SYS_mkdirat,
    libc::SYS_symlinkat,
    libc::SYS_linkat,
    libc::SYS_renameat2,
    libc::SYS_truncate,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_renameat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
];

/// New namespaces: in one of its own a program would have rights it has not got here.
const NAMESPACES: u64 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u64;

/// Bit of `unshare` alone; in `clone` it is part of the signal's number.
const CLONE_NEWTIME: u64 = 0x80;

/// Requests of `ioctl` that type into a terminal, change a file's flags, or take a terminal over.
const REQUESTS: [u64; 6] = [
    0x5412,      // TIOCSTI
    0x541c,      // TIOCLINUX
    0x540e,      // TIOCSCTTY
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4004_6602, // FS_IOC32_SETFLAGS
    0x401c_5820, // FS_IOC_FSSETXATTR
];

/// Kind of a socket, without the flags beside it.
const KIND_MASK: u64 = 0xf;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The program for one thread, compiled.
#[derive(Debug, Clone)]
pub(crate) struct Filters {
    asking: Arc<BpfProgram>,
    /// In the place of `asking` where nobody can be asked.
    denying: Arc<BpfProgram>,
}

impl Filters {
    /// The filters of a fence; compiled once, since there are only two kinds.
    pub(crate) fn of(fence: &Fence) -> Result<Self, BackendError> {
        static WITHOUT_NETWORK: OnceLock<Filters> = OnceLock::new();
        static WITH_NETWORK: OnceLock<Filters> = OnceLock::new();
        let kept = if fence.network { &WITH_NETWORK } else { &WITHOUT_NETWORK };
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
        let program = |asks| Ok(Arc::new(joined(known, &parts(fence.network, asks)?)));
        let filters = Self { asking: program(true)?, denying: program(false)? };
        Ok(kept.get_or_init(|| filters).clone())
    }

    /// Puts the filters onto the calling thread and on all it will start, and returns what answers the questions that
    /// will be asked; `None` where this process can't be asked, since another already is.
    pub(crate) fn apply(&self) -> io::Result<Option<OwnedFd>> {
        let listener = kernel::listen(&self.asking).ok();
        if listener.is_none() {
            apply_filter(&self.denying).map_err(io::Error::other)?;
        }
        Ok(listener)
    }
}

/// What is refused, each in its own words, and at last what is asked about or, where nobody can be asked, refused too.
pub(super) fn parts(network: bool, asks: bool) -> Result<Vec<Part>, BackendError> {
    let mut denied = always(DENIED);
    denied.extend(namespaces()?);
    denied.insert(libc::SYS_ioctl, requests()?);
    denied.insert(libc::SYS_prlimit64, limits_of_others()?);
    let sockets = if network { network_allowed()? } else { pairs()? };
    let mut parts = vec![
        compile(denied, libc::EPERM)?,
        compile(always(ABSENT), libc::ENOSYS)?,
        compile(always(ATTRIBUTES), libc::EOPNOTSUPP)?,
        compile(sockets, libc::EACCES)?,
    ];
    parts.push(if asks { asking(compile(asked()?, 0)?) } else { compile(denied_instead(network), libc::EPERM)? });
    Ok(parts)
}

fn compile(rules: Rules, errno: i32) -> Result<Part, BackendError> {
    let action = SeccompAction::Errno(u32::try_from(errno).unwrap_or(1));
    let calls = rules.keys().filter_map(|call| u32::try_from(*call).ok()).collect();
    let program = SeccompFilter::new(rules, SeccompAction::Allow, action, architecture()?)?.try_into()?;
    Ok(Part { calls, program })
}

fn architecture() -> Result<TargetArch, BackendError> {
    TargetArch::try_from(std::env::consts::ARCH)
}

/// What is asked about: facts and entries of files, files opened to be written, and, to be told afterwards, sockets and
/// leaving the group of processes.
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
    rules.extend(always(&[libc::SYS_socket, libc::SYS_setpgid]));
    Ok(rules)
}

/// What is denied where nobody can be asked.
fn denied_instead(network: bool) -> Rules {
    let mut rules = always(FACTS);
    if !network {
        rules.extend(always(&[libc::SYS_socket]));
    }
    rules
}

/// Turns every "fails" of a program into "is asked about", for which the compiler has no word.
fn asking(mut part: Part) -> Part {
    const RETURN: u16 = 0x06;
    const ERRNO: u32 = libc::SECCOMP_RET_ERRNO;
    for instruction in &mut part.program {
        if instruction.code == RETURN && instruction.k & libc::SECCOMP_RET_ACTION_FULL == ERRNO {
            instruction.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    part
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

fn requests() -> Result<Vec<SeccompRule>, BackendError> {
    REQUESTS.iter().map(|request| rule(&[(1, SeccompCmpOp::Eq, *request)])).collect()
}

/// Setting the limits of another process; a program's own are only ever lowered.
fn limits_of_others() -> Result<Vec<SeccompRule>, BackendError> {
    let new_limit = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?;
    Ok(vec![SeccompRule::new(vec![new_limit, other])?])
}

/// The internet's two families, and asking the kernel about routes, which looking up a name does. Never sockets of
/// this machine: behind them stand services that act for whoever asks.
fn network_allowed() -> Result<Rules, BackendError> {
    let [inet, inet6, netlink] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(|family| family as u64);
    let raw = libc::SOCK_RAW as u64;
    let socket = vec![
        rule(&[(0, SeccompCmpOp::Ne, inet), (0, SeccompCmpOp::Ne, inet6), (0, SeccompCmpOp::Ne, netlink)])?,
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
