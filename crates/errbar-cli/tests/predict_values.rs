//! What predict adds, against values computed another way.
//!
//! The reference values are those of mpmath with 40 digits, for sigma = 2:
//!
//! ```python
//! import mpmath as mp
//! mp.mp.dps = 40
//! quantile = lambda mu, p: float(mu + 2 * mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1))
//! exceed = lambda mu, t: float(mp.erfc((t - mu) / (2 * mp.sqrt(2))) / 2)
//! for mu in [mp.mpf("1.5"), mp.mpf(-20), mp.mpf("0.1")]:
//!     print([quantile(mu, p) for p in "0.05 0.95 0.0025 0.9975 0.1 0.999 1e-12".split()],
//!           [exceed(mu, t) for t in [0, 3, -4, 30]])
//! ```

use std::path::Path;

use crate::common::{constant_model, errbar, errbar_with, table};
use errbar::fit::{self, Kind, Rows};
use errbar::{Data, Silent};

/// Levels as f64 are off by up to 6e-17, and the quantiles then by that over the density, at most
/// 2e-14 here; exceedances are off by some ulp, times the square of up to 25 standard deviations in
/// the last row.
const TOLERANCE: f64 = 1e-12;

/// mu; the ends of intervals 0.9 and 0.995; quantiles 0.1, 0.999, 1e-12; the probability to exceed
/// 0, 3, -4, 30.
#[rustfmt::skip]
const EXPECTED: [(f64, [f64; 7], [f64; 4]); 3] = [
    (1.5,
     [-1.7897072539029455, 4.789707253902946, -4.1140675366876085, 7.1140675366876085,
      -1.063103131089201, 7.680464612335627, -12.568967650602264],
     [0.7733726476231318, 0.2266273523768682, 0.9970202367649454, 2.24140623269364e-46]),
    (-20.0,
     [-23.289707253902947, -16.710292746097053, -25.614067536687607, -14.385932463312392,
      -22.5631031310892, -13.819535387664374, -34.06896765060226],
     [7.619853024160525e-24, 6.595771446113675e-31, 6.220960574271784e-16, 3.056696706382561e-138]),
    (0.1,
     [-3.1897072539029456, 3.3897072539029454, -5.514067536687608, 5.714067536687608,
      -2.463103131089201, 6.280464612335627, -13.968967650602265],
     [0.5199388058383725, 0.07352925960964835, 0.9798177845942956, 7.787459338720465e-51]),
];

const OPTIONS: [&str; 6] =
    ["--interval", "0.9,99.5%", "--quantiles", "0.1,0.999,1e-12", "--exceed", "0,3,-4,30"];

/// The header, and the numbers of each row; NaN where a field is empty or no number.
fn predict(folder: &Path, table: &str, options: &[&str]) -> (Vec<String>, Vec<Vec<f64>>) {
    let arguments = ["predict", "-", "-m", "model.json", "-q"];
    let ran = errbar_with(folder, table.as_bytes(), arguments.iter().chain(options)).well();
    let text = ran.printed();
    let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let numbers =
        |fields: Vec<String>| fields.iter().map(|f| f.parse().unwrap_or(f64::NAN)).collect();
    (header, lines.map(numbers).collect())
}

/// A table of the forecasts above, for a model with the input x.
fn forecasts() -> String {
    let rows = EXPECTED.iter().map(|(mu, ..)| format!("1,{mu}\n"));
    format!("x,mu\n{}", rows.collect::<String>())
}

#[test]
fn intervals_quantiles_and_probabilities() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.json"), constant_model(2.0)).unwrap();
    let (header, rows) = predict(folder.path(), &forecasts(), &OPTIONS);
    let names = "x mu sigma lower_90 upper_90 lower_99.5 upper_99.5 quantile_0.1 quantile_0.999 \
                 quantile_0.000000000001 exceed_0 exceed_3 exceed_-4 exceed_30 support outside outside_input";
    assert_eq!(header.join(" "), names);
    assert_eq!(rows.len(), EXPECTED.len());
    for (row, (mu, quantiles, exceed)) in rows.iter().zip(EXPECTED) {
        assert_eq!(row[1..3], [mu, 2.0]);
        for (found, expected) in row[3..10].iter().zip(quantiles) {
            assert!((found - expected).abs() <= TOLERANCE, "{mu}: {found}, not {expected}");
        }
        for (found, expected) in row[10..14].iter().zip(exceed) {
            assert!((found / expected - 1.0).abs() <= TOLERANCE, "{mu}: {found}, not {expected}");
        }
    }
}

