//! Where the access log goes: a file, by name, or standard output.
//!
//! Writes whole lines or none. The hard question: what if the system takes only a part? Of a file, what was begun of a
//! line is taken away again; a pipe takes pieces of [`PIPE_BYTES`] whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// What `--access-log` names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// `-`.
    StandardOutput,
    /// A file, or whatever else the path leads to.
    File(PathBuf),
}

/// An open log.
pub struct Output {
    target: Target,
    file: File,
    /// A regular file: what is in it can be taken back.
    is_file: bool,
}

impl Target {
    /// As the command line has it.
    pub fn new(text: &Path) -> Target {
        if text.as_os_str() == "-" { Target::StandardOutput } else { Target::File(text.to_owned()) }
    }
}

impl Output {
    /// Opens it; a file that does not exist is made, readable for its owner and group.
    ///
    /// # Errors
    /// What the system says; of a pipe also that nobody reads it.
    pub fn open(target: Target) -> io::Result<Output> {
        let file = open(&target)?;
        let is_file = file.metadata()?.file_type().is_file();
        Ok(Output { target, file, is_file })
    }

    /// Opens it again by its name. What was open stays in use when that fails. Standard output has no name.
    ///
    /// # Errors
    /// What the system says.
    pub fn reopen(&mut self) -> io::Result<()> {
        if self.target != Target::StandardOutput {
            *self = Output::open(self.target.clone())?;
        }
        Ok(())
    }

    /// Writes `lines`, each with its end. How many were written, and why not all.
    pub fn write(&mut self, mut lines: &[u8]) -> (u64, io::Result<()>) {
        let mut written = 0;
        while !lines.is_empty() {
            let (piece, rest) = lines.split_at(if self.is_file { lines.len() } else { piece(lines) });
            let (taken, result) = self.write_all(piece);
            let whole = memchr::memrchr(b'\n', &piece[..taken]).map_or(0, |end| end + 1);
            written += memchr::memchr_iter(b'\n', &piece[..whole]).count() as u64;
            if let Err(error) = result {
                self.take_back(taken - whole);
                return (written, Err(error));
            }
            lines = rest;
        }
        (written, Ok(()))
    }

    /// How many bytes the system took, and why not all.
    fn write_all(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
        let mut taken = 0;
        while taken < bytes.len() {
            match self.file.write(&bytes[taken..]) {
                Ok(0) => return (taken, Err(io::ErrorKind::WriteZero.into())),
                Ok(more) => taken += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (taken, Err(error)),
            }
        }
        (taken, Ok(()))
    }

    /// Takes the beginning of a line off the end of the file.
    fn take_back(&self, bytes: usize) {
        if bytes > 0
            && self.is_file
            && let Ok(file) = self.file.metadata()
        {
            // Fails where nothing else can be done either.
            let _ = self.file.set_len(file.len().saturating_sub(bytes as u64));
        }
    }
}

fn open(target: &Target) -> io::Result<File> {
    let Target::File(path) = target else {
        // A descriptor of its own: the lines of the program itself go out by another way, and neither waits for the other.
        return Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?));
    };
    let wait_for_nobody = OFlags::NONBLOCK.bits() as i32;
    let file =
        OpenOptions::new().append(true).create(true).mode(0o640).custom_flags(wait_for_nobody).open(path)?;
    // Only opening a pipe must not wait; writing to it may.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// How much of `lines` to hand to a pipe: whole lines of up to [`PIPE_BYTES`] together, or one that is longer.
fn piece(lines: &[u8]) -> usize {
    let within = &lines[..lines.len().min(PIPE_BYTES)];
    let end = memchr::memrchr(b'\n', within).or_else(|| memchr::memchr(b'\n', lines));
    end.map_or(lines.len(), |end| end + 1)
}

/// What a pipe takes whole or not at all (PIPE_BUF).
const PIPE_BYTES: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_given_whole_lines_of_what_it_takes_at_once() {
        let line = [&[b'x'; 1_499][..], b"\n"].concat();
        assert_eq!(piece(&line.repeat(4)), 3_000);
        assert_eq!(piece(&line), 1_500);
        let long = [&[b'x'; 5_000][..], b"\n"].concat();
        assert_eq!(piece(&[&long[..], &line].concat()), 5_001);
    }

    #[test]
    fn o03_a_full_disk_loses_lines_whole_and_is_said() {
        let mut full = Output::open(Target::File("/dev/full".into())).unwrap();
        let (written, result) = full.write(b"one\ntwo\n");
        assert_eq!((written, result.unwrap_err().kind()), (0, io::ErrorKind::StorageFull));
    }

    #[test]
    fn a_line_that_was_begun_is_taken_away_again() {
        let path = std::env::temp_dir().join(format!("steelyard-log-{}", std::process::id()));
        let mut output = Output::open(Target::File(path.clone())).unwrap();
        assert_eq!(output.write(b"one\ntw").0, 1);
        output.take_back(2);
        assert_eq!(std::fs::read(&path).unwrap(), b"one\n");
        assert_eq!(output.write(b"three\n").0, 1);
        assert_eq!(std::fs::read(&path).unwrap(), b"one\nthree\n");
        std::fs::remove_file(&path).unwrap();
    }
}
