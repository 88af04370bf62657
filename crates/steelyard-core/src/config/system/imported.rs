//! What an appliance makes of a password: its forms, taken apart and not computed.

use super::super::secret::Secret;

/// An appliance's hash of a password.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportedHash {
    /// How it was made.
    pub form: HashForm,
    /// As it stands in the file, in hexadecimal digits.
    pub salt: String,
    /// What came out.
    pub digest: Vec<u8>,
}

/// How an appliance makes a hash; each begins with a digit of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashForm {
    /// `1`: of the salt's digits, the password and a zero byte.
    Sha1,
    /// `2`: the same with a longer digest.
    Sha512,
    /// `5`: PBKDF2 with HMAC-SHA256 and 2,500 rounds.
    Pbkdf2,
}

impl ImportedHash {
    /// The hash that an appliance has of a password; `None` of one in an unknown form, or of another secret.
    pub fn of(secret: &Secret) -> Option<ImportedHash> {
        ImportedHash::read(secret.foreign()?.first()?)
    }

    fn read(text: &str) -> Option<ImportedHash> {
        let (form, salt, digest) = match text.as_bytes().first()? {
            b'1' => (HashForm::Sha1, 8, 20),
            b'2' => (HashForm::Sha512, 8, 64),
            b'5' => (HashForm::Pbkdf2, 64, 32),
            _ => return None,
        };
        let rest = text.get(1..).filter(|rest| rest.len() == salt + 2 * digest)?;
        let (salt, digest) = rest.split_at_checked(salt)?;
        bytes(salt)?;
        Some(ImportedHash { form, salt: salt.to_owned(), digest: bytes(digest)? })
    }

    /// The salt's bytes.
    pub fn salt_bytes(&self) -> Vec<u8> {
        bytes(&self.salt).unwrap_or_default()
    }
}

impl HashForm {
    /// NITRO's word for it.
    pub fn text(self) -> &'static str {
        match self {
            HashForm::Sha1 => "SHA1",
            HashForm::Sha512 => "SHA512",
            HashForm::Pbkdf2 => "PBKDF2",
        }
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    digits.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_told_by_its_first_digit_and_its_length() {
        for (digit, length, form) in
            [('1', 48, HashForm::Sha1), ('2', 136, HashForm::Sha512), ('5', 128, HashForm::Pbkdf2)]
        {
            let text = format!("{digit}{}", "0a".repeat(length / 2));
            assert_eq!(ImportedHash::read(&text).map(|hash| hash.form), Some(form), "{text}");
            for wrong in [
                &text[1..],
                &text[..length],
                &format!("{text}0"),
                &text.replace('a', "g"),
                &text.replace('a', "+"),
            ] {
                assert_eq!(ImportedHash::read(wrong), None, "{wrong}");
            }
            assert_eq!(ImportedHash::read(&format!("8{}", &text[1..])), None);
        }
        assert_eq!(ImportedHash::read(""), None);
        assert_eq!(ImportedHash::read("1ü"), None);
    }
}