/// What lies beyond a bound counts as the bound, so that quantiles end there, and a threshold below
/// the lower one is always exceeded, one at or above the upper one never.
#[test]
fn bounds() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.json"), constant_model(2.0)).unwrap();
    let options = [&OPTIONS[..], &["--lower", "-3.5", "--upper", "3"]].concat();
    let (_, rows) = predict(folder.path(), &forecasts(), &options);
    for (row, (mu, quantiles, exceed)) in rows.iter().zip(EXPECTED) {
        for (found, free) in row[3..10].iter().zip(quantiles) {
            let expected = free.clamp(-3.5, 3.0);
            assert!((found - expected).abs() <= TOLERANCE, "{mu}: {found}, not {expected}");
        }
        // 0 lies between the bounds; 3 is the upper one, -4 below the lower one, 30 above the upper.
        assert!((row[10] / exceed[0] - 1.0).abs() <= TOLERANCE);
        assert_eq!(row[11..14], [0.0, 1.0, 0.0]);
    }
    // A threshold at the lower bound is not exceeded by what is held there.
    let (_, rows) = predict(folder.path(), "x,mu\n1,1.5\n", &["--exceed", "0", "--lower", "0"]);
    assert!((rows[0][3] - EXPECTED[0].2[0]).abs() <= TOLERANCE, "{rows:?}");
    // Bounds of one side leave the other.
    let (_, rows) = predict(folder.path(), "x,mu\n1,1.5\n", &["--interval", "0.9", "--lower", "0"]);
    assert_eq!(rows[0][3], 0.0);
    assert!((rows[0][4] - EXPECTED[0].1[1]).abs() <= TOLERANCE, "{rows:?}");
}

/// The forecast may be another column than the one the model was fitted with.
#[test]
fn another_forecast() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.json"), constant_model(2.0)).unwrap();
    let table = "nu,x,mu\n-20,1,1.5\n";
    for (options, mu) in [(&[][..], 0), (&["--forecast", "nu"][..], 1)] {
        let options = [&["--interval", "0.9"], options].concat();
        let (_, rows) = predict(folder.path(), table, &options);
        let (found, expected) = (rows[0][4], EXPECTED[mu].1[0]);
        assert!((found - expected).abs() <= TOLERANCE, "{found}, not {expected}");
    }
}

/// Columns are found by name, whatever their order, and each row gets its own sigma.
#[test]
fn sigma_is_that_of_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let inputs: Vec<f64> =
        (0..200).map(|i| (f64::from(i) * 0.37).sin() * f64::from(1 + i % 2)).collect();
    let rows = || inputs.chunks_exact(2);
    let error: Vec<f64> = rows()
        .zip(0..)
        .map(|(x, i)| (0.3 + x[0] * x[0] + 0.2 * x[1]) * f64::from(i).cos())
        .collect();
    let data = Data::new(&inputs, 2, &error).unwrap();
    let options = fit::Options::default().kind(Kind::Polynomial);
    let fitted = fit::fit(&data, &["a".into(), "b".into()], &options, &Silent).unwrap().fitted;
    std::fs::write(folder.path().join("model.json"), fitted.to_json().unwrap()).unwrap();
    let expected = fitted.predict(&inputs).unwrap().into_sigma();
    assert!(expected.iter().any(|s| (s / expected[0] - 1.0).abs() > 0.1), "all alike prove little");
    let lines: String = rows().map(|x| format!("{:e},text,{}\n", x[1], x[0])).collect();
    let (header, rows) = predict(folder.path(), &format!("b,note,a\n{lines}"), &[]);
    assert_eq!(header, ["b", "note", "a", "sigma", "support", "outside", "outside_input"]);
    let found: Vec<f64> = rows.iter().map(|row| row[3]).collect();
    // Every digit is written.
    assert_eq!(found, expected);
}

/// A model that makes the forecast itself puts its intervals around that.
#[test]
fn a_forecast_of_the_models_own() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), table(60)).unwrap();
    let fit = "fit t.csv --fit-mean gp --inputs x --observation y --model constant --law normal \
         --recalibrate no -q -o model.json";
    errbar(folder.path(), fit.split(' ')).well();
    let options = ["--interval", "0.9", "--exceed", "1.5"];
    let (header, rows) = predict(folder.path(), &table(60), &options);
    let names = [
        "x",
        "mu",
        "y",
        "forecast",
        "sigma",
        "lower_90",
        "upper_90",
        "exceed_1.5",
        "support",
        "outside",
        "outside_input",
    ];
    assert_eq!(header, names);
    for row in &rows {
        let (forecast, sigma, low, high, exceed) = (row[3], row[4], row[5], row[6], row[7]);
        // The upper end of a standard normal interval of 90%: NormalDist().inv_cdf(0.95).
        let reach = 1.6448536269514722 * sigma;
        assert!(
            (low - (forecast - reach)).abs() < TOLERANCE
                && (high - (forecast + reach)).abs() < TOLERANCE
        );
        // Which side of one half tells which side of the threshold the forecast lies on.
        assert_eq!(exceed > 0.5, forecast > 1.5);
        // y is 3 x and noise of some 0.2 to 1.2; its mean comes out at 3 x within less.
        assert!((forecast - 3.0 * row[0]).abs() < 1.0, "{row:?}");
    }
    assert_eq!(rows.len(), 60);
}

