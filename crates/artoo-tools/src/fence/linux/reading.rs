//! Answers for a reading run: a call that would change something outside the run's own folder is denied and ends the
//! run; one that would fail anyway fails as it would without a fence.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, RenameFlags, fstat};
use rustix::process::geteuid;

use super::call::{Call, PathArgument, Subject};
use super::caller::{self, Caller, DirEntry};
use super::incidental;
use super::kernel::{Answer, Notification};
use super::predict::{self, Predicted, acts};
use super::supervisor::{Access, Supervisor, subject};
use super::syscalls::INTERFACE_ADDRESSES;
use crate::fence::denial::Denial;

impl Supervisor {
    /// Answers one call.
    pub(super) fn reading_run(&mut self, asked: Notification, call: Call) -> io::Result<Answer> {
        let Ok(caller) = Caller::new(asked.thread) else {
            // Its memory can't be read, so neither can what it asks for.
            return Ok(self.deny(Denial::Call("of a program that can't be looked into"), Answer::NoReply));
        };
        match call {
            Call::Open { path, flags, mode } => self.opening(&caller, path, flags, mode),
            Call::Remove { path, is_folder } => {
                self.changing(&caller, path, |place| predict::removing(place, is_folder))
            }
            Call::MakeFolder { path, .. } => self.changing(&caller, path, |place| predict::making(place, true)),
            Call::Make { path, mode } if acts(mode) => self.making_to_act(&caller, path),
            Call::Symlink { path, .. } | Call::Make { path, .. } => {
                self.changing(&caller, path, |place| predict::making(place, false))
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
            Call::Request { request, .. } if INTERFACE_ADDRESSES.contains(&request) => self.other(asked, call),
            Call::Request { file, request, .. } => Ok(self.request(&caller, file, request)),
            Call::ReadLink { path, into } => self.read_link(asked, &caller, path, into),
            Call::Log { kind, into } => self.log(asked, &caller, kind, into),
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
            | Call::NewGroup => self.other(asked, call),
        }
    }

    /// By the name the kernel gives the call.
    pub(super) fn deny_call(&self, name: &'static str) -> Answer {
        self.deny(Denial::Call(name.trim_start_matches("SYS_")), Answer::NoReply)
    }

    fn deny_write(&self, path: PathBuf) -> Answer {
        self.deny(Denial::Write(path), Answer::NoReply)
    }

    /// The entry a path names. The kernel itself answers for one that can't be found, except behind links that only it
    /// can follow.
    fn found(
        &self,
        caller: &Caller,
        path: PathArgument,
        act: impl FnOnce(DirEntry) -> io::Result<Answer>,
    ) -> io::Result<Answer> {
        let Ok(text) = caller.path(path.address) else { return Ok(Answer::Continue) };
        match caller.place(path.folder, &text) {
            Ok(Some(place)) => act(place),
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => Ok(self.deny_write(text)),
            Ok(None) | Err(_) => Ok(Answer::Continue),
        }
    }

    /// Changes one entry, with this effect.
    fn changing(
        &self,
        caller: &Caller,
        path: PathArgument,
        effect: impl FnOnce(&DirEntry) -> Predicted,
    ) -> io::Result<Answer> {
        self.found(caller, path, |place| Ok(self.decided(caller, effect(&place), place)))
    }

    fn decided(&self, caller: &Caller, effect: Predicted, place: DirEntry) -> Answer {
        if self.is_own(&place.path) {
            return Answer::Continue;
        }
        match effect {
            Predicted::Fails(error) => Answer::Fails(error),
            Predicted::ChangesNothing => Answer::Returns(0),
            Predicted::Changes if incidental::is_write(caller, &place.path) => Answer::Fails(libc::EACCES),
            Predicted::Changes => self.deny_write(place.path),
        }
    }

    /// Changes two entries, one of which is the other's source.
    fn changing_two(
        &self,
        caller: &Caller,
        [from, to]: [PathArgument; 2],
        effect: impl FnOnce(&DirEntry, &DirEntry) -> Predicted,
    ) -> io::Result<Answer> {
        self.found(caller, from, |from| {
            self.found(caller, to, |to| {
                let effect = effect(&from, &to);
                // What lies outside is changed by either: it goes, or gets another name.
                Ok(self.decided(caller, effect, if self.is_own(&from.path) { to } else { from }))
            })
        })
    }

    /// Opens a file to be written, made or emptied.
    fn opening(&self, caller: &Caller, path: PathArgument, flags: OFlags, mode: u32) -> io::Result<Answer> {
        let Ok(text) = caller.path(path.address) else { return Ok(Answer::Continue) };
        if flags.contains(OFlags::PATH) {
            return Ok(Answer::Continue);
        }
        let makes = flags.contains(OFlags::CREATE);
        if acts(mode) && (makes || flags.contains(OFlags::TMPFILE)) {
            return self.making_to_act(caller, path);
        }
        if makes && flags.contains(OFlags::EXCL) {
            return self.changing(caller, path, |place| predict::making(place, false));
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
            Err(Some(libc::ENOENT)) if makes => self.found(caller, path, |place| {
                // A link that leads nowhere: what it leads to would be made.
                let effect = predict::making(&place, false);
                let effect = if effect == Predicted::Fails(libc::EEXIST) { Predicted::Changes } else { effect };
                Ok(self.decided(caller, effect, place))
            }),
            Err(Some(libc::ELOOP)) => Ok(self.deny_write(text)),
            Err(_) => Ok(Answer::Continue),
        }
    }

    /// Makes a file that lets others act as its owner. It never goes on, not even where its folder can't be found yet.
    fn making_to_act(&self, caller: &Caller, path: PathArgument) -> io::Result<Answer> {
        let deny = |place: DirEntry| Ok(self.deny(Denial::Metadata(place.path), Answer::NoReply));
        let answer = self.found(caller, path, deny)?;
        Ok(if answer == Answer::Continue { Answer::Fails(libc::EPERM) } else { answer })
    }

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

    /// Whether it lies in the run's own folder.
    pub(super) fn is_own(&self, path: &Path) -> bool {
        self.access(path) == Access::Writable
    }
}
