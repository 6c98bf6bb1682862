//! `errbar score` and `errbar compare` as a person runs them.
//!
//! Expected numbers come from numpy and scipy: CRPS and RS by quadrature of their definitions.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use errbar::fit::Fitted;
use errbar::law::{self, Base, Law};
use errbar::score::Sample;
use serde_json::Value;
use tempfile::TempDir;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_errbar")).args(arguments).output().unwrap()
}

/// Runs and wants success.
fn good(arguments: &[&str]) -> (String, String) {
    let output = run(arguments);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {err}");
    (out, err)
}

fn json(arguments: &[&str]) -> Value {
    let all = [arguments, &["--json"]].concat();
    serde_json::from_str(&good(&all).0).unwrap()
}

/// Runs and wants failure with status 1 and one line.
fn bad(arguments: &[&str]) -> String {
    let output = run(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
    assert_eq!(text.trim_end().lines().count(), 1, "{arguments:?}: {text}");
    assert!(output.stdout.is_empty());
    text
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path_text(&path)
    }
}

fn path_text(path: &Path) -> String {
    path.to_str().unwrap().to_string()
}

const SMALL: &str = "y,mu,sigma,wide,weight,lead\n\
12.1,11.5,0.8,1.0,1,24\n\
9.4,10.0,0.5,0.625,2,6\n\
15.0,14.2,1.0,1.25,1,24\n\
11.2,11.9,0.6,0.75,1,6\n\
13.3,12.8,0.9,1.125,3,24\n\
8.8,9.1,0.4,0.5,1,6\n\
10.9,10.2,0.7,0.875,1,24\n\
14.6,14.9,0.5,0.625,2,6\n\
12.7,11.6,1.2,1.5,1,24\n\
9.9,10.4,0.6,0.75,1,6\n\
11.8,11.9,0.3,0.375,1,24\n\
13.9,12.6,1.1,1.375,1,6\n";

fn close(value: &Value, expected: f64, tolerance: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    let scale = expected.abs().max(1e-3);
    assert!((found - expected).abs() <= tolerance * scale, "{found}, expected {expected}");
}

#[test]
fn scores_are_those_of_scipy() {
    let folder = Folder::new();
    let file = folder.file("small.csv", SMALL);
    let plain = json(&["score", &file]);
    let weighted = json(&["score", &file, "--weight", "weight"]);
    for (found, expected) in [
        (
            &plain,
            [
                0.208_333_333_333,
                0.625,
                0.702_969_890_299,
                0.382_764_549_849,
                0.894_178_858_051,
                0.020_070_453_665,
                1.0,
                0.879_264_874_513,
                0.026_725_589_226,
            ],
        ),
        (
            &weighted,
            [
                0.1625,
                0.5875,
                0.655_743_852_430,
                0.361_907_280_294,
                0.876_095_438_269,
                0.017_446_958_548,
                1.0,
                0.854_932_913_495,
                -0.023_011_363_636,
            ],
        ),
    ] {
        let scores = &found["scores"];
        let names = ["bias", "mae", "rmse", "crps", "nlpd", "rs", "", "rms_z", "mean_z"];
        for (name, expected) in names.iter().zip(expected).filter(|(name, _)| !name.is_empty()) {
            close(&scores[name], expected, 1e-9);
        }
        close(&scores["coverage"][2]["observed"], expected[6], 1e-12);
    }
    assert_eq!(plain["rows"], 12);
    assert_eq!(plain["verdict"]["word"], "too few rows");
    // The standard deviation of the rows' CRPS over sqrt(12); 1000 resamples know it to 2.2%.
    close(&plain["intervals"]["crps"]["standard_error"], 0.058_384_952_282, 0.11);
    // Twelve of twelve is no certainty: Wilson's interval with Student's 2.201 for 11 degrees.
    let low = 1.0 / (1.0 + 2.200_985_160 * 2.200_985_160 / 12.0);
    close(&plain["intervals"]["coverage"][2]["low"], low, 1e-3);
}