/// The band on sigma is that of the library, and other models have none.
#[test]
fn a_band_on_sigma() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), table(120)).unwrap();
    let fit = |model: &str| {
        let fit = format!(
            "fit t.csv --inputs x --forecast mu --observation y --model {model} -q -o model.json"
        );
        errbar(folder.path(), fit.split(' ')).well();
    };
    fit("smooth");
    let (header, rows) = predict(folder.path(), "x\n0.2\n0.9\n", &["--sigma-band", "90%"]);
    assert_eq!(
        header,
        ["x", "sigma", "sigma_lower_90", "sigma_upper_90", "support", "outside", "outside_input"]
    );
    let model = std::fs::read_to_string(folder.path().join("model.json")).unwrap();
    let fitted = fit::Fitted::from_json(&model).unwrap();
    let (low, high) = fitted.predict(&[0.2, 0.9]).unwrap().sigma_band(0.9).unwrap().unwrap();
    for (i, row) in rows.iter().enumerate() {
        assert_eq!((row[2], row[3]), (low[i], high[i]));
        assert!(row[2] < row[1] && row[1] < row[3]);
    }
    fit("constant");
    let arguments = ["predict", "t.csv", "-m", "model.json", "--sigma-band", "0.9"];
    let ran = errbar(folder.path(), arguments);
    assert!(ran.stderr.contains("--model smooth"), "{}", ran.stderr);
}

/// A table of two groups; the errors of b are ten times those of a.
fn grouped(rows: usize) -> String {
    let mut random = crate::common::Numbers::new(5);
    let mut text = String::from("x,site,mu,y\n");
    for row in 0..rows {
        let (site, size) = if row % 2 == 0 { ("a", 1.0) } else { ("b", 10.0) };
        text += &format!("{},{site},0,{}\n", random.next(), size * random.normal());
    }
    text
}

#[test]
fn guaranteed_intervals_are_those_of_the_library_group_by_group() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), grouped(400)).unwrap();
    let fit = "fit t.csv --inputs x --forecast mu --observation y --model constant --guarantee \
               --group site -o model.json";
    let ran = errbar(folder.path(), fit.split_whitespace()).well();
    assert!(ran.printed().contains("least 90%"), "{}", ran.printed());
    assert!(ran.printed().contains("exchangeable"), "{}", ran.printed());
    let rows = "x,site,mu\n0.5,a,1\n0.5,b,1\n0.5,c,1\n0.5,,1\n0.5,a,\n";
    let (header, rows) = predict(folder.path(), rows, &["--guarantee", "0.9"]);
    let added = [
        "sigma",
        "guaranteed_lower_90",
        "guaranteed_upper_90",
        "guaranteed_by_90",
        "support",
        "outside",
        "outside_input",
    ];
    assert_eq!(header[3..], added);
    let model = std::fs::read_to_string(folder.path().join("model.json")).unwrap();
    let fitted = fit::Fitted::from_json(&model).unwrap();
    let site = |name: &str| fitted.guarantee().unwrap().group(name);
    for (row, name) in rows[..2].iter().zip(["a", "b"]) {
        let (low, high) = {
            let site = [site(name)];
            let rows = Rows::new(&[0.5]).with_group(&site);
            fitted.predict(rows).unwrap().guaranteed_errors(0.9).unwrap()
        };
        assert_eq!((row[4], row[5]), (1.0 + low[0], 1.0 + high[0]), "{name}");
    }
    // 90% of a normal error lie within 1.64 of its standard deviation.
    assert!((1.2..2.3).contains(&(rows[0][5] - 1.0)) && (12.0..23.0).contains(&(rows[1][5] - 1.0)));
    for (row, why) in rows[2..].iter().zip(["a group never seen", "no group", "no forecast"]) {
        assert!(row[4].is_nan() && row[5].is_nan(), "{why}: no interval");
    }
}

