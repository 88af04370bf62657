//! The query of a request, and names as clients encode them (`spec/nitro.md` 3).

/// The query, not decoded yet.
#[derive(Clone, Copy, Default)]
pub struct Query<'r>(&'r str);

impl<'r> Query<'r> {
    /// That behind the question mark, if any.
    pub fn new(query: Option<&'r str>) -> Query<'r> {
        Query(query.unwrap_or_default())
    }

    /// A parameter, decoded.
    pub fn get(self, name: &str) -> Option<String> {
        self.raw(name).map(decode_id)
    }

    /// Is the parameter `yes`?
    pub fn says_yes(self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.eq_ignore_ascii_case("yes"))
    }

    /// `name=k:v,k:v`; those without a value count as not given.
    pub fn pairs(self, name: &str) -> Vec<(String, String)> {
        let pairs = self.raw(name).unwrap_or_default().split(',').filter_map(|pair| pair.split_once(':'));
        let pairs = pairs.map(|(key, value)| (decode_id(key), decode_id(value)));
        pairs.filter(|(_, value)| !value.is_empty()).collect()
    }

    /// `name=a,b`.
    pub fn list(self, name: &str) -> Vec<String> {
        let items = self.raw(name).unwrap_or_default().split(',').filter(|item| !item.is_empty());
        items.map(decode_id).collect()
    }

    fn raw(self, name: &str) -> Option<&'r str> {
        let pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
    }
}

/// Percent-decoded once, then once more as form data: clients encode a name once or twice, and no name holds `%` or
/// `+` (`spec/nitro.md` 3).
pub fn decode_id(raw: &str) -> String {
    let once = percent_decode(raw.as_bytes());
    let plus: Vec<u8> = once.into_iter().map(|b| if b == b'+' { b' ' } else { b }).collect();
    String::from_utf8_lossy(&percent_decode(&plus)).into_owned()
}

fn percent_decode(text: &[u8]) -> Vec<u8> {
    let digit = |b: Option<&u8>| b.and_then(|&b| (b as char).to_digit(16));
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, digit(text.get(at + 1)), digit(text.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a01_names_are_reached_by_single_and_double_encoding() {
        for raw in ["lb v1", "lb%20v1", "lb%2520v1", "lb%2Bv1", "lb+v1"] {
            assert_eq!(decode_id(raw), "lb v1", "{raw}");
        }
        assert_eq!(decode_id("production%23Backend"), "production#Backend");
        assert_eq!(decode_id("production%2523Backend"), "production#Backend");
        assert_eq!(decode_id("a%2Fb"), "a/b");
        assert_eq!(decode_id("100%"), "100%");
        assert_eq!(decode_id("%zz%4"), "%zz%4");
    }

    #[test]
    fn pairs_end_at_commas_that_are_not_encoded() {
        let query = Query::new(Some("args=servername:a%2Cb,port:80,ip:&count=yes&attrs=name,port"));
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(query.pairs("args"), [pair("servername", "a,b"), pair("port", "80")]);
        assert!(query.says_yes("count") && !query.says_yes("warning"));
        assert_eq!(query.list("attrs"), ["name", "port"]);
    }
}
