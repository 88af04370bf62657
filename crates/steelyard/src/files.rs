//! Files that clients name: certificates, keys, scripts. Folders of the data directory stand for the appliance's, and
//! nothing else can be named.
//!
//! Owns which folders there are, what a name may be, and the bounds. The hard question is a name that leads elsewhere: a
//! folder is one of a table, a name is one part of a path, and the kernel is told to follow no link.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, ResolveFlags, chmodat, fchmod, fsync, linkat, mkdirat, openat2, unlinkat,
};
use rustix::io::Errno;

use crate::certificate::Facts;
use crate::fault::reason;
use crate::wall::Date;

/// The folders of a data directory. Clones are the same.
#[derive(Clone, Default)]
pub struct Folders {
    /// `None` where nothing is kept.
    data: Option<PathBuf>,
    /// Held while the room that is left is counted and taken.
    adding: Arc<Mutex<()>>,
}

/// A file of such a folder.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub size: u64,
    /// When it was read last.
    pub accessed: Date,
    /// When it was written last.
    pub modified: Date,
    /// Is it a folder itself?
    pub is_folder: bool,
}

/// Why a file is not touched.
#[derive(Debug)]
pub enum Refused {
    /// Nothing is kept here.
    Nowhere,
    /// The folder is none of those that clients may name.
    Folder,
    /// It is no name of a file.
    Name,
    /// The name is longer than [`NAME_BYTES`].
    LongName,
    /// There is none of that name.
    Missing,
    /// There is one of that name.
    Exists,
    /// It is no file.
    NoFile,
    /// It is longer than [`MOST_BYTES`].
    TooLarge,
    /// The folder is full.
    TooMany,
    /// What the system says.
    Io(io::Error),
}

/// As a sentence about a file.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Nowhere => f.write_str("there is no data directory to read it from"),
            Refused::Folder | Refused::Name => write!(f, "it is not in {CERTIFICATES}"),
            Refused::LongName => write!(f, "its name is longer than {NAME_BYTES} bytes"),
            Refused::Missing => f.write_str("there is no such file"),
            Refused::Exists => f.write_str("there is such a file"),
            Refused::NoFile => f.write_str("it is no plain file"),
            Refused::TooLarge => write!(f, "it is longer than {MOST_BYTES} bytes"),
            Refused::TooMany => f.write_str("the folder is full"),
            Refused::Io(error) => f.write_str(&reason(error)),
        }
    }
}

impl Folders {
    /// Of that data directory; none where nothing is kept.
    pub fn new(data: Option<&Path>) -> Folders {
        Folders { data: data.map(Path::to_owned), ..Folders::default() }
    }

