use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::{gltf, lcc, scene_file};
use crate::bytes::FileBytes;
use quadrille_base::error::Result;

/// Returns the files that the scene at `path` is read from, so that callers can detect changes without loading it.
///
/// Most formats have one file. A description in JSON (a SOG in a folder, a streamed SOG, an LCC, glTF with buffers beside it)
/// adds the files that it names and, in turn, the files that named descriptions name, at all levels of detail.
///
/// # Errors
/// [`Error::Read`](quadrille_base::error::Error::Read) if the file cannot be read, and
/// [`Error::Malformed`](quadrille_base::error::Error::Malformed) for a folder without a scene.
pub fn source_files(path: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let mut files = vec![scene_file(path.as_ref())?];
    let mut at = 0;
    while let Some(file) = files.get(at).cloned() {
        at += 1;
        if file.as_os_str() == "-" {
            continue;
        }
        let bytes = match FileBytes::open(&file) {
            Ok(bytes) => bytes,
            // Only the scene itself must exist; loading it reports other missing files.
            Err(_) if at > 1 => continue,
            Err(error) => return Err(error),
        };
        let is_binary = bytes.starts_with(b"glTF");
        if !is_binary && bytes.trim_ascii_start().first() != Some(&b'{') {
            continue;
        }
        let json =
            if is_binary { gltf::split(&bytes, &file).map(|(json, _)| json) } else { Ok(&*bytes) };
        let document = json.map(serde_json::from_slice::<Value>);
        let of_lcc = lcc::files_of(&bytes);
        let mut names: Vec<&str> = of_lcc.iter().map(String::as_str).collect();
        if let Ok(Ok(document)) = &document {
            collect_strings(document, &mut names);
        }
        for name in names {
            // Names in glTF are percent-encoded URIs; other formats have plain names.
            let decoded = gltf::percent_decoded(name).unwrap_or_default();
            let plain = file.with_file_name(name);
            let (name, named) = match plain.is_file() {
                true => (name, plain),
                false => (&*decoded, file.with_file_name(&decoded)),
            };
            if is_inside(name) && named.is_file() && !files.contains(&named) {
                files.push(named);
            }
        }
    }
    Ok(files)
}

/// True if a name stays in the folder of its document.
fn is_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Collects all strings of a document, since formats name files in different members. Another string that happens to
/// name a file beside the document is rare, and only adds a file.
fn collect_strings<'a>(value: &'a Value, strings: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => strings.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, strings)),
        Value::Object(fields) => fields.values().for_each(|field| collect_strings(field, strings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
