//! The one font of every figure: how wide a character is, and its outline.

use std::sync::OnceLock;

use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::outline::pen::PathStyle;
use skrifa::outline::{DrawSettings, OutlineGlyphCollection, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use tiny_skia::{PathBuilder, Transform};

static FILE: &[u8] = include_bytes!("../fonts/Arimo-Regular.ttf");

/// Arimo first, since it is what the layout is measured with; then fonts of the same widths.
pub(crate) const FAMILY: &str = "Arimo, 'Liberation Sans', Arial, Helvetica, sans-serif";

/// The width, in em, given to a character that the font does not have.
const UNKNOWN: f64 = 0.75;

/// What figures need of the font, in its own units.
struct Face {
    characters: Charmap<'static>,
    widths: GlyphMetrics<'static>,
    outlines: OutlineGlyphCollection<'static>,
    units_per_em: f64,
}

impl Face {
    fn read() -> Option<Self> {
        let (font, size) = (FontRef::new(FILE).ok()?, Size::unscaled());
        Some(Self {
            characters: font.charmap(),
            widths: font.glyph_metrics(size, LocationRef::default()),
            outlines: font.outline_glyphs(),
            units_per_em: f64::from(font.metrics(size, LocationRef::default()).units_per_em),
        })
    }
}

fn face() -> Option<&'static Face> {
    static FACE: OnceLock<Option<Face>> = OnceLock::new();
    FACE.get_or_init(Face::read).as_ref()
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
    face()
        .and_then(|face| {
            let glyph = face.characters.map(character)?;
            Some(f64::from(face.widths.advance_width(glyph)?) / face.units_per_em)
        })
        .unwrap_or(UNKNOWN)
}

/// Adds the outline of a character, whose origin is at `(x, y)` and whose em is `size` pixels. One
/// that the font does not have is shown as a box.
pub(crate) fn outline(character: char, x: f64, y: f64, size: f64, path: &mut PathBuilder) {
    let Some(face) = face().filter(|_| !is_silent(character)) else { return };
    let glyph = face.characters.map(character).unwrap_or(GlyphId::NOTDEF);
    let Some(glyph) = face.outlines.get(glyph) else { return };
    // The other style rounds the points between two control points to whole units.
    let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default())
        .with_path_style(PathStyle::HarfBuzz);
    let mut pen = Pen { path: PathBuilder::new() };
    if glyph.draw(settings, &mut pen).is_err() {
        return;
    }
    let scale = (size / face.units_per_em) as f32;
    let place = Transform::from_row(scale, 0.0, 0.0, -scale, x as f32, y as f32);
    if let Some(outline) = pen.path.finish().and_then(|outline| outline.transform(place)) {
        path.push_path(&outline);
    }
}

struct Pen {
    path: PathBuilder,
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.path.close();
    }
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
        let face = face().expect("the font in the crate is read");
        for character in "σεημβ−×±≤≥≈∞°·–−éßñ²".chars() {
            assert!(face.characters.map(character).is_some(), "{character}");
        }
    }
}
