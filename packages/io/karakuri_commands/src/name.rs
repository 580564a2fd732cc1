//! Names of objects, tools, grasps and requests, and patterns of names.

/// Most characters of a name.
pub(crate) const LONGEST: usize = 64;
/// Pattern of a name, for people and schemas.
pub(crate) const PATTERN: &str = "^[A-Za-z0-9_-]{1,64}$";

/// Whether a text is a name: letters, digits, `_` and `-` only, so that it carries no sentence and no path.
pub fn is_name(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_of_name)
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether a text is a pattern of names: a name in which `*` stands for any characters and `?` for one.
pub(crate) fn is_pattern(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len())
        && text.bytes().all(|byte| is_of_name(byte) || byte == b'*' || byte == b'?')
}

/// Whether a pattern matches a whole name. The time is of the order of the product of the lengths.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut i) = (0, 0);
    // After a mismatch the last star takes one character more.
    let mut star: Option<Star> = None;
    while i < name.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some(Star { after: at + 1, from: i });
            at += 1;
        } else if pattern.get(at).is_some_and(|&byte| byte == b'?' || byte == name[i]) {
            at += 1;
            i += 1;
        } else if let Some(Star { after, from }) = star {
            star = Some(Star { after, from: from + 1 });
            at = after;
            i = from + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

/// Star of a pattern: where the pattern goes on, and the first byte of the name that it does not take yet.
struct Star {
    after: usize,
    from: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_a_few_characters() {
        for name in ["cube", "a", "Cube_2-b", &"x".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        let long = "x".repeat(65);
        for text in ["", " ", "a b", "a\n", "../a", "file:a", "ü", "a.b", "a*", "\u{0}", &long] {
            assert!(!is_name(text), "{text}");
        }
    }

    #[test]
    fn patterns_match_whole_names() {
        let yes = [("cube*", "cube"), ("cube*", "cube_2"), ("*human*", "a-human-b"), ("*", "x")];
        for (pattern, name) in yes.into_iter().chain([("a?c", "abc"), ("*a*b", "aabab")]) {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        let no = [("cube*", "a_cube"), ("cube", "cube_2"), ("a?c", "ac"), ("*a*b", "aba")];
        for (pattern, name) in no.into_iter().chain([("", "a"), ("?", "")]) {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = "*a".repeat(31);
        assert!(!matches(&pattern, &"a".repeat(30)));
        assert!(matches(&pattern, &"a".repeat(31)));
    }
}
