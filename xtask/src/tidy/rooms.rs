//! Order inside a module with rooms: each imports from its left alone; and methods that stand in their table alone.

use super::{is_test, read, without_tests};
use std::path::Path;

/// Where methods are listed, from the engine's sources.
const METHODS: &str = "cluster/methods/table.rs";

/// The files of a module that has rooms, by their path inside of it; tests are not among them.
pub(super) type Files<'a> = Vec<(&'a str, &'a str)>;

/// Checks a module whose `mod.rs` tells the order of its rooms, in a line of names with bars between them.
pub(super) fn rooms(module: &str, files: &Files<'_>, found: &mut Vec<String>) {
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
pub(super) fn methods(engine: &Path) -> Vec<String> {
    let text = read(&engine.join(METHODS));
    let rows = text.lines().filter_map(|line| line.trim().strip_prefix("method: Method::"));
    rows.map(|row| format!("Method::{}", row.trim_end_matches(','))).collect()
}

/// A method is known by its row: nobody else matches on it.
pub(super) fn method_names(
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
