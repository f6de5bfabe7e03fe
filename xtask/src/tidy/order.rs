//! The order of modules: imports, cycles, sizes of folders, duplicate constants.

use super::rust::{Source, Use};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maximum number of files of a folder whose files may depend on each other in a cycle.
const FREE_FILES: usize = 8;
/// Maximum number of files of a folder.
const FOLDER_FILES: usize = 16;
/// Constants that each file format may define.
const OF_FORMATS: [&str; 3] = ["FORMAT", "MAGIC", "VERSION"];

/// Files that take the place of others where a feature is missing, and define the same types.
const REPLACEMENTS: [&str; 2] = ["/absent.rs", "/no_lab.rs"];

type ModulePath = [String];

/// Parsed source file.
struct File {
    shown: String,
    folder: PathBuf,
    module: Vec<String>,
    source: Source,
}

impl File {
    fn is_replacement(&self) -> bool {
        REPLACEMENTS.iter().any(|name| self.shown.ends_with(name))
    }
}

/// Crate without its tests.
pub(super) struct Crate {
    /// Path from the root of the repository.
    shown: String,
    files: Vec<File>,
    modules: BTreeSet<Vec<String>>,
}

impl Crate {
    /// Parses sources, given as paths from the root of the crate and texts; `shown` is the path of that root.
    pub(super) fn read(shown: &str, sources: &[(PathBuf, String)]) -> Self {
        let file = |(path, text): &(PathBuf, String)| File {
            shown: format!("{shown}/{}", path.display()),
            folder: path.parent().unwrap_or(Path::new("")).to_path_buf(),
            module: module_of(path),
            source: Source::read(text),
        };
        let mut files: Vec<File> = sources.iter().map(file).collect();
        let below =
            |file: &File, name: &String| [&file.module[..], std::slice::from_ref(name)].concat();
        let tests =
            files.iter().flat_map(|file| file.source.tests.iter().map(|name| below(file, name)));
        let tests: Vec<Vec<String>> = tests.collect();
        files.retain(|file| !tests.iter().any(|test| file.module.starts_with(test)));
        let modules = files.iter().map(|file| file.module.clone()).collect();
        Self { shown: shown.to_owned(), files, modules }
    }

    /// Returns the path of the module or item of the crate that a file uses, if it is in the crate.
    fn used(&self, file: &File, used: &Use) -> Option<Vec<String>> {
        let mut base = [&file.module[..], &used.inside].concat();
        let mut path = &used.path[..];
        match path.first()?.as_str() {
            "crate" => (base, path) = (Vec::new(), &path[1..]),
            "self" => path = &path[1..],
            "super" => {
                while path.first().is_some_and(|part| part == "super") {
                    base.pop()?;
                    path = &path[1..];
                }
            }
            // Of names in scope, only submodules of the file are sure to be in the crate.
            first => {
                let child = [&base[..], &[first.to_owned()]].concat();
                self.modules.contains(&child).then_some(())?;
            }
        }
        base.extend_from_slice(path);
        Some(base)
    }

    /// Checks that a module below `base` imports only from its own layer and those before it, and, if `base` is not the
    /// root, that it imports items from the modules that define them.
    pub(super) fn imports_upward(
        &self,
        base: &ModulePath,
        layers: &BTreeMap<String, usize>,
        found: &mut Vec<String>,
    ) {
        let below = |path: &ModulePath| path.strip_prefix(base)?.first().cloned();
        for file in &self.files {
            let Some(module) = below(&file.module) else { continue };
            let Some(layer) = layers.get(&module) else { continue };
            for used in &file.source.uses {
                let Some(other) = self.used(file, used).and_then(|path| below(&path)) else {
                    continue;
                };
                let place = format!("{}:{}", file.shown, used.line);
                match layers.get(&other) {
                    Some(above) if above > layer => {
                        found.push(format!("{place}: `{module}` imports from `{other}`, a later layer"));
                    }
                    None if !base.is_empty() => found.push(format!(
                        "{place}: `{other}` is not a module; import items from where they are defined"
                    )),
                    _ => {}
                }
            }
        }
    }

