//! What the PNG shows.

use errbar_report::{Axis, Density, Figure, Line, Panel, Scatter, color};

use super::one;

struct Picture {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Picture {
    fn of(figure: &Figure, scale: f64) -> Self {
        let bytes = figure.png(scale).expect("the figure is drawn");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
        let mut rgb = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut rgb).expect("pixels");
        assert_eq!(info.color_type, png::ColorType::Rgb);
        Picture { width: info.width as usize, height: info.height as usize, rgb }
    }

    fn at(&self, x: usize, y: usize) -> [u8; 3] {
        let i = 3 * (y * self.width + x);
        [self.rgb[i], self.rgb[i + 1], self.rgb[i + 2]]
    }

    /// How many pixels of a rectangle are dark.
    fn dark(&self, x: std::ops::Range<usize>, y: std::ops::Range<usize>) -> usize {
        y.flat_map(|y| x.clone().map(move |x| (x, y)))
            .filter(|&(x, y)| self.at(x, y).iter().all(|&c| c < 128))
            .count()
    }
}

fn bare(x: &str) -> Panel {
    Panel::new(Axis::new(x).range(0.0, 1.0), Axis::new("").range(0.0, 1.0))
}

#[test]
fn sizes_follow_the_scale_and_the_paper_is_white() {
    let figure = one(bare("x").with(Line::new([0.0, 1.0], [0.0, 1.0]).color(color::TRUTH)));
    for (scale, width, height) in [(1.0, 400, 300), (2.0, 800, 600), (0.5, 200, 150)] {
        let picture = Picture::of(&figure, scale);
        assert_eq!((picture.width, picture.height), (width, height));
        assert_eq!(picture.at(0, 0), [255; 3]);
        let red = picture.rgb.chunks(3).filter(|p| p[0] > p[2].saturating_add(60)).count();
        assert!(red > width / 2, "{red}");
    }
}

#[test]
fn labels_are_really_written() {
    // The strip below the numbers of the x axis holds its label and nothing else.
    let below = |label: &str| Picture::of(&one(bare(label)), 1.0).dark(0..400, 276..300);
    // The place of an axis label is made for it, so compare labels rather than none.
    let (one_bar, four, wide) = (below("I"), below("IIII"), below("Accuracy (σ, ε)"));
    assert!(one_bar >= 6, "{one_bar}");
    assert!(four >= 3 * one_bar && wide > 2 * four, "{one_bar} {four} {wide}");
}

#[test]
fn heat_maps_are_dark_where_values_are_high() {
    // Upper right high, lower left not a number, the others in between.
    let density = Density::new([0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [f64::NAN, 0.5, 0.2, 1.0]);
    let picture = Picture::of(&one(bare("").with(density)), 2.0);
    let light = |x: f64, y: f64| {
        let [r, g, b] = picture.at((800.0 * x) as usize, (600.0 * y) as usize);
        u32::from(r) + u32::from(g) + u32::from(b)
    };
    let (upper_right, lower_right) = (light(0.8, 0.2), light(0.8, 0.7));
    let (upper_left, lower_left) = (light(0.3, 0.2), light(0.3, 0.7));
    assert!(upper_right < 200 && upper_right < lower_right);
    assert!(lower_right < upper_left && upper_left < lower_left && lower_left == 765);
}

#[test]
fn nothing_leaves_its_panel() {
    let far: Vec<f64> = (0..100).map(|i| f64::from(i) / 5.0 - 9.0).collect();
    let figure = one(bare("").with(Scatter::new(far.clone(), far).radius(6.0).color(color::TRUTH)));
    let picture = Picture::of(&figure, 1.0);
    // Where the numbers of the axes are, there is black and white only.
    for y in (0..7).chain(285..300) {
        for x in 0..400 {
            let [r, _, b] = picture.at(x, y);
            assert!(r.abs_diff(b) < 8, "{x} {y}");
        }
    }
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    let draw = || {
        let n = 30_000;
        let x: Vec<f64> = (0..n).map(|i| f64::from(i % 173) / 173.0).collect();
        let y: Vec<f64> = (0..n).map(|i| f64::from(i % 911) / 911.0).collect();
        let panel = bare("x").with(Scatter::new(x, y).label("points"));
        (one(panel.clone()).svg().unwrap(), one(panel).png(2.0).unwrap())
    };
    let first = draw();
    assert!(draw() == first);
    let elsewhere = std::thread::spawn(draw).join().expect("no panic");
    assert!(elsewhere == first);
}
