//! Words that comments, documentation and messages do not use, because the field has a better one. The glossary is in
//! `docs/concepts/glossary.md`.

/// What is not written, and what is written instead.
const INSTEAD: [(&str, &str); 22] = [
    ("told", "reported"),
    ("foretell", "predict"),
    ("foretells", "predicts"),
    ("foretold", "predicted"),
    ("go on", "resume or continue"),
    ("goes on", "resumes or continues"),
    ("going on", "resuming or continuing"),
    ("gone on", "resumed or continued"),
    ("anew", "from scratch or again"),
    ("hears", "receives or observes"),
    ("heard", "received or observed"),
    ("awake", "active"),
    ("take back", "withdraw"),
    ("taken back", "withdrawn"),
    ("taken apart", "split"),
    ("hang together", "are connected"),
    ("hangs together", "is connected"),
    ("of no account", "independent of"),
    ("of no use", "has no effect"),
    ("side by side", "in parallel"),
    ("by way of", "through"),
    ("all the same", "anyway"),
];

/// The file that lists them.
const LIST: &str = "xtask/src/tidy/words.rs";

/// Reports the words, with their places. Names in code count as words, too.
pub(super) fn check(shown: &str, text: &str, found: &mut Vec<String>) {
    if shown == LIST || shown == "CHANGELOG.md" {
        return;
    }
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.to_lowercase();
        for (word, better) in INSTEAD {
            if has(&line, word) {
                found.push(format!("{shown}:{number}: `{word}`: say {better}"));
            }
        }
    }
}

/// Returns whether a line has a word that is not a part of a longer one.
fn has(line: &str, word: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !is_letter(before.chars().next_back()) && !is_letter(after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_code_and_prose_but_not_inside_others() {
        let checked = |text: &str| {
            let mut found = Vec::new();
            check("a.md", text, &mut found);
            found.len()
        };
        assert_eq!(checked("It resumes: the folders are untold, and heartold is a name."), 0);
        assert_eq!(checked("What was Told.\nlet told_once = 1;\nit goes on, anew"), 4);
    }
}
