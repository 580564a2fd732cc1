//! Who calls.

use std::fmt;

use subtle::ConstantTimeEq as _;

/// Least length of a token: 128 bits in hexadecimal digits.
const TOKEN_LENGTH: usize = 32;
/// Greatest length of a principal's name.
const NAME_LENGTH: usize = 64;

/// Name of the one who calls, as the transport found it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Principal(String);

impl Principal {
    /// Whoever is on this machine, where no tokens are configured.
    pub fn local() -> Self {
        Self("local".to_owned())
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Secrets by which principals are known over HTTP. Without any, everyone is [`Principal::local`].
#[derive(Clone, Default)]
pub struct Tokens(Vec<Entry>);

#[derive(Clone)]
struct Entry {
    principal: Principal,
    token: String,
}

/// Why a token is not taken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// The name is empty, long, or has odd characters.
    #[error(
        "`{name}` is no name of a principal: write 1 to {NAME_LENGTH} letters, digits, `-` and `_`"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The token can be guessed, or does not go into a header.
    #[error(
        "the token of `{name}` has {length} characters: write at least {TOKEN_LENGTH} letters, digits, `-` and `_`, as \
         `openssl rand -hex 16` does"
    )]
    Weak {
        /// Name of the principal.
        name: String,
        /// Number of characters.
        length: usize,
    },
    /// The token is that of another principal.
    #[error("`{name}` and `{other}` have the same token: give each its own")]
    Shared {
        /// Name of the principal.
        name: String,
        /// The one that has it already.
        other: String,
    },
}

impl Tokens {
    /// Adds the token of a principal; one may have several.
    ///
    /// # Errors
    /// When the name or the token is none, or another principal has that token.
    pub fn add(&mut self, name: &str, token: &str) -> Result<(), TokenError> {
        let is_plain =
            |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        if name.is_empty() || name.len() > NAME_LENGTH || !is_plain(name) {
            return Err(TokenError::Name { name: name.to_owned() });
        }
        if token.len() < TOKEN_LENGTH || !is_plain(token) {
            return Err(TokenError::Weak { name: name.to_owned(), length: token.len() });
        }
        if let Some(other) = self.find(token)
            && other.name() != name
        {
            let other = other.name().to_owned();
            return Err(TokenError::Shared { name: name.to_owned(), other });
        }
        self.0.push(Entry { principal: Principal(name.to_owned()), token: token.to_owned() });
        Ok(())
    }

    /// Whether everyone is let in.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The principal of a token, in a time that says nothing of where tokens differ.
    pub(crate) fn find(&self, token: &str) -> Option<&Principal> {
        let mut found = None;
        for entry in &self.0 {
            if entry.token.as_bytes().ct_eq(token.as_bytes()).into() {
                found = Some(&entry.principal);
            }
        }
        found
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Logs are read by others.
        f.debug_list().entries(self.0.iter().map(|entry| &entry.principal)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "0123456789abcdef0123456789abcdef";
    const SECOND: &str = "fedcba9876543210fedcba9876543210";

    #[test]
    fn a_token_names_its_principal() {
        let mut tokens = Tokens::default();
        assert!(tokens.is_empty());
        tokens.add("anna", FIRST).unwrap();
        tokens.add("ben", SECOND).unwrap();
        assert_eq!(tokens.find(SECOND).map(Principal::name), Some("ben"));
        for wrong in ["", &FIRST[1..], &format!("{FIRST}0"), &FIRST.to_uppercase()] {
            assert_eq!(tokens.find(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_could_be_guessed_is_refused_in_a_sentence() {
        let mut tokens = Tokens::default();
        let said = |result: Result<(), TokenError>| result.unwrap_err().to_string();
        assert!(said(tokens.add("anna", "secret")).contains("has 6 characters: write at least 32"));
        assert!(said(tokens.add("anna", &format!("{FIRST} {FIRST}"))).contains("65 characters"));
        assert!(said(tokens.add("a b", FIRST)).starts_with("`a b` is no name"));
        tokens.add("anna", FIRST).unwrap();
        assert!(said(tokens.add("ben", FIRST)).starts_with("`ben` and `anna` have the same token"));
    }

    #[test]
    fn logs_do_not_show_tokens() {
        let mut tokens = Tokens::default();
        tokens.add("anna", FIRST).unwrap();
        let text = format!("{tokens:?}");
        assert!(text.contains("anna") && !text.contains(FIRST), "{text}");
    }
}
