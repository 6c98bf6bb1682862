//! Members, quantiles, intervals and events, judged and compared: numbers by hand.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::errbar;

/// A folder with tables in it.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn words(line: &str) -> Vec<String> {
    // Quotes keep what is between them together.
    let mut words = Vec::new();
    for (nth, part) in line.split('\'').enumerate() {
        match nth % 2 {
            0 => words.extend(part.split_whitespace().map(String::from)),
            _ => words.push(part.to_string()),
        }
    }
    words
}

/// Standard output as JSON, and what was said beside it.
#[track_caller]
fn json(folder: &Path, line: &str) -> (Value, String) {
    let ran = errbar(folder, words(&format!("{line} --json"))).well();
    (serde_json::from_str(&ran.printed()).unwrap(), ran.stderr)
}

#[track_caller]
fn near(value: &Value, want: f64) {
    let value = value.as_f64().unwrap_or(f64::NAN);
    assert!((value - want).abs() < 1e-12 * want.abs().max(1.0), "{value} {want}");
}

/// Two rows of three members, one missing; a third row without any.
const MEMBERS: &str = "y,m1,m2,m3\n2,1,2,4\n3,0,,2\n5,,,\n";

#[test]
fn members_by_hand() {
    let at = folder(&[("e.csv", MEMBERS)]);
    let (found, said) = json(at.path(), "score e.csv --members 'm*'");
    // Row 1: mean distance 1, pairs 1, 3, 2: fair 1 - 1 = 0, as is 1 - 6/9. Row 2: distances 3 and 1, one pair of 2: 1 and
    // 2 - 2/4.
    near(&found["scores"]["crps"], 0.5);
    near(&found["members"]["fair_crps"], 0.5);
    near(&found["members"]["crps"], (1.0 / 3.0 + 1.5) / 2.0);
    // Means 7/3 and 1.
    near(&found["scores"]["bias"], (2.0 - 7.0 / 3.0 + 2.0) / 2.0);
    assert_eq!((&found["rows"], &found["rows_in_file"]), (&2.into(), &3.into()));
    assert_eq!((&found["form"], &found["members"]["missing"]), (&"members".into(), &1.into()));
    assert!(said.contains("m* stands for 3 columns: m1, m2, m3"), "{said}");
    assert!(
        said.contains("1 of 3 rows are left out, as no member of \"m*\" has a value"),
        "{said}"
    );
    // The observation equals one of three: places 1 and 2. Above both of two: the last third, of four places 2.67 to 4.
    let places: Vec<f64> = found["members"]["ranks"]["frequency"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect();
    for (found, want) in places.iter().zip([0.0, 0.25, 0.25 + 0.125, 0.375]) {
        assert!((found - want).abs() < 1e-12, "{places:?}");
    }
    assert_eq!(found["scores"]["nlpd"], Value::Null);
}

#[test]
fn quantiles_by_hand() {
    let table = "y,q10,q50,q90\n3,1,2,4\n0,1,2,4\n2,4,2,1\n";
    let at = folder(&[("q.csv", table)]);
    let (found, said) = json(at.path(), "score q.csv --quantile-columns 'q*'");
    // 0.1 * 2, 0.9 * 1 and, put in order, 0.1 * 1; and so on.
    let pinball = &found["quantiles"]["pinball"];
    near(&pinball[0], (0.2 + 0.9 + 0.1) / 3.0);
    near(&pinball[1], (0.5 + 1.0 + 0.0) / 3.0);
    near(&pinball[2], (0.1 + 0.4 + 0.2) / 3.0);
    near(&found["quantiles"]["mean_pinball"], (1.2 + 1.5 + 0.7) / 9.0);
    near(&found["quantiles"]["shares_below"][1], 2.0 / 3.0);
    assert_eq!(found["quantiles"]["crossings"]["rows"], 1);
    assert!(
        said.contains(
            "in 1 row quantiles cross, by up to 2: in q.csv, row 3 that of 50% is below that of 10%"
        ),
        "{said}"
    );
    let (given, _) =
        json(at.path(), "score q.csv --quantile-columns q90,q10,q50 --quantile-levels 0.9,0.1,50%");
    assert_eq!(given["quantiles"], found["quantiles"]);
    let crps = found["scores"]["crps"].as_f64().unwrap();
    assert!(found["quantiles"]["crps_least"].as_f64().unwrap() <= crps);
    assert!(crps <= found["quantiles"]["crps_most"].as_f64().unwrap());
}

#[test]
fn intervals_by_hand() {
    let table = "y,lo,hi,w\n0.5,0,1,1\n-1,0,2,1\n3,0,1,1\n1,0,1,0\n";
    let at = folder(&[("i.csv", table)]);
    let (found, _) = json(at.path(), "score i.csv --interval-columns lo,hi --interval-level 80%");
    // Widths 1, 2, 1, 1, and ten times the distance 1 and 2 that was missed.
    near(&found["interval"]["score"], 35.0 / 4.0);
    near(&found["interval"]["coverage"], 0.5);
    near(&found["interval"]["below"], 0.25);
    near(&found["interval"]["mean_width"], 1.25);
    let (found, _) =
        json(at.path(), "score i.csv --interval-columns lo,hi --interval-level 0.8 --weight w");
    near(&found["interval"]["score"], 34.0 / 3.0);
    assert_eq!(found["scores"]["crps"], Value::Null);
}

#[test]
fn events_by_hand() {
    // Members give 0, 1/2, 1/2 and 1.
    let table = "y,m1,m2,mu,s\n1,2,3,4,1\n9,2,8,9,1\n2,8,1,5,2\n8,9,9,6,2\n";
    let at = folder(&[("e.csv", table)]);
    let (found, _) = json(at.path(), "score e.csv --members m1,m2 --event '> 5' --event '<= 5'");
    let [above, below] = [&found["events"][0], &found["events"][1]];
    assert_eq!((&above["event"], &below["event"]), (&"> 5".into(), &"<= 5".into()));
    near(&above["brier"]["score"], (0.25 + 0.25) / 4.0);
    near(&above["brier"]["skill"], 0.5);
    // Of the four pairs three are won and one is tied.
    near(&above["roc"]["area"], 3.5 / 4.0);
    near(&below["brier"]["score"], (0.25 + 0.25) / 4.0);
    assert_eq!((&above["events"], &above["few"]), (&2.into(), &true.into()));
    let (found, _) = json(at.path(), "score e.csv --forecast mu --sigma s --event '> 5'");
    // 1 - Phi(1), 1 - Phi(-4), 1/2 and 1 - Phi(-1/2), from tables.
    let p = [0.158_655_253_931_457, 0.999_968_328_758_167, 0.5, 0.691_462_461_274_013];
    let want =
        p.iter().zip([0.0, 1.0, 0.0, 1.0]).map(|(p, o)| (p - o) * (p - o)).sum::<f64>() / 4.0;
    near(&found["events"][0]["brier"]["score"], want);
    let ran = errbar(at.path(), words("score e.csv --forecast mu --sigma s --event '> 5'")).well();
    assert!(
        ran.printed().contains("Event > 5: happened 2 times in 4 rows (50.0%)."),
        "{}",
        ran.printed()
    );
    assert!(ran.printed().contains("With so few"), "{}", ran.printed());
}

/// Rows that depend on their number alone, in a way that no two columns share.
fn table(rows: usize) -> String {
    let part = |i: usize, by: f64| ((i as f64 + 0.5) * by).fract();
    let mut text =
        String::from("time,station,y,mu,s,a1,a2,a3,a4,a5,b1,b2,b3,q0.1,q0.5,q0.9,lo,hi\n");
    for i in 0..rows {
        let mu = 10.0 * part(i, 0.618);
        let y = mu + 4.0 * (part(i, 2f64.sqrt()) + part(i, 3f64.sqrt()) - 1.0);
        let member = |k: usize| {
            mu + 3.0 * (part(7 * i + k, 5f64.sqrt()) + part(3 * i + k, 7f64.sqrt()) - 1.0)
        };
        let members: Vec<String> = (0..8).map(|k| format!("{:.6}", member(k))).collect();
        text += &format!(
            "{},{},{y:.6},{mu:.6},1.7,{},{:.6},{mu:.6},{:.6},{:.6},{:.6}\n",
            i / 2,
            ["x", "y"][i % 2],
            members.join(","),
            mu - 2.0,
            mu + 2.0,
            mu - 2.5,
            mu + 2.5
        );
    }
    text
}

/// All forms in one comparison: each score is that of `errbar score`, each difference that of the scores.
#[test]
fn all_forms_compared() {
    let at = folder(&[("t.csv", &table(300))]);
    let line = "compare t.csv --forecast mu --sigma s --members 'a*' --members 'b*' --quantile-columns 'q*' \
                --interval-columns lo,hi --interval-level 0.8 --event '> 6'";
    let (all, _) = json(at.path(), line);
    let alone = [
        "--forecast mu --sigma s",
        "--members 'a*'",
        "--members 'b*'",
        "--quantile-columns 'q*'",
        "--interval-columns lo,hi --interval-level 0.8",
    ];
    let names = ["s", "a*", "b*", "q*", "lo,hi"];
    let candidates = all["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 5);
    for ((candidate, line), name) in candidates.iter().zip(alone).zip(names) {
        let (one, _) = json(at.path(), &format!("score t.csv {line} --event '> 6'"));
        assert_eq!(candidate["name"], name);
        assert_eq!(candidate["scores"]["crps"], one["scores"]["crps"]);
        assert_eq!(candidate["events"][0]["brier"], one["events"][0]["brier"]);
        if name != "s" {
            let first = &candidates[0];
            for (path, difference) in [
                ("/scores/crps", "/difference/crps/value"),
                ("/events/0/brier/score", "/events/0/event_difference/brier/value"),
            ] {
                let Some(own) = candidate.pointer(path).and_then(Value::as_f64) else { continue };
                let other = first.pointer(path).unwrap().as_f64().unwrap();
                near(candidate.pointer(difference).unwrap(), own - other);
            }
        }
    }
    let interval = &candidates[4];
    let (one, _) = json(at.path(), &format!("score t.csv {}", alone[4]));
    near(&interval["interval_score"], one["interval"]["score"].as_f64().unwrap());
    assert_eq!(interval["verdict_word"], one["verdict"]["word"]);
    // A sigma's interval is 1.2816 sigma to each side: from tables, on each row.
    let rows = table(300);
    let half = 1.7 * 1.281_551_565_544_6;
    let score = |row: &str| {
        let cells: Vec<f64> = row.split(',').skip(2).map(|cell| cell.parse().unwrap()).collect();
        let miss = ((cells[0] - cells[1]).abs() - half).max(0.0);
        2.0 * half + 10.0 * miss
    };
    let want = rows.lines().skip(1).map(score).sum::<f64>() / 300.0;
    let found = candidates[0]["interval_score"].as_f64().unwrap();
    assert!((found - want).abs() < 1e-9, "{found} {want}");
    let ran = errbar(at.path(), words(line)).well();
    let text = ran.printed();
    assert!(
        text.contains("by the interval score at 80%") && text.contains("Brier of > 6"),
        "{text}"
    );
}

#[test]
fn two_files_are_joined() {
    let all = table(40);
    let rows: Vec<&str> = all.lines().collect();
    // The second file has other rows, in another order, and writes its numbers otherwise.
    let mut second = vec!["station,time,sigma,mu,y".to_string()];
    for i in (5..44).rev() {
        let (mu, y) = match rows.get(i + 1) {
            Some(row) => (row.split(',').nth(3).unwrap(), row.split(',').nth(2).unwrap()),
            None => ("0", "0"),
        };
        second.push(format!("{},{}.0,2.5,{mu},{y}", ["x", "y"][i % 2], i / 2));
    }
    let at = folder(&[("a.csv", &all), ("b.csv", &second.join("\n"))]);
    let line =
        "compare a.csv b.csv --key time,station --sigma sigma --forecast b.csv:mu --members 'a*'";
    let (joined, said) = json(at.path(), line);
    assert_eq!(joined["rows"], 35);
    assert!(
        said.contains("35 rows are in both files; 5 rows of a.csv and 4 rows of b.csv are left out, as the other file has no such key"),
        "{said}"
    );
    // The same from one file with these rows.
    let mut one = vec![format!("{},sigma", rows[0])];
    one.extend(rows[6..].iter().map(|row| format!("{row},2.5")));
    std::fs::write(at.path().join("one.csv"), one.join("\n")).unwrap();
    let (whole, _) = json(at.path(), "compare one.csv --sigma sigma --forecast mu --members 'a*'");
    for nth in 0..2 {
        let [a, b] = [&joined, &whole].map(|report| &report["candidates"][nth]["scores"]["crps"]);
        near(a, b.as_f64().unwrap());
    }
}

#[test]
fn by_groups_and_in_words() {
    let at = folder(&[("t.csv", &table(200))]);
    let (found, _) = json(at.path(), "score t.csv --members 'a*' --by station");
    let groups = found["groups"].as_array().unwrap();
    let mean: f64 = groups.iter().map(|g| g["scores"]["crps"].as_f64().unwrap()).sum::<f64>() / 2.0;
    near(&found["scores"]["crps"], mean);
    for line in [
        "--members 'a*' --by station",
        "--quantile-columns 'q*' --no-intervals",
        "--interval-columns lo,hi",
    ] {
        let text =
            errbar(at.path(), words(&format!("score t.csv {line} --event '> 6'"))).well().printed();
        assert!(text.contains("Warnings of > 6") && text.contains("t.csv, 200 rows"), "{text}");
        assert!(!text.contains("NaN"), "{text}");
    }
}

/// What is at the end of doubles, alone, or all the same, is judged or refused, and nothing is printed that is no number.
#[test]
fn extremes() {
    let at = folder(&[
        ("one.csv", "y,m1,m2,m3\n1,1,1,1\n"),
        ("big.csv", "y,m1,m2,m3\n1e300,-1e300,1e300,1e308\n2,-1e308,1e308,5\n0,0,0,0\n"),
        ("same.csv", "y,m1,m2,m3\n1,1,1,1\n1,1,1,1\n1,1,1,1\n"),
    ]);
    for file in ["one", "big", "same"] {
        let several = "--members 'm*' --quantile-columns 'm*' --quantile-levels 0.1,0.5,0.9";
        for line in [
            format!("score {file}.csv --members 'm*' --event '> 1'"),
            format!(
                "score {file}.csv --quantile-columns 'm*' --quantile-levels 0.1,0.5,0.9 --event '> 1'"
            ),
            format!("score {file}.csv --interval-columns m1,m2 --event '< 0'"),
            format!("compare {file}.csv {several} --interval-columns m1,m2 --event '>= 1'")
                .replace("--quantile-columns 'm*'", "--quantile-columns m1,m2,m3"),
        ] {
            let ran = errbar(at.path(), words(&line)).well();
            assert!(!ran.printed().contains("NaN"), "{line}: {}", ran.printed());
        }
    }
}

/// One sentence that says what to do.
#[test]
fn refused() {
    let at = folder(&[
        ("t.csv", &table(20)),
        ("u.csv", "time,station,y,sigma,mu\n1,z,1,1,1\n"),
        ("v.csv", "time,station,y,sigma,mu\n1,x,1,1,1\n1.0,x,1,1,1\n"),
        ("m.csv", "y,m1,m2\n1,,\n2,,\n"),
        ("i.csv", "y,lo,hi\n1,2,0\n"),
    ]);
    for (line, want) in [
        ("score t.csv --members 'z*'", "no column \"z*\", for --members"),
        ("score t.csv --members 'y*'", "stands for no column but y"),
        ("score t.csv --members y,a1", "\"y\" is the observation"),
        ("score t.csv --members 'a*' --sigma s", "two forecasts"),
        ("score t.csv --members 'a*' --quantile-columns 'q*'", "errbar score judges one"),
        (
            "score t.csv --quantile-columns 'a*'",
            "does not tell the level of its quantile: give --quantile-levels",
        ),
        (
            "score t.csv --quantile-columns 'q*' --quantile-levels 0.1,0.9",
            "2 levels were given for 3 columns",
        ),
        (
            "score t.csv --quantile-columns 'q*' --quantile-levels 0.1,0.5,2",
            "strictly between 0 and 1",
        ),
        (
            "score t.csv --quantile-columns 'q*' --quantile-levels 0.1,0.5,0.5",
            "the level 0.5 is given twice",
        ),
        ("score t.csv --interval-columns lo", "name two columns"),
        (
            "score i.csv --interval-columns lo,hi",
            "i.csv, row 1: the interval ends at 0, below where it begins, 2: swap its ends",
        ),
        ("score m.csv --members 'm*'", "all members of \"m*\" are missing in every row"),
        (
            "score t.csv --error y --sigma s --event '> 1'",
            "give --forecast and --observation instead of --error",
        ),
        ("compare t.csv --members 'a*'", "only one forecast was named"),
        ("compare t.csv --members 'a*' --members 'a*'", "named twice"),
        (
            "compare t.csv --members 'a*' --members 'b*' --against c",
            "there is no such one among a*, b*",
        ),
        ("compare t.csv --key time --members 'a*' --members 'b*'", "--key joins two files"),
        ("compare t.csv u.csv --key time --members 'a*' --sigma sigma", "have the same key"),
        (
            "compare t.csv u.csv --key time,station --members 'a*' --sigma sigma --forecast u.csv:mu",
            "no row of t.csv has the key",
        ),
        (
            "compare t.csv v.csv --key time,station --members 'a*' --sigma sigma --forecast v.csv:mu",
            "v.csv, row 1 and v.csv, row 2 have the same key, 1, x",
        ),
        (
            "compare t.csv u.csv --key time,station --members 'a*' --sigma nothing",
            "no column \"nothing\"",
        ),
        (
            "compare t.csv u.csv --key time,station --members 'a*' --sigma mu --forecast mu",
            "both files have",
        ),
        (
            "compare t.csv --interval-columns lo,hi --interval-columns q0.1,q0.9 --interval-level 0.9 --interval-level 0.8",
            "intervals of several levels",
        ),
    ] {
        let ran = errbar(at.path(), words(line));
        assert_eq!(ran.status, Some(1), "{line}: {}", ran.stderr);
        let last = ran.stderr.trim_end().lines().last().unwrap_or_default();
        assert!(last.starts_with("errbar: ") && last.contains(want), "{line}: {}", ran.stderr);
    }
    let ran = errbar(at.path(), words("score t.csv --event '= 5'"));
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
}