/// Forty stations of sixty rows, and as many of three.
#[test]
fn each_row_says_who_its_interval_is_promised_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = crate::common::Numbers::new(14);
    for file in ["t.csv", "later.csv"] {
        let mut text = String::from("x,station,mu,y\n");
        for station in 0..80 {
            for _ in 0..if station < 40 { 60 } else { 3 } {
                text += &format!("{},s{station},0,{}\n", random.next(), random.normal());
            }
        }
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let new = "x,station,mu\n0.5,s3,1\n0.5,s50,1\n0.5,s60,1\n0.5,elsewhere,1\n0.5,s3,\n";
    std::fs::write(folder.path().join("new.csv"), new).unwrap();
    let run = |line: &str| errbar(folder.path(), line.split_whitespace());
    let fit = "fit t.csv --inputs x --forecast mu --observation y --model constant --guarantee \
               --group station -o model.json";
    let said = run(fit).well().printed();
    // Summarised, not listed.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("in each of 40 groups of \"station\" (read off 30 errors"), "{said}");
    assert!(said.contains("the rows of 40 groups with fewer errors together"), "{said}");
    assert!(!said.contains("s50"), "{said}");
    // As Parquet and back: the new column is text there too.
    run("predict new.csv -m model.json --guarantee 0.9 -o out.parquet").well();
    let ran = run("predict out.parquet -m model.json --guarantee 0.9,0.99 --prefix b_").well();
    let table = ran.printed();
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let place = |name: &str| lines[0].iter().position(|own| *own == name).unwrap();
    for name in ["guaranteed_by_90", "b_guaranteed_by_90"] {
        let by: Vec<&str> = lines[1..].iter().map(|line| line[place(name)]).collect();
        assert_eq!(by, ["s3", "small groups together", "small groups together", "", ""], "{name}");
    }
    // Thirty errors are too few for 0.99, those of all groups together are not.
    assert_eq!(lines[1][place("b_guaranteed_by_99")], "small groups together");
    let upper: Vec<&str> =
        lines[1..].iter().map(|line| line[place("guaranteed_upper_90")]).collect();
    assert!(upper[1] == upper[2] && upper[0] != upper[1] && upper[3..] == ["", ""], "{upper:?}");
    assert!(ran.stderr.contains("1 row of 5 belong to no group"), "{}", ran.stderr);
    assert!(ran.stderr.contains("2 rows of 5 belong to groups with too few"), "{}", ran.stderr);
    // More than all errors together can promise is refused before any work.
    let ran = run("predict new.csv -m model.json --guarantee 0.9999 -o none.csv");
    assert!(ran.stderr.contains("needs 10000 errors"), "{}", ran.stderr);
    assert!(!folder.path().join("none.csv").exists());
    // And the report says how often they held, not for each station.
    run("report later.csv -m model.json --observation y -o r.html").well();
    let page = std::fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(page.contains("by station: 40 groups,") && page.contains(", small groups together "));
}

#[test]
fn guarantees_that_cannot_be_given_are_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), grouped(60)).unwrap();
    let run = |line: &str| errbar(folder.path(), line.split_whitespace());
    let fit = "fit t.csv --inputs x --forecast mu --observation y --model constant -q";
    run(fit).well();
    for (line, words) in [
        ("predict t.csv -m model.json --guarantee 0.9", "--guarantee split"),
        (&format!("{fit} --guarantee --errors in-sample"), "in-sample"),
        (&format!("{fit} --guarantee cross --group site"), "split"),
        (&format!("{fit} --guarantee --group nowhere"), "nowhere"),
    ] {
        let ran = run(line);
        assert!(ran.status != Some(0) && ran.stderr.contains(words), "{line}: {}", ran.stderr);
    }
    run(&format!("{fit} --guarantee")).well();
    let ran = run("predict t.csv -m model.json --guarantee 0.99");
    assert!(ran.stderr.contains("needs 99 errors"), "{}", ran.stderr);
}

