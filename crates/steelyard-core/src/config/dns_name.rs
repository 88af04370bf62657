//! Names of hosts as questions to a name server have them (RFC 1035 3.1).

/// The labels of a name, each behind its length, and the root's behind the last. Without a name, or with NetScaler's
/// placeholder `\007`, it is the root's; `None` of what is no name.
pub fn wire_name(name: &str) -> Option<Vec<u8>> {
    if ["", ".", r"\007", "\u{7}"].contains(&name) {
        return Some(vec![0]);
    }
    let mut wire = Vec::with_capacity(name.len() + 2);
    for label in name.strip_suffix('.').unwrap_or(name).split('.') {
        let length = u8::try_from(label.len()).ok().filter(|length| (1..=MOST_IN_LABEL).contains(length))?;
        if !label.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        wire.push(length);
        wire.extend_from_slice(label.as_bytes());
    }
    wire.push(0);
    (wire.len() <= MOST_IN_NAME).then_some(wire)
}

const MOST_IN_LABEL: u8 = 63;
const MOST_IN_NAME: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_bounds() {
        assert_eq!(wire_name("a.bc.").as_deref(), Some(b"\x01a\x02bc\0".as_slice()));
        assert_eq!(wire_name("_x.test").as_deref(), Some(b"\x02_x\x04test\0".as_slice()));
        for root in ["", ".", r"\007", "\u{7}"] {
            assert_eq!(wire_name(root).as_deref(), Some([0].as_slice()), "{root:?}");
        }
        let label = "l".repeat(63);
        let longest = format!("{label}.{label}.{label}.{}", "l".repeat(61));
        assert_eq!(wire_name(&longest).map(|wire| wire.len()), Some(255));
        for bad in ["a..b", ".a", "..", "a b", "ä.test", &"l".repeat(64), &format!("{longest}l")] {
            assert_eq!(wire_name(bad), None, "{bad}");
        }
    }
}
