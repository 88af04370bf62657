//! The saved configuration on disk: `ns.conf`, `steelyard.conf` beside it, and five older copies of each.
//!
//! Owns the order in which files are written, flushed and renamed. Knows nothing of what is in them. The hard question
//! is a power cut between two renames: `ns.conf` is put into place by one rename, which is when the save has happened;
//! what belongs beside it waits as `steelyard.conf.new` until then, and its first line says to which `ns.conf` it
//! belongs. Whoever reads takes that one if it belongs to the `ns.conf` found, so that both are old or both new.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{Context, SHA256};
use steelyard_core::command::Printed;

use crate::fault::reason;
use crate::private;
use crate::read::{LARGEST, file};

/// Where a configuration is saved.
#[derive(Clone, Debug)]
pub struct Files {
    ns_conf: PathBuf,
}

/// What a save came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Saved {
    /// There is no file to save to.
    Nowhere,
    /// The files are new.
    Written,
    /// The files held that configuration already.
    Already,
}

/// Which save.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// The last one.
    Last,
    /// One before it; 0 is the youngest.
    Older(u32),
}

impl Version {
    /// That of `ns.conf.AGE`; `None` where none is kept.
    pub fn of_age(age: &str) -> Option<Version> {
        (0..OLD_COPIES).find(|kept| kept.to_string() == age).map(Version::Older)
    }
}

/// Why nothing was saved: the file, and the system's words. What was saved before is as it was.
#[derive(Debug)]
pub struct NotSaved {
    path: PathBuf,
    error: io::Error,
}

impl Files {
    /// With `ns_conf` as the file that is replaced; where that is a symbolic link, the file that it leads to.
    pub fn new(ns_conf: &Path) -> Files {
        let ns_conf = fs::canonicalize(ns_conf).unwrap_or_else(|_| ns_conf.to_owned());
        Files { ns_conf }
    }

    /// The file beside `ns.conf` that belongs to these contents of it; it need not exist. What waits was made by a save:
    /// a link, a pipe or a file that others may read in its place was not.
    pub fn beside(&self, ns_conf: &[u8]) -> PathBuf {
        let waiting = self.waiting_beside();
        let belongs = private::read(&waiting, LARGEST).is_ok_and(|text| belongs(&text, ns_conf));
        if belongs { waiting } else { self.ns_conf.with_file_name(BESIDE) }
    }

    /// Puts into place what an interrupted save left waiting, if it had happened. Whether that succeeds or not, who
    /// reads finds the same.
    pub fn finish(&self, ns_conf: &[u8]) {
        let waiting = self.waiting_beside();
        if self.beside(ns_conf) == waiting {
            let _ = fs::rename(&waiting, self.ns_conf.with_file_name(BESIDE));
        }
    }

    /// Replaces the saved configuration, all of it or nothing, and keeps the one before as `ns.conf.0`. Returns when
    /// it would survive a power cut.
    ///
    /// # Errors
    /// [`NotSaved`] when a file cannot be written: a full disk, a directory that may not be changed.
    pub fn save(&self, printed: &Printed) -> Result<Saved, NotSaved> {
        let beside = self.ns_conf.with_file_name(BESIDE);
        let ns_conf = printed.ns_conf.as_bytes();
        let with_beside = !printed.steelyard_conf.is_empty() || beside.exists();
        let second = with_beside.then(|| sealed_to(ns_conf, &printed.steelyard_conf));
        let holds = |path: &Path, text: &[u8]| file(path).is_ok_and(|found| *found == text);
        if holds(&self.ns_conf, ns_conf) && second.as_ref().is_none_or(|text| holds(&beside, text)) {
            return Ok(Saved::Already);
        }
        let directory = self.directory();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(|error| NotSaved::at(directory, error))?;
        let (draft, waiting) = (self.draft(), self.waiting_beside());
        let written = self.write_all(ns_conf, second.as_deref());
        if written.is_err() {
            // Neither counts: their time had not come. Removed for the room that they take.
            let _ = fs::remove_file(&draft);
            let _ = fs::remove_file(&waiting);
        }
        written.map(|()| Saved::Written)
    }

