//! Observations that keep to bounds, and scales other than the user's: fit, predict, score, report.

use crate::common::{Numbers, errbar};

/// Rain whose forecasts are off by more where x is large, cut off at zero.
fn rain(folder: &std::path::Path, name: &str, rows: usize, seed: u64) -> Vec<f64> {
    let mut random = Numbers::new(seed);
    let mut text = String::from("x,forecast,observation\n");
    let mut observed = Vec::new();
    for _ in 0..rows {
        let (x, forecast) = (random.next(), 2.0 * random.next());
        let y = (forecast + (0.5 + 1.5 * x) * random.normal()).max(0.0);
        text += &format!("{x},{forecast},{y}\n");
        observed.push(y);
    }
    std::fs::write(folder.join(name), text).unwrap();
    observed
}

fn column(folder: &std::path::Path, file: &str, name: &str) -> Vec<f64> {
    let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
    let at = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
    reader.records().map(|record| record.unwrap()[at].parse().unwrap()).collect()
}

#[test]
fn a_bound_told_to_fit_is_kept_by_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    rain(path, "train.csv", 800, 1);
    let observed = rain(path, "test.csv", 1000, 2);
    let fit = "fit train.csv --inputs x --model polynomial -o m.json";
    let first = errbar(path, fit.split(' ')).well();
    assert!(first.stderr.contains("fit with --lower 0, and the law of the errors ends there"));
    let told = errbar(path, format!("{fit} --lower 0").split(' ')).well();
    assert!(
        told.printed().contains("  bounds   observations are at least 0:"),
        "{}",
        told.printed()
    );
    assert!(!told.stderr.contains("--lower"), "{}", told.stderr);
    // The model knows: predict needs no bound of its own, and takes another.
    let predict = "predict test.csv -m m.json --interval 0.9 --quantiles 0.5 --exceed 0 -o p.csv";
    errbar(path, predict.split(' ')).well();
    let low = column(path, "p.csv", "lower_90");
    assert!(low.iter().all(|x| *x >= 0.0) && low.iter().filter(|x| **x == 0.0).count() > 500);
    let high = column(path, "p.csv", "upper_90");
    let above = observed.iter().zip(&high).filter(|(y, high)| y > high).count();
    assert!((30..80).contains(&above), "{above} of 1000 above");
    // As often dry as the law says, for a fifth of the rows or so.
    let dry = observed.iter().filter(|y| **y == 0.0).count() as f64;
    let wet = column(path, "p.csv", "exceed_0").iter().sum::<f64>();
    assert!((1000.0 - wet - dry).abs() < 40.0, "{dry} dry, {wet} expected wet");
    errbar(path, format!("{predict} --lower -1").split(' ')).well();
    assert!(column(path, "p.csv", "lower_90").iter().any(|x| *x < -0.5));
    // Judged as what it is: reliable, though a fifth of the observations are alike.
    errbar(path, predict.split(' ')).well();
    let score = |options: &str| {
        let line = format!("score p.csv --forecast forecast {options} --json");
        let text = errbar(path, line.split_whitespace()).well().printed();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let (law, plain) = (score("--model m.json"), score(""));
    let of = |scores: &serde_json::Value, name: &str| scores["scores"][name].as_f64().unwrap();
    assert!(of(&law, "rs") < 0.3 * of(&plain, "rs"), "{} {}", of(&law, "rs"), of(&plain, "rs"));
    assert!(of(&law, "crps") < of(&plain, "crps"));
    let page = errbar(path, "report test.csv -m m.json -o r.html".split(' ')).well();
    let advice = "of the observations are exactly 0, their least value";
    assert!(!page.stderr.contains(advice), "{}", page.stderr);
    let plain = errbar(path, format!("{fit} -q").split(' ')).well();
    assert_eq!(plain.status, Some(0));
    let page = errbar(path, "report test.csv -m m.json -o r.html".split(' ')).well();
    assert!(page.stderr.contains(advice), "{}", page.stderr);
    errbar(path, format!("{fit} --lower 0 -q").split(' ')).well();
    let page = std::fs::read_to_string(path.join("r.html")).unwrap();
    let shown = errbar::words::significant(of(&law, "crps"), 3);
    assert!(page.contains(&format!(">{shown}")), "{shown} is not on the page");
}

