//! What can go wrong for the person at the terminal: one line each, and the exit code that goes with it.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a subcommand ended without having done its work.
#[derive(Debug)]
pub enum Fault {
    /// The configuration file cannot be read.
    Unreadable {
        /// Its path as given.
        path: PathBuf,
        /// What the system, or the reader, says.
        why: String,
    },
    /// The access log cannot be opened.
    AccessLog {
        /// Its path as given.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// nsroot's first password cannot be taken.
    FirstPassword {
        /// Where it should come from.
        from: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// Reading the configuration file has ended before its end.
    Reading,
    /// The file of secrets cannot be read, or others can read it.
    Secrets {
        /// Its path as given.
        path: PathBuf,
        /// What is wrong, and what to do.
        why: String,
    },
    /// `--strict`: lines of the file were refused. A text for each: `file:line:column: why`.
    Refused(Vec<String>),
    /// `--expose` names what is no virtual server.
    NothingToExpose(String),
    /// `--strict`: addresses could not be opened. A text for each.
    NotOpened(Vec<String>),
    /// The certificate of the management interface, or its key, cannot be used.
    Certificate {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// HTTPS is asked for where there is no certificate.
    NoCertificate,
    /// The management address is not one that is served.
    ManagementBeyondLoopback(SocketAddr),
    /// The management address cannot be opened.
    Management {
        /// The address.
        address: SocketAddr,
        /// Why not.
        error: io::Error,
    },
    /// The system refuses something the program cannot do without.
    System {
        /// What was attempted.
        what: &'static str,
        /// The answer.
        error: io::Error,
    },
    /// `--strict`: addresses could not be added to the interface. A text for each.
    NotGiven(Vec<String>),
    /// `--vip manage=IFACE` cannot be done.
    Vip {
        /// The interface.
        interface: String,
        /// Why not, and what to do.
        why: String,
    },
    /// `--script-user` cannot run scripts.
    ScriptUser {
        /// As given.
        name: String,
        /// Why not, and what to do.
        why: String,
    },
    /// Services are no longer probed.
    Probing,
    /// `--no-listen`: bound services are DOWN.
    ServicesDown {
        /// How many.
        down: usize,
        /// Of how many that are bound.
        bound: usize,
    },
    /// `--no-listen`: a signal came before every service was probed.
    Interrupted {
        /// How many monitors have no result.
        unknown: usize,
    },
    /// The program at the other end cannot be talked to.
    NoAnswer {
        /// The URL asked.
        url: String,
        /// Why not.
        why: String,
    },
    /// There is no password to log in with.
    Password {
        /// Where it should come from.
        from: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The certificates that are to be believed cannot be used.
    Authority {
        /// Their file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The session has ended, or there never was one.
    NotLoggedIn {
        /// The appliance's words for it.
        message: String,
    },
    /// The prompt cannot be served by SSH.
    #[cfg(feature = "ssh")]
    Ssh {
        /// The address as it was given, or the file of the host's key.
        what: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The URL is not one that can be asked.
    Url {
        /// As given.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The manual has no such page.
    NoPage {
        /// As it was asked for.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// A file or a directory cannot be written.
    Unwritable {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The other end answered with a refusal.
    Answer {
        /// NITRO's code; 0 of one that tells none.
        code: u64,
        /// Its message.
        message: String,
        /// The URL asked.
        url: String,
    },
}

impl Fault {
    /// As it is printed: the program's name first, unless the place in a file is.
    pub fn line(&self) -> String {
        match self {
            Fault::Refused(_) => self.to_string(),
            Fault::NotLoggedIn { message } => format!("ERROR: {message}"),
            _ => format!("steelyard: {self}"),
        }
    }

    /// 2 when the program was asked wrongly, 1 when the work failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Fault::Unreadable { .. }
            | Fault::Secrets { .. }
            | Fault::AccessLog { .. }
            | Fault::FirstPassword { .. }
            | Fault::Certificate { .. }
            | Fault::ManagementBeyondLoopback(_)
            | Fault::ScriptUser { .. }
            | Fault::NothingToExpose(_)
            | Fault::NoPage { .. }
            | Fault::Password { .. }
            | Fault::Authority { .. }
            | Fault::Url { .. } => 2,
            #[cfg(feature = "ssh")]
            Fault::Ssh { .. } => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unreadable { path, why } => {
                write!(f, "{}: {why}; give a readable configuration file", path.display())
            }
            Fault::NoPage { name, known } => {
                write!(f, "the manual has no page '{name}'; it has {}", known.join(", "))
            }
            Fault::Unwritable { path, error } => {
                write!(f, "{}: {}; give a directory that can be written", path.display(), reason(error))
            }
            Fault::AccessLog { path, error } => {
                write!(f, "--access-log {}: {}; give a file that can be written, or -", path.display(), reason(error))
            }
            Fault::Certificate { path, why } => {
                write!(f, "{}: {why}; see --nitro-cert and --nitro-key", path.display())
            }
            Fault::NoCertificate => f.write_str("HTTPS is spoken by 'steelyard run' alone"),
            Fault::Reading => f.write_str("reading the configuration file has stopped by a fault of this program; report what was printed above"),
            Fault::Secrets { path, why } => write!(f, "--secrets {}: {why}", path.display()),
            Fault::FirstPassword { from, why } => write!(f, "{from}: {why}"),
            Fault::Refused(lines) => f.write_str(&lines.join("\n")),
            Fault::NothingToExpose(name) => {
                write!(f, "--expose {name}: no virtual server has that name; give one as the list at the start has it")
            }
            Fault::NotOpened(lines) => write!(f, "{}; free it or leave out --strict", lines.join("; ")),
            Fault::ManagementBeyondLoopback(address) => write!(
                f,
                "--nitro {address}: the lab is managed on loopback alone; take 127.0.0.1:{}",
                address.port()
            ),
            Fault::Management { address, error } => write!(
                f,
                "management address {address}: {}; choose another one with --nitro",
                reason(error)
            ),
            Fault::System { what, error } => write!(f, "cannot {what}: {}", reason(error)),
            Fault::NotGiven(lines) => write!(f, "{}; see to it or leave out --strict", lines.join("; ")),
            Fault::Vip { interface, why } => write!(f, "--vip manage={interface}: {why}"),
            Fault::ScriptUser { name, why } => write!(f, "--script-user {name}: {why}"),
            Fault::Probing => f.write_str("probing has stopped by a fault of this program; restart it and report what was printed above"),
            Fault::ServicesDown { down, bound } => {
                write!(f, "{down} of {} DOWN; see the list above", plural(*bound, "bound service is", "bound services are"))
            }
            Fault::Interrupted { unknown } => {
                write!(f, "ended before {} a result", plural(*unknown, "monitor had", "monitors had"))
            }
            Fault::NoAnswer { url, why } => {
                write!(f, "{url}: {why}; is 'steelyard run' running there? --nitro URL or --data DIRECTORY asks elsewhere")
            }
            Fault::NotLoggedIn { message } => f.write_str(message),
            Fault::Password { from, why } => write!(f, "{from}: {why}"),
            Fault::Authority { path, why } => {
                write!(f, "--ca {}: {why}; give a PEM file of certificates", path.display())
            }
            #[cfg(feature = "ssh")]
            Fault::Ssh { what, why } => write!(f, "{what}: {why}"),
            Fault::Url { url, why } => write!(f, "--nitro {url}: {why}; give http://ADDRESS:PORT or https://ADDRESS:PORT, or --data DIRECTORY"),
            Fault::Answer { message, url, .. } => write!(f, "{message} (asked {url})"),
        }
    }
}

/// The system's words without Rust's "(os error N)".
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
