//! The interface of the engine as a list of declarations, read from the sources: `crates/outcore/public-api.txt`.
//!
//! Any change to what other crates may use changes that file, so that a person reviews it. The list needs only the
//! sources, not a compiler of a certain version, as tools do that read the output of rustdoc: it has the items that
//! `pub` modules of each crate define or re-export with `pub use`, and their public fields, methods and traits.

use crate::tidy::ENGINE;
use quote::ToTokens;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::{
    Attribute, Field, Fields, ImplItem, Item, ItemImpl, Meta, TraitItem, Type, UseTree, Variant,
    Visibility,
};

/// Path of the list.
pub(crate) const LIST: &str = "crates/outcore/public-api.txt";

/// Creates the list from the sources of some crates.
fn list(root: &Path, crates: &[&str]) -> Result<String, String> {
    let mut text = String::new();
    for name in crates {
        let source = root.join("crates").join(name).join("src");
        let mut sources = Sources::default();
        sources.read(&source.join("lib.rs"), &source, &[])?;
        sources.show(&[], &name.replace('-', "_"), &mut text)?;
    }
    Ok(text.trim_start().to_owned())
}

/// Returns the differences between list and sources: a line for each declaration that was removed or added.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    let old = std::fs::read_to_string(root.join(LIST)).unwrap_or_default();
    list(root, &ENGINE).map_or_else(|error| vec![error], |new| differences(&old, &new))
}

/// Updates the list; returns errors.
pub(crate) fn write(root: &Path) -> Vec<String> {
    let written = list(root, &ENGINE).and_then(|text| {
        std::fs::write(root.join(LIST), text).map_err(|error| format!("{LIST}: {error}"))
    });
    written.err().into_iter().collect()
}

fn differences(old: &str, new: &str) -> Vec<String> {
    let has = |text: &str, line: &str| text.lines().any(|other| other == line);
    let removed = old.lines().filter(|line| !has(new, line)).map(|line| format!("- {line}"));
    let added = new.lines().filter(|line| !has(old, line)).map(|line| format!("+ {line}"));
    let hint = (old != new).then(|| format!("{LIST} is out of date: `cargo xtask api --write`"));
    removed.chain(added).chain(hint).collect()
}

/// Path of names from the root of the crate.
type Names = Vec<String>;

#[derive(Default)]
struct Module {
    items: Vec<Item>,
    /// Imports: name in this module, path that it refers to, and whether it is public.
    uses: Vec<(String, Names, bool)>,
}

/// All modules by their paths, and all `impl` blocks with the modules that contain them.
#[derive(Default)]
struct Sources {
    modules: BTreeMap<Names, Module>,
    impls: Vec<(Names, ItemImpl)>,
}

impl Sources {
    /// Reads the module in `file`, whose submodules are in `directory`.
    fn read(&mut self, file: &Path, directory: &Path, names: &[String]) -> Result<(), String> {
        let failed = |what: &dyn std::fmt::Display| format!("{}: {what}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| failed(&error))?;
        let parsed = syn::parse_file(&text).map_err(|error| failed(&error))?;
        self.take(parsed.items, directory, names)
    }

    fn take(&mut self, items: Vec<Item>, directory: &Path, names: &[String]) -> Result<(), String> {
        let mut module = Module::default();
        for item in items {
            match item {
                Item::Mod(inner) if is_built(&inner.attrs) => {
                    let name = inner.ident.to_string();
                    let below = [names, std::slice::from_ref(&name)].concat();
                    let inside = directory.join(&name);
                    match inner.content.clone() {
                        Some((_, items)) => self.take(items, &inside, &below)?,
                        None => {
                            self.read(&file_of(&inner.attrs, directory, &name), &inside, &below)?
                        }
                    }
                    module.items.push(Item::Mod(inner));
                }
                Item::Mod(_) => {}
                Item::Use(line) => {
                    let is_public = matches!(line.vis, Visibility::Public(_));
                    leaves(&line.tree, &mut Vec::new(), &mut |name, path| {
                        module.uses.push((name, path, is_public));
                    });
                }
                Item::Impl(block) => self.impls.push((names.to_vec(), block)),
                item => module.items.push(item),
            }
        }
        self.modules.insert(names.to_vec(), module);
        Ok(())
    }

    /// Resolves a path used in a module: returns the module and the name of the item.
    fn resolve(&self, module: &[String], path: &[String]) -> Option<(Names, String)> {
        let mut at = module.to_vec();
        for (index, name) in path.iter().enumerate() {
            let rest = &path[index + 1..];
            let below = [&at[..], std::slice::from_ref(name)].concat();
            match name.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ if self.modules.contains_key(&below) => at = below,
                name => {
                    let here = self.modules.get(&at)?;
                    if here.items.iter().any(|item| name_of(item).as_deref() == Some(name)) {
                        return rest.is_empty().then(|| (at, name.to_owned()));
                    }
                    let (_, used, _) = here.uses.iter().find(|(used, ..)| used == name)?;
                    let is_itself = used.len() == 1 && used[0] == name;
                    let on = [&used[..], rest].concat();
                    return if is_itself { None } else { self.resolve(&at, &on) };
                }
            }
        }
        None
    }