#[test]
fn a_scale_is_left_again_by_predict() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut random = Numbers::new(4);
    let mut text = String::from("x,forecast,observation\n");
    for _ in 0..600 {
        let (x, forecast) = (random.next(), 1.0 + 9.0 * random.next());
        text +=
            &format!("{x},{forecast},{}\n", forecast * ((0.1 + 0.5 * x) * random.normal()).exp());
    }
    std::fs::write(path.join("t.csv"), &text).unwrap();
    let fit = "fit t.csv --inputs x --model polynomial -o m.json --transform";
    let said = errbar(path, format!("{fit} log").split(' ')).well().printed();
    assert!(
        said.contains("  scale    errors, sigma and scores are on the scale of logarithms"),
        "{said}"
    );
    errbar(path, "predict t.csv -m m.json --interval 0.9 -o p.csv".split(' ')).well();
    let [low, high, y, mu] =
        ["lower_90", "upper_90", "observation", "forecast"].map(|name| column(path, "p.csv", name));
    let inside = (0..600).filter(|&i| low[i] <= y[i] && y[i] <= high[i]).count();
    assert!((520..560).contains(&inside) && low.iter().all(|low| *low > 0.0), "{inside}");
    // Even around the forecast in factors, not in differences.
    let middle = (0..600).map(|i| (low[i] * high[i]).sqrt() / mu[i]).sum::<f64>() / 600.0;
    assert!((middle - 1.0).abs() < 0.05, "{middle}");
    let scored = errbar(path, "score p.csv --forecast forecast --model m.json".split(' ')).well();
    assert!(scored.stderr.contains("on the scale of --transform log"), "{}", scored.stderr);
    errbar(path, "report t.csv -m m.json -o r.html".split(' ')).well();
    let page = std::fs::read_to_string(path.join("r.html")).unwrap();
    assert!(page.contains("log observation"));
    let export = errbar(path, "export m.json -o m.onnx".split(' ')).well();
    assert!(export.stderr.contains("on the scale of --transform log"), "{}", export.stderr);
}

/// Two models beside each other, each by its own law, as `errbar score` has them.
#[test]
fn models_are_compared_by_their_laws() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    rain(path, "train.csv", 600, 5);
    rain(path, "test.csv", 500, 6);
    let fit = "fit train.csv --inputs x --debias no --model polynomial";
    errbar(path, format!("{fit} --lower 0 -o a.json").split(' ')).well();
    errbar(path, format!("{fit} --law normal --recalibrate no -o b.json").split(' ')).well();
    errbar(path, "predict test.csv -m a.json --prefix a_ -o one.csv".split(' ')).well();
    errbar(path, "predict one.csv -m b.json --prefix b_ -o two.csv".split(' ')).well();
    let json = |line: &str| -> serde_json::Value {
        serde_json::from_str(&errbar(path, line.split(' ')).well().printed()).unwrap()
    };
    let both = json("compare two.csv --sigma a_sigma,b_sigma --model a.json,b.json --json");
    for (nth, name) in ["a", "b"].iter().enumerate() {
        let line = format!("score two.csv --sigma {name}_sigma --model {name}.json --json");
        let (one, alone) = (&both["candidates"][nth], json(&line));
        for score in ["crps", "nlpd", "rs"] {
            assert_eq!(one["scores"][score], alone["scores"][score], "{name} {score}");
        }
        assert_eq!(one["verdict_word"], alone["verdict"]["word"]);
    }
    assert!(both["candidates"][1]["difference"]["crps"]["value"].as_f64().unwrap() > 0.0);
    let said = errbar(path, "compare two.csv --sigma a_sigma,b_sigma -m a.json".split(' '));
    assert!(said.stderr.contains("1 models were named for 2 sigmas"), "{}", said.stderr);
    let said =
        errbar(path, "compare two.csv --sigma a_sigma,b_sigma -m a.json,-".split(' ')).well();
    assert!(said.printed().contains("a_sigma"));
}

#[test]
fn what_does_not_fit_is_refused_with_the_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut text = String::from("x,forecast,observation,e\n");
    (0..40).for_each(|i| text += &format!("{i},{},{},{}\n", i, (i * 7) % 40, (i * 7) % 40 - i));
    std::fs::write(path.join("t.csv"), text).unwrap();
    for (options, words) in [
        (
            "--lower 3",
            "t.csv, row 1: the observation is 0, beyond the bound 3; give another --lower",
        ),
        ("--upper 30", "t.csv, row 6: the observation is 35, beyond the bound 30"),
        ("--lower 5 --upper 2", "--lower 5 is not below --upper 2: swap them, or leave one out"),
        (
            "--transform log",
            "t.csv, row 1: the observation is 0, which has no place on the scale of",
        ),
        ("--transform cube", "transform is \"cube\": give one of none, sqrt, log"),
        ("--lower nan", "give a number"),
        ("--lower 0 --error e", "cannot be used with"),
    ] {
        let line = format!("fit t.csv --inputs x {options}");
        let said = errbar(path, line.split_whitespace());
        assert!(
            said.status != Some(0) && said.stderr.contains(words),
            "{options}: {}",
            said.stderr
        );
    }
}
