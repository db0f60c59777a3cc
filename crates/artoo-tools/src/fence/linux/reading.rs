//! Answers for a reading run: a call that would change something outside the run's own folder is denied and ends the
//! run; a call that would fail anyway fails with the same error.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, RenameFlags, fstat};
use rustix::process::geteuid;

use super::call::{Call, PathArgument, Subject};
use super::caller::{self, Caller, DirEntry};
use super::incidental;
use super::kernel::{Answer, Notification};
use super::predict::{self, Predicted, is_set_id};
use super::supervisor::{Access, Supervisor, subject};
use super::syscalls::INTERFACE_ADDRESSES;
use crate::fence::denial::Denial;

impl Supervisor {
    /// Answers a decoded call of a reading run: a call that would change something ends the run, one that would fail
    /// fails.
    pub(super) fn answer_reading_run(&mut self, notification: Notification, call: Call) -> io::Result<Answer> {
        let Ok(caller) = Caller::new(notification.thread) else {
            // Its memory can't be read, so the arguments are unknown.
            return Ok(self.deny(Denial::Call("of a program that can't be looked into"), Answer::NoReply));
        };
        match call {
            Call::Open { path, flags, mode } => self.opening(&caller, path, flags, mode),
            Call::Remove { path, is_folder } => {
                self.changing(&caller, path, |entry| predict::removing(entry, is_folder))
            }
            Call::MakeFolder { path, .. } => self.changing(&caller, path, |entry| predict::making(entry, true)),
            Call::Make { path, mode } if is_set_id(mode) => self.creating_set_id(&caller, path),
            Call::Symlink { path, .. } | Call::Make { path, .. } => {
                self.changing(&caller, path, |entry| predict::making(entry, false))
            }
            Call::Rename { from, to, flags } => {
                let flags = RenameFlags::from_bits_retain(flags);
                self.changing_two(&caller, [from, to], |from, to| predict::renaming(from, to, flags))
            }
            Call::Link { from, to } => self.changing_two(&caller, [from, to], predict::linking),
            Call::Truncate { path } => self.truncating(&caller, path),
            Call::Attributes { of } => self.attributes(&caller, of),
            Call::Share { name, process } => Ok(self.share(name, process)),
            Call::Identity { name, ids } => Ok(self.identity(name, ids)),
            Call::Request { request, .. } if INTERFACE_ADDRESSES.contains(&request) => {
                self.answer_call(notification, call)
            }
            Call::Request { file, request, .. } => Ok(self.request(&caller, file, request)),
            Call::ReadLink { path, into } => self.read_link(notification, &caller, path, into),
            Call::Log { kind, into } => self.log(notification, &caller, kind, into),
            Call::Denied { name } => Ok(self.deny_call(name)),
            Call::Socket { .. }
            | Call::Bind { .. }
            | Call::Listen
            | Call::OwnAddress { .. }
            | Call::SetOption { .. }
            | Call::Send { .. }
            | Call::Connect { .. }
            | Call::Lock { .. }
            | Call::Signal { .. }
            | Call::SignalThrough { .. }
            | Call::Mode { .. }
            | Call::Owner { .. }
            | Call::Times { .. }
            | Call::NewSession
            | Call::NewGroup => self.answer_call(notification, call),
        }
    }

    /// Records the denial of a system call by its name; a reading run is killed, in any other run the call fails with
    /// `EPERM`.
    pub(super) fn deny_call(&self, name: &'static str) -> Answer {
        self.deny(Denial::Call(name.trim_start_matches("SYS_")), Answer::Fails(libc::EPERM))
    }

    /// In a reading run, records the denial of a write to this path, which ends the run.
    fn deny_write(&self, path: PathBuf) -> Answer {
        self.deny(Denial::Write(path), Answer::NoReply)
    }

    /// Calls `act` with the directory entry at the caller's path. If it can't be found, the kernel answers the call; a
    /// path over a link that can't be followed here is denied as a write.
    fn found(
        &self,
        caller: &Caller,
        path: PathArgument,
        act: impl FnOnce(DirEntry) -> io::Result<Answer>,
    ) -> io::Result<Answer> {
        let Ok(text) = caller.path(path.address) else { return Ok(Answer::Continue) };
        match caller.place(path.folder, &text) {
            Ok(Some(entry)) => act(entry),
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => Ok(self.deny_write(text)),
            Ok(None) | Err(_) => Ok(Answer::Continue),
        }
    }

    /// In a reading run, answers a call on one entry: a call that would have `effect` is denied and ends the run, one
    /// that would fail fails.
    fn changing(
        &self,
        caller: &Caller,
        path: PathArgument,
        effect: impl FnOnce(&DirEntry) -> Predicted,
    ) -> io::Result<Answer> {
        self.found(caller, path, |entry| Ok(self.decided(caller, effect(&entry), entry)))
    }

