//! Imports between the files of a crate: `use` declarations and paths in code, followed through re-exports.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;

/// Names from the crate's root to a module or item.
type Path = Vec<String>;

/// Name that a module imports.
struct Import {
    /// Local name; `*` for a glob.
    name: String,
    target: Path,
    is_public: bool,
}

/// Modules of a crate.
pub(super) struct Modules {
    files: BTreeMap<Path, String>,
    imports: BTreeMap<Path, Vec<Import>>,
    /// Paths in the code itself.
    mentions: BTreeMap<Path, Vec<Path>>,
}

impl Modules {
    pub(super) fn of(crate_folder: &str, sources: &[Source]) -> Self {
        let module_of = |path: &str| {
            let inside = path.strip_prefix(&format!("{crate_folder}/src/")).unwrap();
            let mut module: Path = inside
                .trim_end_matches(".rs")
                .split('/')
                .map(str::to_owned)
                .collect();
            if matches!(
                module.last().map(String::as_str),
                Some("mod" | "lib" | "main")
            ) {
                module.pop();
            }
            module
        };
        let mut files = BTreeMap::new();
        for source in sources {
            files.insert(module_of(&source.path), source.path.clone());
        }
        let mut modules = Self {
            files,
            imports: BTreeMap::new(),
            mentions: BTreeMap::new(),
        };
        for source in sources {
            let module = module_of(&source.path);
            let (imports, mentions) = modules.read(&module, &source.code);
            modules
                .imports
                .entry(module.clone())
                .or_default()
                .extend(imports);
            modules.mentions.entry(module).or_default().extend(mentions);
        }
        modules
    }

    /// Returns the imports of a module's code, and the paths that the code names.
    fn read(&self, module: &Path, code: &str) -> (Vec<Import>, Vec<Path>) {
        let (mut imports, mut rest) = (Vec::new(), String::new());
        let mut code = code;
        while let Some((before, declaration, after)) = next_use(code) {
            let is_public = ends_public(before);
            rest.push_str(before);
            let mut named = Vec::new();
            expand(&[], declaration, &mut named);
            for (name, path) in named {
                if let Some(target) = self.absolute(module, &path) {
                    imports.push(Import {
                        name,
                        target,
                        is_public,
                    });
                }
            }
            code = after;
        }
        rest.push_str(code);
        let mut mentions = Vec::new();
        for path in paths_in(&without_visibility(&rest)) {
            let imported = imports.iter().find(|import| import.name == path[0]);
            match imported {
                Some(import) => {
                    let rest = path[1..].iter().cloned();
                    mentions.push(import.target.iter().cloned().chain(rest).collect());
                }
                None => mentions.extend(self.absolute(module, &path)),
            }
        }
        (imports, mentions)
    }

    /// Returns a path from the root of the crate; `None` if it leads out of the crate.
    fn absolute(&self, module: &Path, path: &[String]) -> Option<Path> {
        let mut base = module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                base.clear();
                rest = &path[1..];
            }
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            child => {
                base.push(child.to_owned());
                if !self.files.contains_key(&base) {
                    return None;
                }
                rest = &path[1..];
            }
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// Returns the file that defines the target of a path, behind all re-exports.
    fn file_of(&self, path: &Path, depth: usize) -> Option<&str> {
        let len = (0..=path.len())
            .rev()
            .find(|len| self.files.contains_key(&path[..*len]))?;
        let module = &path[..len];
        if let Some(item) = path.get(len)
            && depth < 16
        {
            for import in self.imports.get(module).into_iter().flatten() {
                if !import.is_public || (import.name != *item && import.name != "*") {
                    continue;
                }
                let mut target = import.target.clone();
                if import.name == "*" {
                    target.push(item.clone());
                }
                target.extend(path[len + 1..].iter().cloned());
                let found = self.file_of(&target, depth + 1);
                // A glob may or may not have the name.
                if import.name != "*"
                    || found
                        .is_some_and(|found| self.files.get(module).is_none_or(|own| own != found))
                {
                    return found;
                }
            }
        }
        self.files.get(module).map(String::as_str)
    }

