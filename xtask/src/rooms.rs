//! Order inside folders: rooms in a row, no circles, few files; and methods that stand in their table alone.

use crate::tidy::{is_test, read, without_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Source files of a folder, its `mod.rs` among them and its tests not.
const FILES_MAX: usize = 16;
/// Folders of more files have no circle of imports.
const CIRCLE_FILES: usize = 8;

/// Where methods are listed, from the engine's sources.
const METHODS: &str = "cluster/methods/table.rs";

/// The files of a module that has rooms, by their path inside of it; tests are not among them.
pub(crate) type Files<'a> = Vec<(&'a str, &'a str)>;

/// Checks a module whose `mod.rs` tells the order of its rooms, in a line of names with bars between them.
pub(crate) fn rooms(module: &str, files: &Files<'_>, found: &mut Vec<String>) {
    let text = files.iter().find(|(path, _)| *path == "mod.rs").map_or("", |(_, text)| text);
    let line = text.lines().find(|line| line.starts_with("//! `") && line.contains(" | "));
    let Some(line) = line else {
        found.push(format!("{module}/mod.rs: no line tells the order of its rooms"));
        return;
    };
    let order: Vec<&str> =
        line.trim_start_matches("//! ").trim_matches(['`', '.']).split(" | ").collect();
    let place = |room: &str| order.iter().position(|name| *name == room);
    for (path, text) in files {
        let Some(own) = path.split('/').next().and_then(place) else { continue };
        for (number, used) in imports(module, path, text) {
            let shown = format!("{module}/{path}:{number}");
            match used.first().map(|room| (room, place(room))) {
                Some((room, Some(other))) if other > own => {
                    found.push(format!("{shown}: `{}` is left of `{room}`", order[own]));
                }
                Some((item, None)) => {
                    found.push(format!(
                        "{shown}: `{item}` is no room; import items from where they are"
                    ));
                }
                _ => {}
            }
        }
    }
    for room in folders(files) {
        circles(module, &room, files, found);
    }
}

fn folders(files: &Files<'_>) -> BTreeSet<String> {
    let folder = |(path, _): &(&str, &str)| Some(path.rsplit_once('/')?.0.to_owned());
    files.iter().filter_map(folder).collect()
}

/// Names files of a folder that import each other in a circle, and folders of too many.
fn circles(module: &str, folder: &str, files: &Files<'_>, found: &mut Vec<String>) {
    let within = |path: &str| -> Option<String> {
        let inside = path.strip_prefix(folder)?.strip_prefix('/')?;
        Some(inside.split('/').next()?.trim_end_matches(".rs").to_owned())
    };
    let own = files
        .iter()
        .filter(|(path, _)| path.rsplit_once('/').is_some_and(|(parent, _)| parent == folder));
    let count = own.count();
    if count > FILES_MAX {
        found.push(format!("{module}/{folder}: {count} files, at most {FILES_MAX}"));
    }
    if count <= CIRCLE_FILES {
        return;
    }
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let depth = folder.split('/').count();
    for (path, text) in files {
        let Some(file) = within(path).filter(|file| file != "mod") else { continue };
        for (_, used) in imports(module, path, text) {
            if used.len() > depth && used[..depth].join("/") == folder && used[depth] != file {
                uses.entry(file.clone()).or_default().insert(used[depth].clone());
            }
        }
    }
    let reached = |from: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(file) = open.pop() {
            let next = uses.get(&file).into_iter().flatten();
            open.extend(next.filter(|file| seen.insert((*file).clone())).cloned());
        }
        seen
    };
    for file in uses.keys().filter(|file| reached(file).contains(*file)) {
        found.push(format!("{module}/{folder}/{file}.rs: imports itself in a circle"));
    }
}

/// What a file imports of its module, as paths from there, with the number of the line.
fn imports(module: &str, path: &str, text: &str) -> Vec<(usize, Vec<String>)> {
    let mut parents: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    if parents.last() == Some(&"mod") {
        parents.pop();
    }
    let whole = format!("crate::{module}::");
    let mut all = Vec::new();
    for (number, line) in without_tests(text) {
        for (at, _) in line.match_indices(&whole) {
            all.push((number, names(&line[at + whole.len()..])));
        }
        let Some(at) = line.find("super::") else { continue };
        let mut rest = &line[at..];
        let mut above = parents.len();
        while let Some(next) = rest.strip_prefix("super::") {
            (rest, above) = (next, above.saturating_sub(1));
        }
        let above = parents[..above].iter().map(|name| (*name).to_owned());
        all.push((number, above.chain(names(rest)).collect()));
    }
    all
}

