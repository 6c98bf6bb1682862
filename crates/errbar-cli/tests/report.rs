//! `errbar report` as a person runs it.

use std::fmt::Write as _;
use std::path::Path;

use crate::common::{errbar, errbar_with, leftovers, rows, snapshot, table};

/// A table with a sigma that is a third of what it should be.
fn overconfident(rows_wanted: usize) -> String {
    let mut text = String::from("day,place,x,mu,y,sigma,gaps\n");
    for (i, [x, mu, y]) in rows(rows_wanted).into_iter().enumerate() {
        let sigma = (0.2 + x.parse::<f64>().unwrap()) / 3.0;
        let place = ["north", "south"][i % 2];
        let gap = if i % 5 == 0 { "" } else { "1.5" };
        let _ = writeln!(text, "2024-01-{:02},{place},{x},{mu},{y},{sigma:.5},{gap}", 1 + i % 28);
    }
    text
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_model_is_judged_on_rows_it_has_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let all = table(900);
    let lines: Vec<&str> = all.lines().collect();
    let train = lines[..601].join("\n");
    let test = format!("{}\n{}", lines[0], lines[601..].join("\n"));
    std::fs::write(folder.join("train.csv"), train).unwrap();
    std::fs::write(folder.join("test.csv"), test).unwrap();
    errbar(folder, ["fit", "train.csv", "--inputs", "x", "--model", "polynomial", "-q"]).well();
    let told = errbar(folder, ["report", "test.csv", "--model", "model.json"]).well();
    assert!(told.printed().starts_with("Reliable: "), "{}", told.printed());
    assert!(told.stderr.contains("wrote report.html"), "{}", told.stderr);
    let page = read(folder, "report.html");
    assert!(page.contains("Error bars of test.csv") && page.contains("Sigma against x"));
    assert!(page.contains("errbar report test.csv --model model.json -o report.html"));
    assert!(page.contains("<dt>seed</dt>") && !page.contains("fitted to these very rows"));
    // In a file without what tells them, the rows it was fitted to are known again all together.
    let saved = read(folder, "model.json");
    let mut model: serde_json::Value = serde_json::from_str(&saved).unwrap();
    model["fitted"].as_object_mut().unwrap().remove("known").unwrap();
    std::fs::write(folder.join("model.json"), model.to_string()).unwrap();
    let told = errbar(folder, ["report", "train.csv", "--model", "model.json"]).well();
    assert!(told.stderr.contains("fitted to these very rows"), "{}", told.stderr);
    assert!(read(folder, "report.html").contains("fitted to these very rows"));
}

/// A fit in the folder, and its verdict on rows held out.
fn fitted(folder: &Path, arguments: &[&str]) -> String {
    let all = ["fit", "t.csv", "--inputs", "x", "--json"].iter().chain(arguments);
    let told = errbar(folder, all).well();
    let told: serde_json::Value = serde_json::from_str(&told.printed()).unwrap();
    told["verdict"].as_str().unwrap().to_string()
}

const HELD_OUT: &str = "by the sigma of a model that had not seen it";

/// A page on the rows of the fit says what the fit said: it never judges by a sigma that has seen the
/// row.
#[test]
fn rows_of_the_fit_are_judged_by_held_out_sigmas() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let page = |table: &str| {
        let told = errbar(folder, ["report", table, "--model", "model.json"]).well();
        (
            told.printed().lines().next().unwrap().to_string(),
            told.stderr,
            read(folder, "report.html"),
        )
    };
    // Sixty rows, which trees learn by heart.
    std::fs::write(folder.join("t.csv"), table(60)).unwrap();
    for arguments in [&["--model", "trees"][..], &["--model", "polynomial", "--debias"]] {
        let said = fitted(folder, arguments);
        let (headline, warned, html) = page("t.csv");
        assert_eq!(headline, said, "{arguments:?}");
        assert!(!warned.contains("fitted to"), "{warned}");
        assert!(html.contains(&format!("each row is judged {HELD_OUT}")), "{arguments:?}");
    }
    // In any order, and beside new rows.
    let rows = table(90);
    let mut lines: Vec<&str> = rows.lines().skip(1).collect();
    lines.reverse();
    std::fs::write(folder.join("more.csv"), format!("x,mu,y\n{}\n", lines.join("\n"))).unwrap();
    let (_, _, html) = page("more.csv");
    assert!(
        html.contains(&format!("60 of these 90 rows were part of the fit, each judged {HELD_OUT}"))
    );

    // Rows that were never held out are left out.
    std::fs::write(folder.join("t.csv"), table(3000)).unwrap();
    let said = fitted(folder, &["--model", "polynomial"]);
    let (headline, warned, html) = page("t.csv");
    assert_eq!(headline, said);
    assert!(warned.contains("fitted to 2400 more rows"), "{warned}");
    assert!(html.contains("600 of 3000 rows") && html.contains(HELD_OUT));

    // A split keeps half of them from the model: those are new to it.
    std::fs::write(folder.join("t.csv"), table(200)).unwrap();
    fitted(folder, &["--model", "polynomial", "--guarantee"]);
    let (_, _, html) = page("t.csv");
    assert!(html.contains("100 of these 200 rows were part of the fit"));
    assert!(!html.contains("inside guaranteed"), "its own rows keep any promise");

    // Of too many rows nothing is kept, and that they were seen is said.
    std::fs::write(folder.join("t.csv"), table(10_001)).unwrap();
    fitted(folder, &["--model", "constant"]);
    let (_, warned, _) = page("t.csv");
    assert!(warned.contains("fitted to these very rows"), "{warned}");
}

