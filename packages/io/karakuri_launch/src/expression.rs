//! `$(eval ...)`: the part of Python's expressions that launch files use.
//!
//! Literals, `or and not`, comparisons (also `in` and chains), `+ - * / // % **`, brackets,
//! `x if c else y` and `int float str bool abs min max round`. Results print as Python's `str()`.

use crate::error::Problem;

/// Evaluates an expression and prints the result as Python would.
pub(crate) fn evaluate(text: &str) -> Result<String, Problem> {
    let tokens = tokens(text).map_err(|what| refused(text, &what))?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let value = parser.ternary().map_err(|what| refused(text, &what))?;
    match parser.peek() {
        None => Ok(value.print()),
        Some(token) => Err(refused(text, &format!("{token} is not expected"))),
    }
}

fn refused(text: &str, what: &str) -> Problem {
    Problem::new(format!("$(eval {text}): {what}")).remedy(
        "use literals, and or not, comparisons, + - * / // % **, `x if c else y`, int float str bool \
         abs min max round; for text write '\\'$(var name)\\' == \\'value\\''",
    )
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Tuple(Vec<Value>),
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(Value),
    Text(String),
    Name(String),
    Sign(&'static str),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(v) => write!(f, "`{}`", v.print()),
            Self::Text(s) => write!(f, "'{s}'"),
            Self::Name(s) => write!(f, "`{s}`"),
            Self::Sign(s) => write!(f, "`{s}`"),
        }
    }
}

const SIGNS: [&str; 18] = [
    "**", "//", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", "[", "]",
];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let length = if c == '\'' || c == '"' {
            let (value, length) = text_literal(rest, c)?;
            out.push(Token::Text(value));
            length
        } else if c.is_ascii_digit()
            || (c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit()))
        {
            let length = number_length(rest);
            out.push(Token::Number(number(&rest[..length])?));
            length
        } else if c.is_alphabetic() || c == '_' {
            let length =
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            out.push(Token::Name(rest[..length].to_owned()));
            length
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            out.push(Token::Sign(sign));
            sign.len()
        } else {
            return Err(format!("`{c}` is not supported"));
        };
        rest = rest[length..].trim_start();
    }
    Ok(out)
}

fn text_literal(rest: &str, quote: char) -> Result<(String, usize), String> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        match c {
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(c) => value.push(c),
                None => break,
            },
            c if c == quote => return Ok((value, i + 1)),
            c => value.push(c),
        }
    }
    Err(format!("the quote {quote} is not closed"))
}

fn number_length(rest: &str) -> usize {
    let mut previous = ' ';
    rest.find(|c: char| {
        let part = c.is_ascii_alphanumeric()
            || c == '.'
            || c == '_'
            || (matches!(previous, 'e' | 'E') && (c == '+' || c == '-'));
        previous = c;
        !part
    })
    .unwrap_or(rest.len())
}

fn number(text: &str) -> Result<Value, String> {
    let digits = text.replace('_', "");
    if let Ok(value) = digits.parse::<i64>() {
        return Ok(Value::Int(value));
    }
    digits.parse::<f64>().map(Value::Float).map_err(|_| format!("`{text}` is not a number"))
}

