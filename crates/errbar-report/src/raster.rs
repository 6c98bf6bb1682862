//! A scene as PNG, and the small pictures inside an SVG.

use png::{BitDepth, ColorType, Compression, Encoder, PixelDimensions, Unit};
use tiny_skia::{
    FillRule, FilterQuality, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap,
    PixmapPaint, StrokeDash, Transform,
};

use crate::color::{Color, sequential};
use crate::error::{Error, Result};
use crate::font;
use crate::scene::{Anchor, Image, Mark, Point, Rect, Scene, Stroke, Words};
use crate::text;

/// The most pixels each way, and in all.
pub(crate) const LONGEST: f64 = 20_000.0;
const LARGEST: f64 = 1e8;

/// The scene with `scale` pixels for each of its own.
pub(crate) fn write(scene: &Scene, scale: f64) -> Result<Vec<u8>> {
    let (width, height) = ((scene.width * scale).round(), (scene.height * scale).round());
    let refused = || Error::Scale { scale, width, height };
    let fits = |length: f64| (1.0..=LONGEST).contains(&length);
    if !(fits(width) && fits(height) && width * height <= LARGEST) {
        return Err(refused());
    }
    let (width, height) = (width as u32, height as u32);
    let mut canvas = Canvas {
        pixmap: Pixmap::new(width, height).ok_or_else(refused)?,
        transform: Transform::from_scale(scale as f32, scale as f32),
        mask: None,
    };
    canvas.pixmap.fill(tiny_skia::Color::WHITE);
    for mark in &scene.marks {
        canvas.draw(mark);
    }
    // The paper is white and opaque, so three channels suffice.
    let rgb: Vec<u8> =
        canvas.pixmap.data().chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    // So that it is printed at the size of the SVG: 96 of its pixels are an inch.
    let per_metre = (96.0 * scale / 0.0254).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: Unit::Meter,
    }));
    finish(encoder, &rgb)?;
    Ok(bytes)
}

/// A picture with the colours of the heat maps as its palette.
pub(crate) fn indexed(image: &Image) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, image.columns as u32, image.rows as u32);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    let palette = (0..=255).flat_map(|index| palette(index, image.grey));
    encoder.set_palette(palette.collect::<Vec<u8>>());
    encoder.set_trns(vec![0]);
    finish(encoder, &image.indices)?;
    Ok(bytes)
}

fn finish(encoder: Encoder<'_, &mut Vec<u8>>, data: &[u8]) -> Result<()> {
    let failed = |error: png::EncodingError| Error::Encode { reason: error.to_string() };
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(data).map_err(failed)?;
    writer.finish().map_err(failed)
}

/// Index 0 is transparent, 1 to 255 run from white to dark.
fn palette(index: u8, grey: bool) -> [u8; 3] {
    if grey {
        return [255 - index.saturating_sub(1); 3];
    }
    sequential(((f64::from(index.saturating_sub(1))) / 254.0 * 255.0).round() as u8)
}

struct Canvas {
    pixmap: Pixmap,
    transform: Transform,
    mask: Option<Mask>,
}

impl Canvas {
    fn draw(&mut self, mark: &Mark) {
        match mark {
            Mark::Path { lines, closed, fill, stroke } => {
                self.paint(polyline(lines, *closed), *fill, *stroke);
            }
            Mark::Circles { centers, radius, fill, stroke } => {
                // One by one: circles that overlap must not cut holes into each other.
                for &(x, y) in centers {
                    let mut path = PathBuilder::new();
                    path.push_circle(x as f32, y as f32, *radius as f32);
                    self.paint(path.finish(), *fill, *stroke);
                }
            }
            Mark::Text(words) => self.write(words),
            Mark::Image(image) => self.place(image),
            Mark::Clip(area) => self.mask = area.and_then(|area| self.clip(area)),
        }
    }

    fn paint(&mut self, path: Option<Path>, fill: Option<Color>, stroke: Option<Stroke>) {
        let Some(path) = path else { return };
        let mask = self.mask.as_ref();
        if let Some(color) = fill {
            let paint = ink(color);
            self.pixmap.fill_path(&path, &paint, FillRule::Winding, self.transform, mask);
        }
        if let Some(stroke) = stroke {
            let pattern = stroke.pattern().map(|p| p.map(|length| length as f32).to_vec());
            let style = tiny_skia::Stroke {
                width: stroke.width as f32,
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                dash: pattern.and_then(|pattern| StrokeDash::new(pattern, 0.0)),
                ..Default::default()
            };
            let paint = ink(stroke.color);
            self.pixmap.stroke_path(&path, &paint, &style, self.transform, mask);
        }
    }

    fn write(&mut self, words: &Words) {
        let width = text::width(&words.text, words.size);
        let mut x = match words.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let mut path = PathBuilder::new();
        for (shift, piece) in text::pieces(&words.text) {
            let size = words.size * shift.size();
            for character in piece.chars() {
                font::outline(character, x, shift.drop() * words.size, size, &mut path);
                x += size * font::advance(character);
            }
        }
        let place = Transform::from_translate(words.at.0 as f32, words.at.1 as f32)
            .pre_concat(Transform::from_rotate(words.angle as f32));
        let path = path.finish().and_then(|path| path.transform(place));
        self.paint(path, Some(words.color), None);
    }

    fn place(&mut self, image: &Image) {
        let Some(mut pixels) = Pixmap::new(image.columns as u32, image.rows as u32) else { return };
        for (pixel, &index) in pixels.data_mut().chunks_exact_mut(4).zip(&image.indices) {
            let [r, g, b] = palette(index, image.grey);
            // Transparent is all zero, as colours here are multiplied by their opacity.
            pixel.copy_from_slice(&if index == 0 { [0; 4] } else { [r, g, b, 255] });
        }
        let Rect { left, top, .. } = image.place;
        let place = self.transform.pre_translate(left as f32, top as f32).pre_scale(
            (image.place.width() / image.columns as f64) as f32,
            (image.place.height() / image.rows as f64) as f32,
        );
        let paint = PixmapPaint { quality: FilterQuality::Bilinear, ..Default::default() };
        self.pixmap.draw_pixmap(0, 0, pixels.as_ref(), &paint, place, self.mask.as_ref());
    }

    fn clip(&self, area: Rect) -> Option<Mask> {
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
        let path = polyline(&[area.corners()], true)?;
        mask.fill_path(&path, FillRule::Winding, true, self.transform);
        Some(mask)
    }
}

fn polyline(lines: &[Vec<Point>], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for line in lines {
        for (i, &(x, y)) in line.iter().enumerate() {
            match i {
                0 => path.move_to(x as f32, y as f32),
                _ => path.line_to(x as f32, y as f32),
            }
        }
        if closed {
            path.close();
        }
    }
    path.finish()
}

fn ink(color: Color) -> Paint<'static> {
    let [r, g, b] = color.rgb;
    let mut paint = Paint { anti_alias: true, ..Default::default() };
    paint.set_color_rgba8(r, g, b, color.alpha);
    paint
}