#[test]
fn the_demo_ends_with_a_report_of_honest_forecasts() {
    let folder = tempfile::tempdir().unwrap();
    let told = errbar(folder.path(), ["demo", "--out", "demo"]).well();
    assert!(told.printed().contains("demo/report.html"), "{}", told.printed());
    let page = read(folder.path(), "demo/report.html");
    assert!(page.contains("each row forecast from all the others (leave-one-out)"));
    assert!(page.contains("Forecast and error bars") && page.contains("Motorcycle impact"));
    // What the page says is what the fit said.
    assert!(page.contains("<b>Reliable:</b>") && page.contains(HELD_OUT));
    assert_eq!(told.printed().matches("Reliable: 90% intervals hold 9").count(), 2);
}

/// The process does not keep its rows, and knows them again.
#[test]
fn a_mean_on_inducing_points_is_judged_by_honest_forecasts() {
    let folder = tempfile::tempdir().unwrap();
    let row = |i: u32| {
        let x = f64::from(i) * 2f64.sqrt() % 1.0;
        format!("{x},{}\n", (6.0 * x).sin() + 0.3 * x * f64::from(i * i).sin())
    };
    let table: String = (0..2000).map(row).collect();
    std::fs::write(folder.path().join("t.csv"), format!("x,y\n{table}")).unwrap();
    let told = errbar(folder.path(), ["fit", "t.csv", "--fit-mean", "gp", "--model", "smooth"]);
    let said = told.well().printed().to_string();
    assert!(said.contains("inducing points, fitted to 2000 rows"), "{said}");
    assert!(said.contains("leave-one-out"), "{said}");
    errbar(folder.path(), ["predict", "t.csv", "--model", "model.json", "-o", "new.csv"]).well();
    errbar(folder.path(), ["report", "t.csv", "--model", "model.json"]).well();
    let page = read(folder.path(), "report.html");
    assert!(page.contains("inducing points"));
    assert!(page.contains("each row forecast from all the others (leave-one-out)"));
    // Other rows are forecast as they are.
    std::fs::write(folder.path().join("u.csv"), format!("x,y\n{table}0.5,0.1\n")).unwrap();
    errbar(folder.path(), ["report", "u.csv", "--model", "model.json", "-o", "u.html"]).well();
    let page = read(folder.path(), "u.html");
    assert!(page.contains("inducing points") && !page.contains("(leave-one-out)"));
}

#[test]
fn an_overconfident_sigma_is_called_so_with_figures_for_papers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("a.csv"), overconfident(400)).unwrap();
    let arguments = ["report", "a.csv", "--by", "place", "--time", "day", "--figures", "figures"];
    let told = errbar(folder, arguments).well();
    assert!(told.printed().starts_with("Overconfident: "), "{}", told.printed());
    let page = read(folder, "report.html");
    assert!(page.contains("<b>Overconfident:</b>") && page.contains("By place"));
    assert!(page.contains("2024-01-28"), "times are dates");
    // A column with gaps is no input, and costs no rows.
    assert!(page.contains("400 rows") && !page.contains("Sigma against gaps"));
    let names = [
        "reliability",
        "pit",
        "coverage",
        "spread-skill",
        "quantiles",
        "sharpness",
        "forecast",
        "input-1",
        "order",
        "periods",
        "groups",
    ];
    for name in names {
        let svg = read(&folder.join("figures"), &format!("{name}.svg"));
        assert!(svg.starts_with("<svg") && svg.contains("aria-label="), "{name}");
        let csv = read(&folder.join("figures"), &format!("{name}.csv"));
        assert!(csv.lines().count() > 1, "{name}");
        let png = std::fs::read(folder.join(format!("figures/{name}.png"))).unwrap();
        assert!(png.starts_with(b"\x89PNG"), "{name}");
    }
    // Again, with another number of threads: the same bytes.
    errbar(folder, arguments.into_iter().chain(["--threads", "1", "-q"])).well();
    assert!(page == read(folder, "report.html"));
}

