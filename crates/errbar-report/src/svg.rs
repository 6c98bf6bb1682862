//! A scene as SVG: no identifiers, styles or scripts, so that many fit on one page.

use std::fmt::Write;

use crate::color::Color;
use crate::error::Result;
use crate::font::FAMILY;
use crate::raster;
use crate::scene::{Anchor, Image, Mark, Point, Scene, Stroke, Words};
use crate::text::{self, Shift};

pub(crate) fn write(scene: &Scene) -> Result<String> {
    let (width, height) = (number(scene.width), number(scene.height));
    let title: String = text::pieces(&scene.title).iter().map(|(_, t)| escape(t)).collect();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FAMILY}\""
    );
    if !scene.description.is_empty() {
        let words: String = text::pieces(&scene.description).iter().map(|p| escape(&p.1)).collect();
        let _ = write!(out, " aria-label=\"{words}\"");
    }
    out.push_str(">\n");
    if !title.is_empty() {
        let _ = writeln!(out, "<title>{title}</title>");
    }
    let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
    let mut clipped = false;
    for mark in &scene.marks {
        match mark {
            Mark::Path { lines, closed, fill, stroke } => {
                let data = path_data(lines, *closed);
                let _ = writeln!(out, "<path d=\"{data}\"{}/>", paint(*fill, *stroke));
            }
            // Many dots as one path: a tenth of the bytes.
            Mark::Circles { centers, radius, fill: Some(color), stroke: None }
                if centers.len() > MANY_DOTS =>
            {
                let mut data = String::new();
                for &(x, y) in centers {
                    let _ = write!(data, "M{} {}h0", tenths(x), tenths(y));
                }
                let _ = writeln!(
                    out,
                    "<path d=\"{data}\" fill=\"none\" stroke=\"{}\"{} stroke-width=\"{}\" \
                     stroke-linecap=\"round\"/>",
                    hex(*color),
                    opacity("stroke-opacity", *color),
                    number(2.0 * radius)
                );
            }
            Mark::Circles { centers, radius, fill, stroke } => {
                let _ = writeln!(out, "<g{}>", paint(*fill, *stroke));
                let radius = number(*radius);
                for &(x, y) in centers {
                    let (x, y) = (number(x), number(y));
                    let _ = writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>");
                }
                out.push_str("</g>\n");
            }
            Mark::Text(words) => write_text(&mut out, words),
            Mark::Image(image) => write_image(&mut out, image)?,
            Mark::Clip(area) => {
                if std::mem::take(&mut clipped) {
                    out.push_str("</svg>\n");
                }
                if let Some(area) = area {
                    // An inner drawing clips what is beyond its border, without needing a name.
                    let [x, y, w, h] =
                        [area.left, area.top, area.width(), area.height()].map(number);
                    let _ = writeln!(
                        out,
                        "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" \
                         viewBox=\"{x} {y} {w} {h}\" overflow=\"hidden\">"
                    );
                    clipped = true;
                }
            }
        }
    }
    if clipped {
        out.push_str("</svg>\n");
    }
    out.push_str("</svg>\n");
    Ok(out)
}

fn path_data(lines: &[Vec<Point>], closed: bool) -> String {
    let mut data = String::new();
    for line in lines {
        for (i, &(x, y)) in line.iter().enumerate() {
            let command = if i == 0 { 'M' } else { 'L' };
            let _ = write!(data, "{command}{} {}", number(x), number(y));
        }
        if closed {
            data.push('Z');
        }
    }
    data
}

fn paint(fill: Option<Color>, stroke: Option<Stroke>) -> String {
    let mut out = match fill {
        None => " fill=\"none\"".to_string(),
        Some(color) => format!(" fill=\"{}\"{}", hex(color), opacity("fill-opacity", color)),
    };
    if let Some(stroke) = stroke {
        let (color, width) = (hex(stroke.color), number(stroke.width));
        let _ = write!(out, " stroke=\"{color}\" stroke-width=\"{width}\"");
        out.push_str(&opacity("stroke-opacity", stroke.color));
        out.push_str(" stroke-linejoin=\"round\"");
        if let Some([dash, gap]) = stroke.pattern() {
            let _ = write!(out, " stroke-dasharray=\"{} {}\"", number(dash), number(gap));
        }
    }
    out
}

fn hex(color: Color) -> String {
    let [r, g, b] = color.rgb;
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn opacity(name: &str, color: Color) -> String {
    match color.alpha {
        255 => String::new(),
        alpha => format!(" {name}=\"{}\"", number(f64::from(alpha) / 255.0)),
    }
}

fn write_text(out: &mut String, words: &Words) {
    let (x, y) = (number(words.at.0), number(words.at.1));
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", number(words.size));
    let _ = write!(out, " fill=\"{}\"", hex(words.color));
    match words.anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
        Anchor::End => out.push_str(" text-anchor=\"end\""),
    }
    if words.angle != 0.0 {
        let _ = write!(out, " transform=\"rotate({} {x} {y})\"", number(words.angle));
    }
    out.push('>');
    // Moves add up from piece to piece; baseline-shift would be simpler, but not all browsers know it.
    let mut dropped = 0.0;
    for (shift, piece) in text::pieces(&words.text) {
        let piece = escape(&piece);
        let drop = shift.drop() * words.size;
        if shift == Shift::Base && dropped == 0.0 {
            out.push_str(&piece);
        } else {
            let (dy, size) = (number(drop - dropped), number(words.size * shift.size()));
            let _ = write!(out, "<tspan dy=\"{dy}\" font-size=\"{size}\">{piece}</tspan>");
        }
        dropped = drop;
    }
    out.push_str("</text>\n");
}

fn write_image(out: &mut String, image: &Image) -> Result<()> {
    let place = image.place;
    let [x, y, w, h] = [place.left, place.top, place.width(), place.height()].map(number);
    let data = base64(&raster::indexed(image)?);
    let _ = writeln!(
        out,
        "<image x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" preserveAspectRatio=\"none\" \
         href=\"data:image/png;base64,{data}\"/>"
    );
    Ok(())
}

/// More dots than this need not be exact to a hundredth of a pixel.
const MANY_DOTS: usize = 200;

fn tenths(value: f64) -> String {
    format!("{}", (value * 10.0).round() / 10.0 + 0.0)
}

/// Hundredths of a pixel are enough, and `-0` is `0`.
fn number(value: f64) -> String {
    let hundredths = (value * 100.0).round();
    format!("{}", hundredths / 100.0 + 0.0)
}

pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            match digit <= chunk.len() {
                true => out.push(char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63])),
                false => out.push('='),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_rfc_4648() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn numbers_are_short() {
        for (value, expected) in
            [(0.0, "0"), (-0.001, "0"), (1.0, "1"), (0.1 + 0.2, "0.3"), (-12.345678, "-12.35")]
        {
            assert_eq!(number(value), expected);
        }
    }
}
