//! Colours that print well and that colour-blind readers can tell apart.
//!
//! The tones are those of Okabe and Ito (2008), with greys for bands. Use the names that say what a
//! thing *is* ([`TRUTH`], [`ESTIMATE`], [`FORECAST`]) and every figure speaks the same language.

/// An sRGB colour with an opacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color {
    /// Red, green, blue.
    pub rgb: [u8; 3],
    /// 255 is opaque, 0 invisible.
    pub alpha: u8,
}

impl Color {
    /// An opaque colour from `0xRRGGBB`.
    pub const fn hex(value: u32) -> Self {
        Color { rgb: [(value >> 16) as u8, (value >> 8) as u8, value as u8], alpha: 255 }
    }

    /// The same colour with another opacity, from 0 to 1.
    pub fn opacity(self, opacity: f64) -> Self {
        Color { alpha: (opacity.clamp(0.0, 1.0) * 255.0).round() as u8, ..self }
    }
}

/// What is estimated: black.
pub const ESTIMATE: Color = BLACK;
/// What is true or was observed on average: vermillion.
pub const TRUTH: Color = VERMILLION;
/// What a forecaster said: blue.
pub const FORECAST: Color = BLUE;
/// A band of one standard deviation.
pub const ONE_SD: Color = Color::hex(0xB5B5B5);
/// A band of two standard deviations, drawn below that of one.
pub const TWO_SD: Color = Color::hex(0xDEDEDE);

/// Black.
pub const BLACK: Color = Color::hex(0x000000);
/// A red that is not confused with green.
pub const VERMILLION: Color = Color::hex(0xD55E00);
/// Blue.
pub const BLUE: Color = Color::hex(0x0072B2);
/// A bluish green.
pub const GREEN: Color = Color::hex(0x009E73);
/// Orange.
pub const ORANGE: Color = Color::hex(0xE69F00);
/// Sky blue.
pub const SKY: Color = Color::hex(0x56B4E9);
/// A reddish purple.
pub const PURPLE: Color = Color::hex(0xCC79A7);
/// A middle grey, for what should stay in the background.
pub const GREY: Color = Color::hex(0x808080);

pub(crate) const WHITE: Color = Color::hex(0xFFFFFF);
/// Axes and text: softer than black, so that the data stand out.
pub(crate) const INK: Color = Color::hex(0x262626);

/// The colours of a heat map, white to dark blue. In the Oklab space the lightness falls in equal
/// steps, so equal steps of value look equal, and survive a black-and-white printer.
pub(crate) fn sequential(index: u8) -> [u8; 3] {
    let t = f64::from(index) / 255.0;
    // From white at t = 0 to a blue that is nearly black at t = 1.
    let lightness = 1.0 - 0.73 * t;
    // The chroma that a blue of this lightness has within sRGB; sky blue in the middle tones.
    let chroma = 0.40 * t * (1.0 - t) + 0.095 * t * t;
    let hue = 3.95 + 0.72 * t;
    oklab_to_srgb([lightness, chroma * hue.cos(), chroma * hue.sin()])
}

/// Björn Ottosson's Oklab (2020) to sRGB, clipped to what can be shown.
fn oklab_to_srgb([lightness, a, b]: [f64; 3]) -> [u8; 3] {
    let l = (lightness + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let m = (lightness - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let s = (lightness - 0.0894841775 * a - 1.2914855480 * b).powi(3);
    [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    ]
    .map(|linear| {
        let encoded = if linear <= 0.0031308 {
            12.92 * linear
        } else {
            1.055 * linear.powf(1.0 / 2.4) - 0.055
        };
        (encoded.clamp(0.0, 1.0) * 255.0).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIE L* of an sRGB colour, a measure of lightness other than Oklab's.
    fn cie_lightness(rgb: [u8; 3]) -> f64 {
        let [r, g, b] = rgb.map(|c| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        });
        116.0 * (0.2126 * r + 0.7152 * g + 0.0722 * b).cbrt() - 16.0
    }

    #[test]
    fn heat_maps_go_evenly_from_white_to_dark() {
        assert_eq!(sequential(0), [255, 255, 255]);
        let lightness: Vec<f64> = (0..=255).map(|i| cie_lightness(sequential(i))).collect();
        let mean = (lightness[0] - lightness[255]) / 255.0;
        assert!(lightness[255] < 25.0, "{}", lightness[255]);
        for pair in lightness.windows(17).step_by(16) {
            let step = (pair[0] - pair[16]) / 16.0;
            assert!((step / mean - 1.0).abs() < 0.35, "step {step}, on average {mean}");
        }
    }
}