    /// Appends the public items of a module, followed by its public modules.
    fn show(&self, names: &[String], title: &str, text: &mut String) -> Result<(), String> {
        let (mut shown, mut below) = (BTreeMap::new(), BTreeMap::new());
        self.collect(names, &mut shown, &mut below)?;
        *text += &format!("\n# {title}\n");
        for line in shown.into_values().flatten() {
            *text += &line;
            text.push('\n');
        }
        for (name, inside) in below {
            self.show(&inside, &format!("{title}::{name}"), text)?;
        }
        Ok(())
    }

    /// Collects the declarations of a module by name, and its public modules, including what it re-exports as a whole.
    fn collect(
        &self,
        names: &[String],
        shown: &mut BTreeMap<String, Vec<String>>,
        below: &mut BTreeMap<String, Names>,
    ) -> Result<(), String> {
        let missing = || format!("no module {}", names.join("::"));
        let module = self.modules.get(names).ok_or_else(missing)?;
        for item in module.items.iter().filter(|item| open(item).0) {
            match (item, name_of(item)) {
                (Item::Mod(inner), _) => {
                    let name = inner.ident.to_string();
                    below.insert(name.clone(), [names, &[name]].concat());
                }
                (_, Some(name)) => drop(shown.insert(name, self.declared(names, item))),
                _ => {}
            }
        }
        for (name, path, _) in module.uses.iter().filter(|(.., is_public)| *is_public) {
            let whole = [names, &path[..path.len() - 1]].concat();
            if name == "*" && self.modules.contains_key(&whole) {
                self.collect(&whole, shown, below)?;
                continue;
            }
            let found = self.resolve(names, path).and_then(|(home, own)| {
                let item = self.modules[&home].items.iter();
                let mut item = item.filter(|item| name_of(item).as_ref() == Some(&own));
                Some(self.declared(&home, item.next()?))
            });
            let lines = found.unwrap_or_else(|| vec![format!("pub use {}", path.join("::"))]);
            shown.insert(name.clone(), lines);
        }
        Ok(())
    }

    /// Returns the declaration of an item, followed by its public members and those of its `impl` blocks.
    fn declared(&self, home: &[String], item: &Item) -> Vec<String> {
        let name = name_of(item).unwrap_or_default();
        let mut methods = Vec::new();
        for (module, block) in &self.impls {
            let Type::Path(path) = &*block.self_ty else { continue };
            let path: Names =
                path.path.segments.iter().map(|part| part.ident.to_string()).collect();
            let is_of_it = path.last() == Some(&name)
                && self
                    .resolve(module, &path)
                    .is_some_and(|found| found.0 == home && found.1 == name);
            if is_of_it && is_built(&block.attrs) {
                methods.extend(members(block));
            }
        }
        methods.sort();
        methods.dedup();
        let lines = inside(item).into_iter().chain(methods).map(|line| format!("    {line}"));
        std::iter::once(declaration(item)).chain(lines).collect()
    }
}

/// Returns the path of a module that has its own file.
fn file_of(attributes: &[Attribute], directory: &Path, name: &str) -> PathBuf {
    let given = attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => Some(printed(&pair.value)),
        _ => None,
    });
    let plain = directory.join(format!("{name}.rs"));
    match given {
        Some(given) => directory.join(given.trim_matches('"')),
        None if plain.exists() => plain,
        None => directory.join(name).join("mod.rs"),
    }
}

/// Calls `each` with the name and the path of every import of a `use`.
fn leaves(tree: &UseTree, path: &mut Names, each: &mut impl FnMut(String, Names)) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            leaves(&part.tree, path, each);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, path, each)),
        UseTree::Name(leaf) if leaf.ident == "self" => {
            each(path.last().cloned().unwrap_or_default(), path.clone());
        }
        UseTree::Name(leaf) => {
            let name = leaf.ident.to_string();
            each(name.clone(), [&path[..], &[name]].concat());
        }
        UseTree::Rename(leaf) => {
            each(leaf.rename.to_string(), [&path[..], &[leaf.ident.to_string()]].concat());
        }
        UseTree::Glob(_) => each("*".into(), [&path[..], &["*".into()]].concat()),
    }
}

