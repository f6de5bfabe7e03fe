//! Checks of the sources: order of modules (`order`), lengths, access to files, unfinished code, words, links.

mod methods;
mod order;
mod rust;
mod words;

use order::{Crate, layers};
use std::path::{Path, PathBuf};

/// Maximum number of lines of a source file, including its tests.
const FILE_LINES_MAX: usize = 700;

/// Modules of the engine whose submodules are ordered; the first is the engine itself.
const ORDERED: [&str; 2] = ["", "cluster"];

/// Returns one line for each fault, with its place.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let engine = root.join("crates/outcore/src");
    let methods = methods::names(&engine);
    let files = files(root);
    for source in sources(root) {
        let inside = files.iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
        let inside = inside.filter_map(|path| Some((path, path.strip_prefix(&source).ok()?)));
        let texts: Vec<_> =
            inside.map(|(path, inside)| (inside.to_path_buf(), read(path))).collect();
        let shown = source.strip_prefix(root).unwrap_or(&source).display().to_string();
        let of_crate = Crate::read(&shown, &texts);
        for module in ORDERED.iter().filter(|_| source == engine) {
            let file = if module.is_empty() { "lib.rs".into() } else { format!("{module}/mod.rs") };
            let layers = layers(&format!("{shown}/{file}"), &read(&engine.join(&file)), &mut found);
            let base: Vec<String> = module.split_terminator('/').map(str::to_owned).collect();
            of_crate.imports_upward(&base, &layers, &mut found);
        }
        of_crate.folders(&mut found);
        of_crate.constants(&mut found);
        of_crate.types(&mut found);
    }
    for path in files {
        let text = read(&path);
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        words::check(&shown, &text, &mut found);
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => {
                lengths(&shown, &text, &mut found);
                unfinished(&shown, &text, &mut found);
                if let Ok(inside) = path.strip_prefix(&engine) {
                    file_access(&shown, inside, &text, &mut found);
                    options(&shown, inside, &text, &mut found);
                }
                if path.starts_with(&engine)
                    || path.starts_with(root.join("crates/outcore-cli/src"))
                {
                    methods::check(&shown, &path, &text, &methods, &mut found);
                }
            }
            Some("md") => links(root, &shown, &path, &text, &mut found),
            _ => {}
        }
    }
    versions(root, &mut found);
    found
}

