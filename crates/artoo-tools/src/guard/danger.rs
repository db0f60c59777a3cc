//! What is to be feared of a program that is not proven: a word for the person who is asked, never a proof.

use super::objection::{CommandClass, Objection};
use super::value::Arg;

/// Programs that send, fetch or show secrets.
const REVEALING: &str = " curl wget nc ncat netcat socat ssh scp sftp ftp tftp telnet rsync dig nslookup host ping \
    ping6 traceroute tracepath mtr whois getent openssl gh glab hub mail mailx mutt sendmail aws gcloud az s3cmd rclone \
    security secret-tool pass gpg xclip xsel wl-paste pbpaste pbcopy wl-copy http https aria2c lynx w3m links elinks \
    smbclient ldapsearch finger kubectl helm terraform nmap arping hping3 printenv env export declare typeset set \
    croc magic-wormhole wormhole ngrok cloudflared rdate ntpdate bitwarden bw op vault ";

/// Programs that change or end something.
const CHANGING: &str = " rm rmdir unlink shred srm mv cp install dd truncate tee ln chmod chown chgrp chattr setfacl \
    setfattr touch mkdir mkfifo mknod mkfs fdisk parted sfdisk wipefs mkswap swapon swapoff mount umount losetup \
    kill pkill killall xkill skill shutdown reboot halt poweroff init telinit systemctl service crontab apt apt-get \
    aptitude dpkg yum dnf rpm pacman zypper snap flatpak brew npm pnpm yarn pip pip3 gem docker podman \
    psql mysql mariadb sqlite3 redis-cli mongo mongosh sudo su doas pkexec runuser usermod useradd userdel passwd \
    groupadd visudo chsh iptables nft ufw ip ifconfig route sysctl modprobe insmod rmmod date hostname timedatectl \
    git hg svn patch split csplit sponge fallocate tar unzip gunzip gzip bzip2 xz zstd 7z zip cpio ar rename \
    osascript shortcuts defaults launchctl diskutil tmutil history trap alias unalias exec hash enable mapfile read \
    readarray printf umask ulimit yes renice logger wall write mesg dmesg journalctl losetup cryptsetup lvremove \
    xdotool notify-send gsettings dconf ";

/// Why a program that is not known, or a use of a known one, asks.
pub(super) fn objection(name: &str, arguments: &[Arg]) -> Objection {
    let base = name.rsplit('/').next().unwrap_or(name);
    let is_in = |list: &str| list.contains(&format!(" {base} ")) && !base.is_empty();
    let shown: Vec<&str> = arguments.iter().take(4).map(Arg::shown).collect();
    let used = format!("{base} {}", shown.join(" "));
    let is_remote = base == "git" && arguments.iter().filter_map(Arg::text).any(|word| REMOTE_GIT.contains(&word));
    let (class, reason) = if is_in(REVEALING) || is_remote {
        (CommandClass::Exfil, format!("{base} may send data away or show secrets: {used}"))
    } else if is_in(CHANGING) || base.starts_with("mkfs") {
        (CommandClass::Irreversible, format!("{base} may change or end something that can't be brought back: {used}"))
    } else {
        (CommandClass::Opaque, format!("{base} is not a program known to be harmless"))
    };
    Objection { class, reason: reason.trim_end().to_owned() }
}

/// The objection with the class its program is known for, where the objection itself knows none.
pub(super) fn classed(name: &str, arguments: &[Arg], found: Objection) -> Objection {
    match found.class {
        CommandClass::Opaque => Objection { class: objection(name, arguments).class, ..found },
        CommandClass::ReadOnly | CommandClass::Reversible | CommandClass::Irreversible | CommandClass::Exfil => found,
    }
}

/// Subcommands of git that talk to another machine.
const REMOTE_GIT: [&str; 8] = ["push", "fetch", "pull", "clone", "ls-remote", "send-email", "request-pull", "archive"];
