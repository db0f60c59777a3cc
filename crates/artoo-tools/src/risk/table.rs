//! The tables of programs: the commands that artoo never runs, and descriptions of what others may do.

use super::CommandClass::{self, Exfil, Irreversible, Opaque};

const SHUTDOWN: &str = "shuts down, restarts or suspends this machine";
const MODULES: &str = "loads or unloads a module of the kernel";
const FORMATS: &str = "formats, partitions or clears a disk";
const STARTUP: &str = "changes how this machine starts";
const ALL_FILES: &str = "changes every file of the system";
pub(super) const DEVICE: &str = "writes to a device or to the kernel";
pub(super) const ALL_PROCESSES: &str = "ends every process of this machine";

/// Commands that are never run: programs, patterns of their arguments, what they do.
pub(super) const REFUSED: [(&str, &str, &str); 29] = [
    ("reboot halt poweroff telinit pm-suspend pm-hibernate kexec pivot_root switch_root", "", SHUTDOWN),
    ("shutdown", "!-c !--show", SHUTDOWN),
    ("init", "0 1 6 S s", SHUTDOWN),
    ("systemctl loginctl", "poweroff reboot halt kexec soft-reboot suspend hibernate hybrid-sleep", SHUTDOWN),
    ("systemctl loginctl", "suspend-then-hibernate rescue emergency isolate default", SHUTDOWN),
    ("insmod rmmod kldload kldunload kextload kextunload", "+", MODULES),
    ("modprobe", "+ !-n !--dry-run !--show !-c !-D !-R", MODULES),
    ("swapoff swapon", "+ -a --all !-s !--show !--summary", "changes the memory that the system swaps to"),
    ("mkfs mkfs.* mke2fs mkdosfs mkntfs mkswap", "@ ~", FORMATS),
    (
        "fdisk sfdisk cfdisk gdisk sgdisk parted",
        "@ ~ !-l !--list !-d !--dump !-p !--print !-J !--json !=print",
        FORMATS,
    ),
    ("wipefs", "-a --all -o --offset !-n !--no-act", FORMATS),
    ("diskutil", "eraseDisk eraseVolume partitionDisk reformat secureErase zeroDisk randomDisk", FORMATS),
    ("cryptsetup", "luksFormat luksErase erase reencrypt", FORMATS),
    ("lvremove vgremove pvremove pvcreate vgcreate lvreduce", "+", FORMATS),
    ("zpool zfs", "create destroy labelclear", FORMATS),
    ("mdadm", "-C --create --zero-superblock -S --stop", FORMATS),
    ("hdparm", "--security --trim --write-sector --make-bad-sector", FORMATS),
    ("nvme", "format sanitize write write-zeroes", FORMATS),
    ("tune2fs resize2fs e2fsck fsck fsck.* xfs_repair sg_format sg_sanitize", "@ !-l !-n !-N", FORMATS),
    ("debugfs badblocks", "-w", DEVICE),
    ("shred tee truncate sponge blkdiscard rm mv unlink mknod", "@", DEVICE),
    ("cp install ln", "@$", DEVICE),
    ("dd", "of=@", DEVICE),
    ("rm", "^", "deletes the folders of the system"),
    ("rm chmod chown chgrp setfacl chattr", "^ --no-preserve-root", ALL_FILES),
    ("mv", "=/ =/*", ALL_FILES),
    ("killall5", "", ALL_PROCESSES),
    ("umount", "-a --all =/", "takes the disks away from the system"),
    ("grub-install flashrom efibootmgr", "+ -w -E -b -B", STARTUP),
];

