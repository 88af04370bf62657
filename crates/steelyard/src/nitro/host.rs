//! The socket in the data directory: NITRO for whoever the program itself runs as, and for root.
//!
//! Owns the file and who may connect. The kernel says who is at the other end, so that the file's mode is a second
//! lock and not the only one.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream as Probe;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};

use crate::fault::reason;

/// The socket's file, which goes with the program.
pub struct HostSocket {
    path: PathBuf,
}

impl HostSocket {
    /// Opens it, in the place of one that a killed program has left.
    ///
    /// # Errors
    /// For people: why there is none. What follows from that is the caller's to say.
    pub fn open(data: &Path) -> Result<(UnixListener, HostSocket), String> {
        let path = path(data);
        let listener = bind(data, &path);
        let listener = listener.map_err(|error| format!("{}: {}", path.display(), reason(&error)))?;
        Ok((listener, HostSocket { path }))
    }
}

impl Drop for HostSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Where it is in the data directory.
pub fn path(data: &Path) -> PathBuf {
    data.join(NAME)
}

fn bind(data: &Path, path: &Path) -> io::Result<UnixListener> {
    DirBuilder::new().recursive(true).mode(0o700).create(data)?;
    if let Ok(found) = fs::symlink_metadata(path) {
        let taken = |why| Err(io::Error::new(io::ErrorKind::AddrInUse, why));
        if !found.file_type().is_socket() {
            return taken("it is there and is no socket; take it away, or give another --data");
        }
        if Probe::connect(path).is_ok() {
            return taken("another program serves there; give each its own --data");
        }
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => {
            io::Error::new(error.kind(), "too long for a socket, which has 107 bytes; give a shorter --data")
        }
        _ => error,
    })?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Who is at the other end, if that is this program's own user or root.
pub fn owner(stream: &UnixStream) -> Option<u32> {
    let own = geteuid();
    let uid = stream.peer_cred().ok()?.uid();
    (uid == 0 || uid == own.as_raw()).then_some(uid)
}

const NAME: &str = "nitro.sock";
