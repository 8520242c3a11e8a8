//! The import graph of the crate's source files, read from their syntax.
//!
//! A file imports another one when a `use` declaration or a path in its code names an item that the
//! other file owns. A re-export is followed to the file that declares the item and is no import by
//! itself. Test modules are left out.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// Path of a module below the crate root; empty for the root itself.
pub(crate) type Module = Vec<String>;

/// The files of the crate, by module, and what each imports.
pub(crate) struct ImportGraph {
    pub(crate) imports: BTreeMap<Module, BTreeSet<Module>>,
}

/// What one file declares and names.
#[derive(Default)]
struct File {
    /// Names that it re-exports, with the paths they stand for.
    re_exports: BTreeMap<String, Vec<String>>,
    /// Paths that its code names, as written.
    paths: Vec<Vec<String>>,
}

impl ImportGraph {
    /// Reads `sources`: paths below `src` with `/`, and their text.
    pub(crate) fn of<'a>(sources: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut files = BTreeMap::new();
        let mut test_modules = Vec::new();
        for (path, text) in sources {
            if path == "main.rs" {
                continue;
            }
            let module = module_of(path);
            let syntax = syn::parse_file(text).unwrap_or_else(|e| panic!("{path}: {e}"));
            let mut collector = Collector::default();
            collector.visit_file(&syntax);
            let tests = collector.test_modules.into_iter();
            test_modules.extend(tests.map(|name| [module.clone(), vec![name]].concat()));
            files.insert(module, collector.file);
        }
        files.retain(|module, _| !test_modules.iter().any(|tests| module.starts_with(tests)));
        let imports = files.iter().map(|(module, file)| {
            let targets = file.paths.iter();
            let targets =
                targets.filter_map(|path| owner(&files, &absolute(&files, module, path)?, 0));
            let others = targets.filter(|target| target != module && !target.is_empty());
            (module.clone(), others.collect())
        });
        Self {
            imports: imports.collect(),
        }
    }

    /// Files that import each other, directly or through others: one list for each such group.
    pub(crate) fn circles(&self) -> Vec<Vec<String>> {
        let reachable: BTreeMap<&Module, BTreeSet<&Module>> = self
            .imports
            .keys()
            .map(|from| (from, self.reachable(from)))
            .collect();
        let mut circles = BTreeSet::new();
        for (module, reached) in &reachable {
            if reached.contains(module) {
                let members = reached
                    .iter()
                    .filter(|other| reachable[*other].contains(module));
                circles.insert(members.map(|m| m.join("::")).collect::<Vec<_>>());
            }
        }
        circles.into_iter().collect()
    }

    fn reachable<'a>(&'a self, from: &'a Module) -> BTreeSet<&'a Module> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            let next = self.imports.get(module).into_iter().flatten();
            open.extend(next.filter(|target| reached.insert(*target)));
        }
        reached
    }

    /// Imports between rooms, the folders and files directly below `src`: the importing file, its
    /// room and the other room.
    pub(crate) fn between_rooms(&self) -> impl Iterator<Item = (String, &str, &Module)> {
        let edges = self.imports.iter().filter(|(from, _)| !from.is_empty());
        edges.flat_map(|(from, targets)| {
            let others = targets.iter().filter(|target| target[0] != from[0]);
            others.map(|target| (from.join("::"), from[0].as_str(), target))
        })
    }
}

/// The module that a file holds.
fn module_of(path: &str) -> Module {
    let mut parts: Module = path
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
        parts.pop();
    }
    parts
}

/// The path from the crate root that `path` stands for in `module`; `None` for other crates' items.
fn absolute(files: &BTreeMap<Module, File>, module: &Module, path: &[String]) -> Option<Module> {
    let mut base = module.clone();
    let mut rest = path;
    match path[0].as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|s| s == "super") {
                base.pop()?;
                rest = &rest[1..];
            }
        }
        // A child module; any other name is an item of this file or of another crate.
        child => {
            let child = [module.clone(), vec![child.to_owned()]].concat();
            files.get(&child)?;
        }
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// The file that declares the item at `path`, through re-exports.
fn owner(files: &BTreeMap<Module, File>, path: &Module, depth: usize) -> Option<Module> {
    let length = (0..=path.len())
        .rev()
        .find(|&n| files.contains_key(&path[..n]))?;
    let (module, rest) = (path[..length].to_vec(), &path[length..]);
    let re_exported = rest
        .first()
        .and_then(|name| files[&module].re_exports.get(name));
    if let Some(target) = re_exported.filter(|_| depth < 8)
        && let Some(mut target) = absolute(files, &module, target)
        && target != path[..=length]
    {
        target.extend(rest[1..].iter().cloned());
        return owner(files, &target, depth + 1);
    }
    Some(module)
}

