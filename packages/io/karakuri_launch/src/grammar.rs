//! Text with substitutions, `$(name argument ...)`, by the grammar of ROS 2's launch front ends.
//!
//! Arguments are separated by one space; `'` or `"` around an argument keeps its spaces; substitutions
//! nest; `\` takes the next character as it is; a `$` without `(` is an ordinary character.

use crate::error::Problem;

/// Largest depth of substitutions; no launch file needs more.
const DEPTH_LIMIT: usize = 32;

/// Text and substitutions, joined once they are evaluated.
pub(crate) type Template = Vec<Part>;

/// Part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text as it stands, escapes resolved.
    Text(String),
    /// A substitution, `$(name arguments...)`.
    Call { name: String, arguments: Vec<Template> },
}

/// Splits text into its parts.
pub(crate) fn parse(text: &str) -> Result<Template, Problem> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.template(None)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Depth of substitutions at the present position.
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes the character after a backslash, or the backslash itself at the end of the text.
    fn take_escaped(&mut self) -> Option<char> {
        match self.take()? {
            '\\' => self.take().or(Some('\\')),
            c => Some(c),
        }
    }

    fn problem(&self, what: &str) -> Problem {
        let column = self.text[..self.at].chars().count() + 1;
        Problem::new(format!("`{}`: {what} at column {column}", excerpt(self.text)))
    }

    /// Reads text and substitutions up to the quote, or to the end without one.
    fn template(&mut self, quote: Option<char>) -> Result<Template, Problem> {
        self.pieces(quote, |c| Some(c) == quote)
    }

    /// Reads text and substitutions up to a character that `ends` them, or to the end; `quote` is the one around them.
    fn pieces(
        &mut self,
        quote: Option<char>,
        ends: impl Fn(char) -> bool,
    ) -> Result<Template, Problem> {
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            if self.rest().starts_with("$(") {
                push_text(&mut parts, &mut text);
                parts.push(self.call(quote)?);
            } else if self.peek().is_none_or(&ends) {
                break;
            } else {
                text.extend(self.take_escaped());
            }
        }
        push_text(&mut parts, &mut text);
        Ok(parts)
    }

    fn call(&mut self, quote: Option<char>) -> Result<Part, Problem> {
        if self.depth >= DEPTH_LIMIT {
            return Err(self
                .problem(&format!("more than {DEPTH_LIMIT} substitutions within each other"))
                .remedy("close a `)` that is missing, or give parts of it names with <let>"));
        }
        self.depth += 1;
        self.at += "$(".len();
        let is_letter = |c: char| c.is_ascii_alphabetic();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !self.peek().is_some_and(is_letter) {
            return Err(self
                .problem("a substitution begins with its name")
                .remedy("write `$(var name)`, or `\\$(` for the characters themselves"));
        }
        let length = self.rest().find(|c| !is_name(c)).unwrap_or(self.rest().len());
        let name = self.rest()[..length].to_owned();
        self.at += length;
        let mut arguments = Vec::new();
        loop {
            match self.take() {
                Some(')') => {
                    self.depth -= 1;
                    return Ok(Part::Call { name, arguments });
                }
                Some(' ') => arguments.push(self.argument(quote)?),
                Some(c) => {
                    self.at -= c.len_utf8();
                    return Err(self.problem(&format!("`{c}` is not expected")).remedy(
                        "separate arguments with one space; put quotes around a whole argument",
                    ));
                }
                None => {
                    return Err(self
                        .problem(&format!("`$({name}` is not closed"))
                        .remedy("add the missing `)`"));
                }
            }
        }
    }

    /// Reads one argument: quoted as a whole, or pieces without spaces.
    fn argument(&mut self, quote: Option<char>) -> Result<Template, Problem> {
        if let (None, Some(mark @ ('\'' | '"'))) = (quote, self.peek()) {
            self.at += 1;
            let template = self.template(Some(mark))?;
            return match self.take() {
                Some(_) => Ok(template),
                None => {
                    Err(self.problem(&format!("the quote {mark} is not closed")).remedy("close it"))
                }
            };
        }
        let parts = self.pieces(quote, |c| match c {
            ' ' | ')' | '(' => true,
            '\'' | '"' => quote.is_none_or(|quote| quote == c),
            _ => false,
        })?;
        if parts.is_empty() {
            return Err(self
                .problem("an argument is missing")
                .remedy("separate arguments with one space; write '' for an empty one"));
        }
        Ok(parts)
    }
}

/// Start of a text, as long as fits a message.
pub(crate) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 200;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}

fn push_text(parts: &mut Template, text: &mut String) {
    if !text.is_empty() {
        parts.push(Part::Text(std::mem::take(text)));
    }
}

/// Splits a command line into its arguments as a shell does; a substitution is never split.
pub(crate) fn split_command(text: &str) -> Result<Vec<Template>, Problem> {
    let mut words: Vec<Template> = Vec::new();
    let mut word = Template::new();
    let mut end_word = |word: &mut Template| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    for part in parse(text)? {
        let Part::Text(text) = &part else {
            word.push(part);
            continue;
        };
        let tokens = shlex::split(text).ok_or_else(|| {
            Problem::new(format!("`{text}`: a quote is not closed")).remedy("close the quote")
        })?;
        let borders = text.starts_with(char::is_whitespace);
        if borders || tokens.is_empty() {
            end_word(&mut word);
        }
        let last = tokens.len().saturating_sub(1);
        for (i, token) in tokens.into_iter().enumerate() {
            word.push(Part::Text(token));
            if i < last {
                end_word(&mut word);
            }
        }
        if text.ends_with(char::is_whitespace) {
            end_word(&mut word);
        }
    }
    end_word(&mut word);
    Ok(words)
}
