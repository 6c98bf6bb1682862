//! The rooms of the library have an order: none uses another that uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// For each room the rooms that it uses, tests left out.
type Uses = BTreeMap<String, BTreeSet<String>>;

fn read(folder: &Path, room: Option<&str>, uses: &mut Uses) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_string();
        let own = room.unwrap_or(&stem);
        if path.is_dir() {
            read(&path, Some(own), uses);
        } else if !["lib", "tests"].contains(&stem.as_str()) {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code: Vec<&str> = lines.collect();
            let used = uses.entry(own.to_string()).or_default();
            used.extend(rooms(&code.join("\n")).into_iter().filter(|other| other != own));
        }
    }
}

/// The names after `crate::`, those in braces too.
fn rooms(code: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut out = Vec::new();
    for after in code.split("crate::").skip(1) {
        let Some(inside) = after.strip_prefix('{') else {
            out.push(name(after));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (at, c) in inside.char_indices() {
            match c {
                '{' => depth += 1,
                ',' | '}' if depth == 0 => {
                    out.push(name(&inside[start..at]));
                    start = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    out
}

#[test]
fn no_room_uses_one_that_uses_it() {
    let mut uses = Uses::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut uses);
    assert!(uses["fit"].contains("sigma") && uses["score"].contains("math"), "{uses:?}");
    // Rooms that use none of the others go first; what is left goes round in a circle.
    while let Some(lowest) = uses
        .iter()
        .find(|(_, used)| !used.iter().any(|room| uses.contains_key(room)))
        .map(|(room, _)| room.clone())
    {
        uses.remove(&lowest);
    }
    for (room, used) in &mut uses.clone() {
        used.retain(|other| uses.contains_key(other));
        println!("{room} uses {used:?}");
    }
    assert!(uses.is_empty(), "the rooms above use each other");
}
