//! What a program under test has written: read as it comes, so that no pipe fills up, and complete whenever it is asked for.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};

/// What came out of a pipe so far.
#[derive(Default)]
pub struct Written {
    text: Arc<Mutex<String>>,
    /// To ask what is still in it.
    pipe: Option<OwnedFd>,
    reader: Option<JoinHandle<()>>,
}

impl Written {
    /// Reads a pipe from here on; nothing without one.
    pub fn of(pipe: Option<impl Into<OwnedFd>>) -> Written {
        let Some(pipe) = pipe.map(Into::into) else { return Written::default() };
        let text = Arc::new(Mutex::new(String::new()));
        let (into, asked) = (Arc::clone(&text), pipe.try_clone().unwrap());
        let reader = std::thread::spawn(move || read_lines(&pipe, &into));
        Written { text, pipe: Some(asked), reader: Some(reader) }
    }

    /// Whole lines: all that were in the pipe when this was called, however late the reader gets its turn.
    pub fn text(&self) -> String {
        loop {
            let text = self.text.lock().unwrap();
            match &self.pipe {
                Some(pipe) if rustix::io::ioctl_fionread(pipe).unwrap() > 0 => drop(text),
                _ => return text.clone(),
            }
            std::thread::yield_now();
        }
    }

    /// Waits for the end of the pipe.
    pub fn finish(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
    }
}

/// Reads under the lock, so that what has left the pipe is in the text.
fn read_lines(pipe: &OwnedFd, into: &Mutex<String>) {
    let (mut buffer, mut rest) = ([0; 65_536], Vec::new());
    loop {
        let mut readable = [PollFd::new(pipe, PollFlags::IN)];
        if poll(&mut readable, None).is_err() {
            continue;
        }
        let mut into = into.lock().unwrap();
        let Ok(n @ 1..) = rustix::io::read(pipe, &mut buffer) else { return };
        rest.extend_from_slice(&buffer[..n]);
        let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        into.push_str(&String::from_utf8_lossy(&rest[..whole]));
        rest.drain(..whole);
    }
}