/// The names of a path, up to a list.
fn names(path: &str) -> Vec<String> {
    let end = path.find(|c: char| c != '_' && c != ':' && !c.is_alphanumeric());
    let path = match end {
        // Items of the module itself.
        Some(0) => "{}",
        end => &path[..end.unwrap_or(path.len())],
    };
    path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The names of methods, as the engine and the command call them.
pub(crate) fn methods(engine: &Path) -> Vec<String> {
    let text = read(&engine.join(METHODS));
    let rows = text.lines().filter_map(|line| line.trim().strip_prefix("method: Method::"));
    rows.map(|row| format!("Method::{}", row.trim_end_matches(','))).collect()
}

/// A method is known by its row: nobody else matches on it.
pub(crate) fn method_names(
    shown: &str,
    inside: &Path,
    text: &str,
    methods: &[String],
    found: &mut Vec<String>,
) {
    if is_test(inside) || inside.ends_with(METHODS) {
        return;
    }
    for (number, line) in without_tests(text) {
        for method in methods.iter().filter(|method| line.contains(method.as_str())) {
            found.push(format!("{shown}:{number}: `{method}` outside of its row in `{METHODS}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(files: &[(&str, &str)]) -> Vec<String> {
        let mut found = Vec::new();
        let order = ("mod.rs", "//! `base | drive`\n");
        rooms("cluster", &files.iter().copied().chain([order]).collect(), &mut found);
        found
    }

    #[test]
    fn a_room_imports_only_from_its_left() {
        let use_base = "use crate::cluster::base::bits::Bits;\nuse super::job::Job;";
        assert_eq!(checked(&[("drive/run.rs", use_base)]), [""; 0]);
        let found = checked(&[("base/bits.rs", "use crate::cluster::drive::run::{a, b};")]);
        assert_eq!(found, ["cluster/base/bits.rs:1: `base` is left of `drive`"]);
        let found = checked(&[("base/bits.rs", "use super::super::drive::run;")]);
        assert_eq!(found, ["cluster/base/bits.rs:1: `base` is left of `drive`"]);
        for item in ["Job", "{Job, Limits}", "{"] {
            let text = format!("use crate::cluster::{item};");
            assert_eq!(checked(&[("base/bits.rs", &text)]).len(), 1);
        }
        let in_tests = "mod tests {\nuse crate::cluster::drive::run;";
        assert_eq!(checked(&[("base/bits.rs", in_tests)]), [""; 0]);
    }

    #[test]
    fn circles_in_large_folders_are_named() {
        let names: Vec<String> = (0..9).map(|at| format!("drive/f{at}.rs")).collect();
        let of = |at: usize| match at {
            1 => "use super::f2::{A, B};",
            2 => "use crate::cluster::drive::f3::C;",
            _ => "use super::f1;",
        };
        let files: Vec<_> = (0..9).map(|at| (names[at].as_str(), of(at))).collect();
        assert_eq!(checked(&files).len(), 3);
        assert_eq!(checked(&files[..8]), [""; 0]);
        let names: Vec<String> = (0..17).map(|at| format!("drive/f{at}.rs")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
        assert_eq!(checked(&files), ["cluster/drive: 17 files, at most 16"]);
    }

    #[test]
    fn methods_stand_in_their_table_alone() {
        let checked = |file: &str, text: &str| {
            let mut found = Vec::new();
            method_names(file, Path::new(file), text, &["Method::Cpm".to_owned()], &mut found);
            found.len()
        };
        assert_eq!(checked("job/mod.rs", "if method == Method::Cpm {"), 1);
        assert_eq!(checked("job/mod.rs", "mod tests {\nMethod::Cpm"), 0);
        assert_eq!(checked("cluster/tests/levels.rs", "Method::Cpm"), 0);
        assert_eq!(checked("cluster/methods/table.rs", "Method::Cpm"), 0);
    }
}