/// Returns the source directories of all crates.
fn sources(root: &Path) -> Vec<PathBuf> {
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = crates.map(|entry| entry.path().join("src")).collect();
    found.push(root.join("xtask/src"));
    found.sort();
    found
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Returns all files of the repository that are Rust sources or prose.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                let is_ours = !name.starts_with('.') && name != "target" && name != "demo";
                directories.extend(is_ours.then(|| path.clone()));
            } else if [".rs", ".md", ".py", ".pyi"].iter().any(|end| name.ends_with(end)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn is_test(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default();
    stem == "oracle" || stem == "sim" || path.with_extension("").iter().any(|part| part == "tests")
}

/// Returns numbered lines up to the tests at the end of a file, without comments.
pub(crate) fn without_tests(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .take_while(|(_, line)| !line.starts_with("mod tests {"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Checks that only `io` opens files.
fn file_access(shown: &str, inside: &Path, text: &str, found: &mut Vec<String>) {
    if inside.starts_with("io") || is_test(inside) {
        return;
    }
    for (number, line) in without_tests(text) {
        if line.contains("std::fs") || line.contains("use std::os") {
            found.push(format!("{shown}:{number}: only `io` opens files; use `io::Files`"));
        }
    }
}

/// Checks that messages of the engine contain options as data, because Python formats them differently.
fn options(shown: &str, inside: &Path, text: &str, found: &mut Vec<String>) {
    if is_test(inside) {
        return;
    }
    let is_option = |rest: &str| rest.starts_with(|c: char| c.is_ascii_lowercase());
    for (number, line) in without_tests(text) {
        let mut named = line.match_indices("`--").map(|(at, mark)| &line[at + mark.len()..]);
        // Options of Cargo are for users who build from source.
        if named.any(|rest| is_option(rest) && !rest.starts_with("features ")) {
            found
                .push(format!("{shown}:{number}: name the option by its constant of `error::opt`"));
        }
    }
}

fn lengths(shown: &str, text: &str, found: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        found.push(format!("{shown}: {lines} lines, at most {FILE_LINES_MAX}: split it"));
    }
}

/// Checks that marks of work to do have a description, and that no code panics because it is unfinished.
fn unfinished(shown: &str, text: &str, found: &mut Vec<String>) {
    let unwritten = [concat!("todo", "!("), concat!("unimplemented", "!(")];
    for (index, line) in text.lines().enumerate() {
        for mark in [concat!("TO", "DO"), concat!("FIX", "ME")] {
            let after = line.split_once(mark).map(|(_, after)| after);
            if after.is_some_and(|after| after.trim_start_matches([':', ' ']).len() < 10) {
                found.push(format!("{shown}:{}: `{mark}` without a description", index + 1));
            }
        }
        if unwritten.iter().any(|mark| line.contains(mark)) {
            found.push(format!("{shown}:{}: not written yet", index + 1));
        }
    }
}

/// Prefixes by which pages that are read elsewhere, such as those of packages, link to this repository.
const HOSTED: [&str; 2] = [
    "https://github.com/outcore/outcore/blob/main/",
    "https://github.com/outcore/outcore/tree/main/",
];

/// Checks that the targets of links exist, and that links in pages of packages are full addresses.
fn links(root: &Path, shown: &str, path: &Path, text: &str, found: &mut Vec<String>) {
    let is_packaged = path.file_name().is_some_and(|name| name == "README.md")
        && (path.parent() == Some(root) || path.starts_with(root.join("crates")));
    for (index, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
            let hosted = HOSTED.iter().find_map(|start| target.strip_prefix(start));
            let is_file = !target.is_empty() && !target.contains("://");
            let directory = path.parent().unwrap_or(Path::new("."));
            let place = hosted.map_or_else(|| directory.join(target), |target| root.join(target));
            if (is_file || hosted.is_some()) && !place.exists() {
                found.push(format!("{shown}:{}: `{target}` does not exist", index + 1));
            }
            if is_file && is_packaged {
                found.push(format!("{shown}:{}: `{target}` does not work in a package", index + 1));
            }
        }
    }
}

/// Checks that other files have the version in `Cargo.toml`.
fn versions(root: &Path, found: &mut Vec<String>) {
    let manifest = read(&root.join("Cargo.toml"));
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))
        .unwrap_or_default();
    for (file, line) in
        [("CITATION.cff", format!("version: {version}")), ("CHANGELOG.md", format!("## {version}"))]
    {
        let text = read(&root.join(file));
        if !text.lines().any(|found| found.starts_with(&line)) {
            found.push(format!("{file}: has no line `{line}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(file: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let inside = Path::new(file);
        file_access(file, inside, text, &mut found);
        options(file, inside, text, &mut found);
        unfinished(file, text, &mut found);
        lengths(file, text, &mut found);
        found
    }

    #[test]
    fn only_io_opens_files() {
        assert_eq!(checked("sort/mod.rs", "use std::fs::File;").len(), 1);
        assert_eq!(checked("io/disk.rs", "use std::fs::File;"), [""; 0]);
    }

    #[test]
    fn options_are_named_by_their_constants() {
        assert_eq!(checked("job.rs", "hint(\"use `--memory 4GiB`\")").len(), 1);
        assert_eq!(
            checked("job.rs", "/// As `--memory`.\nhint(\"`--features tables` or `--`\")"),
            [""; 0]
        );
    }

    #[test]
    fn unwritten_parts_and_long_files_are_named() {
        assert_eq!(checked("job.rs", concat!("// TO", "DO")).len(), 1);
        assert_eq!(checked("job.rs", concat!("todo", "!()")).len(), 1);
        let described = concat!("// TO", "DO: read Parquet as well");
        assert_eq!(checked("job.rs", described), [""; 0]);
        assert_eq!(checked("job.rs", &"\n".repeat(FILE_LINES_MAX + 1)).len(), 1);
    }

    #[test]
    fn targets_of_links_exist_in_pages_of_packages_too() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let checked = |page: &str, link: &str| {
            let mut found = Vec::new();
            links(root, page, &root.join(page), &format!("[a]({link})"), &mut found);
            found.len()
        };
        assert_eq!(checked("docs/index.md", "start.md"), 0);
        assert_eq!(checked("docs/index.md", "nowhere.md"), 1);
        assert_eq!(checked("README.md", "docs/index.md"), 1);
        assert_eq!(checked("README.md", &format!("{}docs/index.md#x", HOSTED[0])), 0);
        assert_eq!(checked("README.md", &format!("{}docs/nowhere.md", HOSTED[0])), 1);
    }
}