    fn write_all(&self, ns_conf: &[u8], beside: Option<&[u8]>) -> Result<(), NotSaved> {
        let (draft, waiting, place) =
            (self.draft(), self.waiting_beside(), self.ns_conf.with_file_name(BESIDE));
        if let Some(text) = beside {
            write_whole(&waiting, text, &place, OWNERS_ALONE)?;
        }
        write_whole(&draft, ns_conf, &self.ns_conf, AS_BEFORE)?;
        self.flush()?;
        self.keep_copies()?;
        step(&draft, fs::rename(&draft, &self.ns_conf))?;
        self.flush()?;
        if beside.is_some() {
            step(&waiting, fs::rename(&waiting, &place))?;
        }
        self.flush()
    }

    /// Every copy becomes one older, the oldest goes, and what is saved now becomes the youngest. Both names lead to the
    /// same file until the new one takes the place, so that there is no moment without.
    fn keep_copies(&self) -> Result<(), NotSaved> {
        for path in [self.ns_conf.with_file_name(BESIDE), self.ns_conf.clone()] {
            for age in (0..OLD_COPIES - 1).rev() {
                existing(&aged(&path, age), fs::rename(aged(&path, age), aged(&path, age + 1)))?;
            }
            existing(&aged(&path, 0), fs::remove_file(aged(&path, 0)))?;
            existing(&aged(&path, 0), fs::hard_link(&path, aged(&path, 0)))?;
        }
        Ok(())
    }

    /// Where an older copy is; `None` of what was saved last.
    pub fn older(&self, version: Version) -> Option<PathBuf> {
        match version {
            Version::Last => None,
            Version::Older(age) => Some(aged(&self.ns_conf, age)),
        }
    }

    fn directory(&self) -> &Path {
        self.ns_conf.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn flush(&self) -> Result<(), NotSaved> {
        let directory = self.directory();
        step(directory, File::open(directory).and_then(|directory| directory.sync_all()))
    }

    fn draft(&self) -> PathBuf {
        with_suffix(&self.ns_conf, WAITING)
    }

    fn waiting_beside(&self) -> PathBuf {
        with_suffix(&self.ns_conf.with_file_name(BESIDE), WAITING)
    }
}

impl NotSaved {
    /// Whoever wrote has stopped before the end.
    pub fn stopped(path: &Path, error: impl std::error::Error + Send + Sync + 'static) -> NotSaved {
        NotSaved::at(path, io::Error::other(error))
    }

    fn at(path: &Path, error: io::Error) -> NotSaved {
        NotSaved { path: path.to_owned(), error }
    }
}

impl std::fmt::Display for NotSaved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), reason(&self.error))
    }
}

/// A new file with these contents, on the disk, for those of `whom` who might read the one that it is to replace.
fn write_whole(path: &Path, text: &[u8], replaced: &Path, whom: u32) -> Result<(), NotSaved> {
    let write = || {
        // Left behind by a save that was killed.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        if let Ok(before) = fs::metadata(replaced) {
            // Who is not root cannot give a file away; the owner is then whoever saves.
            let _ = fchown(&file, Some(before.uid()), Some(before.gid()));
            file.set_permissions(Permissions::from_mode(before.mode() & whom))?;
        }
        file.write_all(text)?;
        file.sync_all()
    };
    step(path, write())
}

fn step(path: &Path, result: io::Result<()>) -> Result<(), NotSaved> {
    result.map_err(|error| NotSaved::at(path, error))
}

/// The same of what need not exist.
fn existing(path: &Path, result: io::Result<()>) -> Result<(), NotSaved> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => step(path, other),
    }
}