/// Returns whether an item is compiled with all features, and not only in tests.
fn is_built(attributes: &[Attribute]) -> bool {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.map(printed).all(|text| !text.contains("(test)") && !text.contains("not(feature"))
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Returns whether an item is public, and its attributes.
fn open(item: &Item) -> (bool, &[Attribute]) {
    let (visibility, attributes) = match item {
        Item::Const(item) => (&item.vis, &item.attrs),
        Item::Enum(item) => (&item.vis, &item.attrs),
        Item::Fn(item) => (&item.vis, &item.attrs),
        Item::Mod(item) => (&item.vis, &item.attrs),
        Item::Static(item) => (&item.vis, &item.attrs),
        Item::Struct(item) => (&item.vis, &item.attrs),
        Item::Trait(item) => (&item.vis, &item.attrs),
        Item::Type(item) => (&item.vis, &item.attrs),
        _ => return (false, &[]),
    };
    (matches!(visibility, Visibility::Public(_)), attributes)
}

/// Returns the declaration of an item in one line, without its members, with the attributes that matter to its users.
fn declaration(item: &Item) -> String {
    let relevant = ["derive", "non_exhaustive", "must_use", "repr"];
    let attributes = open(item).1.iter();
    let attributes =
        attributes.filter(|given| relevant.iter().any(|name| given.path().is_ident(name)));
    let attributes: String = attributes.map(|attribute| printed(attribute) + " ").collect();
    let declared = match item {
        Item::Const(item) => format!("const {}: {}", item.ident, printed(&item.ty)),
        Item::Static(item) => format!("static {}: {}", item.ident, printed(&item.ty)),
        Item::Fn(item) => printed(&item.sig),
        Item::Struct(item) => format!("struct {}{}", item.ident, printed(&item.generics)),
        Item::Enum(item) => format!("enum {}{}", item.ident, printed(&item.generics)),
        Item::Trait(item) => {
            let above = item.supertraits.iter().map(printed).collect::<Vec<_>>().join(" + ");
            format!("trait {}{}: {above}", item.ident, printed(&item.generics))
        }
        Item::Type(item) => {
            format!("type {}{} = {}", item.ident, printed(&item.generics), printed(&item.ty))
        }
        _ => String::new(),
    };
    format!("{attributes}pub {declared}")
}

/// Returns public fields, variants, or required and provided items of a trait, in their order.
fn inside(item: &Item) -> Vec<String> {
    match item {
        Item::Struct(item) => {
            let is_public = |field: &&Field| matches!(field.vis, Visibility::Public(_));
            let shown = item.fields.iter().filter(is_public);
            let mut lines: Vec<String> =
                shown.map(|field| format!("pub {}", field_of(field))).collect();
            // Private fields matter to code that matches or creates the type.
            lines.extend((lines.len() < item.fields.len()).then(|| "..".to_owned()));
            lines
        }
        Item::Enum(item) => item.variants.iter().map(variant_of).collect(),
        Item::Trait(item) => item.items.iter().filter_map(asked).collect(),
        _ => Vec::new(),
    }
}

fn field_of(field: &Field) -> String {
    let name = field.ident.as_ref().map(|name| format!("{name}: "));
    name.unwrap_or_default() + &printed(&field.ty)
}

fn variant_of(variant: &Variant) -> String {
    let fields = variant.fields.iter().map(field_of).collect::<Vec<_>>().join(", ");
    let name = &variant.ident;
    match variant.fields {
        Fields::Unit => name.to_string(),
        Fields::Named(_) => format!("{name} {{ {fields} }}"),
        Fields::Unnamed(_) => format!("{name}({fields})"),
    }
}

/// Returns the declaration of an item of a trait; an item with a body is optional for implementations.
fn asked(item: &TraitItem) -> Option<String> {
    Some(match item {
        TraitItem::Const(item) => format!("const {}: {}", item.ident, printed(&item.ty)),
        TraitItem::Type(item) => {
            let above = item.bounds.iter().map(printed).collect::<Vec<_>>().join(" + ");
            format!("type {}: {above}", item.ident)
        }
        TraitItem::Fn(item) if item.default.is_some() => printed(&item.sig) + " { .. }",
        TraitItem::Fn(item) => printed(&item.sig),
        _ => return None,
    })
}

/// Returns the public items of an `impl` block; for a trait, only that the type implements it.
fn members(block: &ItemImpl) -> Vec<String> {
    if let Some((name, _)) = &block.trait_ {
        let (generics, own) = (printed(&block.generics), printed(&block.self_ty));
        let condition = printed(&block.generics.where_clause);
        return vec![
            format!("impl{generics} {} for {own} {condition}", printed(name)).trim_end().to_owned(),
        ];
    }
    let is_public = |visibility: &Visibility| matches!(visibility, Visibility::Public(_));
    let line = |item: &ImplItem| match item {
        ImplItem::Fn(item) if is_public(&item.vis) => Some(format!("pub {}", printed(&item.sig))),
        ImplItem::Const(item) if is_public(&item.vis) => {
            Some(format!("pub const {}: {}", item.ident, printed(&item.ty)))
        }
        _ => None,
    };
    block.items.iter().filter_map(line).collect()
}

/// Formats tokens as people write them.
fn printed(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string().replace('\n', " ");
    let closer = [
        (" ,", ","),
        (" ;", ";"),
        (" :", ":"),
        (": :", "::"),
        (" ::", "::"),
        (":: ", "::"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" [", "["),
        ("[ ", "["),
        (" ]", "]"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" ?", "?"),
        (" !", "!"),
        (",)", ")"),
        ("# [", "#["),
        (", >", ">"),
        (",>", ">"),
        ("->(", "-> ("),
        ("->[", "-> ["),
        ("=(", "= ("),
        (":(", ": ("),
        (":[", ": ["),
        ("&mut[", "&mut ["),
        ("(mut self", "(self"),
    ];
    for (from, to) in closer {
        text = text.replace(from, to);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(files: &[(&str, &str)]) -> String {
        let directory = std::env::temp_dir().join(format!("outcore-api-{}", std::process::id()));
        let source = directory.join("crates/outcore/src");
        for (name, text) in files {
            let path = source.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let text = list(&directory, &["outcore"]).unwrap();
        std::fs::remove_dir_all(directory).unwrap();
        text
    }

    #[test]
    fn exactly_the_public_items_are_listed() {
        let text = shown(&[
            (
                "lib.rs",
                "pub mod sort; mod error; mod pack; pub use error::{Error, Kind as K}; pub use pack::*;\n\
                 #[cfg(test)] pub mod tests;",
            ),
            (
                "error.rs",
                "pub struct Error(u8); pub enum Kind { A { b: u8 }, #[doc = \"x\"] C } pub struct No;",
            ),
            ("pack.rs", "pub fn packed() {} fn no() {}"),
            (
                "sort/mod.rs",
                "mod merge; use crate::error::Error; pub use merge::Run;\n\
                 /// Docs.\n#[derive(Clone)] pub struct Pair<T> { pub key: T, value: u64 }\n\
                 impl<T> Pair<T> { pub const N: u8 = 1; pub fn key(&self) -> &T { &self.key } fn no() {} }\n\
                 impl Default for Pair<u8> { fn default() -> Self { todo() } }\n\
                 impl Error { pub fn of_sort(self) -> Option<Box<dyn Fn(u8) -> u8>> { None } }\n\
                 pub(crate) fn inner() {} pub trait Record: Copy { const A: u8; fn a(&mut self); fn b() {} }",
            ),
            (
                "sort/merge.rs",
                "pub struct Run; use super::Pair; impl<T> Pair<T> { pub fn merged(self) {} }",
            ),
        ]);
        assert_eq!(
            text,
            "# outcore\n\
             pub struct Error\n    ..\n    pub fn of_sort(self) -> Option<Box<dyn Fn(u8) -> u8>>\n\
             pub enum Kind\n    A { b: u8 }\n    C\npub fn packed()\n\n\
             # outcore::sort\n\
             #[derive(Clone)] pub struct Pair<T>\n    pub key: T\n    ..\n    impl Default for Pair<u8>\n    \
             pub const N: u8\n    pub fn key(&self) -> &T\n    pub fn merged(self)\n\
             pub trait Record: Copy\n    const A: u8\n    fn a(&mut self)\n    fn b() { .. }\n\
             pub struct Run\n"
        );
    }

    #[test]
    fn changes_are_reported_line_by_line() {
        assert_eq!(differences("a\nb\n", "a\nb\n"), [""; 0]);
        let reported = differences("a\nb\n", "a\nc\n");
        assert_eq!(reported[..2], ["- b", "+ c"]);
        assert_eq!((reported.len(), differences("a\nb\n", "b\na\n").len()), (3, 1));
    }
}
