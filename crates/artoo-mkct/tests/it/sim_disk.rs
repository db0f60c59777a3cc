//! A simulated disk that loses power at a chosen write, and with it what was not synced.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use artoo_mkct::disk::{Disk, DiskFile, OpenMode};

/// Number of bytes that are written atomically.
const SECTOR: usize = 512;

/// What a loss of power takes: nothing, everything unsynced, or a random part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Nothing is lost: the process died, the machine did not.
    Nothing,
    /// Everything that was not synced.
    Everything,
    /// Of what was not synced, some sectors and some names, by this seed.
    Some(u64),
}

/// A write to a file, or a change of its length, that is not synced.
#[derive(Debug, Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Length(u64),
}

/// A file: its content now, its synced content, and the changes between them.
#[derive(Debug, Default, Clone)]
struct Inode {
    content: Vec<u8>,
    durable: Vec<u8>,
    changes: Vec<Change>,
    locked: bool,
}

/// A change of a file name that is not synced.
#[derive(Debug, Clone)]
enum NameChange {
    Set(PathBuf, usize),
    Unset(PathBuf),
}

/// The files, names and unsynced changes of a simulated disk.
#[derive(Debug, Default)]
struct State {
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    name_changes: Vec<NameChange>,
    /// Changes and syncs so far.
    steps: usize,
    fails_at: Option<usize>,
    /// Bytes all files may have together.
    capacity: Option<u64>,
    sync_fails: bool,
}

/// A simulated disk; clones share its files.
#[derive(Debug, Clone, Default)]
pub(crate) struct SimDisk(Arc<Mutex<State>>);

/// An open file of a simulated disk.
#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    inode: usize,
}

impl SimDisk {
    /// Locks the files and names of the simulated disk, also after a panic of another thread.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes every step from this number on fail, as without power.
    pub(crate) fn fail_at(&self, step: usize) {
        self.lock().fails_at = Some(step);
    }

    /// Number of changes and syncs so far.
    pub(crate) fn steps(&self) -> usize {
        self.lock().steps
    }

    /// Limits the size of the disk in bytes, so that further writes fail as on a full disk; `None` for no limit.
    pub(crate) fn set_capacity(&self, bytes: Option<u64>) {
        self.lock().capacity = bytes;
    }

    /// Number of bytes in use.
    pub(crate) fn used(&self) -> u64 {
        self.lock().used()
    }

    /// Sets whether every sync fails from now on.
    pub(crate) fn set_sync_fails(&self, fails: bool) {
        self.lock().sync_fails = fails;
    }

    /// The paths of the files that contain these bytes; files without a name are not searched.
    pub(crate) fn holds(&self, needle: &[u8]) -> Vec<PathBuf> {
        let state = self.lock();
        let holds = |inode: &usize| state.inodes[*inode].content.windows(needle.len()).any(|window| window == needle);
        state.names.iter().filter(|(_, inode)| holds(inode)).map(|(path, _)| path.clone()).collect()
    }

    /// The content of a file; `None` if there is no such file.
    pub(crate) fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.lock();
        state.names.get(path).map(|inode| state.inodes[*inode].content.clone())
    }

    /// Replaces the content of an existing file, synced.
    pub(crate) fn write(&self, path: &Path, content: &[u8]) {
        let mut state = self.lock();
        let inode = state.names[path];
        state.inodes[inode].content = content.to_vec();
        state.inodes[inode].durable = content.to_vec();
    }

    /// The paths of all files.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.lock().names.keys().cloned().collect()
    }

    /// The disk as the next process finds it after the loss of power.
    pub(crate) fn after(&self, loss: Loss) -> Self {
        let state = self.lock();
        let mut random = Random(match loss {
            Loss::Some(seed) => seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            Loss::Nothing | Loss::Everything => 1,
        });
        let names = match loss {
            Loss::Nothing => state.names.clone(),
            Loss::Everything => state.durable_names.clone(),
            Loss::Some(_) => {
                // Names change in order, as in any journaling file system.
                let mut names = state.durable_names.clone();
                let kept = random.below(state.name_changes.len() + 1);
                state.name_changes.iter().take(kept).for_each(|change| change.apply(&mut names));
                names
            }
        };
        let inodes = state.inodes.iter().map(|inode| {
            let content = match loss {
                Loss::Nothing => inode.content.clone(),
                Loss::Everything => inode.durable.clone(),
                Loss::Some(_) => inode.partly(&mut random),
            };
            Inode { durable: content.clone(), content, ..Inode::default() }
        });
        let inodes = inodes.collect();
        let state = State { inodes, durable_names: names.clone(), names, ..State::default() };
        Self(Arc::new(Mutex::new(state)))
    }
}

impl State {
    /// Number of bytes in use.
    fn used(&self) -> u64 {
        self.names.values().map(|inode| self.inodes[*inode].content.len() as u64).sum()
    }

    /// Counts a step; an error if the power is lost.
    fn step(&mut self) -> io::Result<()> {
        if self.fails_at.is_some_and(|at| self.steps >= at) {
            return Err(io::Error::other("the power is gone"));
        }
        self.steps += 1;
        Ok(())
    }

    /// Creates, renames or removes a file name; not synced yet.
    fn name(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.name_changes.push(change);
    }
}

