//! Several files as one table, and tables read some rows at a time.

use ::parquet::basic::Type as Stored;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

use super::*;

/// A folder with files of these names and contents; what ends in .gz is packed.
fn files(contents: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = vec![];
    for (name, text) in contents {
        let path = folder.path().join(name);
        match name.strip_suffix(".parquet") {
            Some(_) => to_parquet(text, &path),
            None if name.ends_with(".gz") => {
                let mut packed = GzEncoder::new(vec![], Compression::fast());
                packed.write_all(text.as_bytes()).unwrap();
                std::fs::write(&path, packed.finish().unwrap()).unwrap();
            }
            None => std::fs::write(&path, text).unwrap(),
        }
        paths.push(path);
    }
    (folder, paths)
}

fn to_parquet(text: &str, path: &Path) {
    let csv = file(text);
    let mut stream = csv.open().unwrap().stream(&[], &[]).unwrap();
    let mut sink = Sink::create(path, &stream, vec![], &|| false).unwrap();
    while let Some(batch) = stream.next_batch().unwrap() {
        sink.write(&batch, &[]).unwrap();
    }
    sink.finish().unwrap();
}

/// All files written as one, with the number of the row and of the file of each.
fn as_one(paths: &[PathBuf], to: &Path) -> std::result::Result<String, String> {
    let said = |error: crate::Error| {
        let folder = paths[0].parent().unwrap().display();
        error.to_string().replace(&format!("{folder}/"), "")
    };
    let tables = Tables::open(paths, &Format::default()).map_err(said)?;
    let mut stream = tables.stream(&[], &[]).map_err(said)?;
    let column = |name: &str| NewColumn { name: name.into(), kind: NewKind::Number };
    let new = vec![column("row"), column("file")];
    let mut sink = Sink::create(to, &stream, new, &|| false).map_err(said)?;
    while let Some(batch) = stream.next_batch().map_err(said)? {
        let rows = (batch.first_row..).take(batch.rows).map(|row| row as f64).collect();
        let file = vec![batch.file as f64; batch.rows];
        sink.write(&batch, &[NewValues::Numbers(rows), NewValues::Numbers(file)]).map_err(said)?;
    }
    sink.finish().map_err(said)?;
    Ok(String::from_utf8_lossy(&std::fs::read(to).unwrap()).into_owned())
}

#[test]
fn columns_are_matched_by_name_whatever_the_file_is_like() {
    let (folder, paths) = files(&[
        ("a.csv", "x,name,y\n1,\"p, q\",2\n 3 ,r,\n"),
        ("b.csv", "x,name,y\n"),
        ("c.csv.gz", "y;x;name\n4;5;\"s;\"\"t\"\"\"\n6;7;u,v\n"),
        ("d.csv", "name\ty\tx\n\"a\tb\"\t8\t9\n"),
        ("e.parquet", "y,name,x\n10,w,11\n,,12\n"),
        ("f.csv", "y,x,name\r\n13,14,\" z \"\r\n"),
    ]);
    let one = as_one(&paths, &folder.path().join("one.csv")).unwrap();
    let expected = "x,name,y,row,file\n1,\"p, q\",2,1.0,0.0\n 3 ,r,,2.0,0.0\n\
        5,\"s;\"\"t\"\"\",4,3.0,2.0\n7,\"u,v\",6,4.0,2.0\n9,a\tb,8,5.0,3.0\n11,w,10,6.0,4.0\n\
        12,,,7.0,4.0\n14,\" z \",13,8.0,5.0\n";
    assert_eq!(one, expected);

    let tables = Tables::open(&paths, &Format::default()).unwrap();
    assert_eq!(tables.header(), ["x", "name", "y"]);
    assert_eq!(tables.place(2, tables.column("y").unwrap()), Some(0));
    assert!(tables.name().ends_with("a.csv and 5 more files"), "{}", tables.name());
}

#[test]
fn a_parquet_file_of_several_holds_what_all_of_them_hold() {
    let (folder, paths) = files(&[("a.csv", "k,v\n1,2\n"), ("b.csv", "v,k\n2.5,x\n,7\n")]);
    let to = folder.path().join("one.parquet");
    as_one(&paths, &to).unwrap();
    let read = Table::open(&to, &Format::default()).unwrap().read(
        &[NumberColumn { column: 1, required: true }, NumberColumn { column: 2, required: true }],
        &[0],
        &mut |_| false,
    );
    let read = read.unwrap();
    assert_eq!(spelled(&read.texts[0]), ["1", "x", "7"]);
    let [v, row] = <[Numbers; 2]>::try_from(read.numbers).ok().map(|n| n.map(values)).unwrap();
    assert_same(&v.unwrap(), &[2.0, 2.5, f64::NAN]);
    assert_same(&row.unwrap(), &[1.0, 2.0, 3.0]);

    let (folder, paths) = files(&[("a.parquet", "k,v\n1,2\n"), ("b.parquet", "v,k\n3,4\n5,6\n")]);
    let to = folder.path().join("one.parquet");
    as_one(&paths, &to).unwrap();
    let table = Table::open(&to, &Format::default()).unwrap();
    assert!(table.types().unwrap()[0].starts_with(&format!("{:?}", Stored::INT64)));
    assert_eq!(spelled(&table.read(&[], &[0], &mut |_| false).unwrap().texts[0]), ["1", "4", "6"]);
}