    /// Returns the imported files of each file.
    pub(super) fn arrows(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut arrows = BTreeMap::new();
        for (module, file) in &self.files {
            let imported = self.imports[module].iter();
            // A re-export from a child module is not a use of that module; uses of other modules are in the code.
            let is_shown = |import: &&Import| import.is_public && import.target.starts_with(module);
            let imported = imported
                .filter(|import| !is_shown(import) && !self.files.contains_key(&import.target));
            let imported = imported.map(|import| &import.target);
            let targets = imported.chain(&self.mentions[module]);
            let targets = targets.filter_map(|target| self.file_of(target, 0));
            let targets: BTreeSet<&str> = targets.filter(|target| target != file).collect();
            arrows.insert(file.as_str(), targets);
        }
        arrows
    }
}

/// Returns the code without the paths in `pub(in …)`, which import nothing.
fn without_visibility(code: &str) -> String {
    let mut parts = code.split("pub(in ");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    kept
}

/// Returns the code before the next `use`, its declaration, and the code after it.
fn next_use(code: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let at = from + code[from..].find("use ")?;
        let is_start = code[..at]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let is_bound = code[at..].starts_with("use <");
        if let Some(len) = code[at..].find(';').filter(|_| is_start && !is_bound) {
            return Some((&code[..at], &code[at + 4..at + len], &code[at + len + 1..]));
        }
        from = at + 4;
    }
}

/// Returns whether the words before a `use` make it public.
fn ends_public(before: &str) -> bool {
    let ends = ['\n', ';', '}'];
    let words = before.rsplit(ends).next().unwrap_or_default();
    words.trim().starts_with("pub")
}

/// Adds the names of a declaration and their targets.
fn expand(prefix: &[String], tree: &str, named: &mut Vec<(String, Path)>) {
    let tree = tree.trim();
    if let Some((before, group)) = tree.split_once('{') {
        let mut prefix = prefix.to_vec();
        prefix.extend(
            before
                .split("::")
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .map(str::to_owned),
        );
        let group = group.trim_end().strip_suffix('}').unwrap_or(group);
        let (mut depth, mut start) = (0, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(&prefix, &group[start..at], named);
                    start = at + 1;
                }
                _ => {}
            }
        }
        expand(&prefix, &group[start..], named);
        return;
    }
    if tree.is_empty() {
        return;
    }
    let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut full = prefix.to_vec();
    full.extend(
        path.split("::")
            .map(|part| part.trim().to_owned())
            .filter(|part| !part.is_empty()),
    );
    let mut name = full.last().cloned().unwrap_or_default();
    // `a::{self}` is `a`, and `a::*` is all of `a`.
    if (name == "self" && full.len() > 1) || name == "*" {
        full.pop();
    }
    if name == "self" {
        name = full.last().cloned().unwrap_or_default();
    }
    if !alias.trim().is_empty() {
        name = alias.trim().to_owned();
    }
    named.push((name, full));
}

/// Returns the paths in code: names with `::` between them.
fn paths_in(code: &str) -> impl Iterator<Item = Path> {
    let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code.split(move |c: char| !is_of_path(c));
    let words = words.filter(|word| word.contains("::") && !word.starts_with(':'));
    words.map(|word| {
        word.split("::")
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    })
}

#[test]
fn imports_are_followed_to_the_file_that_has_the_name() {
    let sources = [
        ("c/src/lib.rs", "mod a; mod b; pub use a::A;"),
        (
            "c/src/a/mod.rs",
            "mod one; pub(crate) use one::{A, inner::{B as C}};",
        ),
        (
            "c/src/a/one.rs",
            "use crate::b; fn f() { super::super::b::g() }",
        ),
        (
            "c/src/b.rs",
            "use super::a::{A,\n C}; use std::fmt; use crate::a::one::*;",
        ),
        (
            "c/src/d.rs",
            "use crate::a as e;\nfn f() { e::one::g(); b::g(); std::fmt::h() }",
        ),
    ];
    let sources = sources.map(|(path, code)| Source {
        path: path.to_owned(),
        code: code.to_owned(),
    });
    let modules = Modules::of("c", &sources);
    let arrows = modules.arrows();
    let to = |file: &str| arrows[file].iter().copied().collect::<Vec<_>>();
    assert_eq!(to("c/src/b.rs"), ["c/src/a/one.rs"]);
    assert_eq!(to("c/src/a/one.rs"), ["c/src/b.rs"]);
    assert_eq!(to("c/src/d.rs"), ["c/src/a/one.rs"]);
    assert!(to("c/src/lib.rs").is_empty());
    assert!(to("c/src/a/mod.rs").is_empty());
}