#[test]
fn groups_are_scored_by_themselves() {
    let folder = Folder::new();
    let file = folder.file("small.csv", SMALL);
    let found = json(&["score", &file, "--by", "lead"]);
    let groups = found["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    for (group, (value, bias, rmse, crps)) in groups.iter().zip([
        ("6", -0.183_333_333_333, 0.703_562_363_974, 0.379_721_558_302),
        ("24", 0.6, 0.702_376_916_857, 0.385_807_541_396),
    ]) {
        assert_eq!((group["value"].as_str(), group["rows"].as_u64()), (Some(value), Some(6)));
        close(&group["scores"]["bias"], bias, 1e-9);
        close(&group["scores"]["rmse"], rmse, 1e-9);
        close(&group["scores"]["crps"], crps, 1e-9);
        assert!(group["verdict"]["text"].is_string() && group["intervals"]["crps"]["low"].is_f64());
    }
    let (text, _) = good(&["score", &file, "--by", "lead"]);
    let table: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("lead")).collect();
    assert!(table[1].starts_with("6 ") && table[2].starts_with("24 "), "{text}");

    let mut many = String::from("y,mu,sigma,id\n");
    (0..1500).for_each(|i| many += &format!("{},0,1,{i}\n", i % 7));
    let many = folder.file("many.csv", &many);
    assert!(bad(&["score", &many, "--by", "id"]).contains("1500 different values"));
    assert!(bad(&["score", &file, "--by", "leed"]).contains("lead"), "the nearest name");
}

#[test]
fn words_come_first_and_notes_go_to_standard_error() {
    let folder = Folder::new();
    let file = folder.file("small.csv", SMALL);
    let (out, err) = good(&["score", &file]);
    assert!(out.starts_with("Too few rows to tell: 12 rows"), "{out}");
    for word in ["CRPS", "95% interval", "central interval", "rows with sigma", "0.3828"] {
        assert!(out.contains(word), "{word} is missing in {out}");
    }
    assert!(
        err.contains("\"y\" is taken as the observation") && err.contains("\"sigma\""),
        "{err}"
    );
    let (quiet, nothing) = good(&["score", &file, "--quiet"]);
    assert!(quiet == out && nothing.is_empty());
    let (without, _) = good(&["score", &file, "--no-intervals", "--levels", "0.5,90%"]);
    assert!(!without.contains("95% interval") && without.contains("90%"), "{without}");
    assert!(!without.contains("99%"), "{without}");
    let confident = good(&["score", &file, "--confidence", "0.8"]).0;
    assert!(confident.contains("80% interval"), "{confident}");
    let errors = folder.file("e.csv", "e,s\n0.5,1\n-0.5,1\n1,1\n");
    close(
        &json(&["score", &errors, "--error", "e", "--sigma", "s"])["scores"]["bias"],
        1.0 / 3.0,
        1e-12,
    );
}

#[test]
fn rows_with_gaps_are_left_out_and_counted() {
    let folder = Folder::new();
    let mut text = String::from("y,mu,sigma\n");
    for i in 0..100 {
        text += match i {
            3 | 50 => ",1,1\n",
            7 => "2,NA,1\n",
            20 => "2,1,\n",
            _ => "2,1,1\n",
        };
    }
    let file = folder.file("gaps.csv", &text);
    let (_, err) = good(&["score", &file]);
    let said = "4 of 100 rows were left out: 2 have no observation, 1 no forecast, 1 no sigma";
    assert!(err.contains(said), "{err}");
    let found = json(&["score", &file]);
    assert_eq!((&found["rows"], &found["rows_in_file"]), (&96.into(), &100.into()));
    assert_eq!(found["left_out"][0], serde_json::json!(["observation", 2]));
    let refused = bad(&["score", &file, "--missing", "error"]);
    assert!(refused.contains("row 4, column \"y\": the observation is missing"), "{refused}");
    let none = folder.file("none.csv", "y,mu,sigma\n,1,1\n,1,1\n1,,1\n");
    assert!(
        bad(&["score", &none])
            .contains("no row is complete; of 3 rows 2 have no observation, 1 no forecast")
    );
}