    /// Checks that no folder has too many files, and that the files of large folders do not form a cycle.
    pub(super) fn folders(&self, found: &mut Vec<String>) {
        let mut folders: BTreeMap<&Path, usize> = BTreeMap::new();
        for file in &self.files {
            *folders.entry(&file.folder).or_default() += 1;
        }
        for (folder, count) in folders {
            let shown = match folder.as_os_str().is_empty() {
                true => self.shown.clone(),
                false => format!("{}/{}", self.shown, folder.display()),
            };
            if count > FOLDER_FILES {
                found.push(format!(
                    "{shown}: {count} files, at most {FOLDER_FILES}: move some to a submodule"
                ));
            }
            if count > FREE_FILES {
                let module = module_of(&folder.join("mod.rs"));
                let cycles = self.cycles(&module);
                found.extend(
                    cycles
                        .iter()
                        .map(|cycle| format!("{shown}: a cycle of files: {}", cycle.join(" -> "))),
                );
            }
        }
    }

    /// Returns the cycles among the files and submodules of a module, each from a name back to itself; `mod` is the
    /// module's own file.
    fn cycles(&self, module: &ModulePath) -> Vec<Vec<String>> {
        let edges = self.edges(module);
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut cycles = Vec::new();
        for from in edges.keys() {
            let Some(cycle) = path(&edges, from, from) else { continue };
            // One cycle of each strongly connected component is reported.
            if !seen.contains(from.as_str()) {
                let component = edges.keys().filter(|name| {
                    path(&edges, from, name).is_some() && path(&edges, name, from).is_some()
                });
                seen.extend(component.map(String::as_str));
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// Returns, for each file and submodule of a module, those that it uses.
    fn edges(&self, module: &ModulePath) -> BTreeMap<String, BTreeSet<String>> {
        let own = String::from("mod");
        let inside = || self.files.iter().filter(|file| file.module.starts_with(module));
        let node = |path: &ModulePath| path.get(module.len()).cloned();
        let nodes: BTreeSet<String> = inside().filter_map(|file| node(&file.module)).collect();
        // All files know the imports and exports of the module's own file by their names there.
        let mut names = BTreeMap::new();
        for file in inside().filter(|file| file.module == module) {
            for used in &file.source.uses {
                let name = used.imported.as_ref().filter(|name| !nodes.contains(*name));
                let of = self.used(file, used).and_then(|path| node(&path));
                if let (Some(name), Some(of)) = (name, of.filter(|of| nodes.contains(of))) {
                    names.insert(name.clone(), of);
                }
            }
        }
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for file in inside() {
            let from = node(&file.module).unwrap_or_else(|| own.clone());
            for used in &file.source.uses {
                let is_passed_on = from == own && used.exported.is_some();
                let Some(path) = self.used(file, used).filter(|path| path.starts_with(module))
                else {
                    continue;
                };
                let to = match node(&path) {
                    Some(name) if nodes.contains(&name) => name,
                    Some(name) => names.get(&name).unwrap_or(&own).clone(),
                    None => own.clone(),
                };
                if to != from && !is_passed_on {
                    edges.entry(from.clone()).or_default().insert(to);
                }
            }
        }
        edges
    }

    /// Checks that a constant is defined only once: others that need it import it.
    pub(super) fn constants(&self, found: &mut Vec<String>) {
        let mut first: BTreeMap<(&str, &str), (&File, usize)> = BTreeMap::new();
        for file in &self.files {
            for constant in &file.source.constants {
                let (name, line) = (constant.name.as_str(), constant.line);
                if OF_FORMATS.contains(&name) {
                    continue;
                }
                if let Some((other, at)) = first.get(&(name, constant.value.as_str())) {
                    let place = format!("{}:{at}", other.shown);
                    found.push(format!(
                        "{}:{line}: `{name}` is also defined in {place}",
                        file.shown
                    ));
                } else {
                    first.insert((name, &constant.value), (file, line));
                }
            }
        }
    }

    /// Reports types with the name of another one. Files that replace others without a feature are skipped.
    pub(super) fn types(&self, found: &mut Vec<String>) {
        let mut first: BTreeMap<&str, &File> = BTreeMap::new();
        for file in self.files.iter().filter(|file| !file.is_replacement()) {
            for (line, name) in &file.source.types {
                let other = *first.entry(name).or_insert(file);
                if other.shown != file.shown {
                    let shown = &file.shown;
                    found.push(format!(
                        "{shown}:{line}: `{name}` is also the name of a type in {}",
                        other.shown
                    ));
                }
            }
        }
    }
}

/// Returns the module of a source file, given its path in the crate.
fn module_of(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let mut parts: Vec<String> =
        path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// Returns the shortest path of at least one step, both ends included.
fn path(edges: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &str) -> Option<Vec<String>> {
    let mut paths = vec![vec![from.to_owned()]];
    let mut seen = BTreeSet::new();
    let mut at = 0;
    while let Some(path) = paths.get(at).cloned() {
        at += 1;
        for next in path.last().and_then(|last| edges.get(last)).into_iter().flatten() {
            let longer = [&path[..], std::slice::from_ref(next)].concat();
            if next == to {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                paths.push(longer);
            }
        }
    }
    None
}

/// Returns the layer of each module that a file declares, from the line of its header that lists them: groups from
/// left to right. `shown` is the path of the file.
pub(super) fn layers(shown: &str, text: &str, found: &mut Vec<String>) -> BTreeMap<String, usize> {
    let line = text.lines().find(|line| line.starts_with("//! `") && line.contains(" | "));
    let groups = line.unwrap_or_default().trim_start_matches("//!").trim();
    let mut layers = BTreeMap::new();
    for (layer, group) in groups.trim_matches(['`', '.']).split('|').enumerate() {
        for module in group.split_whitespace() {
            layers.insert(module.to_owned(), layer);
        }
    }
    let tests = Source::read(text).tests;
    for line in text.lines() {
        let module = line.trim_start_matches("pub ").strip_prefix("mod ");
        if let Some(module) = module.and_then(|rest| rest.strip_suffix(';'))
            && !layers.contains_key(module)
            && !tests.iter().any(|test| test == module)
        {
            found.push(format!("{shown}: module `{module}` has no layer"));
        }
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: &str = "//! `error units | io | sort | job`.\npub mod error;\nmod stray;\n#[cfg(test)]\nmod tests;\n";

    fn read(sources: &[(&str, &str)]) -> Crate {
        let owned: Vec<_> =
            sources.iter().map(|&(path, text)| (path.into(), text.to_owned())).collect();
        Crate::read("src", &owned)
    }

    fn upward(file: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let layers = layers("lib.rs", LIB, &mut Vec::new());
        read(&[(file, text)]).imports_upward(&[], &layers, &mut found);
        found
    }

    #[test]
    fn layers_are_read_and_unlisted_modules_named() {
        let mut found = Vec::new();
        assert_eq!(layers("lib.rs", LIB, &mut found)["sort"], 2);
        assert_eq!(found, ["lib.rs: module `stray` has no layer"]);
    }

    #[test]
    fn a_module_does_not_import_from_later_layers() {
        assert_eq!(upward("sort/run.rs", "use crate::io::Files;\nuse crate::sort::X;"), [""; 0]);
        let found = ["src/sort/run.rs:1: `sort` imports from `job`, a later layer"];
        assert_eq!(upward("sort/run.rs", "fn f() { crate::job::run() }"), found);
        assert_eq!(upward("sort/run.rs", "use crate::{io, job::run};"), found);
        assert_eq!(upward("sort/mod.rs", "use super::job;").len(), 1);
        assert_eq!(
            upward("sort/run.rs", "#[cfg(test)]\nmod tests {\nuse crate::job::X;}"),
            [""; 0]
        );
    }

    #[test]
    fn a_submodule_imports_neither_from_later_layers_nor_items_of_its_parent() {
        let ordered = layers("mod.rs", "//! `base | drive`.\n", &mut Vec::new());
        let checked = |file: &str, text: &str| {
            let mut found = Vec::new();
            read(&[(file, text)]).imports_upward(&["m".to_owned()], &ordered, &mut found);
            found
        };
        let left = "use crate::m::base::bits::Bits;\nuse super::job::Job;\nuse crate::sort::X;";
        assert_eq!(checked("m/drive/run.rs", left), [""; 0]);
        for right in ["use crate::m::drive::run::a;", "use super::super::drive::run;"] {
            let found = checked("m/base/bits.rs", right);
            assert_eq!(found, ["src/m/base/bits.rs:1: `base` imports from `drive`, a later layer"]);
        }
        for item in ["Job", "{Job, Limits}", "{\n    Job,\n}"] {
            let text = format!("use crate::m::{item};");
            assert!(!checked("m/base/bits.rs", &text).is_empty(), "{text}");
        }
    }

    /// Checks a folder of at least nine files, of which these are some.
    fn folder(sources: &[(&str, &str)]) -> Vec<String> {
        let empty = ["q", "r", "s", "t", "u", "v", "w"].map(|name| format!("m/{name}.rs"));
        let mut all: Vec<_> = empty.iter().map(|path| (path.as_str(), "")).collect();
        all.extend_from_slice(sources);
        let mut found = Vec::new();
        read(&all).folders(&mut found);
        found
    }

    #[test]
    fn cycles_are_found_also_through_the_folder_itself() {
        let one = ("m/a.rs", "use super::b::B;");
        let cycle = |between: &str| [format!("src/m: a cycle of files: {between}")];
        assert_eq!(folder(&[one, ("m/b.rs", "")]), [""; 0]);
        assert_eq!(folder(&[one, ("m/b.rs", "use super::a::A;")]), cycle("a -> b -> a"));
        // An exported name refers to the file that defines it.
        let exports = ("m/mod.rs", "mod a;\nmod b;\npub use b::B;\npub(crate) use a::A as C;");
        let by_name = [exports, ("m/a.rs", "use super::B;"), ("m/b.rs", "use crate::m::C;")];
        assert_eq!(folder(&by_name), cycle("a -> b -> a"));
        let calls = ("m/mod.rs", "mod a;\nfn f() { a::g() }");
        assert_eq!(folder(&[calls, ("m/a.rs", "use super::f;")]), cycle("a -> mod -> a"));
        assert_eq!(folder(&[exports, ("m/a.rs", "use super::B;"), ("m/b.rs", "")]), [""; 0]);
    }

    #[test]
    fn a_submodule_counts_as_one_and_tests_do_not_count() {
        let submodule = [
            ("m/a.rs", "use super::b::B;"),
            ("m/b/mod.rs", ""),
            ("m/b/c.rs", "use crate::m::a::A;"),
        ];
        assert_eq!(folder(&submodule), [""; 0], "eight files may have cycles");
        let nine = [&submodule[..], &[("m/x.rs", "")]].concat();
        assert_eq!(folder(&nine), ["src/m: a cycle of files: a -> b -> a"]);
        let tested = [
            ("m/a.rs", "use super::b::B;"),
            ("m/b.rs", "#[cfg(test)]\nmod tests;"),
            ("m/b/tests.rs", "use crate::m::a::A;"),
        ];
        assert_eq!(folder(&tested), [""; 0]);
    }

    #[test]
    fn large_folders_are_reported() {
        let many: Vec<String> = (0..=FOLDER_FILES).map(|at| format!("m/f{at}.rs")).collect();
        let many: Vec<_> = many.iter().map(|path| (path.as_str(), "")).collect();
        let (mut found, mut fits) = (Vec::new(), Vec::new());
        read(&many).folders(&mut found);
        read(&many[1..]).folders(&mut fits);
        assert_eq!((found.len(), fits.len()), (1, 0));
    }

    #[test]
    fn duplicate_names_of_types_are_reported() {
        let types = |files: &[(&str, &str)]| {
            let mut found = Vec::new();
            read(files).types(&mut found);
            found
        };
        let one =
            ("a.rs", "pub(crate) struct A<T>(T);\n#[cfg(x)]\nstruct B;\n#[cfg(y)]\nenum B {}");
        assert_eq!(
            types(&[one, ("b.rs", "fn f() { struct A; }\nimpl T for C { type A = B; }")]),
            [""; 0]
        );
        assert_eq!(types(&[one, ("table/absent.rs", "enum A {}")]), [""; 0]);
        let twice = ["src/b.rs:2: `A` is also the name of a type in src/a.rs"];
        assert_eq!(types(&[one, ("b.rs", "\ntype A = B;")]), twice);
    }

    #[test]
    fn duplicate_constants_are_reported() {
        let mut found = Vec::new();
        let twice = [
            ("a.rs", "const A: u64 = 1 << 10;"),
            ("b.rs", "const A: usize = 1024;\nconst B: u8 = 1;"),
        ];
        read(&twice).constants(&mut found);
        assert_eq!(found, ["src/b.rs:1: `A` is also defined in src/a.rs:1"]);
    }
}