    /// Puts a new file into place, whole or not at all; returns when it would survive a power cut.
    ///
    /// # Errors
    /// [`Refused`]; a file of that name stays as it is.
    pub fn add(&self, folder: &str, name: &str, contents: &[u8]) -> Result<(), Refused> {
        let name = file_name(name)?;
        if contents.len() as u64 > MOST_BYTES {
            return Err(Refused::TooLarge);
        }
        let directory = self.open(folder, Missing::Make)?;
        let _turn = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut files, mut bytes) = (0, contents.len() as u64);
        for entry in entries(&directory)? {
            files += 1;
            bytes += entry.size;
        }
        if files >= MOST_FILES || bytes > MOST_BYTES_IN_ALL {
            return Err(Refused::TooMany);
        }
        put(&directory, name, contents, if is_scripts(folder) { FOR_ALL } else { OWNERS_FILE })
    }

    /// The files of a folder, by name. One that no client has written to yet is empty.
    ///
    /// # Errors
    /// [`Refused`]
    pub fn list(&self, folder: &str) -> Result<Vec<Entry>, Refused> {
        match self.open(folder, Missing::IsMissing) {
            Ok(directory) => {
                let mut all = entries(&directory)?;
                all.sort_by(|a, b| a.name.cmp(&b.name));
                Ok(all)
            }
            Err(Refused::Missing) => Ok(Vec::new()),
            Err(refused) => Err(refused),
        }
    }

    /// A file and what is in it.
    ///
    /// # Errors
    /// [`Refused`]
    pub fn read(&self, folder: &str, name: &str) -> Result<(Entry, Vec<u8>), Refused> {
        let name = file_name(name)?;
        let directory = self.open(folder, Missing::IsMissing)?;
        let file = file(&directory, name)?;
        let entry = entry(name, &file)?;
        if entry.is_folder {
            return Err(Refused::NoFile);
        }
        let mut contents = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut contents).map_err(Refused::Io)?;
        if contents.len() as u64 > MOST_BYTES { Err(Refused::TooLarge) } else { Ok((entry, contents)) }
    }

    /// What the certificate says in the file of that name in [`CERTIFICATES`], or with that folder before it; `None` where
    /// that is no such file, or no certificate.
    pub fn certificate(&self, path: &str) -> Option<Facts> {
        self.named(path).ok().and_then(|contents| Facts::of_file(&contents))
    }

    /// What is in the file of that name in [`CERTIFICATES`], or with that folder before it.
    ///
    /// # Errors
    /// [`Refused`]
    pub fn named(&self, path: &str) -> Result<Vec<u8>, Refused> {
        let name = path.strip_prefix(CERTIFICATES).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
        self.read(CERTIFICATES, name).map(|(_, contents)| contents)
    }

    /// Removes a file; returns when it would be gone after a power cut.
    ///
    /// # Errors
    /// [`Refused`]
    pub fn remove(&self, folder: &str, name: &str) -> Result<(), Refused> {
        let name = file_name(name)?;
        let directory = self.open(folder, Missing::IsMissing)?;
        match unlinkat(&directory, name, AtFlags::empty()) {
            Ok(()) => fsync(&directory).map_err(io),
            Err(Errno::ISDIR | Errno::PERM) => Err(Refused::NoFile),
            Err(error) => Err(io(error)),
        }
    }

    /// The folder of scripts, if it has one of that name.
    ///
    /// # Errors
    /// [`Refused`]
    pub fn script(&self, name: &str) -> Result<OwnedFd, Refused> {
        let name = file_name(name)?;
        let directory = self.open(SCRIPTS, Missing::IsMissing)?;
        let file = file(&directory, name)?;
        if entry(name, &file)?.is_folder { Err(Refused::NoFile) } else { Ok(directory) }
    }

    /// Where that folder is, for people.
    pub fn scripts(&self) -> Option<PathBuf> {
        self.data.as_deref().map(|data| data.join(SCRIPTS.trim_start_matches('/')))
    }

    /// The folder that stands for the appliance's of that name.
    fn open(&self, folder: &str, missing: Missing) -> Result<OwnedFd, Refused> {
        let data = self.data.as_deref().ok_or(Refused::Nowhere)?;
        let folder = folder.trim_end_matches('/');
        if !FOLDERS.contains(&folder) {
            return Err(Refused::Folder);
        }
        // What leads to the data directory is the operator's.
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let at = openat2(CWD, data, flags, Mode::empty(), ResolveFlags::empty()).map_err(io)?;
        let last = folder.rsplit('/').next().filter(|_| is_scripts(folder));
        folder.split('/').filter(|part| !part.is_empty()).try_fold(at, |at, part| {
            if missing == Missing::Make {
                match mkdirat(&at, part, Mode::RWXU) {
                    Ok(()) => {
                        if last == Some(part) {
                            chmodat(&at, part, FOR_ALL, AtFlags::empty()).map_err(io)?;
                        }
                        fsync(&at).map_err(io)?;
                    }
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(io(error)),
                }
            }
            openat2(&at, part, flags, Mode::empty(), confined()).map_err(io)
        })
    }
}

/// Is that the folder of scripts?
pub fn is_scripts(folder: &str) -> bool {
    folder.trim_end_matches('/') == SCRIPTS
}

/// What becomes of a folder that is not there yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Make,
    IsMissing,
}

/// A name that is one part of a path and shows in a listing. Names that begin with a dot are this program's own.
fn file_name(name: &str) -> Result<&str, Refused> {
    let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']);
    match name.len() {
        _ if !is_name || name.chars().any(char::is_control) => Err(Refused::Name),
        ..=NAME_BYTES => Ok(name),
        _ => Err(Refused::LongName),
    }
}

fn file(directory: &OwnedFd, name: &str) -> Result<File, Refused> {
    // A pipe must not hold the program up.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat2(directory, name, flags, Mode::empty(), confined()).map(File::from).map_err(io)
}

fn entry(name: &str, file: &File) -> Result<Entry, Refused> {
    let metadata = file.metadata().map_err(Refused::Io)?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(Refused::NoFile);
    }
    Ok(Entry {
        name: name.to_owned(),
        size: metadata.size(),
        accessed: Date::at(metadata.atime()),
        modified: Date::at(metadata.mtime()),
        is_folder: metadata.is_dir(),
    })
}

/// Those that clients can name, at most [`MOST_FILES`]; what leads elsewhere or cannot be opened is left out.
fn entries(directory: &OwnedFd) -> Result<Vec<Entry>, Refused> {
    let names = Dir::read_from(directory).map_err(io)?.flatten();
    let named = names.filter_map(|found| {
        let name = OsStr::from_bytes(found.file_name().to_bytes()).to_str()?;
        let name = file_name(name).ok()?;
        entry(name, &file(directory, name).ok()?).ok()
    });
    Ok(named.take(MOST_FILES).collect())
}

