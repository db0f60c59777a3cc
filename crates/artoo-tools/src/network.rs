//! Whether a command names the network, for the question about it.

/// Programs that use the network.
const PROGRAMS: [&str; 52] = [
    "apk", "apt", "apt-get", "aria2c", "aws", "az", "brew", "bun", "bundle", "cargo", "composer", "curl", "deno",
    "dig", "dnf", "docker", "flatpak", "ftp", "gcloud", "gem", "gh", "go", "host", "http", "kubectl", "mail", "mvn",
    "nc", "ncat", "nmap", "npm", "npx", "nslookup", "pacman", "ping", "pip", "pip3", "pipx", "pnpm", "podman",
    "poetry", "rsync", "rustup", "scp", "sftp", "snap", "ssh", "telnet", "uv", "wget", "yarn", "yum",
];

/// Subcommands of git that connect to another machine.
const GIT: [&str; 7] = ["clone", "fetch", "ls-remote", "pull", "push", "remote", "submodule"];

/// Whether the command contains the name of such a program, or an address.
///
/// The question says so, and an approval then allows the network. A command that hides its program runs without.
pub(crate) fn is_named(command: &str) -> bool {
    if command.contains("://") || command.contains("/dev/tcp/") || command.contains("/dev/udp/") {
        return true;
    }
    let is_part = |c: char| c.is_alphanumeric() || "-_./+".contains(c);
    let words: Vec<&str> = command.split(|c| !is_part(c)).filter(|word| !word.is_empty()).collect();
    let names = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    words.iter().any(|word| PROGRAMS.contains(&names(word).as_str()))
        || (words.iter().any(|word| names(word) == "git") && words.iter().any(|word| GIT.contains(word)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_command_says_whether_it_reaches_the_network() {
        for (command, expected) in [
            ("curl -s x.example", true),
            ("/usr/bin/wget x", true),
            ("sh -c 'ssh host id'", true),
            ("git -C x push", true),
            ("git commit -m pull-request", false),
            ("echo x > /dev/tcp/1.2.3.4/5", true),
            ("xdg-open https://x.example", true),
            ("rm notes.txt", false),
            ("make", false),
            ("./curled up", false),
        ] {
            assert_eq!(super::is_named(command), expected, "{command}");
        }
    }
}
