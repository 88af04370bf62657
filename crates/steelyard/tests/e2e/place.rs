//! Where one test lives: a loopback address and a folder of its own, so that tests never meet.
//!
//! Ports are fixed and the address is not: 127.0.0.0/8 has room for every test of every process, and nobody has to
//! guess a free port.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A test's own address and folder.
pub struct Place {
    ip: IpAddr,
    folder: PathBuf,
}

impl Place {
    /// A place that no other test has: 13 bits of the process id and 10 of a counter, in 127.128.0.0/9.
    pub fn new() -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        assert!(nth < 1 << 10, "more tests than addresses");
        let bits = (127 << 24) | (1 << 23) | ((std::process::id() % (1 << 13)) << 10) | nth;
        let ip = IpAddr::V4(Ipv4Addr::from(bits));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("e2e-{ip}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Place { ip, folder }
    }

    /// The test's address, as a configuration names it.
    pub fn ip(&self) -> IpAddr {
        self.ip
    }

    /// The `nth` virtual server, from 0.
    pub fn vserver(&self, nth: u16) -> SocketAddr {
        self.at(8000 + nth)
    }

    /// The `nth` service, from 1.
    pub fn service(&self, nth: u16) -> SocketAddr {
        self.at(8100 + nth)
    }

    /// The management address.
    pub fn nitro(&self) -> SocketAddr {
        self.at(9080)
    }

    /// Writes a file into the test's folder, which is removed when the place is dropped; its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    /// A folder within the test's folder, made if need be; its path.
    pub fn folder(&self, name: &str) -> String {
        let path = self.folder.join(name);
        std::fs::create_dir_all(&path).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    fn at(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.ip, port)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
