//! Addresses of resources.

/// Scheme of all resources.
const SCHEME: &str = "karakuri://";
/// Greatest length of an address.
const LENGTH: usize = 256;

/// Whether an address can be one of a resource: `karakuri://`, then names between slashes that go nowhere else.
pub(crate) fn is_plain(uri: &str) -> bool {
    let Some(path) = uri.strip_prefix(SCHEME) else { return false };
    uri.len() <= LENGTH && path.split('/').all(is_name)
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_scheme_are_plain() {
        for uri in ["karakuri://scene.json", "karakuri://rehearsal/3f-a_1/worst.png"] {
            assert!(is_plain(uri), "{uri}");
        }
    }

    #[test]
    fn what_leads_elsewhere_is_not() {
        let long = format!("karakuri://{}", "a".repeat(LENGTH));
        for uri in [
            "",
            "scene.json",
            "karakuri://",
            "karakuri:///scene.json",
            "karakuri://../scene.json",
            "karakuri://a/../scene.json",
            "karakuri://a/%2e%2e/scene.json",
            "karakuri://a//b",
            "karakuri://a\\b",
            "karakuri://.hidden",
            "karakuri://scene.json?x=1",
            "karakuri://scene.json#x",
            "karakuri://user@host/scene.json",
            "karakuri://host:80/scene.json",
            "karakuri://scene.json\0",
            "KARAKURI://scene.json",
            "file:///etc/passwd",
            "http://127.0.0.1/scene.json",
            "karakuri://file:/etc/passwd",
            long.as_str(),
        ] {
            assert!(!is_plain(uri), "{uri}");
        }
    }
}