/// Forecasts of four leads at every hour, one lead of which has errors that hardly change.
fn leads(hours: usize) -> String {
    let mut text = String::from("when,lead,forecast,observation,sigma\n");
    let mut all = rows(4 * hours).into_iter();
    for hour in 0..hours {
        for lead in ["24h", "6h", "102h", "12h"] {
            let [x, mu, y] = all.next().unwrap().map(|text| text.parse::<f64>().unwrap());
            let y = if lead == "12h" { mu + 9.0 + (hour as f64 / 50.0).sin() } else { y };
            let day = 1 + hour / 24;
            let _ =
                writeln!(text, "2024-03-{day:02}T{:02}:00,{lead},{mu},{y},{}", hour % 24, 0.2 + x);
        }
    }
    text
}

#[test]
fn every_lead_is_a_series_and_leads_come_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("leads.csv"), leads(400)).unwrap();
    let by_lead = ["leads.csv", "--time", "when", "--by", "lead"];
    let arguments = ["report"].into_iter().chain(by_lead).chain(["--figures", "figures"]);
    errbar(folder, arguments).well();
    let csv = |name: &str| read(&folder.join("figures"), name);
    let leads: Vec<String> =
        csv("groups.csv").lines().map(|line| line.split(',').next().unwrap().to_string()).collect();
    assert_eq!(leads, ["lead", "6h", "12h", "24h", "102h"]);
    // The end of one lead alone, hour after hour, and its worst day.
    let series = csv("series.csv");
    assert_eq!(series.lines().count(), 1 + 150);
    assert!(series.lines().nth(1).unwrap().starts_with("2024-03-11 10:00,"), "{series}");
    assert!(series.lines().last().unwrap().starts_with("2024-03-17 15:00,"), "{series}");
    assert_eq!(csv("worst.csv").lines().count(), 1 + 24);
    let page = read(folder, "report.html");
    assert!(page.contains("<h3>The worst day: lead 12h</h3>"), "the lead with the largest errors");
    assert!(page.contains("one of 4 series is drawn: lead 12h"));
    assert!(page.contains("4 series together"));
    let told = errbar(folder, ["score"].into_iter().chain(by_lead)).well().printed();
    let places: Vec<usize> =
        ["\n6h ", "\n12h ", "\n24h ", "\n102h "].map(|lead| told.find(lead).unwrap()).to_vec();
    assert!(places.is_sorted(), "{told}");
    // Without a time there is no series.
    errbar(folder, ["report", "leads.csv", "--by", "lead"]).well();
    let page = read(folder, "report.html");
    assert!(!page.contains("How did it go?") && !page.contains("Errors that follow each other"));
}

/// Leads and places are known by the names of their columns, and named by options.
#[test]
fn leads_and_places_are_known_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut text = String::from("Lead Time,lat,Longitude,place,mu,y,sigma\n");
    for (i, [x, mu, y]) in rows(300).into_iter().enumerate() {
        let (lead, lat, lon) = ([6, 12, 24][i % 3], 40 + i % 4, [-73.5, 170.0][i % 2]);
        let lat = if i == 5 { String::new() } else { lat.to_string() };
        let _ = writeln!(text, "{lead},{lat},{lon},p{},{mu},{y},{x}1", i % 2);
    }
    std::fs::write(folder.join("a.csv"), &text).unwrap();
    errbar(folder, ["report", "a.csv"]).well();
    let page = read(folder, "report.html");
    assert!(page.contains("<h3>By lead (Lead Time)</h3>") && page.contains("<h3>On the map</h3>"));
    assert!(
        page.contains("300 rows: the forecast") && page.contains("One row has no place on Earth")
    );
    std::fs::write(folder.join("b.csv"), text.replace("Lead Time,lat,Longitude", "a,b,c")).unwrap();
    errbar(folder, ["report", "b.csv"]).well();
    let page = read(folder, "report.html");
    assert!(!page.contains("By lead") && !page.contains("On the map"));
    let named = "report b.csv --lead a --latitude b --longitude c";
    errbar(folder, named.split(' ')).well();
    let page = read(folder, "report.html");
    assert!(page.contains("<h3>By lead (a)</h3>") && page.contains("<h3>On the map</h3>"));
    assert!(page.contains(&format!("errbar {named} -o report.html")));
    let told = errbar(folder, ["report", "b.csv", "--event", "> 1", "--event", "<=-2"]).well();
    let page = read(folder, "report.html");
    assert!(
        page.contains("<h3>y &gt; 1</h3>") && page.contains("<h3>y &lt;= -2</h3>"),
        "{}",
        told.stderr
    );
    assert!(
        page.contains("errbar report b.csv --event '&gt; 1' --event '&lt;= -2' -o report.html")
    );
    let told = errbar(folder, ["report", "b.csv", "--event", "50"]);
    assert_eq!(told.status, Some(2));
    assert!(told.stderr.contains("--event '> 50'"), "{}", told.stderr);
    for (arguments, words) in [
        ("report b.csv --lead z", "\"z\", which --lead names"),
        ("report b.csv --latitude z --longitude c", "\"z\", which --latitude names"),
        ("report b.csv --latitude b", "--longitude beside --latitude"),
        ("report b.csv --latitude place --longitude c", "place"),
    ] {
        let told = errbar(folder, arguments.split(' '));
        assert_eq!(told.status, Some(1), "{arguments}: {}", told.stderr);
        assert!(told.stderr.contains(words), "{arguments}: {}", told.stderr);
    }
}