impl NameChange {
    /// Applies the creation, renaming or removal to a map from names to files.
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Self::Set(path, inode) => drop(names.insert(path.clone(), *inode)),
            Self::Unset(path) => drop(names.remove(path)),
        }
    }

    /// The folder whose names change.
    fn folder(&self) -> &Path {
        let (Self::Set(path, _) | Self::Unset(path)) = self;
        path.parent().unwrap()
    }
}

impl Inode {
    /// The content if a random part of the unsynced changes survives.
    fn partly(&self, random: &mut Random) -> Vec<u8> {
        let mut content = self.durable.clone();
        for change in &self.changes {
            match change {
                Change::Length(length) if random.below(2) == 0 => content.resize(*length as usize, 0),
                Change::Length(_) => {}
                Change::Write(at, bytes) => {
                    // The length may be on the disk without what it holds.
                    if random.below(4) == 0 {
                        content.resize(content.len().max(*at as usize + bytes.len()), 0);
                    }
                    let mut done = 0;
                    while done < bytes.len() {
                        let begin = *at as usize + done;
                        let end = (begin / SECTOR + 1) * SECTOR;
                        let part = &bytes[done..bytes.len().min(done + end - begin)];
                        if random.below(2) == 0 {
                            content.resize(content.len().max(begin + part.len()), 0);
                            content[begin..begin + part.len()].copy_from_slice(part);
                        }
                        done += part.len();
                    }
                }
            }
        }
        content
    }
}

impl Disk for SimDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.lock();
        let found = state.names.get(path).copied();
        let inode = match (found, mode) {
            (None, OpenMode::Read) => return Err(io::ErrorKind::NotFound.into()),
            (None, OpenMode::Write | OpenMode::Truncate) => {
                state.step()?;
                state.inodes.push(Inode::default());
                let inode = state.inodes.len() - 1;
                state.name(NameChange::Set(path.to_owned(), inode));
                inode
            }
            (Some(inode), OpenMode::Truncate) => {
                state.step()?;
                state.inodes[inode].content.clear();
                state.inodes[inode].changes.push(Change::Length(0));
                inode
            }
            (Some(inode), OpenMode::Read | OpenMode::Write) => inode,
        };
        Ok(Arc::new(SimFile { disk: self.clone(), inode }))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let state = self.lock();
        let inside = state.names.keys().filter(|path| path.parent() == Some(folder));
        Ok(inside.filter_map(|path| path.file_name()).map(PathBuf::from).collect())
    }

    fn create_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.step()?;
        let inode = *state.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        state.name(NameChange::Unset(from.to_owned()));
        // One change on the disk: never both names gone.
        state.name_changes.pop();
        state.name(NameChange::Set(to.to_owned(), inode));
        state.name_changes.push(NameChange::Unset(from.to_owned()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.lock();
        if !state.names.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.step()?;
        state.name(NameChange::Unset(path.to_owned()));
        Ok(())
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.lock();
        let inside: Vec<PathBuf> = state.names.keys().filter(|path| path.starts_with(folder)).cloned().collect();
        for path in inside {
            state.step()?;
            state.name(NameChange::Unset(path));
        }
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.step()?;
        let changes = std::mem::take(&mut state.name_changes);
        for change in changes {
            if change.folder() == folder {
                change.apply(&mut state.durable_names);
            } else {
                state.name_changes.push(change);
            }
        }
        Ok(())
    }
}

impl DiskFile for SimFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.lock().inodes[self.inode].content.len() as u64)
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let state = self.disk.lock();
        let content = &state.inodes[self.inode].content;
        let rest = content.get(at as usize..).unwrap_or_default();
        let read = rest.len().min(bytes.len());
        bytes[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut state = self.disk.lock();
        let power = state.step();
        let room = state.capacity.map_or(u64::MAX, |capacity| capacity.saturating_sub(state.used()));
        let inode = &mut state.inodes[self.inode];
        let end = at as usize + bytes.len();
        let grows = end.saturating_sub(inode.content.len()) as u64;
        // A write that fails leaves a part behind.
        let written = match &power {
            Err(_) => bytes.len() / 2,
            Ok(()) if grows > room => bytes.len() - (grows - room) as usize,
            Ok(()) => bytes.len(),
        };
        let part = &bytes[..written];
        let end = at as usize + written;
        if end > inode.content.len() {
            inode.content.resize(end, 0);
        }
        inode.content[at as usize..end].copy_from_slice(part);
        inode.changes.push(Change::Write(at, part.to_vec()));
        power?;
        if written < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let mut state = self.disk.lock();
        state.step()?;
        let inode = &mut state.inodes[self.inode];
        inode.content.resize(length as usize, 0);
        inode.changes.push(Change::Length(length));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.lock();
        state.step()?;
        if state.sync_fails {
            // As Linux does it: the pages count as clean, and are lost.
            state.inodes[self.inode].changes.clear();
            return Err(io::Error::other("the disk failed"));
        }
        let inode = &mut state.inodes[self.inode];
        inode.durable.clone_from(&inode.content);
        inode.changes.clear();
        Ok(())
    }

    fn try_lock(&self) -> io::Result<bool> {
        let inode = &mut self.disk.lock().inodes[self.inode];
        Ok(!std::mem::replace(&mut inode.locked, true))
    }

    fn unlock(&self) {
        self.disk.lock().inodes[self.inode].locked = false;
    }
}

/// A seeded generator of random numbers (xorshift64*), the same on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A random number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 16) as usize % bound
    }
}
