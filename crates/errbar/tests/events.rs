//! Probabilities of events against definitions and numbers by hand.

use errbar::Silent;
use errbar::law::{Bounds, ErrorLaw};
use errbar::score::events::{Event, EventSample, EventScores, Options, compare, judge};
use proptest::prelude::*;

fn scores(probability: &[f64], happened: &[bool], weight: Option<&[f64]>) -> EventScores {
    let sample = EventSample::new(probability, happened).unwrap().maybe_weighted(weight).unwrap();
    judge(&sample, &Options { without_intervals: true, ..Default::default() }, &Silent).unwrap()
}

#[test]
fn events_are_read_and_written() {
    for (text, written, is) in [
        ("> 50", "> 50", [false, false, true]),
        (">=50", ">= 50", [false, true, true]),
        (" < 5e1 ", "< 50", [true, false, false]),
        ("≤ 50", "<= 50", [true, true, false]),
    ] {
        let event: Event = text.parse().unwrap();
        assert_eq!(event.to_string(), written);
        assert_eq!(event.happened(&[49.0, 50.0, 51.0]), is);
    }
    for wrong in ["50", ">", "> x", "= 5", "> inf", "> NaN", "", ">> 5"] {
        let refused = wrong.parse::<Event>().unwrap_err().to_string();
        assert!(refused.contains("> 50"), "{refused}");
    }
}

/// Murphy's example by hand: ten rows, two probabilities.
#[test]
fn the_parts_by_hand() {
    // Of five rows with 0.2 one happens; of five with 0.6 four do.
    let probability = [0.2, 0.2, 0.2, 0.2, 0.2, 0.6, 0.6, 0.6, 0.6, 0.6];
    let happened = [true, false, false, false, false, true, true, true, true, false];
    let s = scores(&probability, &happened, None);
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} {b}");
    // (0.64 + 4*0.04 + 4*0.16 + 0.36)/10
    near(s.brier.score, 0.18);
    near(s.brier.uncertainty, 0.25);
    // Half the rows at 0.2 with frequency 0.2, half at 0.6 with 0.8.
    near(s.brier.reliability, 0.5 * 0.04);
    near(s.brier.resolution, 0.5 * 0.09 + 0.5 * 0.09);
    near(s.brier.skill, 1.0 - 0.18 / 0.25);
    // Four events are above four others; four tie with the other at 0.6, and the event at 0.2 with four.
    near(s.roc.area, (16.0 + 0.5 * 4.0 + 0.5 * 4.0) / 25.0);
    assert_eq!((s.events, s.base_rate, s.few), (5, 0.5, true));
    // Cost over loss 0.3: one acts in five rows and loses once; climate acts always, the perfect spends 0.3 * 0.5.
    let at = s.value.iter().find(|point| point.cost_loss == 0.3).unwrap();
    near(at.value, (0.3 - (0.3 * 0.5 + 0.1)) / (0.3 - 0.15));
    let warning = s.warnings.iter().find(|warning| warning.at == 0.3).unwrap();
    near(warning.caught, 0.8);
    near(warning.false_alarms, 0.2);
    near(warning.warned, 0.5);
    assert_eq!(s.diagram.len(), 2);
    assert_eq!((s.diagram[0].rows, s.diagram[0].events, s.diagram[1].frequency), (5, 1, 0.8));
    // Five draws of 0.6: P(X = 0) is 0.010 and P(X <= 1) is 0.087, P(X <= 4) is 0.922.
    assert_eq!((s.diagram[1].low, s.diagram[1].high), (0.2, 1.0));
    // The covariance is 0.3 * 0.2 on both sides, the variance 0.2 squared.
    assert!((s.calibration.slope - 1.5).abs() < 1e-14);
}

#[test]
fn events_that_always_or_never_happen_have_no_skill() {
    for all in [true, false] {
        let s = scores(&[0.2, 0.9], &[all, all], None);
        assert!(s.brier.skill.is_nan() && s.roc.area.is_nan() && s.few);
        assert!(s.brier.score.is_finite() && s.brier.uncertainty == 0.0);
        let happened = [all; 2];
        let sample = EventSample::new(&[0.2, 0.9], &happened).unwrap();
        let with = judge(&sample, &Options::default(), &Silent).unwrap();
        assert!(with.intervals.unwrap().brier.is_known());
    }
    assert!(EventSample::new(&[], &[]).is_err());
    assert!(EventSample::new(&[0.5], &[true, false]).is_err());
    let wrong = EventSample::new(&[0.5, 1.5], &[true, false]).unwrap_err().to_string();
    assert_eq!(wrong, "the probability at row 1 is 1.5: it must lie between 0 and 1");
    assert!(EventSample::new(&[f64::NAN], &[true]).is_err());
}

