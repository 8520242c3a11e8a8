//! The import graph of a crate's source files, read from their syntax.
//!
//! A file imports another one when a `use` declaration or a path in its code names an item that the
//! other file owns. A re-export is followed to the file that declares the item and is not an import by
//! itself. Test modules are left out.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::graphmap::DiGraphMap;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// Path of a module below the crate root; empty for the root itself.
pub(crate) type Module = Vec<String>;

/// Declarations and paths of one file.
#[derive(Default)]
struct File {
    /// Paths of its re-exports, by the name under which they are visible.
    re_exports: BTreeMap<String, Vec<String>>,
    /// Paths in its code, as written.
    paths: Vec<Vec<String>>,
    test_modules: Vec<String>,
}

/// Groups of files of a crate that import each other, directly or through others, as lists with commas.
/// `sources` are paths from the crate's root with `/`, and texts.
pub(crate) fn circles<'a>(sources: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeSet<String> {
    let sources = sources.filter(|(path, _)| *path != "main.rs");
    let mut files: BTreeMap<Module, File> =
        sources.map(|(path, text)| (module_of(path), File::parse(path, text))).collect();
    let test_modules: Vec<Module> = files
        .iter()
        .flat_map(|(module, file)| file.test_modules.iter().map(|name| child(module, name)))
        .collect();
    files.retain(|module, _| !test_modules.iter().any(|tests| module.starts_with(tests)));
    let mut graph = DiGraphMap::<&Module, ()>::new();
    for (module, file) in &files {
        let paths = file.paths.iter();
        let owners = paths.filter_map(|path| owner(&files, &absolute(&files, module, path)?, 0));
        for imported in owners.filter(|owner| *owner != module && !owner.is_empty()) {
            graph.add_edge(module, imported, ());
        }
    }
    let groups = petgraph::algo::tarjan_scc(&graph).into_iter();
    let circles = groups.filter(|group| group.len() > 1).map(|group| {
        let modules: BTreeSet<String> = group.iter().map(|module| module.join("::")).collect();
        Vec::from_iter(modules).join(", ")
    });
    circles.collect()
}

/// As [`circles`], of the modules of a Python package, by their relative imports. Imports in functions and those for
/// type checkers count too. The package itself, and each folder of it, is the module in its `__init__.py`.
pub(crate) fn circles_of_python<'a>(
    sources: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<Vec<String>> {
    let files = Vec::from_iter(sources.map(|(path, text)| (python_module_of(path), path, text)));
    let modules = BTreeSet::from_iter(files.iter().map(|(module, ..)| module.clone()));
    let mut graph = DiGraphMap::<&Module, ()>::new();
    for (module, path, text) in &files {
        let is_folder = path.ends_with("__init__.py");
        let folder = if is_folder { &module[..] } else { &module[..module.len() - 1] };
        for (from, names) in relative_imports(text) {
            let dots = from.len() - from.trim_start_matches('.').len();
            let up = folder.len().checked_sub(dots - 1);
            let up = up.unwrap_or_else(|| panic!("{path}: {from} is outside of the package"));
            let below = from[dots..].split('.').filter(|part| !part.is_empty());
            let base: Module =
                folder[..up].iter().cloned().chain(below.map(str::to_owned)).collect();
            for name in names {
                // A name is a module of the folder, or an item of the module.
                let inner = child(&base, name);
                let imported = modules.get(&inner).or_else(|| modules.get(&base));
                let imported = imported.unwrap_or_else(|| panic!("{path}: no module {base:?}"));
                if imported != module {
                    graph.add_edge(module, imported, ());
                }
            }
        }
    }
    let groups = petgraph::algo::tarjan_scc(&graph).into_iter().filter(|group| group.len() > 1);
    let named =
        |module: &Module| if module.is_empty() { "__init__".into() } else { module.join(".") };
    let mut circles =
        Vec::from_iter(groups.map(|group| Vec::from_iter(group.into_iter().map(named))));
    circles.iter_mut().for_each(|circle| circle.sort_unstable());
    circles.sort_unstable();
    circles
}

/// The module that a file of a Python package holds; empty for the package's own `__init__.py`.
fn python_module_of(path: &str) -> Module {
    let path = path.trim_end_matches(".pyi").trim_end_matches(".py");
    path.split('/').filter(|part| *part != "__init__").map(str::to_owned).collect()
}

/// Modules with leading dots, as written, and the names that are imported from each, also over several lines.
fn relative_imports(text: &str) -> Vec<(&str, Vec<&str>)> {
    let statements = text.match_indices("from .").filter_map(|(at, _)| {
        let is_first = text[..at].rsplit('\n').next()?.trim().is_empty();
        let (module, names) = text[at..].strip_prefix("from ")?.split_once(" import ")?;
        let end = if names.starts_with('(') { ')' } else { '\n' };
        let names = names.trim_start_matches('(').split(end).next()?;
        let names = names.split(',').filter_map(|name| name.split_whitespace().next());
        (is_first && !module.contains('\n')).then(|| (module, names.collect()))
    });
    statements.collect()
}

/// Names that a file re-exports.
pub(crate) fn public_names(path: &str, text: &str) -> Vec<String> {
    File::parse(path, text).re_exports.into_keys().collect()
}

fn child(module: &[String], name: &str) -> Module {
    [module, &[name.to_owned()]].concat()
}