/// Brackets deeper than this are a mistake, and must not exhaust the stack.
const MAX_DEPTH: usize = 100;

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next_is_sign(&self, signs: &[&'static str]) -> Option<&'static str> {
        match self.peek() {
            Some(Token::Sign(s)) if signs.contains(s) => Some(s),
            _ => None,
        }
    }

    fn take_sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let sign = self.next_is_sign(signs)?;
        self.at += 1;
        Some(sign)
    }

    fn take_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(n)) if n == name);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), String> {
        match self.take_sign(&[sign]) {
            Some(_) => Ok(()),
            None => Err(format!("`{sign}` is missing")),
        }
    }

    fn ternary(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} nested brackets"));
        }
        let value = self.or()?;
        let value = if self.take_name("if") {
            let condition = self.or()?;
            if !self.take_name("else") {
                return Err("`else` is missing".into());
            }
            let other = self.ternary()?;
            if condition.is_true() { value } else { other }
        } else {
            value
        };
        self.depth -= 1;
        Ok(value)
    }

    fn or(&mut self) -> Result<Value, String> {
        let mut left = self.and()?;
        while self.take_name("or") {
            let right = self.and()?;
            left = if left.is_true() { left } else { right };
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Value, String> {
        let mut left = self.not()?;
        while self.take_name("and") {
            let right = self.not()?;
            left = if left.is_true() { right } else { left };
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Value, String> {
        let mut negate = false;
        let mut negated = false;
        while self.take_name("not") {
            negate = !negate;
            negated = true;
        }
        let value = self.comparison()?;
        Ok(if negated { Value::Bool(value.is_true() != negate) } else { value })
    }

    fn comparison(&mut self) -> Result<Value, String> {
        let mut left = self.sum()?;
        let mut result = None;
        loop {
            let sign = if let Some(sign) = self.take_sign(&["==", "!=", "<", "<=", ">", ">="]) {
                sign
            } else if self.take_name("in") {
                "in"
            } else if matches!(self.peek(), Some(Token::Name(n)) if n == "not")
                && matches!(self.tokens.get(self.at + 1), Some(Token::Name(n)) if n == "in")
            {
                self.at += 2;
                "not in"
            } else {
                break;
            };
            let right = self.sum()?;
            result = Some(result.unwrap_or(true) && compare(&left, sign, &right)?);
            left = right;
        }
        Ok(result.map_or(left, Value::Bool))
    }

    fn sum(&mut self) -> Result<Value, String> {
        let mut left = self.product()?;
        while let Some(sign) = self.take_sign(&["+", "-"]) {
            let right = self.product()?;
            left = arithmetic(&left, sign, &right)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Value, String> {
        let mut left = self.unary()?;
        while let Some(sign) = self.take_sign(&["*", "/", "//", "%"]) {
            let right = self.unary()?;
            left = arithmetic(&left, sign, &right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Value, String> {
        let mut negate = false;
        while let Some(sign) = self.take_sign(&["-", "+"]) {
            negate ^= sign == "-";
        }
        let base = self.primary()?;
        // As in Python, `-2 ** 2` is `-(2 ** 2)`, and the exponent may have a sign of its own.
        let value = if self.take_sign(&["**"]).is_some() {
            arithmetic(&base, "**", &self.unary()?)?
        } else {
            base
        };
        if negate { arithmetic(&Value::Int(0), "-", &value) } else { Ok(value) }
    }

    fn primary(&mut self) -> Result<Value, String> {
        let token = self.peek().cloned().ok_or("the expression ends too early")?;
        self.at += 1;
        match token {
            Token::Number(value) => Ok(value),
            Token::Text(mut text) => {
                while let Some(Token::Text(more)) = self.peek() {
                    text.push_str(more);
                    self.at += 1;
                }
                Ok(Value::Text(text))
            }
            Token::Name(name) if name == "True" => Ok(Value::Bool(true)),
            Token::Name(name) if name == "False" => Ok(Value::Bool(false)),
            Token::Name(name) if self.take_sign(&["("]).is_some() => {
                let arguments = self.list(")")?;
                call(&name, &arguments)
            }
            Token::Name(name) => Err(format!("the name `{name}` is not known")),
            Token::Sign("(") => {
                let start = self.at;
                let mut values = self.list(")")?;
                let is_tuple = values.len() != 1
                    || self.tokens[start..self.at - 1].ends_with(&[Token::Sign(",")]);
                Ok(if is_tuple { Value::Tuple(values) } else { values.remove(0) })
            }
            Token::Sign("[") => Ok(Value::Tuple(self.list("]")?)),
            token @ Token::Sign(_) => Err(format!("{token} is not expected")),
        }
    }

    /// Comma-separated values up to the closing bracket.
    fn list(&mut self, close: &'static str) -> Result<Vec<Value>, String> {
        let mut values = Vec::new();
        while self.take_sign(&[close]).is_none() {
            values.push(self.ternary()?);
            if self.take_sign(&[","]).is_none() {
                self.expect(close)?;
                break;
            }
        }
        Ok(values)
    }
}

impl Value {
    fn is_true(&self) -> bool {
        match self {
            Self::Bool(b) => *b,
            Self::Int(i) => *i != 0,
            Self::Float(f) => *f != 0.0,
            Self::Text(s) => !s.is_empty(),
            Self::Tuple(v) => !v.is_empty(),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(b) => Some(f64::from(u8::from(*b))),
            Self::Int(i) => Some(*i as f64),
            Self::Float(f) => Some(*f),
            Self::Text(_) | Self::Tuple(_) => None,
        }
    }

    fn integer(&self) -> Option<i64> {
        match self {
            Self::Bool(b) => Some(i64::from(*b)),
            Self::Int(i) => Some(*i),
            _ => None,
        }
    }

    fn print(&self) -> String {
        match self {
            Self::Bool(true) => "True".into(),
            Self::Bool(false) => "False".into(),
            Self::Int(i) => i.to_string(),
            Self::Float(f) => python_float(*f),
            Self::Text(s) => s.clone(),
            Self::Tuple(values) => {
                let items: Vec<String> = values
                    .iter()
                    .map(|v| if let Self::Text(s) = v { format!("'{s}'") } else { v.print() })
                    .collect();
                let comma = if items.len() == 1 { "," } else { "" };
                format!("({}{comma})", items.join(", "))
            }
        }
    }
}

/// As Python's `repr`: the shortest digits, an exponent below 1e-4 and from 1e16.
pub(crate) fn python_float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) =
            exponent.strip_prefix('-').map_or(("+", exponent), |positive| ("-", positive));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    let text = format!("{value}");
    if text.contains('.') { text } else { format!("{text}.0") }
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (a, b) => match (a.number(), b.number()) {
            (Some(a), Some(b)) => a.total_cmp(&b).is_eq() || (a == 0.0 && b == 0.0),
            _ => false,
        },
    }
}

fn compare(left: &Value, sign: &str, right: &Value) -> Result<bool, String> {
    use std::cmp::Ordering;
    match sign {
        "==" => return Ok(equal(left, right)),
        "!=" => return Ok(!equal(left, right)),
        "in" | "not in" => {
            let contained = match (left, right) {
                (Value::Text(a), Value::Text(b)) => b.contains(a.as_str()),
                (a, Value::Tuple(b)) => b.iter().any(|b| equal(a, b)),
                _ => return Err(format!("`{sign}` needs a text or a list on its right")),
            };
            return Ok(contained == (sign == "in"));
        }
        _ => {}
    }
    let ordering = match (left, right) {
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        (a, b) => a.number().zip(b.number()).and_then(|(a, b)| a.partial_cmp(&b)),
    };
    let Some(ordering) = ordering else {
        return Err(format!("`{}` {sign} `{}` cannot be compared", left.print(), right.print()));
    };
    Ok(match sign {
        "<" => ordering == Ordering::Less,
        "<=" => ordering != Ordering::Greater,
        ">" => ordering == Ordering::Greater,
        _ => ordering != Ordering::Less,
    })
}

fn arithmetic(left: &Value, sign: &str, right: &Value) -> Result<Value, String> {
    if let (Value::Text(a), "+", Value::Text(b)) = (left, sign, right) {
        return Ok(Value::Text(format!("{a}{b}")));
    }
    let wrong = || format!("`{}` {sign} `{}` needs two numbers", left.print(), right.print());
    if let (Some(a), Some(b)) = (left.integer(), right.integer()) {
        if b == 0 && matches!(sign, "/" | "//" | "%") {
            return Err("division by zero".into());
        }
        let whole = match sign {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "//" => a
                .checked_div_euclid(b)
                .map(|q| if b < 0 && a.rem_euclid(b) != 0 { q - 1 } else { q }),
            "%" => a.checked_rem_euclid(b).map(|r| if b < 0 && r != 0 { r + b } else { r }),
            "**" if b >= 0 => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            _ => return float_arithmetic(a as f64, sign, b as f64).map(Value::Float),
        };
        return whole.map(Value::Int).ok_or_else(|| format!("{a} {sign} {b} is too large"));
    }
    let (a, b) = left.number().zip(right.number()).ok_or_else(wrong)?;
    float_arithmetic(a, sign, b).map(Value::Float)
}

fn float_arithmetic(a: f64, sign: &str, b: f64) -> Result<f64, String> {
    if b == 0.0 && matches!(sign, "/" | "//" | "%") {
        return Err("division by zero".into());
    }
    Ok(match sign {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "//" => (a / b).floor(),
        "%" => a - b * (a / b).floor(),
        _ => a.powf(b),
    })
}

fn call(name: &str, arguments: &[Value]) -> Result<Value, String> {
    let wrong = || {
        let list: Vec<String> = arguments.iter().map(Value::print).collect();
        format!("{name}({}) has no value", list.join(", "))
    };
    match (name, arguments) {
        ("str", [v]) => Ok(Value::Text(v.print())),
        ("bool", [v]) => Ok(Value::Bool(v.is_true())),
        ("float", [Value::Text(s)]) => s.trim().parse().map(Value::Float).map_err(|_| wrong()),
        ("float", [v]) => v.number().map(Value::Float).ok_or_else(wrong),
        ("int", [Value::Text(s)]) => s.trim().parse().map(Value::Int).map_err(|_| wrong()),
        ("int", [v]) => {
            v.integer().or_else(|| whole(v.number()?.trunc())).map(Value::Int).ok_or_else(wrong)
        }
        ("round", [v]) => v
            .integer()
            .or_else(|| whole(v.number()?.round_ties_even()))
            .map(Value::Int)
            .ok_or_else(wrong),
        ("abs", [v]) => match v.integer() {
            Some(i) => i.checked_abs().map(Value::Int).ok_or_else(wrong),
            None => v.number().map(|f| Value::Float(f.abs())).ok_or_else(wrong),
        },
        ("min" | "max", [first, rest @ ..]) if !rest.is_empty() => {
            let sign = if name == "min" { "<" } else { ">" };
            rest.iter().try_fold(first.clone(), |best, v| {
                Ok(if compare(v, sign, &best)? { v.clone() } else { best })
            })
        }
        _ => Err(format!("the function `{name}` with {} arguments is not known", arguments.len())),
    }
}

/// A whole number of moderate size as an integer.
fn whole(value: f64) -> Option<i64> {
    format!("{value:.0}").parse().ok()
}
