//! The query of a request, and names as clients encode them (`spec/nitro.md` 3).

use std::borrow::Cow;

use super::reply::Reply;

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
        let pairs = self.encoded_pairs(name).into_iter();
        pairs.map(|(key, value)| (decode_id(&key), decode_id(&value))).collect()
    }

    /// The same, not decoded yet. A client may have encoded the colons and commas, too: then it did so with all.
    pub fn encoded_pairs(self, name: &str) -> Vec<(String, String)> {
        let raw = self.raw(name).unwrap_or_default();
        let raw = if raw.contains(':') { Cow::Borrowed(raw) } else { Cow::Owned(decode(raw)) };
        let pairs =
            raw.split(',').filter_map(|pair| pair.split_once(':')).filter(|(_, value)| !value.is_empty());
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    /// `name=a,b`; no item has a comma.
    pub fn list(self, name: &str) -> Vec<String> {
        let all = decode(self.raw(name).unwrap_or_default());
        all.split(',').filter(|item| !item.is_empty()).map(decode_id).collect()
    }

    /// A number of at least 1; `None` where it is not given.
    ///
    /// # Errors
    /// What is given is none.
    pub fn count(self, name: &str) -> Result<Option<usize>, Reply> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| *number > 0);
        number.map(Some).ok_or_else(|| Reply::invalid_value(name))
    }

    /// Parameters stand between `&`; the reference has `;` in places, which none of them holds.
    fn raw(self, name: &str) -> Option<&'r str> {
        let pairs = self.0.split(['&', ';']).filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
    }
}

/// Percent-decoded once.
pub fn decode(raw: &str) -> String {
    String::from_utf8_lossy(&percent_decode(raw.as_bytes())).into_owned()
}

/// Percent-decoded once, then once more as form data: clients encode a name once or twice, and no name holds `%` or
/// `+` (`spec/nitro.md` 3).
pub fn decode_id(raw: &str) -> String {
    let once = percent_decode(raw.as_bytes());
    String::from_utf8_lossy(&form_decode(&once)).into_owned()
}

/// A field of a form, decoded once: its bytes.
pub fn form_decode(raw: &[u8]) -> Vec<u8> {
    let plus: Vec<u8> = raw.iter().map(|&b| if b == b'+' { b' ' } else { b }).collect();
    percent_decode(&plus)
}

/// `%23` to `#`, once.
pub fn percent_decode(text: &[u8]) -> Vec<u8> {
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
        let encoded = Query::new(Some("filter=name%3Aa%2Cport%3A80&attrs=name%2Cport"));
        assert_eq!(encoded.pairs("filter"), [pair("name", "a"), pair("port", "80")]);
        assert_eq!(encoded.list("attrs"), ["name", "port"]);
        let addresses = Query::new(Some("args=ipaddress:2001:db8::1,td:0"));
        assert_eq!(addresses.pairs("args"), [pair("ipaddress", "2001:db8::1"), pair("td", "0")]);
    }

    #[test]
    fn pages_are_counted_from_one() {
        let query = Query::new(Some("pagesize=10;pageno=0&view=summary"));
        assert_eq!(query.count("pagesize").ok(), Some(Some(10)));
        assert_eq!(query.count("nosuch").ok(), Some(None));
        assert!(query.count("pageno").is_err() && query.count("view").is_err());
    }
}
