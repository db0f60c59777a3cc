//! The system calls and arguments the filters speak of, by what they could do.

use libc::c_long;

/// First number of a system call that was not looked at when this was written (Linux 6.13). What comes later does not
/// exist for a fenced program; programs have learnt to do without new calls. Those of the x32 interface lie beyond it, too.
pub(super) const FIRST_UNKNOWN: u32 = 463;

/// What acts on the machine as a whole, on other processes, or takes back what holds the program. Never allowed.
pub(super) const DENIED: &[c_long] = &[
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
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
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
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
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

/// Modes, owners and times: no Landlock right covers them. They are asked about, or denied where nobody can be asked.
pub(super) const FACTS: &[c_long] = &[
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
pub(super) const ENTRIES: &[c_long] = &[
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

/// What is asked about in a view: renaming, which an overlay refuses for folders that were there before, and what is to
/// be told afterwards.
pub(super) const RENAMING: &[c_long] = &[
    libc::SYS_renameat2,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    libc::SYS_socket,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_renameat,
];

/// New namespaces: in one of its own a program would have rights it has not got here.
pub(super) const NAMESPACES: u64 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u64;

/// Bit of `unshare` alone; in `clone` it is part of the signal's number.
pub(super) const CLONE_NEWTIME: u64 = 0x80;

/// Requests of `ioctl` that ordinary programs make, by their upper bytes and the lowest one. They tell what a terminal, a
/// file or a network interface is like, change the caller's own file numbers, or copy between files the caller may read and
/// write. To any other request a file answers that it knows none such, as most files do anyway.
pub(super) const REQUESTS: [(u64, &[u8]); 12] = [
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

/// Calls on processes: the argument that names one, which must be 0, the caller, and a kind of name (argument 0) that
/// means all of a user's processes.
pub(super) const ON_PROCESSES: [(c_long, u8, Option<u64>); 6] = [
    (libc::SYS_setpriority, 1, Some(2)),
    (libc::SYS_ioprio_set, 1, Some(3)),
    (libc::SYS_sched_setaffinity, 0, None),
    (libc::SYS_sched_setattr, 0, None),
    (libc::SYS_sched_setparam, 0, None),
    (libc::SYS_sched_setscheduler, 0, None),
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
pub(super) const KIND_MASK: u64 = 0xf;
