//! OpenSSH's own client, with a folder of its own for keys and known hosts: nothing of whoever runs the tests is used.

use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::installed;
use crate::place::Place;
use crate::program::{Program, run_to_end};

/// Where clients come from and go to.
pub struct Ssh {
    folder: PathBuf,
    address: SocketAddr,
}

/// How a client proves who it is.
#[derive(Clone, Copy)]
pub enum By<'b> {
    /// A password, by that method.
    Password(&'b str, &'b str),
    /// A key: its file.
    Key(&'b Path),
}

impl By<'_> {
    /// A password, by the first method that clients take.
    pub fn password(password: &str) -> By<'_> {
        By::Password("password", password)
    }
}

/// Where a program under test serves SSH.
pub fn address(place: &Place) -> SocketAddr {
    SocketAddr::new(place.ip(), 2222)
}

/// What an ended client left: exit code, standard output, standard error.
pub type Left = (Option<i32>, String, String);

impl Ssh {
    /// To the program in that place, which does not have to be there; `None` where OpenSSH is not installed.
    pub fn to(place: &Place) -> Option<Ssh> {
        installed::program("ssh")?;
        installed::program("ssh-keygen")?;
        Some(Ssh { folder: place.folder("ssh-client").into(), address: address(place) })
    }

    /// A key of that kind: its file, and the line for `authorized_keys`.
    pub fn key(&self, kind: &str, bits: &str) -> (PathBuf, String) {
        let path = self.folder.join(format!("id_{kind}_{bits}"));
        let mut keygen = installed::program("ssh-keygen").unwrap();
        keygen.args(["-q", "-t", kind, "-N", "", "-C", "of a test", "-f"]).arg(&path);
        if !bits.is_empty() {
            keygen.args(["-b", bits]);
        }
        assert!(keygen.status().unwrap().success());
        let line = fs::read_to_string(path.with_extension("pub")).unwrap();
        (path, line)
    }

    /// The fingerprint of a key, from the file or its public half.
    pub fn fingerprint(&self, path: &Path) -> String {
        let printed = installed::program("ssh-keygen").unwrap().arg("-lf").arg(path).output().unwrap();
        let text = String::from_utf8(printed.stdout).unwrap();
        text.split(' ').nth(1).unwrap().to_owned()
    }

    /// `ssh [OPTIONS] USER@HOST`, to which a command may be added. It makes the standard error that it is given non-blocking,
    /// for whoever shares it, too: never that of the tests.
    pub fn command(&self, user: &str, by: By<'_>, options: &[&str]) -> Command {
        let ssh = installed::program("ssh").unwrap();
        self.client(ssh, by, options, &format!("{user}@{}", self.address.ip()))
    }

    /// Any of OpenSSH's clients.
    pub fn client(&self, mut command: Command, by: By<'_>, options: &[&str], target: &str) -> Command {
        // A host that is met again must have the same key.
        command.args([
            "-F",
            "none",
            "-o",
            "GlobalKnownHostsFile=none",
            "-o",
            "StrictHostKeyChecking=accept-new",
        ]);
        command.args(["-o".to_owned(), format!("UserKnownHostsFile={}/known_hosts", self.folder.display())]);
        command.args(["-o", "LogLevel=ERROR", "-o", "IdentityAgent=none", "-o", "NumberOfPasswordPrompts=1"]);
        command.args(["-o".to_owned(), format!("Port={}", self.address.port())]);
        command.env_remove("DISPLAY");
        match by {
            By::Password(method, password) => {
                let ask = self.folder.join("ask");
                fs::write(&ask, "#!/bin/sh\nprintf '%s\\n' \"$PASSWORD\"\n").unwrap();
                fs::set_permissions(&ask, fs::Permissions::from_mode(0o700)).unwrap();
                command
                    .env("SSH_ASKPASS", &ask)
                    .env("SSH_ASKPASS_REQUIRE", "force")
                    .env("PASSWORD", password);
                command.args(["-o".to_owned(), format!("PreferredAuthentications={method}")]);
            }
            By::Key(path) => {
                command.args(["-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-i"]).arg(path);
            }
        }
        command.args(options).arg(target);
        command
    }

    /// One command as an argument, to its end.
    pub fn run(&self, user: &str, by: By<'_>, line: &str) -> Left {
        left(self.command(user, by, &["-n"]).arg(line).output().unwrap())
    }

    /// Commands on standard input, to the end.
    pub fn batch(&self, user: &str, by: By<'_>, input: &str) -> Left {
        let mut command = self.command(user, by, &[]);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || drop(stdin.write_all(input.as_bytes())));
            child.wait_with_output().unwrap()
        });
        left(output)
    }
}

/// What a client left.
pub fn left(output: Output) -> Left {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

impl Program {
    /// Starts with a whole ns.conf and SSH.
    pub fn launch_ssh(place: &Place, config: &str) -> Program {
        Program::launch_with(place, config, &["--ssh", &address(place).to_string()])
    }

    /// Puts the keys of a user into place.
    pub fn authorize(&self, user: &str, lines: &str) -> PathBuf {
        let folder = self.data().join("ssh/authorized_keys.d");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(user);
        fs::write(&path, lines).unwrap();
        path
    }

    /// What the owner's prompt prints of a command.
    pub fn owner_says(&self, line: &str) -> String {
        let output = run_to_end(&["cli", "--data", self.data().to_str().unwrap(), line]);
        String::from_utf8(output.stdout).unwrap()
    }

    /// The lines of the audit log so far: who, from where, what, what became of it.
    pub fn audited(&self) -> Vec<[String; 4]> {
        let text = fs::read_to_string(self.data().join("audit.log")).unwrap_or_default();
        let line = |line: &str| {
            let value: serde_json::Value = serde_json::from_str(line).ok()?;
            Some(
                ["who", "from", "what", "result"]
                    .map(|field| value[field].as_str().unwrap_or_default().to_owned()),
            )
        };
        text.lines().filter_map(line).collect()
    }
}
