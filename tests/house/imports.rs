//! The import graph of a crate's source files, read from their syntax.
//!
//! A file imports another one when a `use` declaration or a path in its code names an item that the
//! other file owns. A re-export is followed to the file that declares the item and is no import by
//! itself. Test modules are left out.

use std::collections::{BTreeMap, BTreeSet};

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
}

#[cfg(test)]
mod tests {
    use super::ImportGraph;

    #[test]
    fn circles_are_found_through_re_exports_and_children() {
        let files = [
            ("lib.rs", "mod a; mod x; mod y; mod z; pub use y::Y;"),
            ("a/mod.rs", "mod b; pub struct A; fn f() { b::g() }"),
            ("a/b.rs", "use super::A; fn g() {} // crate::x::X"),
            ("x.rs", "use crate::Y as Other;"),
            ("y.rs", "fn f() { crate::z::g(); }"),
            (
                "z.rs",
                "use crate::x::X; #[cfg(test)] mod tests { use crate::a::A; }",
            ),
        ];
        let circles = ImportGraph::of(files.into_iter()).circles();
        assert_eq!(circles, [vec!["a", "a::b"], vec!["x", "y", "z"]]);
    }
}