/// The module that a file holds.
fn module_of(path: &str) -> Module {
    let path = path.trim_end_matches(".rs");
    let mut parts: Module = path.split('/').map(str::to_owned).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
        parts.pop();
    }
    parts
}

/// The path from the crate root that `path` stands for in `module`; `None` for other crates' items.
fn absolute(files: &BTreeMap<Module, File>, module: &[String], path: &[String]) -> Option<Module> {
    let supers = path.iter().take_while(|name| *name == "super").count();
    let (base, rest) = match path[0].as_str() {
        "crate" => (&[][..], &path[1..]),
        "self" => (module, &path[1..]),
        // A module inside of the root's file stands below no file.
        "super" => (&module[..module.len().saturating_sub(supers)], &path[supers..]),
        // A child module; any other name is an item of this file or of another crate.
        name => {
            files.get(&child(module, name))?;
            (module, path)
        }
    };
    Some([base, rest].concat())
}

/// The file that declares the item at `path`, through re-exports.
fn owner<'a>(files: &'a BTreeMap<Module, File>, path: &[String], depth: u32) -> Option<&'a Module> {
    let lengths = (0..=path.len()).rev();
    let mut modules = lengths.filter_map(|length| files.get_key_value(&path[..length]));
    let (module, file) = modules.next()?;
    let rest = &path[module.len()..];
    let re_exported = rest.first().and_then(|name| file.re_exports.get(name));
    if let Some(target) = re_exported.filter(|_| depth < 8)
        && let Some(target) = absolute(files, module, target)
        && target != path[..=module.len()]
    {
        return owner(files, &[&target, &rest[1..]].concat(), depth + 1);
    }
    Some(module)
}

fn is_test(attributes: &[Attribute]) -> bool {
    let conditions = attributes.iter().filter(|a| a.path().is_ident("cfg"));
    let mut lists = conditions.filter_map(|a| a.meta.require_list().ok());
    lists.any(|list| list.tokens.to_string() == "test")
}

/// The paths of a `use` declaration, each with the name it gives.
fn leaves(tree: &UseTree, mut path: Vec<String>, names: &mut Vec<(String, Vec<String>)>) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            leaves(&part.tree, path, names);
        }
        UseTree::Group(group) => {
            let items = group.items.iter();
            items.for_each(|item| leaves(item, path.clone(), names));
        }
        UseTree::Glob(_) => names.push(("*".to_owned(), path)),
        UseTree::Name(name) => {
            // `a::{self}` names `a` itself.
            if name.ident != "self" {
                path.push(name.ident.to_string());
            }
            names.push((path.last().cloned().unwrap_or_default(), path));
        }
        UseTree::Rename(rename) => {
            path.push(rename.ident.to_string());
            names.push((rename.rename.to_string(), path));
        }
    }
}

impl File {
    fn parse(path: &str, text: &str) -> Self {
        let mut file = Self::default();
        file.visit_file(&syn::parse_file(text).unwrap_or_else(|e| panic!("{path}: {e}")));
        file
    }
}

impl<'ast> Visit<'ast> for File {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(module) if is_test(&module.attrs) => {
                self.test_modules.push(module.ident.to_string());
            }
            Item::Use(declaration) if is_test(&declaration.attrs) => {}
            Item::Use(declaration) => {
                let mut names = Vec::new();
                leaves(&declaration.tree, Vec::new(), &mut names);
                match declaration.vis {
                    Visibility::Inherited => self.paths.extend(names.into_iter().map(|n| n.1)),
                    _ => self.re_exports.extend(names),
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
            self.paths.push(segments);
        }
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn circles_are_found_through_re_exports_and_children() {
        let z = "use crate::x::X; #[cfg(test)] mod tests { use crate::a::A; }";
        let files = [
            ("lib.rs", "mod a; mod x; mod y; mod z; pub use y::Y;"),
            ("a/mod.rs", "mod b; pub struct A; fn f() { b::g() }"),
            ("a/b.rs", "use super::A; fn g() {} // crate::x::X"),
            ("x.rs", "use crate::Y as Other;"),
            ("y.rs", "fn f() { crate::z::g(); }"),
            ("z.rs", z),
        ];
        let circles = Vec::from_iter(super::circles(files.into_iter()));
        assert_eq!(circles, ["a, a::b", "x, y, z"]);
    }

    #[test]
    fn circles_of_python_are_found() {
        let files = [
            ("__init__.py", "from .k import K"),
            ("a.py", "from . import native\nfrom .b import B\nfrom .d import D"),
            ("b.py", "if TYPE_CHECKING:\n    from .c import C"),
            ("c.py", "from . import native, a as other\nimport d"),
            ("d.py", "\"\"\"Not from .a import A.\"\"\"\nfrom .e import a"),
            ("e/__init__.py", "from .f import F"),
            ("e/f.py", "def f():\n    from .g.h import H"),
            ("e/g/__init__.py", ""),
            ("e/g/h.py", "from ...native import N\nfrom .. import (\n    f,\n)"),
            ("k.py", "from . import item"),
            ("native.pyi", ""),
        ];
        let circles = super::circles_of_python(files.into_iter());
        assert_eq!(circles, [&["__init__", "k"][..], &["a", "b", "c"], &["e.f", "e.g.h"]]);
    }
}
