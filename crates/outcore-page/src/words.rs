//! Names that may be of any length and contain anything.

/// Shortens a name to at most `most` characters: the beginning and the end are kept, where names differ. Control characters,
/// and those that change the direction of the text around them, become spaces.
pub fn shorten(name: &str, most: usize) -> String {
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let visible = |letter: char| if is_hidden(letter) { ' ' } else { letter };
    let count = name.chars().count();
    if count <= most {
        return name.chars().map(visible).collect();
    }
    let kept = most.saturating_sub(1);
    let tail = kept / 3;
    let head = name.chars().take(kept - tail);
    let tail = name.chars().skip(count - tail);
    head.chain(std::iter::once('…')).chain(tail).map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_beginning_and_their_end() {
        assert_eq!(shorten("short", 5), "short");
        assert_eq!(shorten("UniRef90_A0A1B2C3", 10), "UniRef…2C3");
        assert_eq!(shorten("äöüäöüäöü", 4), "äö…ü");
        assert_eq!(shorten("", 4), "");
        assert_eq!(shorten("abc", 1), "…");
        assert_eq!(shorten("a\u{202e}b\n", 4), "a b ");
    }
}
