//! Writing CSV files: the old bytes stay as they were.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::*;
use crate::csv::pieces::slice;

fn copied(table: &str) -> String {
    copied_with(table, &Format::default())
}

fn copied_with(table: &str, format: &Format) -> String {
    let file = file(table);
    let to = file.other("out.csv");
    copy(&file.path, format, &to).unwrap();
    std::fs::read_to_string(to).unwrap()
}

#[test]
fn records_keep_their_bytes() {
    assert_eq!(
        copied("\u{feff}a, \"b\"\r\n 1 ,\"x, \"\"y\"\"\n\"\r\n\r\n002,\"\"\r\n3,4\r\n4,5"),
        "\u{feff}a, \"b\",half,even\r\n 1 ,\"x, \"\"y\"\"\n\",0.5,false\r\n002,\"\",1.0,true\r\n3,4,,\r\n4,5,2.0,true\r\n"
    );
    assert_eq!(copied("a\tb\n1\t2\n"), "a\tb\thalf\teven\n1\t2\t0.5\tfalse\n");
    assert_eq!(copied("a\r1\r2\r"), "a,half,even\r1,0.5,false\r2,1.0,true\r");
    assert_eq!(copied("a,b\n"), "a,b,half,even\n");
    let comma = Format { decimal_comma: true, ..Format::default() };
    assert_eq!(copied_with("a;b\n1,5;2\n", &comma), "a;b;half;even\n1,5;2;0,5;false\n");
    assert_eq!(copied_with("a,b\n\"1,5\",2\n", &comma), "a,b,half,even\n\"1,5\",2,\"0,5\",false\n");
}

#[test]
fn small_blocks_change_nothing() {
    let rows: String =
        (0..500).map(|i| format!("{i},\"{}\"\n", "x\"\"\n,".repeat(i % 7))).collect();
    let table = format!("a,b\n{rows}");
    let file = file(&table);
    let whole = copied(&table);
    for block in [1, 7, 64, 1000] {
        let mut stream = file.open().unwrap().stream(&[0], &[]).unwrap();
        let Streamed::Csv(csv) = &mut stream.now else { panic!() };
        csv.blocks.get_mut().unwrap().set_sizes(Sizes { block, piece: 13, record: 1 << 20 });
        let mut row = 0;
        let mut text = "a,b,half,even\n".to_string();
        while let Some(batch) = stream.next_batch().unwrap() {
            assert_eq!(batch.first_row, row + 1);
            let RawRows::Csv { bytes, records } = &batch.kept else { panic!() };
            for (value, record) in batch.numbers[0].iter().zip(records) {
                assert_eq!(*value, row as f64);
                row += 1;
                text += std::str::from_utf8(slice(bytes, record)).unwrap();
                text += &match row {
                    3 => ",,\n".to_string(),
                    _ => format!(",{:?},{}\n", row as f64 / 2.0, row % 2 == 0),
                };
            }
        }
        assert_eq!(text, whole);
    }
}

#[test]
fn gzipped_output_is_the_same_table() {
    let table = format!("a,b\n{}", "1.25,something\n".repeat(200_000));
    let file = file(&table);
    let to = file.other("out.csv.gz");
    copy(&file.path, &Format::default(), &to).unwrap();
    let mut text = String::new();
    let bytes = std::fs::read(to).unwrap();
    MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    assert!(bytes.len() < text.len() / 5);
    assert_eq!(text, copied(&table));
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let file = file("a,half\n1,2\n");
    let error = copy(&file.path, &Format::default(), &file.other("out.csv")).err().unwrap();
    assert_eq!(
        error.to_string(),
        "the table has a column \"half\" already; give the new one another name"
    );
}

#[test]
fn a_file_may_be_written_over_itself() {
    let file = file("a\n1\n2\n");
    copy(&file.path, &Format::default(), &file.path).unwrap();
    let text = std::fs::read_to_string(&file.path).unwrap();
    assert_eq!(text, "a,half,even\n1,0.5,false\n2,1.0,true\n");
}

#[test]
fn a_failure_leaves_the_earlier_file_and_nothing_else() {
    let file = file("a,b\n1,2\n3\n");
    let to = file.other("out.csv");
    std::fs::write(&to, "earlier").unwrap();
    assert!(copy(&file.path, &Format::default(), &to).is_err());
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "earlier");
    assert_eq!(std::fs::read_dir(file.folder.path()).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn links_pipes_permissions_and_full_disks() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let file = file("a\n1\n");
    let format = Format::default();
    let expected = "a,half,even\n1,0.5,false\n";

    // Through a link, to a file that is there and to one that is not.
    for target in ["there.csv", "new.csv"] {
        let (target, link) = (file.other(target), file.other(&format!("link-{target}")));
        symlink(&target, &link).unwrap();
        if target.ends_with("there.csv") {
            std::fs::write(&target, "earlier").unwrap();
            std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        copy(&file.path, &format, &link).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), expected);
        let mode = std::fs::metadata(&target).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if target.ends_with("there.csv") { 0o600 } else { 0o644 });
    }
    copy(&file.path, &format, Path::new("/dev/null")).unwrap();
    if cfg!(target_os = "linux") {
        let error = copy(&file.path, &format, Path::new("/dev/full")).err().unwrap();
        assert_eq!(format!("{error:#}"), "cannot write /dev/full: No space left on device");
    }
    let nowhere = file.other("no/such/out.csv");
    let error = copy(&file.path, &format, &nowhere).err().unwrap();
    assert!(
        file.shorten(&error).starts_with("cannot write no/such/out.csv: there is no folder"),
        "{error}"
    );
    let error = copy(&file.path, &format, file.folder.path()).err().unwrap();
    assert!(error.to_string().ends_with("it is a folder"), "{error}");
}