/// The description of what a command may do, and its class.
pub(super) type Risk = (&'static str, CommandClass);

const DELETES: Risk = ("deletes files", Irreversible);
pub(super) const OVERWRITES: Risk = ("overwrites files", Irreversible);
const MOVES: Risk = ("moves or renames files", Irreversible);
const MODES: Risk = ("changes owners or modes", Irreversible);
const HISTORY: Risk = ("changes a repository's history", Irreversible);
const DISCARDS: Risk = ("discards changes that are not committed", Irreversible);
const INSTALLS: Risk = ("installs or removes software", Irreversible);
const ENDS: Risk = ("ends processes", Irreversible);
const SERVICES: Risk = ("starts or stops services", Irreversible);
const LATER: Risk = ("lets something run later", Irreversible);
const SETTINGS: Risk = ("changes settings of the system", Irreversible);
const USERS: Risk = ("changes users or passwords", Irreversible);
const CONTAINERS: Risk = ("changes containers or clusters", Irreversible);
const DATABASE: Risk = ("changes a database", Irreversible);
pub(super) const OTHER_USER: Risk = ("runs as another user", Irreversible);
const SENDS: Risk = ("sends data to another machine", Exfil);
pub(super) const CONNECTS: Risk = ("connects to another machine", Exfil);
const SECRETS: Risk = ("shows values that may be secret", Exfil);
pub(super) const FOREIGN_CODE: Risk = ("runs code from the network", Irreversible);
const OTHER_CODE: Risk = ("runs code that the command line doesn't show", Opaque);

/// Programs that manage software packages; all share some subcommands.
const MANAGERS: &str = "apt apt-get aptitude dnf yum zypper apk brew snap flatpak pip pip3 pipx uv gem cargo npm pnpm \
    yarn bun go conda mamba poetry composer rustup";

/// The table of risks: programs, patterns of their arguments, and a description with its class.
pub(super) const RISKS: [(&str, &str, Risk); 64] = [
    ("rm rmdir unlink shred srm trash trash-put", "", DELETES),
    ("find fd", "-delete", DELETES),
    ("rsync", "--del --remove-source-files", DELETES),
    ("git hg svn", "clean rm", DELETES),
    ("mv rename mmv", "", MOVES),
    ("git hg svn", "mv", MOVES),
    ("cp install ln dd truncate split csplit sponge patch rsync fallocate", "", OVERWRITES),
    ("tee", "!-a !--append", OVERWRITES),
    ("sed perl ruby awk gawk", "-i --in-place", OVERWRITES),
    ("sort", "-o --output", OVERWRITES),
    ("curl wget", "-o -O --output --remote-name", OVERWRITES),
    ("tar bsdtar", "-x -c --extract --create --delete x xf xzf xvf xvzf xjf xJf c cf czf cvf cvzf cjf cJf", OVERWRITES),
    ("unzip gunzip bunzip2 unxz unzstd gzip bzip2 xz zstd 7z cpio ar", "!-l !-t !--list !--test", OVERWRITES),
    ("git hg", "apply am", OVERWRITES),
    ("prettier black isort rustfmt gofmt clang-format ruff eslint", "+", OVERWRITES),
    ("cargo", "fmt fix", OVERWRITES),
    ("chmod chown chgrp chattr setfacl setfattr xattr", "", MODES),
    ("git", "commit reset rebase merge cherry-pick revert filter-branch filter-repo pull gc prune", HISTORY),
    ("git", "update-ref replace notes", HISTORY),
    ("git", "=-d =-D --delete =-f --force =-m =-M =--mirror", HISTORY),
    ("git", "checkout switch restore reset clean stash", DISCARDS),
    ("git", "push send-email", SENDS),
    ("git", "fetch pull clone ls-remote submodule remote", CONNECTS),
    ("git", "config", ("changes settings of a repository", Irreversible)),
    (MANAGERS, "install i ci remove rm uninstall purge add get update upgrade dist-upgrade autoremove", INSTALLS),
    (MANAGERS, "full-upgrade sync reinstall link unlink self global", INSTALLS),
    ("pacman", "-S -R -U", INSTALLS),
    ("dpkg rpm", "-i -r -P -U -e --install --remove --purge --erase", INSTALLS),
    ("make ninja just", "install uninstall", INSTALLS),
    ("npm pnpm yarn cargo gem poetry uv twine", "publish upload login", SENDS),
    ("npx pnpx bunx uvx", "", FOREIGN_CODE),
    ("npm pnpm yarn bun", "exec dlx x create", FOREIGN_CODE),
    ("go pipx uv", "run", FOREIGN_CODE),
    ("scp sftp ftp tftp rclone s3cmd gsutil croc wormhole ngrok cloudflared", "", SENDS),
    ("mail mailx mutt sendmail swaks", "", SENDS),
    ("rsync", "*:", SENDS),
    ("nc ncat netcat socat telnet ssh", "", SENDS),
    ("curl", "-d -F -T -X --data --form --upload-file --request --json", SENDS),
    ("wget", "--post --method --body", SENDS),
    ("http https xh", "post put patch delete POST PUT PATCH DELETE", SENDS),
    ("gh glab hub aws gcloud az", "", SENDS),
    ("printenv env", "", SECRETS),
    ("export declare typeset set", "!+", SECRETS),
    ("gpg pass security secret-tool bw op vault", "", SECRETS),
    ("kill pkill killall xkill skill", "!-l !-L", ENDS),
    ("fuser", "-k --kill", ENDS),
    ("systemctl", "start stop restart reload try-restart enable disable mask unmask kill", SERVICES),
    ("systemctl", "daemon-reload edit set-default set-property", SETTINGS),
    ("service rc-service launchctl initctl", "", SERVICES),
    ("crontab at batch", "!-l", LATER),
    ("mount umount losetup cryptsetup", "+", SETTINGS),
    ("sysctl", "-w -p --write --load --system *=", SETTINGS),
    ("iptables ip6tables nft ufw setenforce sysctl.d", "!-L !-S !list !status", SETTINGS),
    ("hostname hostnamectl timedatectl localectl nmcli", "+ !status !show !list !device !connection", SETTINGS),
    ("date", "-s --set", SETTINGS),
    ("defaults gsettings dconf", "write delete set reset load", SETTINGS),
    ("useradd userdel usermod adduser deluser groupadd groupdel passwd chpasswd chsh visudo", "", USERS),
    ("docker podman kubectl helm", "run exec rm rmi kill stop start restart prune compose build push pull", CONTAINERS),
    ("docker podman kubectl helm", "system volume apply delete create scale install upgrade uninstall", CONTAINERS),
    ("terraform tofu pulumi", "apply destroy up import state", CONTAINERS),
    ("psql mysql mariadb sqlite3 redis-cli mongo mongosh", "", DATABASE),
    ("python python2 python3 node deno ruby perl php lua Rscript osascript java", "+ -c -e -m", OTHER_CODE),
    ("sh bash dash zsh ksh ash fish source .", "+", OTHER_CODE),
    ("make ninja just rake gradle mvn npm pnpm yarn cargo", "!--version", OTHER_CODE),
];

/// Programs that connect to other machines, such as `curl` and `ssh`.
pub(super) const NETWORK: &str = "apk apt apt-get aria2c aws az brew bun bundle cargo composer curl deno dig dnf docker \
    flatpak ftp gcloud gem gh go host http kubectl mail mvn nc ncat nmap npm npx nslookup pacman ping pip pip3 pipx pnpm \
    podman poetry rsync rustup scp sftp snap ssh telnet uv wget whois yarn yum";

/// Programs that download the addresses in their arguments.
pub(super) const FETCHERS: &str = "curl wget aria2c http lynx";

/// Interpreters, whose program text may start processes in an endless loop.
pub(super) const INTERPRETERS: &str = "python python2 python3 perl ruby node php awk gawk lua";
