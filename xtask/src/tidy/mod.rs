//! Checks of the sources: sizes of files, folders and crates, access to files, unfinished code, links, versions.

pub(crate) mod budget;
mod methods;

use std::path::{Path, PathBuf};

/// Maximum number of lines of a source file, including its tests.
const FILE_LINES_MAX: usize = 700;
/// Maximum number of files of a folder of sources.
const FOLDER_FILES_MAX: usize = 16;
/// Crates of the engine.
pub(crate) const ENGINE: [&str; 6] =
    ["outcore-io", "outcore-sort", "outcore-graph", "outcore-input", "outcore-cluster", "outcore"];

/// Returns one line for each fault, with its place.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let crates = root.join("crates");
    let methods = methods::names(&crates);
    let command = crates.join("outcore-cli/src");
    for path in files(root, &mut found) {
        let text = read(&path);
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => {
                lengths(&shown, &text, &mut found);
                unfinished(&shown, &text, &mut found);
                let sources = ENGINE.map(|name| crates.join(name).join("src"));
                let inside = sources.iter().find_map(|source| path.strip_prefix(source).ok());
                if let Some(inside) = inside {
                    if !path.starts_with(crates.join("outcore-io")) {
                        file_access(&shown, inside, &text, &mut found);
                    }
                    options(&shown, inside, &text, &mut found);
                }
                if inside.is_some() || path.starts_with(&command) {
                    methods::check(&shown, &path, &text, &methods, &mut found);
                }
            }
            Some("md") => links(root, &shown, &path, &text, &mut found),
            _ => {}
        }
    }
    budget::check(root, &mut found);
    versions(root, &mut found);
    found
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Returns all Rust sources and pages of the repository; reports folders of too many sources.
fn files(root: &Path, found: &mut Vec<String>) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        let mut sources = 0;
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                let is_ours = !name.starts_with('.') && name != "target" && name != "demo";
                directories.extend(is_ours.then(|| path.clone()));
            } else if name.ends_with(".rs") || name.ends_with(".md") {
                sources += usize::from(name.ends_with(".rs"));
                all.push(path);
            }
        }
        let is_source = directory.iter().any(|part| part == "src");
        if is_source && sources > FOLDER_FILES_MAX {
            let shown = directory.strip_prefix(root).unwrap_or(&directory).display();
            found.push(format!("{shown}: {sources} files, at most {FOLDER_FILES_MAX}: divide it"));
        }
    }
    all.sort();
    all
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

/// Checks that nothing but `outcore-io` opens files.
fn file_access(shown: &str, inside: &Path, text: &str, found: &mut Vec<String>) {
    if is_test(inside) {
        return;
    }
    for (number, line) in without_tests(text) {
        if line.contains("std::fs") || line.contains("use std::os") {
            found.push(format!("{shown}:{number}: only `outcore-io` opens files; use `Files`"));
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
const HOSTED: [&str; 3] = [
    "https://github.com/outcore/outcore/blob/main/",
    "https://github.com/outcore/outcore/tree/main/",
    "https://raw.githubusercontent.com/outcore/outcore/main/",
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
    let of = |start: &str| {
        let end = manifest.lines().find_map(|line| line.strip_prefix(start));
        end.and_then(|end| end.strip_suffix('"')).unwrap_or_default()
    };
    let (version, compiler) = (of("version = \""), of("rust-version = \""));
    for (file, line) in [
        ("CITATION.cff", format!("version: {version}")),
        ("CHANGELOG.md", format!("## {version}")),
        ("r/DESCRIPTION", format!("Version: {version}")),
        ("r/configure", format!("needed={compiler}")),
    ] {
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
        assert_eq!(checked("sort/tests.rs", "use std::fs::File;"), [""; 0]);
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
        for start in HOSTED {
            assert_eq!(checked("README.md", &format!("{start}docs/nowhere.md")), 1);
        }
    }
}