/// With one probability for each row, drawn from: the mean of the least squares that chance leaves is known to fall to 0.
#[test]
fn right_probabilities_are_not_blamed() {
    let n = 2000;
    let random = |i: usize, by: f64| ((i as f64 + 0.5) * by).fract();
    let p: Vec<f64> = (0..n).map(|i| random(i, 0.618_033_988_749_894_9)).collect();
    let right: Vec<bool> = (0..n).map(|i| random(i, 2f64.sqrt()) < p[i]).collect();
    let far: Vec<f64> = p.iter().map(|p| if *p > 0.5 { 0.99 } else { 0.01 }).collect();
    let (good, bad) = (scores(&p, &right, None), scores(&far, &right, None));
    assert!(good.calibration.p_value > 0.05, "{:?}", good.calibration);
    assert!((good.calibration.slope - 1.0).abs() < 0.1);
    assert!(bad.calibration.p_value < 0.01 && bad.calibration.slope < 0.8, "{:?}", bad.calibration);
    assert!(bad.brier.reliability > 20.0 * bad.calibration.reliability_by_chance);
    for bin in &good.diagram {
        assert!(bin.low <= bin.mean_probability && bin.mean_probability <= bin.high, "{bin:?}");
    }
}

/// The standard error of the area is DeLong's, computed from its definition.
#[test]
fn the_interval_of_the_area_is_that_of_delong() {
    let n = 600;
    let random = |i: usize, by: f64| ((i as f64 + 0.5) * by).fract();
    let p: Vec<f64> = (0..n).map(|i| random(i, 0.618_033_988_749_894_9)).collect();
    let happened: Vec<bool> = (0..n).map(|i| random(i, 2f64.sqrt()) < 0.2 + 0.5 * p[i]).collect();
    let (mut events, mut others) = (vec![], vec![]);
    p.iter().zip(&happened).for_each(|(p, h)| if *h { events.push(*p) } else { others.push(*p) });
    let wins = |a: f64, b: f64| {
        if a > b {
            1.0
        } else if a == b {
            0.5
        } else {
            0.0
        }
    };
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let variance = |v: &[f64]| {
        let m = mean(v);
        v.iter().map(|x| (x - m).powi(2)).sum::<f64>() / (v.len() as f64 - 1.0)
    };
    let of_events: Vec<f64> = events
        .iter()
        .map(|&e| mean(&others.iter().map(|&o| wins(e, o)).collect::<Vec<_>>()))
        .collect();
    let of_others: Vec<f64> = others
        .iter()
        .map(|&o| mean(&events.iter().map(|&e| wins(e, o)).collect::<Vec<_>>()))
        .collect();
    let delong =
        variance(&of_events) / events.len() as f64 + variance(&of_others) / others.len() as f64;
    let mut options = Options::default();
    options.drawing = options.drawing.replicates(4000).block(Some(1));
    let found = judge(&EventSample::new(&p, &happened).unwrap(), &options, &Silent).unwrap();
    assert!((found.roc.area - mean(&of_events)).abs() < 1e-12);
    let error = found.intervals.unwrap().area.standard_error;
    // 4,000 resamples know it to 1.1%: four of these.
    assert!((error / delong.sqrt() - 1.0).abs() < 0.045, "{error} {}", delong.sqrt());
}

#[test]
fn differences_are_paired() {
    let n = 400;
    let random = |i: usize, by: f64| ((i as f64 + 0.5) * by).fract();
    let p: Vec<f64> = (0..n).map(|i| random(i, 0.618_033_988_749_894_9)).collect();
    let happened: Vec<bool> = (0..n).map(|i| random(i, 2f64.sqrt()) < p[i]).collect();
    let flat = vec![0.5; n];
    let samples = [&p, &flat, &p].map(|p| EventSample::new(p, &happened).unwrap());
    let drawing = Options::default().drawing;
    let found = compare(&samples, 0, &drawing, &Silent).unwrap();
    assert!(found[0].is_none());
    let flat = found[1].unwrap();
    // What the others are is known from their own scores.
    assert!(flat.brier.is_significant() && flat.brier.value > 0.0 && flat.brier.better == 0.0);
    assert!(flat.area.is_significant() && flat.area.value < 0.0 && flat.area.better == 0.0);
    let same = found[2].unwrap();
    assert_eq!((same.brier.value, same.area.value, same.brier.better), (0.0, 0.0, 0.5));
    let always = vec![true; n];
    let other = [samples[0], EventSample::new(&p, &always).unwrap()];
    assert!(compare(&other, 0, &drawing, &Silent).is_err());
}

