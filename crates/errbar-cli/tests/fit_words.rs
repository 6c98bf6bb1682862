//! What fit says: about options that it does not follow, and about inputs.

use crate::common::errbar;

#[test]
fn options_that_are_ignored_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = crate::common::Numbers::new(18);
    let mut text = String::from("time,x,few,many,mu,y\n");
    for row in 0..240 {
        let (x, y) = (random.next(), random.normal());
        text += &format!("{row},{x},{},{},0,{y}\n", row % 2, row % 12);
    }
    std::fs::write(folder.path().join("t.csv"), text).unwrap();
    let said = |options: &str| {
        let line = format!(
            "fit t.csv --inputs x --forecast mu --observation y --model constant {options}"
        );
        errbar(folder.path(), line.split_whitespace()).well().stderr
    };
    let words = "--group does not decide which rows are held out";
    let few = said("--group few");
    assert!(few.contains(words) && few.contains("2 groups are fewer than 10"), "{few}");
    let time = said("--group many --time time");
    assert!(time.contains(words) && time.contains("in the order of time"), "{time}");
    assert!(!time.contains("--guarantee"), "{time}");
    let promised = said("--group few --guarantee");
    assert!(promised.contains("--guarantee is by group all the same"), "{promised}");
    assert!(!said("--group many").contains(words));
}

/// Two inputs that nearly agree, and one that tells nothing.
#[test]
fn inputs_are_said_to_be_shuffled_and_twins_are_one_entry() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = crate::common::Numbers::new(7);
    let mut text = String::from("one,other,noise,mu,y\n");
    for _ in 0..1500 {
        let (x, near) = (random.next(), 0.02 * random.normal());
        let y = (2.0 * x).exp() * random.normal();
        text += &format!("{x},{},{},0,{y}\n", x + near, random.next());
    }
    std::fs::write(folder.path().join("t.csv"), text).unwrap();
    let fit = "fit t.csv --inputs noise,one,other --forecast mu --observation y --model polynomial";
    let said = errbar(folder.path(), fit.split(' ')).well().printed();
    // What twins say is on a line of its own below their names.
    let twins = said.split("\n  one and other together:\n").nth(1).unwrap().lines().next().unwrap();
    assert!(twins.contains("% higher with their values shuffled; sigma "), "{said}");
    assert!(twins.contains("with one near 0.") && !said.contains("without it"), "{said}");
    assert!(said.contains("\n  noise  tells next to nothing\n"), "{said}");
    // The page says so beside the picture of either.
    let report = "report t.csv -m model.json --observation y -o r.html";
    errbar(folder.path(), report.split(' ')).well();
    let page = std::fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert_eq!(page.matches("nearly follow from one another").count(), 2);
}

/// Times, forecasts and observations, and nothing else.
#[test]
fn a_table_of_forecasts_alone_is_learned_from() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = crate::common::Numbers::new(3);
    let mut text = String::from("time,forecast,observation\n");
    for row in 0..400 {
        let forecast = 1.0 + 4.0 * random.next();
        text += &format!("{row},{forecast},{}\n", forecast + forecast * random.normal());
    }
    std::fs::write(folder.path().join("t.csv"), text).unwrap();
    let run = |line: &str| errbar(folder.path(), line.split_whitespace()).well();
    let fit = run("fit t.csv --time time --model polynomial -o m.json");
    assert!(
        fit.stderr.contains("inputs: the forecast itself, as there is no other column"),
        "{}",
        fit.stderr
    );
    std::fs::write(folder.path().join("new.csv"), "time,forecast\n500,1.2\n501,4.8\n").unwrap();
    let said = run("predict new.csv --model m.json").printed();
    let sigma = |row: usize| -> f64 {
        said.lines().nth(row).unwrap().split(',').nth(2).unwrap().parse().unwrap()
    };
    assert!((3.0..5.5).contains(&(sigma(2) / sigma(1))), "{said}");
}
