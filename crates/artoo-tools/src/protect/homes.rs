//! The home folders of this machine's users.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of homes; a machine with more has them in a directory service anyway.
const HOMES_MAX: usize = 64;

/// Folders in which accounts of services have homes that hold programs or nothing, so that they are not protected.
const NO_HOMES: [&str; 9] = ["/usr", "/bin", "/sbin", "/dev", "/proc", "/run", "/tmp", "/var/cache", "/var/spool"];

/// The first existing home folders of `/etc/passwd`, without those in [`NO_HOMES`].
pub(super) fn read() -> Vec<PathBuf> {
    homes(&fs::read_to_string("/etc/passwd").unwrap_or_default()).filter(|home| home.is_dir()).take(HOMES_MAX).collect()
}

/// The home folders in the text of `/etc/passwd`, without `/`, relative paths, and those in [`NO_HOMES`].
fn homes(accounts: &str) -> impl Iterator<Item = PathBuf> {
    let homes = accounts.lines().filter_map(|line| line.split(':').nth(5)).map(Path::new);
    let homes = homes.filter(|home| home.is_absolute() && home.parent().is_some());
    homes.filter(|home| !NO_HOMES.iter().any(|other| home.starts_with(other))).map(Path::to_path_buf)
}

/// Tests of reading home folders from `/etc/passwd`.
#[cfg(test)]
mod tests {
    use super::homes;

    /// Home folders of users and of services are read from `/etc/passwd`; invalid lines, `/`, relative paths and
    /// folders of programs are left out.
    #[test]
    fn homes_of_people_and_services_are_read() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\nbin:x:2:2:bin:/bin:/usr/sbin/nologin\nnet:x:9:9::/:/bin/sh\n\
            a:x:1000:1000:A,,,:/home/a:/bin/sh\npg:x:101:1:P:/var/lib/pg:/bin/sh\nbroken\nx:x:1:1::relative:/bin/sh\n";
        assert_eq!(
            homes(accounts).map(|home| home.display().to_string()).collect::<Vec<_>>(),
            ["/root", "/home/a", "/var/lib/pg"]
        );
    }
}
