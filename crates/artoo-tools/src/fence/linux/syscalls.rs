//! System calls and arguments in the filters, grouped by what they could do.

use libc::c_long;

/// The number and the name of a system call, for tables and denials.
type Named = (c_long, &'static str);

/// Lists system calls with their names, for filter tables; those after `x86_64` exist on that architecture only.
macro_rules! named {
    ($($call:ident)* $(; x86_64: $($older:ident)*)?) => {
        &[
            $((libc::$call, stringify!($call)),)*
            $($(#[cfg(target_arch = "x86_64")] (libc::$older, stringify!($older)),)*)?
        ]
    };
}

/// Lists system call numbers, with those of older calls that only x86-64 still has.
macro_rules! calls {
    ($($call:ident)* $(; x86_64: $($older:ident)*)?) => {
        &[$(libc::$call,)* $($(#[cfg(target_arch = "x86_64")] libc::$older,)*)?]
    };
}

/// Number of the first system call that was not reviewed (Linux 6.13). Later ones fail with `ENOSYS`, as on an older
/// kernel.
pub(super) const FIRST_UNKNOWN: u32 = 463;

/// System calls that act on the whole machine, on other processes or on the sandbox. They fail; in a reading run the
/// supervisor answers.
pub(super) const DENIED: &[Named] = named![
    SYS_acct SYS_add_key SYS_adjtimex SYS_bpf SYS_chroot SYS_clock_adjtime SYS_clock_settime SYS_delete_module
    SYS_fanotify_init SYS_finit_module SYS_fsconfig SYS_fsmount SYS_fsopen SYS_fspick SYS_init_module SYS_kcmp
    SYS_kexec_file_load SYS_kexec_load SYS_keyctl SYS_migrate_pages SYS_mount SYS_mount_setattr SYS_move_mount
    SYS_move_pages SYS_mq_open SYS_mq_unlink SYS_msgctl SYS_msgget SYS_msgrcv SYS_msgsnd SYS_open_by_handle_at
    SYS_open_tree SYS_perf_event_open SYS_pidfd_getfd SYS_pivot_root SYS_process_madvise SYS_process_mrelease
    SYS_process_vm_readv SYS_process_vm_writev SYS_ptrace SYS_quotactl SYS_quotactl_fd SYS_reboot SYS_request_key
    SYS_semctl SYS_semget SYS_semop SYS_semtimedop SYS_setdomainname SYS_sethostname SYS_setns SYS_settimeofday
    SYS_shmat SYS_shmctl SYS_shmdt SYS_shmget SYS_swapoff SYS_swapon SYS_syslog SYS_umount2 SYS_userfaultfd
    SYS_vhangup;
    x86_64: SYS_ioperm SYS_iopl SYS_modify_ldt
];

/// Calls that fail with `ENOSYS`, so that programs use older calls that filters can inspect: flags of `clone3` and
/// `openat2` lie in memory, and `io_uring` makes calls that no filter sees.
pub(super) const ABSENT: &[c_long] = calls![
    SYS_clone3 SYS_openat2 SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
];

/// System calls that change extended attributes, which Landlock does not restrict: allowed in a view, answered by the
/// supervisor in a reading run, otherwise failing as on file systems without attributes.
pub(super) const ATTRIBUTES: &[c_long] = calls![
    SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
];

/// System calls that change the user or the groups of a process, which even root can't do in the sandbox.
pub(super) const IDENTITY: &[Named] = named![
    SYS_setuid SYS_setgid SYS_setreuid SYS_setregid SYS_setresuid SYS_setresgid SYS_setgroups
];

/// System calls that reach other processes by signals or sockets. The supervisor always decides about them.
pub(super) const REACHING: &[c_long] = calls![
    SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_pidfd_send_signal SYS_connect
    SYS_socket
];

/// System calls on sockets that the supervisor answers in runs without the network.
pub(super) const SOCKETS: &[c_long] = calls![
    SYS_bind SYS_listen SYS_getsockname SYS_setsockopt SYS_sendto SYS_sendmsg SYS_sendmmsg
];

/// System calls on sockets that a run with some approved addresses asks about, besides those of every run.
pub(super) const ADDRESSED: &[c_long] = &[libc::SYS_bind, libc::SYS_listen, libc::SYS_sendmsg, libc::SYS_sendmmsg];

/// Socket options, by level and number, that route packets over other hosts or send packets by themselves.
pub(super) const ROUTING_OPTIONS: [(i32, &[i32]); 2] = [
    // IP_OPTIONS, and joining or leaving groups
    (libc::IPPROTO_IP, &[4, 35, 36, 39, 40, 42, 43, 44, 45, 46, 47, 48]),
    // IPV6_2292HOPOPTS to -PKTOPTIONS, groups, IPV6_FLOWLABEL_MGR, -HOPOPTS, -RTHDRDSTOPTS, -RTHDR, -DSTOPTS
    (libc::IPPROTO_IPV6, &[3, 4, 5, 6, 20, 21, 27, 28, 32, 42, 43, 44, 45, 46, 47, 48, 54, 55, 57, 59]),
];

/// System calls that set mode, owner or times, which Landlock does not restrict. Outside of a view the supervisor
/// decides; without one they fail.
pub(super) const METADATA: &[c_long] = calls![
    SYS_fchmod SYS_fchmodat SYS_fchmodat2 SYS_fchown SYS_fchownat SYS_utimensat;
    x86_64: SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat
];

/// System calls that create, delete or rename directory entries, `truncate`, and `setsid`, about which the supervisor
/// must know.
pub(super) const ENTRIES: &[c_long] = calls![
    SYS_setsid SYS_unlinkat SYS_mkdirat SYS_symlinkat SYS_linkat SYS_renameat2 SYS_truncate;
    x86_64: SYS_renameat SYS_unlink SYS_rmdir SYS_mkdir SYS_symlink SYS_link SYS_rename SYS_creat
];

/// System calls about which a run in a view asks: renames of folders, which an overlay can't do, and leaving the
/// process group.
pub(super) const RENAMING: &[c_long] = calls![
    SYS_renameat2 SYS_setpgid SYS_setsid;
    x86_64: SYS_rename SYS_renameat
];

/// System calls that create named pipes and devices.
pub(super) const NODES: &[c_long] = calls![
    SYS_mknodat;
    x86_64: SYS_mknod
];

/// System calls that read links, which the supervisor answers in a reading run, since Landlock denies links of other
/// processes in `/proc`.
pub(super) const LINKS: &[c_long] = calls![
    SYS_readlinkat;
    x86_64: SYS_readlink
];

/// Flags for new namespaces, in which a program would have more rights.
pub(super) const NAMESPACES: u32 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u32;

/// `CLONE_NEWTIME`, a flag of `unshare` only; in `clone` its bit is part of the signal number.
pub(super) const CLONE_NEWTIME: u32 = 0x80;

/// Allowed `ioctl` requests, by their upper bytes and their lowest byte. They describe a terminal, a file or a network
/// interface, change the caller's own file descriptors, or copy between files that the caller may read and write. All
/// others fail with `ENOTTY`, as on most files.
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

/// `ioctl` requests for addresses of interfaces, which need an internet socket. A run without the network has none, so
/// the supervisor answers.
pub(super) const INTERFACE_ADDRESSES: [u32; 4] = [0x8915, 0x8917, 0x8919, 0x891b];

/// Calls that set priorities or CPUs of a process: number, name, index of the process ID argument (0: the caller), and
/// the kind in argument 0 that means all processes of a user.
pub(super) const ON_PROCESSES: [(c_long, &str, u8, Option<u32>); 6] = [
    (libc::SYS_setpriority, "SYS_setpriority", 1, Some(2)),
    (libc::SYS_ioprio_set, "SYS_ioprio_set", 1, Some(3)),
    (libc::SYS_sched_setaffinity, "SYS_sched_setaffinity", 0, None),
    (libc::SYS_sched_setattr, "SYS_sched_setattr", 0, None),
    (libc::SYS_sched_setparam, "SYS_sched_setparam", 0, None),
    (libc::SYS_sched_setscheduler, "SYS_sched_setscheduler", 0, None),
];

/// Set-user-id and set-group-id bits of a mode, which a sandboxed program may not set outside of a view.
pub(super) const SET_ID_BITS: [u32; 2] = [0o4000, 0o2000];

/// System calls that can create a file: number, index of the mode argument, and of the flags that say whether the file
/// is created.
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

/// Mask that separates a socket's type (stream, datagram) from flags such as `SOCK_NONBLOCK`.
pub(super) const KIND_MASK: u32 = 0xf;