/// Rain is never negative: nor is an interval, and a dry day is not outside of it.
#[test]
fn intervals_of_a_series_keep_to_the_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut text = String::from("day,forecast,observation\n");
    for (i, [x, _, y]) in rows(400).into_iter().enumerate() {
        let (x, y) = (x.parse::<f64>().unwrap(), y.parse::<f64>().unwrap());
        let rain = (3.0 * (y - 1.0)).max(0.0);
        let _ = writeln!(text, "{i},{},{rain}", 3.0 * x);
    }
    std::fs::write(folder.join("rain.csv"), text).unwrap();
    let fit = "fit rain.csv --inputs forecast --time day --lower 0 --model constant -q";
    errbar(folder, fit.split(' ')).well();
    let report = "report rain.csv --model model.json --time day --figures figures";
    errbar(folder, report.split(' ')).well();
    let mut at_bound = 0;
    for line in read(&folder.join("figures"), "series.csv").lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert!(cells[4] >= -1e-12 && cells[4] <= cells[5], "{line}");
        at_bound += usize::from(cells[4].abs() < 1e-12);
    }
    assert!(at_bound > 20, "{at_bound}: else this would show nothing");
}

#[test]
fn hostile_columns_come_out_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (script, quotes) = ("<script>alert(1)</script>", "\"' onload='x");
    let long = "n".repeat(10_000);
    let right_to_left = "درجة\u{202E}";
    let mut text = format!("{script},\"\"\"' onload='x\",{long},{right_to_left}\n");
    for [x, mu, y] in rows(60) {
        let _ = writeln!(text, "{y},{mu},1,{x}");
    }
    std::fs::write(folder.join("h.csv"), text).unwrap();
    let arguments = ["report", "h.csv", "--observation", script, "--forecast", quotes, "--sigma"];
    let rest = [long.as_str(), "--by", right_to_left, "--title", script];
    errbar(folder, arguments.into_iter().chain(rest)).well();
    let page = read(folder, "report.html");
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("' onload='x\"") && page.contains("&lt;script&gt;alert(1)"));
    assert!(page.contains("…") && page.len() < 1_000_000);
}

#[test]
fn what_is_wrong_is_said_and_earlier_pages_stay() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("report.html"), "from an earlier run").unwrap();
    std::fs::write(folder.join("a.csv"), table(50)).unwrap();
    std::fs::write(folder.join("zero.csv"), "y,mu,sigma\n1,2,1\n2,2,0\n").unwrap();
    std::fs::write(folder.join("model.json"), "{}").unwrap();
    let before = snapshot(folder);
    for (arguments, words) in [
        (vec!["report", "a.csv"], vec!["sigma", "--model"]),
        (vec!["report", "a.csv", "--sigma", "z"], vec!["\"z\"", "a.csv"]),
        (vec!["report", "zero.csv"], vec!["zero.csv, row 2", "greater than 0"]),
        (vec!["report", "nothing.csv"], vec!["nothing.csv"]),
        (vec!["report", "a.csv", "--model", "model.json"], vec!["model.json"]),
        (vec!["report", "a.csv", "--sigma", "x", "--forecast", "y"], vec!["same column \"y\""]),
        (vec!["report", "a.csv", "--sigma", "x", "-o", "."], vec!["folder"]),
        (vec!["report", "-", "--model", "-"], vec!["standard input"]),
    ] {
        let told = errbar(folder, &arguments);
        assert_eq!(told.status, Some(1), "{arguments:?}: {}", told.stderr);
        for word in words {
            assert!(told.stderr.contains(word), "{arguments:?}: {}", told.stderr);
        }
    }
    let both = errbar(folder, ["report", "a.csv", "--model", "m.json", "--sigma", "x"]);
    assert_eq!(both.status, Some(2));
    assert!(snapshot(folder) == before && leftovers(folder).is_empty());
}

#[test]
fn standard_input_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["report", "-", "--time", "day", "-o", "-"];
    let told = errbar_with(folder.path(), overconfident(60).as_bytes(), arguments).well();
    let page = told.printed();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    assert!(page.contains("Error bars of standard input"));
    assert!(snapshot(folder.path()).is_empty());
}
