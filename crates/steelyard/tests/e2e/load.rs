//! Clients that ask all the while something else happens, and expect that each request is answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::client::{Client, page};

/// Two clients of one virtual server: one asks on a kept connection, one on a new connection each time. The services'
/// answers begin with `s`.
pub struct Load {
    stop: Arc<AtomicBool>,
    kept: Option<JoinHandle<u64>>,
    fresh: Option<JoinHandle<u64>>,
}

/// How many requests each of the two made, all of them answered.
pub struct Asked {
    pub kept: u64,
    pub fresh: u64,
}

impl Load {
    /// Begins.
    pub fn on(address: SocketAddr) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let mut client = Client::connect(address);
        let kept = asking(&stop, move || assert_eq!(client.get("/").status(), 200));
        let fresh = asking(&stop, move || assert!(page(address).starts_with('s')));
        Load { stop, kept: Some(kept), fresh: Some(fresh) }
    }

    /// Stops. Fails if any request did.
    pub fn end(mut self) -> Asked {
        self.stop.store(true, Ordering::Relaxed);
        let joined = |client: Option<JoinHandle<u64>>| client.unwrap().join().unwrap();
        Asked { kept: joined(self.kept.take()), fresh: joined(self.fresh.take()) }
    }
}

impl Drop for Load {
    /// What fails beside it leaves no client behind.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Asks until it is told to stop: how often.
fn asking(stop: &Arc<AtomicBool>, mut ask: impl FnMut() + Send + 'static) -> JoinHandle<u64> {
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        let mut asked = 0;
        while !stop.load(Ordering::Relaxed) {
            ask();
            asked += 1;
        }
        asked
    })
}