#[test]
fn files_that_do_not_go_together_are_named() {
    let (folder, paths) = files(&[
        ("a.csv", "x,y\n1,2\n"),
        ("b.csv", "y,z\n1,2\n"),
        ("c.parquet", "x,y\n1,2\n"),
        ("d.parquet", "x,y\n1.5,2\n"),
    ]);
    let of = |places: &[usize], to: &str| {
        let paths: Vec<PathBuf> = places.iter().map(|&at| paths[at].clone()).collect();
        as_one(&paths, &folder.path().join(to)).unwrap_err()
    };
    assert_eq!(
        of(&[0, 1], "one.csv"),
        "b.csv has no column \"x\", which a.csv has: they cannot be written as one table"
    );
    assert_eq!(
        of(&[0, 2], "one.parquet"),
        "c.parquet is a Parquet file and a.csv is not: as a CSV they can be one table"
    );
    assert_eq!(
        of(&[2, 3], "one.parquet"),
        "column \"x\" has one type in c.parquet and another in d.parquet: as a CSV they can be one table"
    );
    let tables = Tables::open(&paths, &Format::default()).unwrap();
    let said = tables.column("x").unwrap_err().to_string();
    assert!(
        said.contains("b.csv has no column \"x\", which ") && said.contains("It has: y, z"),
        "{said}"
    );
    let said = tables.column("yy").unwrap_err().to_string();
    assert!(said.contains("a.csv has no column \"yy\"; did you mean \"y\"?"), "{said}");
    assert_eq!(tables.listing(), "They share: y");
    assert!(!folder.path().join("one.csv").exists() && !folder.path().join("one.parquet").exists());
}

/// Whatever the portions, what is read is what is read at once.
#[test]
fn tables_read_some_rows_at_a_time() {
    let mut text = String::from("a,b,c\n");
    for row in 0..5000 {
        let b = if row % 7 == 0 { "--".to_string() } else { format!("{}", row as f64 / 3.0) };
        text += &format!("{row},{b},t{}\n", row % 11);
    }
    let (_folder, paths) = files(&[("a.csv", &text), ("a.parquet", &text)]);
    let format = Format { na: Na::new(&["17".into()]), ..Format::default() };
    let wanted = |column| NumberColumn { column, required: true };
    for path in &paths {
        let open = || Table::open(path, &format).unwrap();
        let numbers = [wanted(1), wanted(0)];
        let whole = open().read(&numbers, &[2], &mut |_| false).unwrap();
        let (texts, odd) = (spelled(&whole.texts[0]), whole.odd);
        let [b, a] = <[Numbers; 2]>::try_from(whole.numbers).ok().map(|n| n.map(values)).unwrap();
        for portion in [1, 100, 777, 5000, u64::MAX] {
            let mut table = open();
            set_sizes(&mut table, Sizes { block: 1000, piece: 300, record: 1 << 20 });
            let mut reading = table.reading(&numbers, &[2]).unwrap();
            let (mut found, mut strings) = ([vec![], vec![]], vec![]);
            let mut last: Vec<Odd>;
            loop {
                let ended = reading.fill(portion, &mut |_| false).unwrap();
                let part = reading.take();
                assert!(ended || part.rows as u64 >= portion, "{} of {portion}", part.rows);
                for (found, numbers) in found.iter_mut().zip(part.numbers) {
                    found.extend(values(numbers).unwrap());
                }
                strings.extend(spelled(&part.texts[0]));
                last = part.odd;
                if ended {
                    break;
                }
            }
            assert_same(&found[0], b.as_ref().unwrap());
            assert_same(&found[1], a.as_ref().unwrap());
            assert_eq!(strings, texts);
            let marks = |odd: &[Odd]| odd.iter().map(|odd| odd.marks.clone()).collect::<Vec<_>>();
            assert_eq!(marks(&last), marks(&odd), "{portion}");
        }
    }
}

#[test]
fn a_text_among_numbers_is_told_whatever_the_portions() {
    let text = format!("a\n{}M\n{}", "1\n".repeat(900), "2\n".repeat(900));
    let (_folder, paths) = files(&[("a.csv", &text)]);
    let wanted = [NumberColumn { column: 0, required: true }];
    let open = || {
        let mut table = Table::open(&paths[0], &Format::default()).unwrap();
        set_sizes(&mut table, Sizes { block: 300, piece: 100, record: 1 << 20 });
        table
    };
    let whole = open().read(&wanted, &[], &mut |_| false).err().unwrap();
    let mut reading = open().reading(&wanted, &[]).unwrap();
    let told = loop {
        match reading.fill(100, &mut |_| false) {
            Err(error) => break error,
            Ok(ended) => assert!(!ended, "the text went by"),
        }
        reading.take();
    };
    assert_eq!(told.to_string(), whole.to_string());
    let numbers = |error: &crate::Error| match error {
        crate::Error::NotNumber(wrong) => (wrong.row, wrong.odd.numbers),
        _ => (0, 0),
    };
    assert_eq!(numbers(&told), (901, 1800));
    assert_eq!(numbers(&told), numbers(&whole));
}