#[test]
fn bad_values_are_named_by_row_and_column() {
    let folder = Folder::new();
    // Rows are those of the file, also after gaps and after sorting.
    let with = |value: &str| {
        folder.file("bad.csv", &format!("t,y,mu,sigma\n5,1,1,1\n4,,1,1\n3,{value}\n2,1,1,1\n"))
    };
    for (row, sentence) in [
        ("1,1,0", "row 3, column \"sigma\" is 0, but sigma must be greater than 0"),
        ("1,1,-2", "row 3, column \"sigma\" is -2, but sigma must be greater than 0"),
        ("1,1,inf", "row 3, column \"sigma\" is infinite"),
        ("-inf,1,1", "row 3, column \"y\" is infinite"),
        ("1.7e308,-1.7e308,1", "row 3: observation 1.7e308 minus forecast -1.7e308 overflows"),
    ] {
        let file = with(row);
        for more in [&[][..], &["--time", "t"]] {
            let said = bad(&[&["score", &file, "--quiet"], more].concat());
            assert!(said.contains(sentence), "{said}");
        }
    }
    let file = with("1,1,1");
    assert!(bad(&["score", &file, "--weight", "t", "--sigma", "s"]).contains("\"s\""));
    assert!(
        bad(&["score", &file, "--forecast", "y", "--observation", "y"]).contains("same column")
    );
    let negative = folder.file("w.csv", "y,mu,sigma,w\n1,1,1,1\n1,1,1,-1\n");
    let said = bad(&["score", &negative, "--weight", "w"]);
    assert!(said.contains("row 2, column \"w\" is -1, but weight must be 0 or more"), "{said}");
    let nothing = folder.file("w0.csv", "y,mu,sigma,w\n1,1,1,0\n1,1,1,0\n");
    assert!(bad(&["score", &nothing, "--weight", "w"]).contains("all weights are 0"));
    assert!(bad(&["score", &folder.file("h.csv", "a,b\n1,2\n")]).contains("observation or y"));
    assert!(bad(&["score", &folder.file("empty.csv", "y,mu,sigma\n")]).contains("no rows"));
    assert!(bad(&["score", "nowhere.csv"]).contains("nowhere.csv"));
    for wrong in [["--levels", "2"], ["--block", "0"], ["--replicates", "1"], ["--beta", "7"]] {
        let output = run(&["score", &file, wrong[0], wrong[1]]);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

/// A series with memory, its rows shuffled: an autoregressive one made with a simple generator.
fn series(rows: usize) -> Vec<f64> {
    let mut state = 12345u64;
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut last = 0.0;
    let step = |_| {
        let noise = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        last = 0.8 * last + 0.6 * noise;
        last
    };
    (0..rows).map(step).collect()
}

#[test]
fn time_puts_rows_in_order_and_memory_is_taken_into_account() {
    let folder = Folder::new();
    let error = series(900);
    let line = |day: usize| {
        let (month, of_month) = (day / 30 % 12 + 1, day % 30 % 28 + 1);
        let year = 2000 + day / 360;
        // Days beyond the 28th as hours of the first two.
        let hour = if day % 30 >= 28 { 12 } else { 0 };
        format!(
            "{year}-{month:02}-{of_month:02}T{hour:02}:00,{},{},1\n",
            0.5 * error[day] + 3.0,
            3.0
        )
    };
    let in_order: Vec<usize> = {
        let mut days: Vec<usize> = (0..900).collect();
        days.sort_by_key(|&day| line(day)[..16].to_string());
        days
    };
    let table = |days: &[usize]| {
        let rows: String = days.iter().map(|&day| line(day)).collect();
        format!("time,y,mu,sigma\n{rows}")
    };
    let sorted = folder.file("sorted.csv", &table(&in_order));
    let shuffled: Vec<usize> = (0..900).map(|i| in_order[i * 577 % 900]).collect();
    let shuffled = folder.file("shuffled.csv", &table(&shuffled));

    let (_, err) = good(&["score", &sorted]);
    assert!(!err.contains("warning:") && err.contains("draw blocks of "), "{err}");
    assert!(err.contains("go together (correlation 0.") && err.contains("--block 1"), "{err}");
    let (_, err) = good(&["score", &shuffled]);
    assert!(!err.contains("blocks"), "no neighbours, no memory: {err}");
    let with_block = |file: &str| json(&["score", file, "--time", "time", "--block", "24"]);
    let (one, two) = (with_block(&sorted), with_block(&shuffled));
    assert_eq!(one["intervals"], two["intervals"]);
    assert!(one["warnings"].as_array().unwrap().is_empty());
    let plain = json(&["score", &sorted, "--block", "1"]);
    let width = |found: &Value| found["intervals"]["bias"]["standard_error"].as_f64().unwrap();
    // Nine times fewer rows in effect, so three times the standard error; blocks of 24 see most of it.
    let ratio = width(&one) / width(&plain);
    assert!((1.8..3.6).contains(&ratio), "{ratio}");
    let found = json(&["score", &sorted]);
    assert_eq!(found["intervals"]["block"], found["dependence"]["block"]);
    let ratio = width(&found) / width(&plain);
    assert!((1.8..3.6).contains(&ratio), "{ratio}");

    // From standard input, where times cannot be read again.
    let mut child = Command::new(env!("CARGO_BIN_EXE_errbar"))
        .args(["score", "-", "--time", "time", "--block", "24", "--json", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&std::fs::read(&shuffled).unwrap()).unwrap();
    let piped: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(
        (&piped["intervals"], &piped["file"]),
        (&one["intervals"], &"standard input".into())
    );

    let wrong = folder.file("wrong.csv", "time,y,mu,sigma\nsoon,1,1,1\nlater,1,2,1\n");
    assert!(bad(&["score", &wrong, "--time", "time", "-q"]).contains("\"soon\" is no time"));
}

/// One rule for which rows are drawn together, so that nobody hears one verdict here and another there.
#[test]
fn score_compare_and_report_judge_dependent_rows_alike() {
    let folder = Folder::new();
    let error = series(400);
    // A mean error that would be no chance in 400 independent rows, and may be in these.
    let mean = error.iter().sum::<f64>() / 400.0;
    let error: Vec<f64> = error.iter().map(|e| e - mean + 0.25).collect();
    let rows: String = error.iter().map(|e| format!("{e},0,1,2\n")).collect();
    let file = folder.file("a.csv", &format!("y,mu,sigma,other\n{rows}"));

    let score = json(&["score", &file]);
    let alone = json(&["score", &file, "--block", "1"]);
    assert_ne!(score["verdict"]["word"], alone["verdict"]["word"], "the rows tell rules apart");
    let text = score["verdict"]["text"].as_str().unwrap();
    let block = score["intervals"]["block"].as_u64().unwrap();
    assert!(block > 1);
    let note = score["notes"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert!(note.contains(&format!("blocks of {block} rows")), "{note}");
    let without = json(&["score", &file, "--no-intervals"]);
    assert_eq!(without["verdict"]["text"], text);

    let (mu, sigma) = (vec![0.0; 400], vec![1.0; 400]);
    let subject = errbar_report::report::Subject {
        observation: errbar_report::report::Column { name: "y", values: &error },
        forecast: errbar_report::report::Column { name: "mu", values: &mu },
        sigma: &sigma,
        ..Default::default()
    };
    let report = errbar_report::report::Report::new(&subject, &errbar::Silent).unwrap();
    assert_eq!(report.verdict().to_string(), text);
    assert_eq!(serde_json::to_value(report.intervals()).unwrap(), score["intervals"]);
    good(&["report", &file, "-q", "-o", &folder.file("a.html", "")]);
    let page = std::fs::read_to_string(folder.0.path().join("a.html")).unwrap();
    assert!(page.contains(&format!("blocks of {block} rows")));

    // Those compared are drawn together: as the one with the longest memory needs.
    let compare = json(&["compare", &file, "--sigma", "sigma,other"]);
    assert_eq!(compare["candidates"][0]["intervals"]["crps"], score["intervals"]["crps"]);
    assert_eq!(compare["candidates"][0]["verdict"], text);
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let folder = Folder::new();
    let mut text = String::from("e,sigma,other,group\n");
    for (i, error) in series(30_000).iter().enumerate() {
        text += &format!("{error},{},1.1,{}\n", 0.8 + (i % 5) as f64 * 0.1, i % 3);
    }
    let file = folder.file("e.csv", &text);
    let score = |threads: &str| {
        good(&["score", &file, "--error", "e", "--by", "group", "--threads", threads, "--json"])
    };
    assert!(score("1") == score("2"));
    let compare = |threads: &str| {
        good(&["compare", &file, "--error", "e", "--sigma", "sigma,other", "--threads", threads])
    };
    assert!(compare("1") == compare("2"));
}

#[test]
fn differences_are_those_of_scipy() {
    let folder = Folder::new();
    let file = folder.file("small.csv", SMALL);
    let found = json(&["compare", &file, "--sigma", "sigma,wide"]);
    let candidates = found["candidates"].as_array().unwrap();
    assert_eq!(found["against"], "sigma");
    assert!(candidates[0]["difference"].is_null() && candidates[0]["text"].is_null());
    let difference = &candidates[1]["difference"];
    close(&difference["crps"]["value"], 0.003_525_467_643, 1e-9);
    close(&difference["crps_relative"]["value"], 0.009_210_538_552, 1e-9);
    close(&difference["nlpd"]["value"], 0.083_984_341_795, 1e-9);
    // The standard error of a mean of paired differences; 1000 resamples know it to 2.2%.
    close(&difference["crps"]["interval"]["standard_error"], 0.004_876_006_849, 0.11);
    let text = candidates[1]["text"].as_str().unwrap();
    assert!(
        text.contains("no difference that these 12 rows can show: CRPS higher by 0.9%"),
        "{text}"
    );
    // The other way round: the signs turn.
    let turned = json(&["compare", &file, "--sigma", "sigma,wide", "--against", "wide"]);
    close(&turned["candidates"][0]["difference"]["crps"]["value"], -0.003_525_467_643, 1e-9);
    let (out, _) = good(&["compare", &file, "--sigma", "sigma,wide"]);
    assert!(out.starts_with("wide and sigma: no difference"), "{out}");
    assert!(
        out.contains("Differences from sigma") && out.contains("reliability score RS"),
        "{out}"
    );
}

#[test]
fn a_clear_difference_is_said_clearly() {
    let folder = Folder::new();
    let mut text = String::from("y,old,new,s_old,s_new\n");
    for (i, error) in series(2400).iter().step_by(12).enumerate() {
        let y = i as f64;
        text += &format!("{y},{},{},1,0.5\n", y - error, y - 0.5 * error);
    }
    let file = folder.file("two.csv", &text);
    let both =
        ["compare", &file, "--observation", "y", "--forecast", "old,new", "--sigma", "s_old,s_new"];
    let (out, _) = good(&both);
    assert!(out.starts_with("new with s_new is better than old with s_old: CRPS lower by 50.0% (95% interval 50.0% to 50.0%)"), "{out}");
    assert!(out.contains("root mean squared error"), "forecasts differ: {out}");
    let (out, _) = good(&[&both[..], &["--against", "new"]].concat());
    assert!(
        out.starts_with("old with s_old is worse than new with s_new: CRPS higher by 100.0%"),
        "{out}"
    );
    let one = ["compare", &file, "--observation", "y", "--forecast", "old"];
    assert!(bad(&[&one[..], &["--sigma", "s_old"]].concat()).contains("errbar score"));
    assert!(bad(&[&one[..], &["--sigma", "s_old,s_old"]].concat()).contains("named twice"));
    assert!(
        bad(&[&one[..], &["--sigma", "s_old,s_new", "--against", "x"]].concat())
            .contains("no such one among s_old, s_new")
    );
    assert!(
        bad(&[
            "compare",
            &file,
            "--observation",
            "y",
            "--forecast",
            "old,new",
            "--sigma",
            "s_old,s_new,s_new"
        ])
        .contains("2 forecasts were named for 3 sigmas")
    );
}

#[test]
fn help_teaches() {
    for command in ["score", "compare"] {
        let (out, _) = good(&[command, "--help"]);
        for word in ["Examples:", "--block", "CRPS", "--missing"] {
            assert!(out.contains(word), "{command}: {word} is missing");
        }
    }
}

/// A table whose errors reach farther below where x is small and farther above where it is large: what is
/// predicted for each row is what it is scored and compared by, and the library says the same.
#[test]
fn a_skew_that_varies_with_the_inputs_is_known_by_its_column() {
    let rows = 8000;
    let mut table = String::from("x,mu,y\n");
    let (mut x, mut error) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let place = |ratio: f64| ((row as f64 + 0.5) * ratio).fract();
        let [at, share] = [0.618_033_988_749_894_9, std::f64::consts::SQRT_2].map(place);
        let law = Law::new(Base::Normal, 0.0, 1.0, (3.6 * at - 1.8).exp()).with_mean(0.0);
        let y = 3.0 + law.around(0.0, 1.0 / law.standard_deviation()).quantile(share);
        let _ = writeln!(table, "{at},3,{y}");
        x.push(at);
        error.push(y - 3.0);
    }
    let folder = Folder::new();
    let file = folder.file("table.csv", &table);
    let [model, said] =
        ["model.json", "said.csv"].map(|name| path_text(&folder.0.path().join(name)));
    let columns = ["--forecast", "mu", "--observation", "y"];
    let fit =
        [&["fit", &file, "--inputs", "x", "--model", "polynomial", "-o", &model], &columns[..]];
    let (words, _) = good(&fit.concat());
    assert!(words.contains("whose skew turns with the inputs: from errors that reach"), "{words}");
    let asked = ["predict", &file, "--model", &model, "-o", &said, "--interval", "0.9"];
    good(&[&asked[..], &["--forecast", "mu", "--prefix", "own_"]].concat());
    let sigma = ["--sigma", "own_sigma", "--model", &model];
    let scored = json(&[&["score", &said], &columns[..], &sigma].concat());
    let fitted = Fitted::from_json(&std::fs::read_to_string(&model).unwrap()).unwrap();
    let predicted = fitted.predict(&x).unwrap();
    let sample = Sample::new(&error, predicted.sigma()).unwrap();
    let crps = law::judge::crps(&sample, &predicted.error_laws()).unwrap();
    assert!((scored["scores"]["crps"].as_f64().unwrap() / crps - 1.0).abs() < 1e-9, "{scored}");
    let one = fitted.shape().unwrap().law().clone();
    assert!(crps < 0.997 * law::judge::crps(&sample, &vec![one; rows]).unwrap());
    // Beside a Gaussian of the same sigma, and by a name of its own.
    let text = std::fs::read_to_string(&said).unwrap();
    let renamed = text.replacen("own_sigma", "s", 1).replacen("own_skew", "lean", 1);
    let renamed = folder.file("renamed.csv", &renamed);
    let named = [&["score", &renamed], &columns[..], &["--sigma", "s", "--model", &model]].concat();
    assert_eq!(json(&[&named[..], &["--skew", "lean"]].concat())["scores"], scored["scores"]);
    let refused = bad(&named);
    assert!(
        refused.contains("no column \"skew\", which errbar predict adds beside \"s\""),
        "{refused}"
    );
    let compared = ["--sigma", "own_sigma,own_support", "--model"];
    let models = format!("{model},-");
    let compared = json(&[&["compare", &said], &columns[..], &compared, &[&models]].concat());
    let own = &compared["candidates"][0]["scores"]["crps"];
    assert_eq!(*own, scored["scores"]["crps"]);
}