/// The names that a file re-exports to everybody, without those of hidden modules.
pub(crate) fn public_names(text: &str) -> Vec<String> {
    let syntax = syn::parse_file(text).unwrap_or_else(|e| panic!("{e}"));
    let mut names = Vec::new();
    for item in &syntax.items {
        if let Item::Use(declaration) = item
            && matches!(declaration.vis, Visibility::Public(_))
        {
            leaves(&declaration.tree, Vec::new(), &mut names);
        }
    }
    names.into_iter().map(|(name, _)| name).collect()
}

#[derive(Default)]
struct Collector {
    file: File,
    test_modules: Vec<String>,
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .meta
                .require_list()
                .is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

/// The paths of a `use` declaration, each with the name it gives.
fn leaves(tree: &UseTree, mut path: Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            leaves(&part.tree, path, found);
        }
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|item| leaves(item, path.clone(), found)),
        UseTree::Glob(_) => found.push(("*".to_owned(), path)),
        UseTree::Name(name) => {
            // `a::{self}` names `a` itself.
            if name.ident != "self" {
                path.push(name.ident.to_string());
            }
            found.push((path.last().cloned().unwrap_or_default(), path));
        }
        UseTree::Rename(rename) => {
            path.push(rename.ident.to_string());
            found.push((rename.rename.to_string(), path));
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(module) if is_test(&module.attrs) => {
                self.test_modules.push(module.ident.to_string());
            }
            Item::Use(declaration) if is_test(&declaration.attrs) => {}
            Item::Use(declaration) => {
                let mut found = Vec::new();
                leaves(&declaration.tree, Vec::new(), &mut found);
                if matches!(declaration.vis, Visibility::Inherited) {
                    self.file
                        .paths
                        .extend(found.into_iter().map(|(_, path)| path));
                } else {
                    self.file.re_exports.extend(found);
                }
            }
            _ => visit::visit_item(self, item),
        }
    }

    /// The path in `pub(in path)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<_> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if segments.len() > 1 {
            self.file.paths.push(segments);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

impl Collector {
    /// Collects the paths in a macro's input, which has no syntax of its own.
    fn visit_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end_path(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.end_path(&mut path);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.visit_tokens(group.stream());
                    }
                }
            }
        }
        self.end_path(&mut path);
    }

    fn end_path(&mut self, path: &mut Vec<String>) {
        if path.len() > 1 {
            self.file.paths.push(std::mem::take(path));
        }
        path.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::ImportGraph;

    fn graph(files: &[(&'static str, &'static str)]) -> ImportGraph {
        ImportGraph::of(files.iter().copied())
    }

    fn edges(graph: &ImportGraph) -> Vec<String> {
        let edges = graph
            .imports
            .iter()
            .flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
        edges
            .map(|(from, to)| format!("{} -> {}", from.join("::"), to.join("::")))
            .collect()
    }

    #[test]
    fn imports_are_read_from_declarations_paths_and_macros() {
        let found = graph(&[
            ("lib.rs", "pub mod a; mod b; mod c; pub use b::B;"),
            (
                "a.rs",
                "use crate::{b::{self, B}, c::C as D}; // crate::d::E\nfn f() {}",
            ),
            (
                "b.rs",
                "pub struct B; pub(in crate::d) struct D; fn f() { crate::c::g(); }",
            ),
            ("c.rs", "fn g() { println!(\"{}\", crate::d::E); }"),
            ("d.rs", "pub const E: u32 = 0;"),
        ]);
        assert_eq!(edges(&found), ["a -> b", "a -> c", "b -> c", "c -> d"]);
        assert!(found.circles().is_empty());
    }

    #[test]
    fn re_exports_lead_to_the_file_that_owns_the_item() {
        let found = graph(&[
            ("lib.rs", "mod room; mod other;"),
            (
                "room/mod.rs",
                "mod leaf; mod user; pub use leaf::{Leaf, Leaf as Alias};",
            ),
            ("room/leaf.rs", "pub struct Leaf;"),
            ("room/user.rs", "use super::Alias;"),
            ("other.rs", "fn f(_: crate::room::Leaf) {}"),
        ]);
        assert_eq!(
            edges(&found),
            ["other -> room::leaf", "room::user -> room::leaf"]
        );
    }

    #[test]
    fn circles_are_found_between_parent_and_child_too() {
        let found = graph(&[
            ("lib.rs", "mod a; mod x; mod y; mod z;"),
            ("a/mod.rs", "mod b; pub struct A; fn f() { b::g() }"),
            ("a/b.rs", "use super::A; fn g() {}"),
            ("x.rs", "use crate::y::Y;"),
            ("y.rs", "use crate::z::Z;"),
            (
                "z.rs",
                "use crate::x::X; #[cfg(test)] mod tests { use crate::a::A; }",
            ),
        ]);
        assert_eq!(found.circles(), [vec!["a", "a::b"], vec!["x", "y", "z"]]);
        let rooms: Vec<_> = found
            .between_rooms()
            .map(|(file, _, to)| (file, to.join("::")))
            .collect();
        assert_eq!(rooms.len(), 3);
    }
}
