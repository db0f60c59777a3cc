//! The system calls and arguments the filters speak of, by what they could do.

use libc::c_long;

/// A system call with its name.
type Named = (c_long, &'static str);

macro_rules! named {
    ($($(#[$on:meta])* $call:ident),* $(,)?) => {
        &[$($(#[$on])* (libc::$call, stringify!($call))),*]
    };
}

/// Numbers of calls, and of older ones that only x86-64 still has.
macro_rules! calls {
    ($($call:ident),*; x86_64: $($older:ident),*) => {
        &[$(libc::$call,)* $(#[cfg(target_arch = "x86_64")] libc::$older,)*]
    };
}

/// First number of a system call that was not looked at when this was written (Linux 6.13). What comes later does not
/// exist for a fenced program; programs have learnt to do without new calls. Those of the x32 interface lie beyond it, too.
pub(super) const FIRST_UNKNOWN: u32 = 463;

/// What acts on the machine as a whole, on other processes, or takes back what holds the program. Never allowed.
pub(super) const DENIED: &[Named] = named![
    SYS_acct,
    SYS_add_key,
    SYS_adjtimex,
    SYS_bpf,
    SYS_chroot,
    SYS_clock_adjtime,
    SYS_clock_settime,
    SYS_delete_module,
    SYS_fanotify_init,
    SYS_finit_module,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fsopen,
    SYS_fspick,
    SYS_init_module,
    SYS_kcmp,
    SYS_kexec_file_load,
    SYS_kexec_load,
    SYS_keyctl,
    SYS_migrate_pages,
    SYS_mount,
    SYS_mount_setattr,
    SYS_move_mount,
    SYS_move_pages,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_msgctl,
    SYS_msgget,
    SYS_msgrcv,
    SYS_msgsnd,
    SYS_open_by_handle_at,
    SYS_open_tree,
    SYS_perf_event_open,
    SYS_pidfd_getfd,
    SYS_pivot_root,
    SYS_process_madvise,
    SYS_process_mrelease,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_ptrace,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_reboot,
    SYS_request_key,
    SYS_semctl,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_setdomainname,
    SYS_sethostname,
    SYS_setns,
    SYS_settimeofday,
    SYS_shmat,
    SYS_shmctl,
    SYS_shmdt,
    SYS_shmget,
    SYS_swapoff,
    SYS_swapon,
    SYS_syslog,
    SYS_umount2,
    SYS_userfaultfd,
    SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    SYS_modify_ldt,
];

/// Answered as if the kernel had no such call, so that programs take the older way, which can be looked into: flags of
/// `clone3` and `openat2` lie in memory, and `io_uring` makes calls that no filter sees.
pub(super) const ABSENT: &[c_long] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// Extended attributes belong to no Landlock right. Programs that copy know file systems without them.
pub(super) const ATTRIBUTES: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Changes of the user a process acts for. Only root may make them, and loses the right to in the fence.
pub(super) const IDENTITY: &[Named] =
    named![SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups];

/// What reaches other processes: signals, and sockets that connect. It is always asked about.
pub(super) const REACHING: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    libc::SYS_connect,
    libc::SYS_socket,
];

/// What else is done with sockets. A program without the network has sockets that lead nowhere, and each use is asked about.
pub(super) const SOCKETS: &[c_long] = &[
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_getsockname,
    libc::SYS_setsockopt,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
];

/// What is asked about of sockets that may be connected to some addresses; `sendto` only with an address.
pub(super) const ADDRESSED: &[c_long] = &[libc::SYS_bind, libc::SYS_listen, libc::SYS_sendmsg, libc::SYS_sendmmsg];

/// Options, by level and number, that lead packets over other hosts than the one addressed or send some by themselves.
pub(super) const ROUTING_OPTIONS: [(i32, &[i32]); 2] = [
    // IP_OPTIONS, and joining or leaving groups
    (libc::IPPROTO_IP, &[4, 35, 36, 39, 40, 42, 43, 44, 45, 46, 47, 48]),
    // IPV6_2292HOPOPTS to -PKTOPTIONS, groups, IPV6_FLOWLABEL_MGR, -HOPOPTS, -RTHDRDSTOPTS, -RTHDR, -DSTOPTS
    (libc::IPPROTO_IPV6, &[3, 4, 5, 6, 20, 21, 27, 28, 32, 42, 43, 44, 45, 46, 47, 48, 54, 55, 57, 59]),
];

/// Modes, owners and times: no Landlock right covers them. They are asked about, or denied where nobody can be asked.
pub(super) const FACTS: &[c_long] = calls![
    SYS_fchmod, SYS_fchmodat, SYS_fchmodat2, SYS_fchown, SYS_fchownat, SYS_utimensat;
    x86_64: SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat
];

/// What adds, takes away or renames an entry of a folder, and a new session, at which a program's limits are set.
pub(super) const ENTRIES: &[c_long] = calls![
    SYS_setsid, SYS_unlinkat, SYS_mkdirat, SYS_symlinkat, SYS_linkat, SYS_renameat2, SYS_truncate;
    x86_64: SYS_renameat, SYS_unlink, SYS_rmdir, SYS_mkdir, SYS_symlink, SYS_link, SYS_rename, SYS_creat
];

/// What is asked about in a view: renaming, which an overlay refuses for folders that were there before, and what is to
/// be told afterwards.
pub(super) const RENAMING: &[c_long] = calls![
    SYS_renameat2, SYS_setpgid, SYS_setsid;
    x86_64: SYS_rename, SYS_renameat
];

/// Pipes with a name and devices.
pub(super) const NODES: &[c_long] = calls![
    SYS_mknodat;
    x86_64: SYS_mknod
];

/// Reads where a link leads: in a Landlock domain not those of other processes, which tell whose a socket is.
pub(super) const LINKS: &[c_long] = calls![
    SYS_readlinkat;
    x86_64: SYS_readlink
];

/// New namespaces: in one of its own a program would have rights it has not got here.
pub(super) const NAMESPACES: u32 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u32;

/// Bit of `unshare` alone; in `clone` it is part of the signal's number.
pub(super) const CLONE_NEWTIME: u32 = 0x80;

/// Requests of `ioctl` that ordinary programs make, by their upper bytes and the lowest one. They tell what a terminal, a
/// file or a network interface is like, change the caller's own file numbers, or copy between files the caller may read and
/// write. To any other request a file answers that it knows none such, as most files do anyway.
pub(super) const REQUESTS: [(u32, &[u8]); 12] = [
    (0x0000, &[0x02]), // FIGETBSZ
    // TCGETS, TIOCGPGRP, TIOCOUTQ, TIOCGWINSZ, FIONREAD, FIONBIO, TIOCGETD, TIOCGSID, FIONCLEX, FIOCLEX, FIOQSIZE
    (0x5400, &[0x01, 0x0f, 0x11, 0x13, 0x1b, 0x21, 0x24, 0x29, 0x50, 0x51, 0x60]),
    // SIOCGIFNAME, -CONF, -FLAGS, -ADDR, -DSTADDR, -BRDADDR, -NETMASK, -METRIC, -MTU, -HWADDR, -INDEX, -TXQLEN, -MAP
    (0x8900, &[0x10, 0x12, 0x13, 0x15, 0x17, 0x19, 0x1b, 0x1d, 0x21, 0x27, 0x33, 0x42, 0x70]),
    (0x4004_9400, &[0x09]), // FICLONE
    (0x4020_9400, &[0x0d]), // FICLONERANGE
    (0x8004_6600, &[0x01]), // FS_IOC32_GETFLAGS
    (0x8008_6600, &[0x01]), // FS_IOC_GETFLAGS
    (0x8008_7600, &[0x01]), // FS_IOC_GETVERSION
    (0x801c_5800, &[0x1f]), // FS_IOC_FSGETXATTR
    (0x802c_5400, &[0x2a]), // TCGETS2
    (0x8100_9400, &[0x31]), // FS_IOC_GETFSLABEL
    (0xc020_6600, &[0x0b]), // FS_IOC_FIEMAP
];

/// SIOCGIFADDR, -DSTADDR, -BRDADDR, -NETMASK: only a socket of the internet can be asked. A program without the network has
/// none, and is told by the one who answers it.
pub(super) const INTERFACE_ADDRESSES: [u32; 4] = [0x8915, 0x8917, 0x8919, 0x891b];

/// Calls on processes: the argument that names one, which must be 0, the caller, and a kind of name (argument 0) that
/// means all of a user's processes.
pub(super) const ON_PROCESSES: [(c_long, &str, u8, Option<u32>); 6] = [
    (libc::SYS_setpriority, "SYS_setpriority", 1, Some(2)),
    (libc::SYS_ioprio_set, "SYS_ioprio_set", 1, Some(3)),
    (libc::SYS_sched_setaffinity, "SYS_sched_setaffinity", 0, None),
    (libc::SYS_sched_setattr, "SYS_sched_setattr", 0, None),
    (libc::SYS_sched_setparam, "SYS_sched_setparam", 0, None),
    (libc::SYS_sched_setscheduler, "SYS_sched_setscheduler", 0, None),
];

/// Bits of a mode that let others act as the owner. They are never set.
pub(super) const ACTING_BITS: [u32; 2] = [0o4000, 0o2000];

/// Calls that make a file: the argument that holds its mode, and the one with the flags that say whether it is made.
pub(super) const MAKING: &[(c_long, u8, Option<u8>)] = &[
    (libc::SYS_openat, 3, Some(2)),
    (libc::SYS_mknodat, 2, None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2, Some(1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1, None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1, None),
];

/// Kind of a socket, without the flags beside it.
pub(super) const KIND_MASK: u32 = 0xf;
