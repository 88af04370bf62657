//! Small files that nobody but their owner may read: put into place whole, and not believed when others could have read
//! them.

use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use zeroize::Zeroizing;

use crate::fault::reason;

/// Why such a file is not used.
pub enum Unusable {
    /// The system's answer.
    Io(io::Error),
    /// It is no file.
    NoFile,
    /// Others may read it: its mode.
    Readable(u32),
    /// What is in it.
    Other(String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Io(error) => write!(f, "{}; {ELSEWHERE}", reason(error)),
            Unusable::NoFile => write!(f, "not a file; {ELSEWHERE}"),
            Unusable::Readable(mode) => {
                write!(f, "others may read it (mode {mode:03o}); if nobody has, chmod 600 it")
            }
            Unusable::Other(why) => f.write_str(why),
        }
    }
}

/// Its contents; of a file that is longer than `most`, one byte more than that.
///
/// # Errors
/// [`Unusable`]; no link is followed.
pub fn read(path: &Path, most: usize) -> Result<Zeroizing<Vec<u8>>, Unusable> {
    // A pipe in its place must not hold the program up.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(Unusable::Io)?;
    let metadata = file.metadata().map_err(Unusable::Io)?;
    if !metadata.is_file() {
        return Err(Unusable::NoFile);
    }
    if is_open_to_others(&metadata) {
        return Err(Unusable::Readable(metadata.mode() & 0o777));
    }
    let expected = usize::try_from(metadata.len()).map_or(most, |length| length.min(most));
    let mut bytes = Zeroizing::new(Vec::with_capacity(expected + 1));
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(Unusable::Io)?;
    Ok(bytes)
}

/// May the group or anybody else read or write it?
pub fn is_open_to_others(metadata: &Metadata) -> bool {
    metadata.mode() & 0o066 != 0
}

/// Puts a whole file into place, or none; one that is there stays.
///
/// # Errors
/// What the system says.
pub fn put(directory: &Path, name: &str, contents: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let draft = directory.join(format!("{name}.{}", std::process::id()));
    let written = write_draft(&draft, contents).and_then(|()| fs::hard_link(&draft, directory.join(name)));
    let removed = fs::remove_file(&draft);
    match written {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => other.and(removed)?,
    }
    File::open(directory)?.sync_all()
}

fn write_draft(draft: &Path, contents: &[u8]) -> io::Result<()> {
    // Left behind by a process of the same number that was killed.
    match fs::remove_file(draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    file.write_all(contents)?;
    file.sync_all()
}

/// What to do where nothing can be read or written.
pub const ELSEWHERE: &str = "name another directory with --data";