#[test]
fn probabilities_by_a_law_keep_to_bounds() {
    let law = ErrorLaw::default();
    let zero = Bounds::new(Some(-2.0), None).unwrap(); // observations from 0, of a forecast of 2
    let p = |text: &str, bounds| text.parse::<Event>().unwrap().probability(2.0, 4.0, &law, bounds);
    // Phi(0.25) = 0.598706325682924 and Phi(-0.5) = 0.308537538725987, from tables.
    assert!((p("> 1", zero) - 0.598_706_325_682_924).abs() < 1e-14);
    assert!((p("<= 0", zero) - 0.308_537_538_725_987).abs() < 1e-14);
    assert!((p("> 0", zero) - 0.691_462_461_274_013).abs() < 1e-14);
    assert_eq!((p(">= 0", zero), p("< 0", zero), p("> -1", zero)), (1.0, 0.0, 1.0));
    assert!((p(">= 0", Bounds::default()) - 0.691_462_461_274_013).abs() < 1e-14);
}

fn rows() -> impl Strategy<Value = Vec<(f64, bool, f64)>> {
    let p = prop_oneof![0.0..1.0f64, (0..12u8).prop_map(|k| f64::from(k) / 11.0)];
    proptest::collection::vec((p, any::<bool>(), (0..4u8).prop_map(f64::from)), 1..60)
}

proptest! {
    /// Brier and area by their definitions, recalibration by the formula of max and min, in cubic time.
    #[test]
    fn definitions(rows in rows()) {
        prop_assume!(rows.iter().any(|row| row.2 > 0.0));
        let p: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let happened: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let weight: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let s = scores(&p, &happened, Some(&weight));
        let o: Vec<f64> = happened.iter().map(|h| f64::from(u8::from(*h))).collect();
        let total: f64 = weight.iter().sum();
        let brier = rows.iter().zip(&o).map(|(r, o)| r.2 * (r.0 - o).powi(2)).sum::<f64>() / total;
        prop_assert!((s.brier.score - brier).abs() < 1e-12);
        prop_assert!((s.brier.reliability - s.brier.resolution + s.brier.uncertainty - brier).abs() < 1e-12);
        let (mut wins, mut pairs) = (0.0, 0.0);
        for a in rows.iter().filter(|a| a.1) {
            for b in rows.iter().filter(|b| !b.1) {
                pairs += a.2 * b.2;
                wins += a.2 * b.2 * if a.0 > b.0 { 1.0 } else if a.0 == b.0 { 0.5 } else { 0.0 };
            }
        }
        if pairs > 0.0 {
            prop_assert!((s.roc.area - wins / pairs).abs() < 1e-12);
        } else {
            prop_assert!(s.roc.area.is_nan());
        }
        // r(x) = max over a <= x of the min over b >= x of the frequency of probabilities from a to b.
        let frequency = |a: f64, b: f64| {
            let inside = rows.iter().filter(|r| r.2 > 0.0 && a <= r.0 && r.0 <= b);
            let (w, e) = inside.fold((0.0, 0.0), |(w, e), r| (w + r.2, e + if r.1 { r.2 } else { 0.0 }));
            e / w
        };
        let counted: Vec<f64> = rows.iter().filter(|r| r.2 > 0.0).map(|r| r.0).collect();
        let mut recalibrated = 0.0;
        for r in rows.iter().filter(|r| r.2 > 0.0) {
            let says = counted.iter().filter(|&&a| a <= r.0).map(|&a| {
                counted.iter().filter(|&&b| b >= r.0).map(|&b| frequency(a, b)).fold(f64::INFINITY, f64::min)
            }).fold(f64::NEG_INFINITY, f64::max);
            recalibrated += r.2 * (says - f64::from(u8::from(r.1))).powi(2);
        }
        prop_assert!((brier - recalibrated / total - s.brier.reliability).abs() < 1e-12);
    }

    /// The order of the rows, and the unit of the weights, do not matter.
    #[test]
    fn orders_do_not_matter(rows in rows(), turn in 0..60usize) {
        prop_assume!(rows.iter().any(|row| row.2 > 0.0));
        let of = |rows: &[(f64, bool, f64)], unit: f64| {
            let p: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let happened: Vec<bool> = rows.iter().map(|row| row.1).collect();
            let weight: Vec<f64> = rows.iter().map(|row| unit * row.2).collect();
            scores(&p, &happened, Some(&weight))
        };
        let mut turned = rows.clone();
        turned.rotate_left(turn % rows.len());
        turned.reverse();
        let (a, b) = (of(&rows, 1.0), of(&turned, 1e200));
        prop_assert!((a.brier.score - b.brier.score).abs() < 1e-12);
        prop_assert!((a.brier.resolution - b.brier.resolution).abs() < 1e-12);
        prop_assert!(a.roc.area.is_nan() || (a.roc.area - b.roc.area).abs() < 1e-12);
        for (a, b) in a.value.iter().zip(&b.value) {
            prop_assert!(a.value.is_nan() || (a.value - b.value).abs() < 1e-9);
            prop_assert!(a.value.is_nan() || a.recalibrated >= a.value - 1e-9, "hindsight is best");
        }
    }
}
