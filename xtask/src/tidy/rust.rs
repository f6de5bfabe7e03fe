//! A simple parser of Rust for the checks of order: finds the names that a file uses, the constants that it defines,
//! and the modules that are only for tests. It skips comments, string literals and tests.
//!
//! Tokens suffice for that; `api`, which needs items with their types, uses a parser from a library.

/// Parsed file.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// Names that it uses.
    pub(super) uses: Vec<Use>,
    /// Constants that it defines outside of types.
    pub(super) constants: Vec<Constant>,
    /// Structs, enums, traits and aliases that it defines outside functions, with their lines.
    pub(super) types: Vec<(usize, String)>,
    /// Modules that it declares only for tests.
    pub(super) tests: Vec<String>,
}

/// Path with more than one part, or imported path.
#[derive(Debug, PartialEq)]
pub(super) struct Use {
    pub(super) line: usize,
    /// Modules inside the file that contain it.
    pub(super) inside: Vec<String>,
    pub(super) path: Vec<String>,
    /// Name by which other modules know it, if it is exported.
    pub(super) exported: Option<String>,
    /// Name by which the file knows it, if it is imported.
    pub(super) imported: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Constant {
    pub(super) line: usize,
    pub(super) name: String,
    /// Value as written, except that numbers are evaluated, so that `1 << 20` equals `1_048_576`.
    pub(super) value: String,
}

#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    line: usize,
    text: &'a str,
}

impl Source {
    pub(super) fn read(text: &str) -> Self {
        let (mut found, mut reader) = (Self::default(), Reader { tokens: tokens(text), at: 0 });
        // For each open brace, the name of the module that it opens, if any.
        let mut open: Vec<Option<&str>> = Vec::new();
        while let Some(token) = reader.next() {
            let inside = || open.iter().flatten().map(|&name| name.to_owned()).collect();
            match token.text {
                "{" => open.push(None),
                "}" => drop(open.pop()),
                "#" if reader.is_test_attribute() => found.tests.extend(reader.skip_item()),
                "mod" if reader.peek(1) == "{" => {
                    open.push(Some(reader.peek(0)));
                    reader.at += 2;
                }
                "use" => {
                    let is_exported = reader.is_after_pub();
                    for (path, name) in reader.tree(&[]) {
                        let exported = is_exported.then(|| name.clone());
                        let imported = Some(name);
                        found.uses.push(Use {
                            line: token.line,
                            inside: inside(),
                            path,
                            exported,
                            imported,
                        });
                    }
                }
                "const" | "static" if open.iter().all(Option::is_some) && reader.peek(1) == ":" => {
                    found.constants.extend(reader.constant());
                }
                "struct" | "enum" | "trait" | "type" if open.iter().all(Option::is_some) => {
                    found.types.push((token.line, reader.peek(0).to_owned()));
                }
                _ if is_word(token.text) && reader.peek(0) == "::" && !reader.is_after("::") => {
                    let path = reader.path(token.text);
                    let (exported, imported) = (None, None);
                    found.uses.push(Use {
                        line: token.line,
                        inside: inside(),
                        path,
                        exported,
                        imported,
                    });
                }
                _ => {}
            }
        }
        found
    }
}

struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        self.at += 1;
        self.tokens.get(self.at - 1).copied()
    }

    /// Returns the text of the token `ahead` places after the next; empty at the end.
    fn peek(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text)
    }

    /// Returns whether `text` precedes the token that was read last.
    fn is_after(&self, text: &str) -> bool {
        self.at >= 2 && self.tokens[self.at - 2].text == text
    }

    fn is_after_pub(&self) -> bool {
        let before = &self.tokens[..self.at - 1];
        let from = match before.last() {
            Some(token) if token.text == ")" => before.iter().rposition(|token| token.text == "("),
            _ => Some(before.len()),
        };
        from.and_then(|from| before.get(from.checked_sub(1)?))
            .is_some_and(|token| token.text == "pub")
    }

    /// Returns whether the attribute that begins here is `cfg(test)`, possibly with other conditions.
    fn is_test_attribute(&self) -> bool {
        let texts = self.tokens[self.at..].iter().map(|token| token.text);
        let texts: Vec<&str> = texts.take_while(|&text| text != "]").collect();
        let has = |text: &str| texts.contains(&text);
        texts.starts_with(&["[", "cfg", "("]) && has("test") && !has("not") && !has("any")
    }

    /// Skips the rest of an attribute and the item after it; returns the item's name if it is a module.
    fn skip_item(&mut self) -> Option<String> {
        let (mut depth, mut module) = (0_u32, None);
        while let Some(token) = self.next() {
            match token.text {
                "mod" if depth == 0 => module = Some(self.peek(0).to_owned()),
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && matches!(token.text, ";" | "}") {
                break;
            }
        }
        module
    }

    /// Reads an import to its end; returns its paths with their names.
    fn tree(&mut self, before: &[String]) -> Vec<(Vec<String>, String)> {
        let (mut path, mut found) = (before.to_vec(), Vec::new());
        let mut name = None;
        while let Some(token) = self.next() {
            match token.text {
                "::" => {}
                "{" => {
                    while !matches!(self.peek(0), "}" | "") {
                        found.extend(self.tree(&path));
                        self.at += usize::from(self.peek(0) == ",");
                    }
                    self.at += 1;
                    return found;
                }
                "as" => name = self.next().map(|token| token.text.to_owned()),
                "self" if !path.is_empty() => {}
                text => path.push(text.to_owned()),
            }
            if matches!(self.peek(0), "," | "}" | ";" | "") {
                break;
            }
        }
        let last = path.last().cloned().unwrap_or_default();
        found.push((path, name.unwrap_or(last)));
        found
    }

    /// Reads a path in an expression or a type, whose first word has been read.
    fn path(&mut self, first: &str) -> Vec<String> {
        let mut path = vec![first.to_owned()];
        while self.peek(0) == "::" && is_word(self.peek(1)) {
            path.push(self.peek(1).to_owned());
            self.at += 2;
        }
        path
    }

    /// Reads a constant; returns it if its value contains a number or a string.
    fn constant(&mut self) -> Option<Constant> {
        let Token { line, text: name } = self.next()?;
        let (mut depth, mut value, mut is_value) = (0_i32, Vec::new(), false);
        while let Some(token) = self.next() {
            match token.text {
                ";" if depth == 0 => break,
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "=" if depth == 0 && !is_value => {
                    is_value = true;
                    continue;
                }
                _ => {}
            }
            if is_value {
                value.push(token.text);
            }
        }
        let is_literal = |text: &&str| text.starts_with(|c: char| c.is_ascii_digit() || c == '"');
        let is_unit = |text: &&str| unit(text).is_some();
        let has_value = value.iter().any(|text| is_literal(text) || is_unit(text));
        let value = number(&value).map_or_else(|| value.concat(), |number| number.to_string());
        has_value.then(|| Constant { line, name: name.to_owned(), value })
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

fn unit(text: &str) -> Option<u128> {
    match text {
        "KIB" => Some(1 << 10),
        "MIB" => Some(1 << 20),
        "GIB" => Some(1 << 30),
        _ => None,
    }
}

/// Evaluates products and shifts of whole numbers.
fn number(value: &[&str]) -> Option<u128> {
    let whole = |text: &str| {
        let digits: String = text.chars().filter(|&c| c != '_').collect();
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let is_suffix = matches!(&digits[end..], "" | "u8" | "u16" | "u32" | "u64" | "usize");
        unit(text).or_else(|| digits[..end].parse().ok().filter(|_| is_suffix))
    };
    let (first, mut rest) = value.split_first()?;
    let mut result = whole(first)?;
    while !rest.is_empty() {
        (result, rest) = match rest {
            ["*", factor, rest @ ..] => (result.checked_mul(whole(factor)?)?, rest),
            ["<", "<", by, rest @ ..] => (result.checked_shl(whole(by)?.try_into().ok()?)?, rest),
            _ => return None,
        };
    }
    Some(result)
}

/// Splits Rust code into words, numbers, strings and punctuation, without comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut found, mut line, mut rest) = (Vec::new(), 1, text);
    while let Some(first) = rest.chars().next() {
        let bytes = token_bytes(rest, first);
        let (token, behind) = rest.split_at(bytes);
        let is_comment = token.starts_with("//") || token.starts_with("/*");
        if !is_comment && !first.is_whitespace() {
            found.push(Token { line, text: token });
        }
        line += token.matches('\n').count();
        rest = behind;
    }
    found
}

/// Returns the length of the first token of `rest`, which begins with `first`.
fn token_bytes(rest: &str, first: char) -> usize {
    let until = |end: &str| rest.find(end).map_or(rest.len(), |at| at + end.len());
    let while_word = |from: usize| {
        let end = rest[from..].find(|c: char| c != '_' && !c.is_alphanumeric());
        end.map_or(rest.len(), |end| from + end)
    };
    match first {
        '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
        '/' if rest.starts_with("/*") => until("*/"),
        ':' if rest.starts_with("::") => 2,
        '"' => quoted(rest, 1),
        '\'' => {
            let mut behind = rest.chars().skip(1);
            match (behind.next(), behind.next()) {
                (Some('\\'), _) => rest[3..].find('\'').map_or(rest.len(), |at| at + 4),
                (Some(c), Some('\'')) => 2 + c.len_utf8(),
                _ => while_word(1),
            }
        }
        c if c.is_ascii_digit() => {
            let end = while_word(1);
            let is_fraction = rest[end..].starts_with('.')
                && rest[end + 1..].starts_with(|c: char| c.is_ascii_digit());
            if is_fraction { while_word(end + 1) } else { end }
        }
        c if c == '_' || c.is_alphabetic() => {
            let end = while_word(0);
            let marks = rest[end..].bytes().take_while(|&byte| byte == b'#').count();
            let is_raw = matches!(&rest[..end], "r" | "br" | "cr");
            match (&rest[..end], rest[end + marks..].starts_with('"')) {
                ("b" | "c", true) if marks == 0 => quoted(rest, end + 1),
                (_, true) if is_raw => {
                    let closing = format!("\"{}", "#".repeat(marks));
                    let from = end + marks + 1;
                    rest[from..].find(&closing).map_or(rest.len(), |at| from + at + closing.len())
                }
                _ => end,
            }
        }
        c => c.len_utf8(),
    }
}

/// Returns the end of a quoted string that begins before `from`.
fn quoted(rest: &str, from: usize) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest[from..].char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return from + at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(text: &str) -> Vec<String> {
        Source::read(text).uses.iter().map(|used| used.path.join("::")).collect()
    }

    #[test]
    fn imports_are_split_into_paths() {
        let found =
            uses("use super::{a::B, c::{self, D as E}, f::*};\nuse crate::{\n    g, h::I,\n};");
        let expected =
            ["super::a::B", "super::c", "super::c::D", "super::f::*", "crate::g", "crate::h::I"];
        assert_eq!(found, expected);
        let source = Source::read("pub(crate) use a::{b as c};\nuse d::e;");
        let names = source.uses.iter().map(|used| (used.exported.as_deref(), used.line));
        assert_eq!(names.collect::<Vec<_>>(), [(Some("c"), 1), (None, 2)]);
    }

    #[test]
    fn paths_are_found_except_in_strings_comments_and_tests() {
        let text = "fn f<'a>() { g::h('\"', \"i::j\", r#\"\"k::l\"#) } // m::n\n/* o::p */ mod q { r::s(); }\n\
                    #[cfg(test)]\nmod tests {\n use t::u;\n}\n#[cfg(test)]\nmod oracle;\nfn v() { w::x() }";
        let source = Source::read(text);
        assert_eq!(uses(text), ["g::h", "r::s", "w::x"]);
        assert_eq!(source.uses[1].inside, ["q"]);
        assert_eq!(source.tests, ["tests", "oracle"]);
        assert_eq!(source.uses[2].line, 9);
    }

    #[test]
    fn constants_have_their_values_and_those_of_types_are_skipped() {
        let text = "const A: u64 = 1 << 20;\npub(crate) const B: [u8; 2] = *b\"a;\";\nstatic C: u64 = 4 * MIB;\n\
                    const D: u64 = A;\nimpl X { const E: u64 = 1; }\nmod m { const F: f64 = 1.5; }";
        let found = Source::read(text).constants;
        let found: Vec<_> = found.iter().map(|c| (c.name.as_str(), c.value.as_str())).collect();
        assert_eq!(found, [("A", "1048576"), ("C", "4194304"), ("F", "1.5")]);
    }
}
