//! As whom scripts run.

use std::fs::File;
use std::io::Read;

use rustix::process::geteuid;

/// Somebody who is not root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptUser {
    /// For people.
    pub name: String,
    /// User and group to become; `None` where that is who runs the program.
    pub becomes: Option<(u32, u32)>,
}

impl ScriptUser {
    /// The user that `--script-user` names, or the one that runs scripts without that option.
    ///
    /// # Errors
    /// Why there is none, and what to do.
    pub fn find(named: Option<&str>) -> Result<ScriptUser, String> {
        choose(named, geteuid().as_raw(), &passwd())
    }
}

fn choose(named: Option<&str>, own: u32, passwd: &str) -> Result<ScriptUser, String> {
    if own != 0 && named.is_none() {
        return Ok(ScriptUser { name: "who runs this program".to_owned(), becomes: None });
    }
    let name = named.unwrap_or(NOBODY);
    let (uid, gid) = find(passwd, name)
        .ok_or_else(|| format!("/etc/passwd has no user {name}; --script-user names another"))?;
    match (own, uid) {
        (_, 0) => Err(format!("{name} is root; --script-user names somebody else")),
        (0, _) if gid == 0 => {
            Err(format!("{name} is of the group of root; --script-user names somebody else"))
        }
        (0, _) => Ok(ScriptUser { name: name.to_owned(), becomes: Some((uid, gid)) }),
        (own, uid) if own == uid => Ok(ScriptUser { name: name.to_owned(), becomes: None }),
        _ => Err("only root can run scripts as somebody else; leave --script-user out".to_owned()),
    }
}

/// A user's id and group.
fn find(passwd: &str, name: &str) -> Option<(u32, u32)> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then_some(())?;
        Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
    })
}

fn passwd() -> String {
    let mut text = Vec::new();
    // What cannot be read has no users.
    let _ = File::open("/etc/passwd").and_then(|file| file.take(LARGEST).read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

const NOBODY: &str = "nobody";
const LARGEST: u64 = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:/bin/sh\nnobody:x:65534:65533:n:/:/x\n\
                          wheel:x:7:0::/:/x\nprobe:x:1000:1001::/srv/probe:/bin/sh\nbroken:x:y:1::/:/x\n";

    #[test]
    fn scripts_never_run_as_root() {
        let becomes = |named, own| choose(named, own, PASSWD).map(|user| user.becomes);
        assert_eq!(becomes(None, 0), Ok(Some((65534, 65533))));
        assert_eq!(becomes(Some("probe"), 0), Ok(Some((1000, 1001))));
        assert_eq!(becomes(None, 1000), Ok(None));
        assert_eq!(becomes(Some("probe"), 1000), Ok(None));
        for (named, own) in
            [("root", 0), ("toor", 0), ("wheel", 0), ("broken", 0), ("nosuch", 0), ("nobody", 1000)]
        {
            assert!(becomes(Some(named), own).is_err(), "{named}");
        }
        assert!(choose(None, 0, "").is_err());
    }
}
