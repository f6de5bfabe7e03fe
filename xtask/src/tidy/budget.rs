//! Budgets of the engine: lines of each crate, and shapes of code that hide too much, counted from the sources.
//!
//! `xtask/budget.toml` has what stands. A change that exceeds a budget takes something out in the same change, or raises
//! the budget and says why; one that takes much out lowers it, so that it cannot be spent unnoticed. Files and folders of
//! tests do not count; modules of tests inside a source count as lines, but not as shapes. `cargo xtask budget` lists what
//! is counted.

use super::{ENGINE, read};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Path of the budgets.
const BUDGETS: &str = "xtask/budget.toml";
/// Lines of a function, from its name to its end, that fit on a screen.
const FUNCTION_LINES: usize = 70;
/// Fields of a struct that a reader can keep in mind.
const STRUCT_FIELDS: usize = 12;
/// Share of a budget that may be left unused.
const UNUSED: f64 = 0.02;

/// Places of shapes of code of which there should be few.
#[derive(Debug, Default)]
struct Shapes {
    /// Source that is read.
    path: String,
    /// Parameters that are tuples: several parameters under one, without a name.
    tuple_parameters: Vec<String>,
    long_functions: Vec<String>,
    large_structs: Vec<String>,
}

/// Checks the budgets.
pub(super) fn check(root: &Path, found: &mut Vec<String>) {
    let text = read(&root.join(BUDGETS));
    let budgets = budgets(&text);
    for (name, count, _) in counts(root) {
        match budgets.get(name.as_str()) {
            None => {
                found.push(format!("{BUDGETS}: no budget of `{name}`, of which there are {count}"))
            }
            Some(&budget) => found.extend(compare(&name, count, budget)),
        }
    }
}

/// Returns what is wrong with a count, if anything.
fn compare(name: &str, count: usize, budget: usize) -> Option<String> {
    let least = budget - (budget as f64 * UNUSED) as usize;
    if count > budget {
        return Some(format!(
            "`{name}`: {count}, at most {budget}: take something out (`cargo xtask budget` lists them), or raise it in {BUDGETS} and say why"
        ));
    }
    (count < least).then(|| format!("`{name}`: {count}, far below {budget}: lower {BUDGETS}"))
}

/// Returns the budget of each name: lines `name = number`.
fn budgets(text: &str) -> BTreeMap<&str, usize> {
    let rows = text.lines().filter_map(|line| line.split_once('='));
    rows.filter_map(|(name, number)| Some((name.trim(), number.trim().parse().ok()?))).collect()
}

/// Returns all counts, and the places of shapes, a line each.
pub(crate) fn list(root: &Path) -> Vec<String> {
    let lines = |(name, count, places): (String, usize, Vec<String>)| {
        std::iter::once(format!("{name} = {count}"))
            .chain(places.into_iter().map(|at| format!("# {at}")))
    };
    counts(root).into_iter().flat_map(lines).collect()
}

/// Counts what has a budget; returns names, counts and places.
fn counts(root: &Path) -> Vec<(String, usize, Vec<String>)> {
    let mut counts = Vec::new();
    let mut shapes = Shapes::default();
    for name in ENGINE {
        let mut lines = 0;
        for path in sources(&root.join("crates").join(name).join("src")) {
            let text = read(&path);
            lines += text.lines().count();
            shapes.path = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            shapes.add(&text);
        }
        counts.push((name.to_owned(), lines, Vec::new()));
    }
    let Shapes { tuple_parameters, long_functions, large_structs, .. } = shapes;
    for (name, mut places) in [
        ("tuple-parameters", tuple_parameters),
        ("long-functions", long_functions),
        ("large-structs", large_structs),
    ] {
        places.sort_unstable();
        counts.push((name.to_owned(), places.len(), places));
    }
    counts
}

/// Returns the sources in a folder without files and folders of tests.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let (mut all, mut directories) = (Vec::new(), vec![directory.to_path_buf()]);
    while let Some(directory) = directories.pop() {
        let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            if stem == "tests" || stem.ends_with("_tests") {
                continue;
            }
            match path.is_dir() {
                true => directories.push(path),
                false if path.extension().is_some_and(|found| found == "rs") => all.push(path),
                false => {}
            }
        }
    }
    all
}

impl Shapes {
    /// Counts the shapes in a source.
    fn add(&mut self, text: &str) {
        if let Ok(file) = syn::parse_file(text) {
            self.visit_file(&file);
        }
    }

    fn place(&self, name: &syn::Ident) -> String {
        format!("{}:{} {name}", self.path, name.span().start().line)
    }

    fn add_signature(&mut self, signature: &syn::Signature) {
        let is_tuple = |input: &&syn::FnArg| match input {
            syn::FnArg::Receiver(_) => false,
            syn::FnArg::Typed(typed) => {
                matches!(&*typed.pat, syn::Pat::Tuple(_))
                    || matches!(&*typed.ty, syn::Type::Tuple(_))
            }
        };
        for _ in signature.inputs.iter().filter(is_tuple) {
            self.tuple_parameters.push(self.place(&signature.ident));
        }
    }

    fn add_function(&mut self, signature: &syn::Signature, end: proc_macro2::Span) {
        self.add_signature(signature);
        if end.end().line + 1 - signature.span().start().line > FUNCTION_LINES {
            self.long_functions.push(self.place(&signature.ident));
        }
    }
}

impl<'ast> Visit<'ast> for Shapes {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add_function(&function.sig, function.block.span());
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add_function(&function.sig, function.block.span());
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        match &function.default {
            Some(block) => self.add_function(&function.sig, block.span()),
            None => self.add_signature(&function.sig),
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if item.fields.len() > STRUCT_FIELDS {
            self.large_structs.push(self.place(&item.ident));
        }
        visit::visit_item_struct(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_counted_outside_of_tests() {
        let fields: String = (0..=STRUCT_FIELDS).map(|at| format!("f{at}: u8, ")).collect();
        let lines = "\n".repeat(FUNCTION_LINES);
        let text = format!(
            "struct A {{ {fields} }}\nstruct B {{ a: (u8, u8) }}\nfn a((b, c): (u8, u8), d: (u8, u8), e: &(u8, u8)) {{{lines}}}\n\
             impl B {{ fn f(&self, of: [(u8, u8); 2]) {{ let g = |(a, b)| a; }} }}\n\
             trait T {{ fn g(a: (u8, u8)); }}\nmod tests {{ fn t(a: (u8, u8)) {{}} }}"
        );
        let mut shapes = Shapes::default();
        shapes.add(&text);
        assert_eq!(
            shapes.tuple_parameters,
            [":3 a", ":3 a", &format!(":{} g", FUNCTION_LINES + 5)]
        );
        assert_eq!(
            (shapes.long_functions, shapes.large_structs),
            (vec![":3 a".to_owned()], vec![":1 A".to_owned()])
        );
    }

    #[test]
    fn a_budget_is_neither_exceeded_nor_left() {
        let budgets = budgets("# Lines.\noutcore-io = 1000\nlarge-structs = 3\n");
        assert_eq!(budgets, BTreeMap::from([("outcore-io", 1000), ("large-structs", 3)]));
        assert_eq!(compare("a", 1000, 1000), None);
        assert_eq!(compare("a", 980, 1000), None);
        assert!(compare("a", 1001, 1000).is_some() && compare("a", 979, 1000).is_some());
        assert!(compare("a", 1, 0).is_some() && compare("a", 0, 1).is_some());
    }
}
