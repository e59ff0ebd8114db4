//! Selector text to steps: RFC 9535 section 2, with errors that a person can act on.

use super::{Choice, SelectorError, Slice, Step};

/// Largest index, RFC 9535 section 2.1: what I-JSON calls exact.
const LARGEST: u64 = (1 << 53) - 1;

const FILTER: &str = "choose by position (`[0]`), by name (`['a','b']`) or take all (`[*]`)";
const NEGATIVE: &str = "count from the start (`[0]`, `[2:5]`): a streamed array's length is not known in advance";

pub(super) fn steps(text: &str) -> Result<Vec<Step>, SelectorError> {
    let mut parser = Parser { text, at: 0 };
    if !parser.eat('$') {
        let guess = format!("$.{}", text.trim().trim_start_matches(['.', '@', '/']).replace('/', "."));
        let hint = if text.trim_start().starts_with('$') {
            "remove the white space before `$`".to_owned()
        } else if steps(&guess).is_ok() {
            format!("write `{guess}`")
        } else {
            "`$` is the whole body, `$.name` a member of it".to_owned()
        };
        return refuse(0, "a selector begins with `$`", Some(&hint));
    }
    let mut steps = Vec::new();
    loop {
        let before = parser.at;
        parser.blank();
        match parser.peek() {
            None if parser.at == before => return Ok(steps),
            None => return refuse(before, "white space at the end of a selector", None),
            Some(_) => steps.push(parser.step()?),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, SelectorError>;

fn refuse<T>(at: usize, message: impl Into<String>, hint: Option<&str>) -> Parsed<T> {
    Err(SelectorError { at, message: message.into(), hint: hint.map(str::to_owned) })
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    fn step(&mut self) -> Parsed<Step> {
        let start = self.at;
        if self.eat('[') {
            return Ok(Step { descend: false, choices: self.brackets()? });
        }
        if !self.eat('.') {
            return refuse(start, "expected `.`, `..` or `[`", None);
        }
        let descend = self.eat('.');
        if descend && self.eat('[') {
            return Ok(Step { descend, choices: self.brackets()? });
        }
        let choice = if self.eat('*') { Choice::Any } else { Choice::Name(self.shorthand()?) };
        Ok(Step { descend, choices: vec![choice] })
    }

    fn shorthand(&mut self) -> Parsed<String> {
        let start = self.at;
        match self.peek() {
            Some(c) if is_name_start(c) => {}
            Some('.') => {
                return refuse(start, "three dots in a row", Some("`..name` is any depth, `.name` is a member"));
            }
            Some('[') => {
                return refuse(start, "`.` before `[`", Some("leave the `.` out, or write `..[` for any depth"));
            }
            Some('\'' | '"') => {
                return refuse(start, "a name in quotes needs brackets", Some("write `['name']` without the dot"));
            }
            Some(c) if c.is_ascii_whitespace() => return refuse(start, "white space after a dot", None),
            Some(_) => {
                let name: String = self.rest().chars().take_while(|c| !matches!(c, '.' | '[' | '\'' | '\\')).collect();
                let hint = format!("write `['{name}']`");
                return refuse(start, "a name of this kind needs brackets and quotes", Some(&hint));
            }
            None => return refuse(start, "expected a name or `*` after the dot", None),
        }
        while self.peek().is_some_and(|c| is_name_start(c) || c.is_ascii_digit()) {
            self.next();
        }
        if let Some(c @ ('-' | '@' | '$' | ':' | '/')) = self.peek() {
            let hint = "write the name as `['…']`";
            return refuse(self.at, format!("`{c}` in a name without quotes"), Some(hint));
        }
        Ok(self.text.get(start..self.at).unwrap_or_default().to_owned())
    }

    fn brackets(&mut self) -> Parsed<Vec<Choice>> {
        let mut choices = Vec::new();
        loop {
            self.blank();
            choices.push(self.choice()?);
            self.blank();
            let at = self.at;
            match self.next() {
                Some(',') => {}
                Some(']') => return Ok(choices),
                Some(_) => return refuse(at, "expected `,` or `]`", None),
                None => return refuse(at, "missing `]`", None),
            }
        }
    }

    fn choice(&mut self) -> Parsed<Choice> {
        let start = self.at;
        match self.peek() {
            Some(quote @ ('\'' | '"')) => {
                self.at += 1;
                Ok(Choice::Name(self.quoted(quote)?))
            }
            Some('*') => {
                self.at += 1;
                Ok(Choice::Any)
            }
            Some('?') => refuse(start, "filters are not supported", Some(FILTER)),
            Some('(') => refuse(start, "scripts are not supported", Some(FILTER)),
            Some(':' | '-' | '0'..='9') => self.index_or_slice(),
            Some(']') => refuse(start, "nothing between the brackets", Some("write `[*]` for all")),
            Some(c) if is_name_start(c) => refuse(start, "a name in brackets needs quotes", Some("write `['name']`")),
            Some(_) => refuse(start, "expected a quoted name, an index, a slice or `*`", None),
            None => refuse(start, "missing `]`", None),
        }
    }

    fn index_or_slice(&mut self) -> Parsed<Choice> {
        let start = self.integer()?;
        let after = self.at;
        self.blank();
        if !self.eat(':') {
            self.at = after;
            return match start {
                Some(index) => Ok(Choice::Index(index)),
                None => refuse(after, "expected an index", None),
            };
        }
        self.blank();
        let end = self.integer()?;
        self.blank();
        let mut step = None;
        if self.eat(':') {
            self.blank();
            let at = self.at;
            step = self.integer()?;
            if step == Some(0) {
                return refuse(at, "a step of 0 selects nothing", Some("leave the step out, or write 1 or more"));
            }
        }
        Ok(Choice::Slice(Slice { start: start.unwrap_or(0), end, step: step.unwrap_or(1) }))
    }

    fn integer(&mut self) -> Parsed<Option<u64>> {
        let start = self.at;
        let negative = self.eat('-');
        let digits: &str = self.rest();
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        let digits = digits.get(..length).unwrap_or_default();
        self.at += length;
        if negative {
            return refuse(start, "negative indexes and steps are not supported", Some(NEGATIVE));
        }
        if digits.is_empty() {
            return Ok(None);
        }
        if digits.len() > 1 && digits.starts_with('0') {
            return refuse(start, "an index has no leading zeros", None);
        }
        match digits.parse() {
            Ok(value) if value <= LARGEST => Ok(Some(value)),
            _ => refuse(start, "the index is too large", Some("indexes go up to 9007199254740991")),
        }
    }

    fn quoted(&mut self, quote: char) -> Parsed<String> {
        let open = self.at - 1;
        let mut name = String::new();
        loop {
            let at = self.at;
            match self.next() {
                None => return refuse(open, "the quote is never closed", None),
                Some(c) if c == quote => return Ok(name),
                Some('\\') => name.push(self.escape(at, quote)?),
                Some(c) if c < ' ' => {
                    return refuse(at, "control character in a name", Some("write it as `\\u00XX`"));
                }
                Some(c) => name.push(c),
            }
        }
    }

    fn escape(&mut self, at: usize, quote: char) -> Parsed<char> {
        Ok(match self.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(c @ ('/' | '\\')) => c,
            Some(c) if c == quote => c,
            Some('u') => return self.unicode(at),
            _ => return refuse(at, "unknown escape", None),
        })
    }

    fn unicode(&mut self, at: usize) -> Parsed<char> {
        let high = self.hex4(at)?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        let pair = high < 0xdc00 && self.eat('\\') && self.eat('u');
        let low = if pair { self.hex4(at)? } else { 0 };
        if !(0xdc00..0xe000).contains(&low) {
            return refuse(at, "half of a surrogate pair", None);
        }
        match char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)) {
            Some(c) => Ok(c),
            None => refuse(at, "half of a surrogate pair", None),
        }
    }

    fn hex4(&mut self, at: usize) -> Parsed<u32> {
        let mut value = 0;
        for _ in 0..4 {
            match self.next().and_then(|c| c.to_digit(16)) {
                Some(digit) => value = value * 16 + digit,
                None => return refuse(at, "`\\u` needs four hexadecimal digits", None),
            }
        }
        Ok(value)
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}