fn aged(path: &Path, age: u32) -> PathBuf {
    with_suffix(path, &format!(".{age}"))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// What is saved beside `ns_conf`: a line that ties it to that, and the text.
fn sealed_to(ns_conf: &[u8], text: &str) -> Vec<u8> {
    format!("{TIE}{}\n{text}", digest(ns_conf, text.as_bytes())).into_bytes()
}

/// Is it whole, and was it saved with that `ns.conf`?
fn belongs(file: &[u8], ns_conf: &[u8]) -> bool {
    let tied = file.strip_prefix(TIE.as_bytes());
    let split = tied.and_then(|tied| Some(tied.split_at(tied.iter().position(|byte| *byte == b'\n')?)));
    split.is_some_and(|(found, text)| found == digest(ns_conf, &text[1..]).as_bytes())
}

fn digest(ns_conf: &[u8], text: &[u8]) -> String {
    let mut context = Context::new(&SHA256);
    context.update(&(ns_conf.len() as u64).to_le_bytes());
    context.update(ns_conf);
    context.update(text);
    context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bits of a mode: whoever might before.
const AS_BEFORE: u32 = 0o7777;
/// The file beside has hashes of passwords.
const OWNERS_ALONE: u32 = 0o600;
/// The file that this program saves beside an `ns.conf`.
const BESIDE: &str = "steelyard.conf";
/// What a file is called until it is put into place.
const WAITING: &str = ".new";
/// As many as an appliance keeps (`spec/cli.md` 6): `.0`, the youngest, to `.4`.
const OLD_COPIES: u32 = 5;
/// Begins the first line of what is saved beside an `ns.conf`; a comment to the reader.
const TIE: &str = "# saved with ns.conf, together ";

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of this test's own, removed at its end.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Place {
            let path = std::env::temp_dir().join(format!("steelyard-save-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir(&path).unwrap();
            Place(path)
        }

        fn files(&self) -> Files {
            Files::new(&self.0.join("ns.conf"))
        }

        fn text(&self, name: &str) -> Option<String> {
            fs::read_to_string(self.0.join(name)).ok()
        }

        fn names(&self) -> Vec<String> {
            let names = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> =
                names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn printed(ns_conf: &str, steelyard_conf: &str) -> Printed {
        Printed { ns_conf: ns_conf.to_owned(), steelyard_conf: steelyard_conf.to_owned() }
    }

    #[test]
    fn five_older_copies_are_kept_the_youngest_first() {
        let place = Place::new("copies");
        for n in 0..8 {
            assert_eq!(place.files().save(&printed(&format!("{n}\n"), "")).unwrap(), Saved::Written);
        }
        assert_eq!(place.text("ns.conf").unwrap(), "7\n");
        for (age, n) in [6, 5, 4, 3, 2].into_iter().enumerate() {
            assert_eq!(place.text(&format!("ns.conf.{age}")).unwrap(), format!("{n}\n"));
        }
        assert_eq!(place.names().len(), 6, "{:?}", place.names());
    }

    #[test]
    fn what_is_saved_already_pushes_no_copy_out() {
        let place = Place::new("again");
        for expected in [Saved::Written, Saved::Already, Saved::Already] {
            assert_eq!(place.files().save(&printed("a\n", "b\n")).unwrap(), expected);
        }
        assert_eq!(place.names(), ["ns.conf", "steelyard.conf"]);
    }

    #[test]
    fn what_waits_beside_counts_once_its_ns_conf_is_in_place_and_only_whole() {
        let place = Place::new("beside");
        let files = place.files();
        files.save(&printed("old\n", "old secret\n")).unwrap();
        let waiting = place.0.join("steelyard.conf.new");
        let whole = sealed_to(b"new\n", "new secret\n");
        for length in 0..=whole.len() {
            wait_there(&waiting, &whole[..length]);
            assert_eq!(files.beside(b"old\n"), place.0.join("steelyard.conf"));
            let expected = if length == whole.len() { &waiting } else { &place.0.join("steelyard.conf") };
            assert_eq!(&files.beside(b"new\n"), expected, "{length} bytes of {}", whole.len());
        }
        files.finish(b"old\n");
        assert!(place.text("steelyard.conf").unwrap().ends_with("old secret\n"));
        files.finish(b"new\n");
        assert!(place.text("steelyard.conf").unwrap().ends_with("new secret\n"));
        assert!(!waiting.exists());
    }

    /// As a save leaves it there.
    fn wait_there(waiting: &Path, text: &[u8]) {
        fs::write(waiting, text).unwrap();
        fs::set_permissions(waiting, Permissions::from_mode(0o600)).unwrap();
    }

    #[test]
    fn what_no_save_left_waiting_does_not_count() {
        let place = Place::new("strange");
        let files = place.files();
        files.save(&printed("old\n", "old secret\n")).unwrap();
        let (waiting, aside) = (place.0.join("steelyard.conf.new"), place.0.join("aside"));
        let whole = sealed_to(b"new\n", "new secret\n");
        let counts = || files.beside(b"new\n") == waiting;
        wait_there(&waiting, &whole);
        assert!(counts());
        fs::set_permissions(&waiting, Permissions::from_mode(0o644)).unwrap();
        assert!(!counts(), "others may read it");
        fs::remove_file(&waiting).unwrap();
        wait_there(&aside, &whole);
        std::os::unix::fs::symlink(&aside, &waiting).unwrap();
        assert!(!counts(), "a link");
        fs::remove_file(&waiting).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &waiting, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(!counts(), "a pipe that nobody writes into");
        fs::remove_file(&waiting).unwrap();
        wait_there(&waiting, b"");
        File::options().write(true).open(&waiting).unwrap().set_len(1 << 40).unwrap();
        assert!(!counts(), "longer than this host has memory");
        files.finish(b"new\n");
        assert!(place.text("steelyard.conf").unwrap().ends_with("old secret\n"));
    }

    #[test]
    fn a_secret_that_went_goes_from_the_file_beside() {
        let place = Place::new("gone");
        place.files().save(&printed("a\n", "secret\n")).unwrap();
        place.files().save(&printed("b\n", "")).unwrap();
        assert!(!place.text("steelyard.conf").unwrap().contains("secret\n"));
        assert!(place.text("steelyard.conf.0").unwrap().ends_with("secret\n"));
    }

    #[test]
    fn a_link_leads_to_the_file_that_is_replaced_and_its_mode_stays() {
        let place = Place::new("link");
        fs::create_dir(place.0.join("etc")).unwrap();
        let real = place.0.join("etc/real.conf");
        fs::write(&real, "old\n").unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, place.0.join("ns.conf")).unwrap();
        place.files().save(&printed("new\n", "")).unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "new\n");
        assert!(fs::symlink_metadata(place.0.join("ns.conf")).unwrap().is_symlink());
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o640);
        assert_eq!(place.text("etc/real.conf.0").unwrap(), "old\n");
    }

    #[test]
    fn where_nothing_can_be_written_what_was_saved_stays() {
        let place = Place::new("shut");
        place.files().save(&printed("old\n", "old secret\n")).unwrap();
        // A directory in the draft's place stands for whatever forbids it; root is forbidden little else.
        fs::create_dir_all(place.0.join("ns.conf.new/in the way")).unwrap();
        let error = place.files().save(&printed("new\n", "new secret\n")).unwrap_err();
        assert!(error.to_string().contains("ns.conf.new: "), "{error}");
        assert_eq!(place.text("ns.conf").unwrap(), "old\n");
        assert!(place.text("steelyard.conf").unwrap().ends_with("old secret\n"));
        assert!(!place.0.join("steelyard.conf.new").exists());
        assert!(!place.0.join("ns.conf.0").exists());
    }
}
