//! What is wrong in text that is not TOML, and what would be right.
//!
//! Lives here: the parser's words, and what to write instead. Must not live here: any key.

use core::ops::Range;

/// What the parser says where it stops, and what would be right.
const RIGHT: [(&str, &str); 18] = [
    ("invalid basic string, expected `\"`", "the text has no closing quote: write \" at its end"),
    ("invalid literal string, expected `'`", "the text has no closing quote: write ' at its end"),
    ("missing comma between array elements", LIST),
    ("unclosed array,", LIST),
    ("unclosed inline table", BRACES),
    ("missing comma between key-value pairs", BRACES),
    ("extra assignment between key-value pairs", BRACES),
    ("unclosed array table", "a name in two pairs of brackets ends with \"]]\""),
    ("unclosed table", "a name in brackets ends with \"]\""),
    (
        "unexpected key or value",
        "a line has one key and one value: put the rest on another line, or # before it",
    ),
    ("key with no value", PAIR),
    ("missing assignment between key-value pairs", PAIR),
    ("missing value", MISSING),
    ("invalid mantissa", "a number has a digit on each side of its point, such as 0.5"),
    ("cannot recurse further", "lists or tables are nested too deeply"),
    (
        "invalid basic string, expected non-double-quote visible characters",
        "the text has a character that TOML does not allow in quotes: remove it",
    ),
    (
        "invalid unquoted key",
        "a key with characters other than a-z, A-Z, 0-9, - and _ needs quotes around it",
    ),
    ("unexpected leading zero", "a number has no zero before its other digits"),
];

const LIST: &str = "a list has commas between its elements and \"]\" at its end";
const BRACES: &str = "a table in braces has commas between its keys and \"}\" at its end";
const PAIR: &str = "a key has its value behind \"=\": write key = value";
const MISSING: &str = "a value is missing behind \"=\"";

/// The sentence for an error of the parser at this place of the text.
pub(super) fn explained(error: &str, text: &str, at: &Range<usize>) -> String {
    if error == "duplicate key" {
        let name = text.get(at.clone()).unwrap_or_default();
        return format!("\"{name}\" is defined twice: remove one of the definitions");
    }
    if error.starts_with("string values must be quoted") {
        let value = value_at(text, at.start);
        if value.is_empty() {
            return MISSING.to_owned();
        }
        return format!("{value} is neither a number nor a text in quotes: write \"{value}\"");
    }
    let one_line = error.replace('\n', ", ");
    let right = RIGHT.iter().find(|(words, _)| one_line.contains(words));
    right.map_or_else(|| error.replace('\n', "; "), |(_, right)| (*right).to_owned())
}

/// The value that begins here, up to the end of its line or of its place in a list or table, without quotes of other kinds.
fn value_at(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.find([',', ']', '}', '#', '\n', '\r']).unwrap_or(rest.len());
    rest[..end].trim().trim_matches(['‘', '’', '“', '”', '„', '«', '»', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::de::DeTable;

    #[track_caller]
    fn of(text: &str) -> String {
        let error = DeTable::parse(text).expect_err("not TOML");
        explained(error.message().trim(), text, &error.span().unwrap_or_default())
    }

    #[test]
    fn a_value_without_quotes_is_shown_with_them() {
        for (text, value) in [
            ("duration = 600 s", "600 s"),
            ("duration = ’600 s’ # long", "600 s"),
            ("app = { kind = bulk, bytes = 5 }", "bulk"),
            ("between = [earth, space]", "earth"),
        ] {
            assert!(of(text).ends_with(&format!(": write \"{value}\"")), "{text}: {}", of(text));
        }
    }

    #[test]
    fn each_mistake_is_told_what_would_be_right() {
        for (text, right) in [
            ("a = \"600 s", "no closing quote: write \" at"),
            ("a = '600 s", "no closing quote: write ' at"),
            ("a = [1, 2", "\"]\" at its end"),
            ("a = [\"x\" \"y\"]", "commas between its elements"),
            ("a = { b = 1", "\"}\" at its end"),
            ("a = { b = 1 c = 2 }", "commas between its keys"),
            ("[[flow\n", "\"]]\""),
            ("[flow\n", "ends with \"]\""),
            ("a = \"1\" 2", "one key and one value"),
            ("a: 1", "write key = value"),
            ("a =\n", "missing behind \"=\""),
            ("a = .5", "such as 0.5"),
            ("a = 05", "no zero before"),
            ("a = \"6\u{1}0 s\"", "a character that TOML does not allow"),
            ("[link.l\u{f6}we]", "needs quotes around it"),
            (&format!("a = {}", "[".repeat(500)), "nested too deeply"),
        ] {
            assert!(of(text).contains(right), "{text:?}: {}", of(text));
        }
    }

    #[test]
    fn other_errors_keep_the_words_of_the_parser_on_one_line() {
        let words = of("a = \"\\q\"");
        assert!(!words.is_empty() && !words.contains('\n'), "{words}");
    }
}
