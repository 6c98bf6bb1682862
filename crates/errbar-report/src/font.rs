//! The one font of every figure: how wide a character is, and its outline.
//!
//! `fonts/Arimo-Regular.outlines` is what figures need of the font file beside it, a line for each
//! character: its code, its advance, its outline as a path of SVG, in units of the font.
//! `tools/outlines.py` makes it, and `./test` compares it with the font, so that nobody has to build a
//! reader of fonts.

use std::collections::HashMap;
use std::sync::LazyLock;

use tiny_skia::{PathBuilder, Transform};

/// Arimo first, since it is what the layout is measured with; then fonts of the same widths.
pub(crate) const FAMILY: &str = "Arimo, 'Liberation Sans', Arial, Helvetica, sans-serif";

/// The width, in em, given to a character that the font does not have.
const UNKNOWN: f64 = 0.75;

const UNITS_PER_EM: f64 = 2048.0;

/// Stands for the characters that the font does not have: a box.
const MISSING: char = '\0';

struct Glyph {
    advance: f64,
    outline: &'static str,
}

static GLYPHS: LazyLock<HashMap<char, Glyph>> = LazyLock::new(|| {
    include_str!("../fonts/Arimo-Regular.outlines").lines().filter_map(glyph).collect()
});

fn glyph(line: &'static str) -> Option<(char, Glyph)> {
    let (code, rest) = line.split_once(' ')?;
    let (advance, outline) = rest.split_once(' ')?;
    let character = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
    Some((character, Glyph { advance: advance.parse().ok()?, outline }))
}

/// Characters that only direct others: marks of direction, joiners.
fn is_silent(character: char) -> bool {
    matches!(character, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

/// The advance of a character in em.
pub(crate) fn advance(character: char) -> f64 {
    if is_silent(character) {
        return 0.0;
    }
    GLYPHS.get(&character).map_or(UNKNOWN, |glyph| glyph.advance / UNITS_PER_EM)
}

/// Adds the outline of a character, whose origin is at `(x, y)` and whose em is `size` pixels. One
/// that the font does not have is shown as a box.
pub(crate) fn outline(character: char, x: f64, y: f64, size: f64, path: &mut PathBuilder) {
    if is_silent(character) {
        return;
    }
    let Some(glyph) = GLYPHS.get(&character).or_else(|| GLYPHS.get(&MISSING)) else { return };
    let scale = (size / UNITS_PER_EM) as f32;
    let place = Transform::from_row(scale, 0.0, 0.0, -scale, x as f32, y as f32);
    let drawn = draw(glyph.outline).finish().and_then(|outline| outline.transform(place));
    if let Some(outline) = drawn {
        path.push_path(&outline);
    }
}

/// A path of `M x y`, `L x y`, `Q x y x y` and `Z`.
fn draw(outline: &str) -> PathBuilder {
    let mut path = PathBuilder::new();
    let mut words = outline.split(' ');
    while let Some(word) = words.next() {
        let mut next = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
        match word {
            "M" => path.move_to(next(), next()),
            "L" => path.line_to(next(), next()),
            "Q" => path.quad_to(next(), next(), next(), next()),
            "Z" => path.close(),
            _ => {}
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_arial() {
        // Arial's published advances: space 569, digit 1139, W 1933 of 2048 units.
        for (character, units) in [(' ', 569.0), ('7', 1139.0), ('W', 1933.0)] {
            assert_eq!(advance(character), units / 2048.0);
        }
    }

    #[test]
    fn figures_can_say_what_they_need_to() {
        for character in "σεημβ−×±≤≥≈∞°·–−éßñ²".chars() {
            assert!(GLYPHS.contains_key(&character), "{character}");
        }
    }
}