/// A forecaster that is 3 too low where x is above one half.
#[test]
fn a_bias_is_learned_where_it_pays_and_forecasts_are_moved() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = crate::common::Numbers::new(8);
    let mut text = String::from("x,mu,y\n");
    for _ in 0..600 {
        let (x, mu) = (random.next(), 10.0 * random.next());
        let y = mu + if x > 0.5 { 3.0 } else { 0.0 } + random.normal();
        text += &format!("{x},{mu},{y}\n");
    }
    std::fs::write(folder.path().join("t.csv"), text).unwrap();
    let fit = "fit t.csv --inputs x --forecast mu --observation y --model constant --law normal \
               --recalibrate no";
    let plain = errbar(folder.path(), fit.split(' ').chain(["--debias", "no"])).well();
    assert!(plain.stderr.contains("with --debias"), "{}", plain.stderr);
    let said = |ran: &crate::common::Ran| String::from_utf8(ran.stdout.clone()).unwrap();
    assert!(!said(&plain).contains("moved"), "{}", said(&plain));
    let model = || std::fs::read(folder.path().join("model.json")).unwrap();
    let moved = errbar(folder.path(), fit.split(' ').chain(["--debias"])).well();
    assert!(!moved.stderr.contains("bias"), "{}", moved.stderr);
    let asked_for = model();
    // Nobody need ask.
    let usual = errbar(folder.path(), fit.split(' ')).well();
    assert!(said(&usual).contains("--debias no leaves them as they are"), "{}", said(&usual));
    assert!(!usual.stderr.contains("bias"), "{}", usual.stderr);
    assert!(model() == asked_for);
    let (header, rows) = predict(folder.path(), "x,mu\n0.25,5\n0.75,5\n", &["--interval", "0.9"]);
    assert_eq!(
        header,
        [
            "x",
            "mu",
            "debiased",
            "sigma",
            "lower_90",
            "upper_90",
            "support",
            "outside",
            "outside_input"
        ]
    );
    for (row, expected) in rows.iter().zip([5.0, 8.0]) {
        assert!((row[2] - expected).abs() < 0.3, "{row:?}");
        assert!((row[3] - 1.0).abs() < 0.15, "{row:?}");
        assert!((0.5 * (row[4] + row[5]) - row[2]).abs() < 1e-9, "{row:?}");
    }
}

/// A debiased model downstream: sigma belongs to the moved forecast, and so must what it is judged by.
#[test]
fn scores_of_a_debiased_model_compare_like_with_like() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = crate::common::Numbers::new(37);
    let mut write = |name: &str| {
        let mut text = String::from("x,mu,y\n");
        // Evenly spread, so that only chance in y moves the mean error; in no order.
        let mut places: Vec<u16> = (0..800).collect();
        for i in (1..places.len()).rev() {
            places.swap(i, (random.next() * (i + 1) as f64) as usize);
        }
        for place in places {
            let (x, mu) = ((f64::from(place) + 0.5) / 800.0, 10.0 * random.next());
            let y = mu + if x > 0.5 { 3.0 } else { 0.0 } + random.normal();
            text += &format!("{x},{mu},{y}\n");
        }
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    write("t.csv");
    write("new.csv");
    let run = |line: &str| errbar(folder.path(), line.split(' ')).well();
    let fit = "fit t.csv --inputs x --forecast mu --observation y --model constant --debias";
    run(fit);
    run("predict new.csv -m model.json -o out.csv");
    let score = "score out.csv --no-intervals --model model.json --observation y";
    let moved = run(&format!("{score} --forecast debiased"));
    assert!(moved.printed().contains("have not drifted"), "{}", moved.printed());
    assert!(!moved.stderr.contains("warning"), "{}", moved.stderr);
    // The forecast as it was: its errors have not drifted either, but sigma is not theirs.
    for forecast in ["", " --forecast mu"] {
        let raw = run(&format!("{score}{forecast}"));
        assert!(raw.printed().contains("have not drifted"), "{}", raw.printed());
        let says = "\"mu\" is not moved: score the column that errbar predict adds, with --forecast debiased";
        assert!(raw.stderr.contains(says), "{}", raw.stderr);
    }
    // Without the model, too, somebody notices.
    let says = "there is a column \"debiased\"";
    let bare = "score out.csv --no-intervals --observation y --sigma sigma --forecast";
    assert!(run(&format!("{bare} mu")).stderr.contains(says));
    assert!(!run(&format!("{bare} debiased")).stderr.contains(says));
    // Real drift is still found.
    let text = std::fs::read_to_string(folder.path().join("out.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let place = header.split(',').position(|name| name == "debiased").unwrap();
    let shifted = rows.lines().map(|line| {
        let mut cells: Vec<String> = line.split(',').map(String::from).collect();
        cells[place] = (cells[place].parse::<f64>().unwrap() - 0.5).to_string();
        cells.join(",") + "\n"
    });
    let shifted: String = [format!("{header}\n")].into_iter().chain(shifted).collect();
    std::fs::write(folder.path().join("out.csv"), shifted).unwrap();
    let drifted = run(&format!("{score} --forecast debiased"));
    assert!(drifted.printed().contains("have drifted since"), "{}", drifted.printed());
}