    /// In a reading run, the answer to a call with this predicted effect on one entry: a change outside its own folder
    /// is denied.
    fn decided(&self, caller: &Caller, effect: Predicted, entry: DirEntry) -> Answer {
        if self.is_own(&entry.path) {
            return Answer::Continue;
        }
        match effect {
            Predicted::Fails(error) => Answer::Fails(error),
            Predicted::ChangesNothing => Answer::Returns(0),
            Predicted::Changes if incidental::is_write(caller, &entry.path) => Answer::Fails(libc::EACCES),
            Predicted::Changes => self.deny_write(entry.path),
        }
    }

    /// In a reading run, answers a call on two entries, such as a rename: denied if it would have `effect`, else
    /// failing as it would.
    fn changing_two(
        &self,
        caller: &Caller,
        [from, to]: [PathArgument; 2],
        effect: impl FnOnce(&DirEntry, &DirEntry) -> Predicted,
    ) -> io::Result<Answer> {
        self.found(caller, from, |from| {
            self.found(caller, to, |to| {
                let effect = effect(&from, &to);
                // Either way the outside entry changes: it is moved, or gets another name.
                Ok(self.decided(caller, effect, if self.is_own(&from.path) { to } else { from }))
            })
        })
    }

    /// In a reading run, answers opening a file: denied if that would create, truncate or write a file outside the
    /// run's own folder.
    fn opening(&self, caller: &Caller, path: PathArgument, flags: OFlags, mode: u32) -> io::Result<Answer> {
        let Ok(text) = caller.path(path.address) else { return Ok(Answer::Continue) };
        if flags.contains(OFlags::PATH) {
            return Ok(Answer::Continue);
        }
        let makes = flags.contains(OFlags::CREATE);
        if is_set_id(mode) && (makes || flags.contains(OFlags::TMPFILE)) {
            return self.creating_set_id(caller, path);
        }
        if makes && flags.contains(OFlags::EXCL) {
            return self.changing(caller, path, |entry| predict::making(entry, false));
        }
        let target = caller.target(path.folder, &text, !flags.contains(OFlags::NOFOLLOW));
        match target.as_ref().map_err(|error| error.raw_os_error()) {
            Ok(file) => {
                let path = caller::real(file)?;
                if self.is_own(&path) || caller::is_nameless(file, &path) {
                    return Ok(Answer::Continue);
                }
                Ok(match predict::opening(file, flags) {
                    Predicted::Fails(error) => Answer::Fails(error),
                    Predicted::ChangesNothing => Answer::Continue,
                    Predicted::Changes if incidental::is_write(caller, &path) => Answer::Fails(libc::EACCES),
                    Predicted::Changes => self.deny_write(path),
                })
            }
            Err(Some(libc::ENOENT)) if makes => self.found(caller, path, |entry| {
                // A dangling link: its target would be created.
                let effect = predict::making(&entry, false);
                let effect = if effect == Predicted::Fails(libc::EEXIST) { Predicted::Changes } else { effect };
                Ok(self.decided(caller, effect, entry))
            }),
            Err(Some(libc::ELOOP)) => Ok(self.deny_write(text)),
            Err(_) => Ok(Answer::Continue),
        }
    }

    /// Denies creating a file with set-id bits, and fails with EPERM if its folder is not found, so that it is never
    /// created.
    fn creating_set_id(&self, caller: &Caller, path: PathArgument) -> io::Result<Answer> {
        let deny = |entry: DirEntry| Ok(self.deny(Denial::Metadata(entry.path), Answer::NoReply));
        let answer = self.found(caller, path, deny)?;
        Ok(if answer == Answer::Continue { Answer::Fails(libc::EPERM) } else { answer })
    }

    /// In a reading run, answers a call that truncates a file by its path: denied unless the file is in the run's own
    /// folder.
    fn truncating(&self, caller: &Caller, path: PathArgument) -> io::Result<Answer> {
        let file = subject(caller, Subject::Path { path, follows: true })?;
        let path = caller::real(&file)?;
        if self.is_own(&path) {
            return Ok(Answer::Continue);
        }
        Ok(match predict::truncating(&file) {
            Predicted::Fails(error) => Answer::Fails(error),
            Predicted::ChangesNothing | Predicted::Changes => self.deny_write(path),
        })
    }

    /// In a reading run, answers a call that sets extended attributes: unsupported in the run's own folder, denied
    /// elsewhere.
    fn attributes(&self, caller: &Caller, of: Subject) -> io::Result<Answer> {
        let file = subject(caller, of)?;
        let path = caller::real(&file)?;
        let is_foreign = !geteuid().is_root() && fstat(&file)?.st_uid != geteuid().as_raw();
        Ok(match () {
            () if self.is_own(&path) => Answer::Fails(libc::EOPNOTSUPP),
            () if is_foreign && predict::writable(&file).is_err() => Answer::Fails(libc::EPERM),
            () => self.deny(Denial::Metadata(path), Answer::NoReply),
        })
    }

    /// Whether a path lies in the run's own folder.
    pub(super) fn is_own(&self, path: &Path) -> bool {
        self.access(path) == Access::Writable
    }
}