/// Under a name that no client can name until all of it is written.
fn put(directory: &OwnedFd, name: &str, contents: &[u8], mode: Mode) -> Result<(), Refused> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let draft = format!(".{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = openat2(directory, &*draft, flags, OWNERS_FILE, confined()).map(File::from).map_err(io)?;
    let written = file.write_all(contents).map_err(Refused::Io);
    let written = written.and_then(|()| fchmod(&file, mode).map_err(io));
    let written = written.and_then(|()| file.sync_all().map_err(Refused::Io));
    let placed =
        written.and_then(|()| linkat(directory, &*draft, directory, name, AtFlags::empty()).map_err(io));
    let removed = unlinkat(directory, &*draft, AtFlags::empty()).map_err(io);
    placed.and(removed)?;
    fsync(directory).map_err(io)
}

fn confined() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS
}

fn io(error: Errno) -> Refused {
    match error {
        Errno::NOENT => Refused::Missing,
        Errno::EXIST => Refused::Exists,
        // A link where a folder or a file should be, or a folder where a file should be.
        Errno::LOOP | Errno::XDEV | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => Refused::NoFile,
        error => Refused::Io(error.into()),
    }
}

/// The folder of certificates and keys.
pub const CERTIFICATES: &str = "/nsconfig/ssl";
/// Of a file that its owner alone reads.
const OWNERS_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
/// Of scripts and their folder: whoever runs them must get at them, and they hold no secrets. What is above the folder
/// stays closed.
const FOR_ALL: Mode = Mode::from_raw_mode(0o755);
/// The folder of scripts that monitors have run.
pub const SCRIPTS: &str = "/nsconfig/monitors";
/// The appliance's folders that clients may name.
const FOLDERS: &[&str] = &[CERTIFICATES, "/nsconfig/license", SCRIPTS, "/var/tmp"];
/// As in the reference.
pub const NAME_BYTES: usize = 63;
/// In one file.
const MOST_BYTES: u64 = 2 << 20;
/// In one folder.
const MOST_FILES: usize = 10_000;
const MOST_BYTES_IN_ALL: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A data directory of this test's own, removed at its end.
    struct Data(PathBuf);

    impl Data {
        fn new(name: &str) -> Data {
            let path = std::env::temp_dir().join(format!("steelyard-files-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Data(path)
        }

        fn folders(&self) -> Folders {
            Folders::new(Some(&self.0))
        }

        fn certificates(&self) -> PathBuf {
            self.0.join("nsconfig/ssl")
        }
    }

    impl Drop for Data {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_added_is_read_listed_and_removed_and_no_draft_stays() {
        let data = Data::new("added");
        let folders = data.folders();
        assert!(folders.list(CERTIFICATES).unwrap().is_empty() && !data.certificates().exists());
        folders.add("/nsconfig/ssl/", "a.crt", b"one").unwrap();
        assert!(matches!(folders.add(CERTIFICATES, "a.crt", b"two"), Err(Refused::Exists)));
        let (entry, contents) = folders.read(CERTIFICATES, "a.crt").unwrap();
        assert_eq!((entry.size, &*contents), (3, &b"one"[..]));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&data.certificates()), mode(&data.certificates().join("a.crt"))), (0o700, 0o600));
        assert_eq!(fs::read_dir(data.certificates()).unwrap().count(), 1);
        folders.remove(CERTIFICATES, "a.crt").unwrap();
        assert!(matches!(folders.remove(CERTIFICATES, "a.crt"), Err(Refused::Missing)));
        assert_eq!(fs::read_dir(data.certificates()).unwrap().count(), 0);
    }

    #[test]
    fn scripts_can_be_run_by_others_and_nothing_above_them_can_be_read() {
        let data = Data::new("scripts");
        let folders = data.folders();
        assert!(matches!(folders.script("x.pl"), Err(Refused::Missing)));
        folders.add("/nsconfig/monitors/", "x.pl", b"#!/bin/sh").unwrap();
        let mode = |path: &str| fs::metadata(data.0.join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("nsconfig/monitors"), mode("nsconfig/monitors/x.pl")), (0o755, 0o755));
        assert_eq!(mode("nsconfig"), 0o700);
        assert!(folders.script("x.pl").is_ok());
        let scripts = folders.scripts().unwrap();
        fs::create_dir(scripts.join("folder")).unwrap();
        symlink("x.pl", scripts.join("link")).unwrap();
        for (name, is_missing) in [("y.pl", true), ("folder", false), ("link", false)] {
            let refused = folders.script(name).unwrap_err();
            assert!(if is_missing {
                matches!(refused, Refused::Missing)
            } else {
                matches!(refused, Refused::NoFile)
            });
        }
        for name in ["", "..", "../seal.key", "/bin/sh", ".hidden", "a/b"] {
            assert!(matches!(folders.script(name), Err(Refused::Name)), "{name:?}");
        }
    }

    #[test]
    fn names_and_folders_that_lead_elsewhere_are_refused() {
        let data = Data::new("elsewhere");
        let folders = data.folders();
        fs::write(data.0.join("seal.key"), "secret").unwrap();
        for name in ["", ".", "..", "../seal.key", "/etc/passwd", "a/b", ".hidden", "a\0b", "a\nb", "a\\b"] {
            assert!(matches!(folders.add(CERTIFICATES, name, b"x"), Err(Refused::Name)), "{name:?}");
            assert!(matches!(folders.read(CERTIFICATES, name), Err(Refused::Name)), "{name:?}");
            assert!(matches!(folders.remove(CERTIFICATES, name), Err(Refused::Name)), "{name:?}");
        }
        let long = "x".repeat(NAME_BYTES + 1);
        assert!(matches!(folders.add(CERTIFICATES, &long, b"x"), Err(Refused::LongName)));
        for folder in [
            "",
            "/",
            "/nsconfig",
            "/nsconfig/ssl/..",
            "/nsconfig/ssl/.",
            "/etc",
            "nsconfig/ssl",
            "//nsconfig/ssl",
        ] {
            assert!(matches!(folders.list(folder), Err(Refused::Folder)), "{folder}");
            assert!(matches!(folders.add(folder, "a", b"x"), Err(Refused::Folder)), "{folder}");
        }
        assert!(matches!(Folders::default().list(CERTIFICATES), Err(Refused::Nowhere)));
        assert_eq!(fs::read_dir(&data.0).unwrap().count(), 1, "nothing was made");
    }

    #[test]
    fn a_link_in_a_folder_or_in_its_place_is_not_followed() {
        let data = Data::new("links");
        let folders = data.folders();
        folders.add(CERTIFICATES, "own", b"own").unwrap();
        let outside = data.0.join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        symlink(outside.join("secret"), data.certificates().join("file")).unwrap();
        symlink("own", data.certificates().join("within")).unwrap();
        symlink(outside.join("new"), data.certificates().join("dangling")).unwrap();
        symlink(&outside, data.certificates().join("folder")).unwrap();
        for link in ["file", "within", "dangling", "folder"] {
            assert!(matches!(folders.read(CERTIFICATES, link), Err(Refused::NoFile)), "{link}");
            assert!(matches!(folders.add(CERTIFICATES, link, b"x"), Err(Refused::Exists)), "{link}");
        }
        let listed: Vec<String> = folders.list(CERTIFICATES).unwrap().into_iter().map(|e| e.name).collect();
        assert_eq!(listed, ["own"]);
        folders.remove(CERTIFICATES, "file").unwrap();
        assert_eq!(fs::read(outside.join("secret")).unwrap(), b"secret", "the link went, not the file");
        fs::create_dir(data.0.join("var")).unwrap();
        symlink(&outside, data.0.join("var/tmp")).unwrap();
        assert!(matches!(folders.add("/var/tmp", "new", b"x"), Err(Refused::NoFile)));
        assert!(matches!(folders.read("/var/tmp", "secret"), Err(Refused::NoFile)));
        assert!(!outside.join("new").exists());
    }

    #[test]
    fn length_and_number_are_bounded() {
        let data = Data::new("bounded");
        let folders = data.folders();
        let most = vec![0; MOST_BYTES as usize];
        folders.add(CERTIFICATES, "most", &most).unwrap();
        assert!(matches!(
            folders.add(CERTIFICATES, "more", &[most, vec![0]].concat()),
            Err(Refused::TooLarge)
        ));
        fs::write(data.certificates().join("planted"), vec![0; MOST_BYTES as usize + 1]).unwrap();
        assert!(matches!(folders.read(CERTIFICATES, "planted"), Err(Refused::TooLarge)));
        for nth in 0..MOST_FILES {
            fs::write(data.certificates().join(format!("f{nth}")), "").unwrap();
        }
        assert!(matches!(folders.add(CERTIFICATES, "one-more", b"x"), Err(Refused::TooMany)));
        assert_eq!(folders.list(CERTIFICATES).unwrap().len(), MOST_FILES);
        assert!(folders.add("/var/tmp", "elsewhere", b"x").is_ok());
    }
}
