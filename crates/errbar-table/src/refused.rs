//! Files that are no tables: what they are, by their content, and the way out.

/// What a file is that cannot be read, and what to do about it. `head` is its beginning, unpacked.
pub(crate) fn other_kind(head: &[u8]) -> Option<&'static str> {
    let has_zeros = head.contains(&0);
    let by_mark = MARKS.iter().find(|(at, mark, _)| {
        // A column may be called GRIB.
        let could_be_text = mark.len() <= 6 && mark.iter().all(u8::is_ascii_alphanumeric);
        head.get(*at..).is_some_and(|head| head.starts_with(mark)) && (has_zeros || !could_be_text)
    });
    if let Some((_, _, what)) = by_mark {
        return Some(what);
    }
    if let Some(what) = markup(head) {
        return Some(what);
    }
    // Protocols 2 to 5 of Python's pickle begin so, with a frame or a first object.
    if let [0x80, 2..=5, first, ..] = head
        && matches!(first, 0x95 | b']' | b'}' | b'c' | b'K' | b'X' | b'(' | b'q')
    {
        return Some(
            "a pickle of Python, which may run any code when it is opened; load it in Python and save it with \
             to_csv or to_parquet",
        );
    }
    if head.starts_with(&[0xff; 4]) {
        return Some(
            "a stream of Arrow batches; save it as Parquet (in Python: \
             pyarrow.parquet.write_table(pyarrow.ipc.open_stream(path).read_all(), \"table.parquet\"))",
        );
    }
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|&&b| b == 0).count();
    let half = head.len() / 2;
    if head.starts_with(&[0xff, 0xfe])
        || head.starts_with(&[0xfe, 0xff])
        || (half > 1 && (zeros(0) > half * 2 / 3) != (zeros(1) > half * 2 / 3))
    {
        return Some("text in UTF-16; save it as UTF-8 (in Excel: \"CSV UTF-8\")");
    }
    has_zeros.then_some(
        "neither text nor Parquet; give a CSV file, also compressed, a Parquet file or a spreadsheet",
    )
}

/// Pages and their like: text, but no table.
fn markup(head: &[u8]) -> Option<&'static str> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |mark: &str| {
        text.get(..mark.len()).is_some_and(|text| text.eq_ignore_ascii_case(mark.as_bytes()))
    };
    if ["<!doctype html", "<html", "<head", "<body", "<table", "<!-- saved from"]
        .into_iter()
        .any(begins)
    {
        return Some(
            "a page of HTML and no table, though it may show one or say why there is none: open it in a browser, \
             and download the file itself",
        );
    }
    if begins("<?xml") || begins("<!doctype") || begins("<kml") || begins("<svg") {
        let is_sheet = memchr::memmem::find(text, b"Excel.Sheet").is_some();
        return Some(match is_sheet {
            true => "a spreadsheet as XML of 2003; open it and save it as .xlsx or CSV",
            false => "an XML file; save the table as CSV or Parquet",
        });
    }
    None
}

const TABLE: &str = "an image and no table; give a CSV file, a Parquet file or a spreadsheet";
const HDF: &str = "an HDF5 or NetCDF file; save the table as Parquet or CSV (in Python: \
                   xarray.open_dataset(path).to_dataframe().to_csv(\"table.csv\"))";
const NETCDF: &str = "a NetCDF file; save the table as Parquet or CSV (in Python: \
                      xarray.open_dataset(path).to_dataframe().to_csv(\"table.csv\"))";
const STATA: &str = "a Stata file; save it as CSV or Parquet (in Python: \
                     pandas.read_stata(path).to_csv(\"table.csv\", index=False))";
const SPSS: &str = "an SPSS file; save it as CSV or Parquet (in Python: \
                    pandas.read_spss(path).to_csv(\"table.csv\", index=False))";
const SAS: &str = "a SAS file; save it as CSV or Parquet (in Python: \
                   pandas.read_sas(path).to_csv(\"table.csv\", index=False))";
const R_DATA: &str =
    "a data file of R; save it there with write.csv(table, \"table.csv\", row.names = FALSE)";
const ARCHIVE: &str = "an archive; unpack it first";
const ACCESS: &str = "a database of Access; export the table as CSV";

/// What files begin with: where it stands, the mark, and what they are.
const MARKS: &[(usize, &[u8], &str)] = &[
    (
        0,
        b"\xd0\xcf\x11\xe0\xa1\xb1",
        "an old Excel workbook (.xls) or one with a password; save it as .xlsx without one, or as CSV (in Python: \
         pandas.read_excel(path).to_csv(\"table.csv\", index=False))",
    ),
    (
        0,
        b"ARROW1",
        "an Arrow or Feather file; save it as Parquet (in Python: \
         pyarrow.feather.read_table(path) and pyarrow.parquet.write_table), or give the table to errbar in Python",
    ),
    (
        0,
        b"FEA1",
        "an old Feather file; save it as Parquet (in Python: pyarrow.feather.read_table(path) and \
         pyarrow.parquet.write_table)",
    ),
    (
        0,
        b"ORC",
        "an ORC file; save it as Parquet (in Python: pyarrow.orc.read_table(path) and pyarrow.parquet.write_table)",
    ),
    (0, b"Obj\x01", "an Avro file; save it as Parquet or CSV"),
    (0, b"PARE", "an encrypted Parquet file; save it without encryption"),
    (8, b"DUCK", "a DuckDB database; save the table with COPY name TO 'table.parquet'"),
    (
        0,
        b"\x04\x22\x4d\x18",
        "compressed with lz4; unpack it with lz4 -d, or compress it with gzip or zstd",
    ),
    (
        0,
        b"\x89LZO\x00",
        "compressed with lzop; unpack it with lzop -d, or compress it with gzip or zstd",
    ),
    (
        0,
        b"\x1f\x9d",
        "compressed with compress (.Z); unpack it with uncompress, or compress it with gzip or zstd",
    ),
    (0, b"LZIP\x01", "compressed with lzip; unpack it with lzip -d, or compress it with xz"),
    (
        0,
        b"\xff\x06\x00\x00sNaPpY",
        "compressed with snappy; unpack it, or compress it with gzip or zstd",
    ),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (0, b"Rar!\x1a\x07", "a RAR archive; unpack it first"),
    (257, b"ustar", "a tar archive; unpack it first, with tar -xf"),
    (0, b"!<arch>\n", ARCHIVE),
    (0, b"MSCF\x00\x00\x00\x00", ARCHIVE),
    (0, b"\x89HDF", HDF),
    (0, b"CDF\x01", NETCDF),
    (0, b"CDF\x02", NETCDF),
    (0, b"CDF\x05", NETCDF),
    (
        0,
        b"GRIB",
        "a GRIB file; save the points you want as CSV or Parquet (in Python: xarray.open_dataset(path, engine=\"cfgrib\"))",
    ),
    (0, b"BUFR", "a BUFR file; save the table as CSV (with bufr_dump or in Python with eccodes)"),
    (
        0,
        b"SIMPLE  =",
        "a FITS file; save the table as CSV (in Python: astropy.table.Table.read(path).write(\"table.csv\"))",
    ),
    (
        0,
        b"SQLite format 3",
        "an SQLite database; save the table as CSV (sqlite3 -header -csv FILE 'SELECT * FROM name')",
    ),
    (4, b"Standard Jet DB", ACCESS),
    (4, b"Standard ACE DB", ACCESS),
    (
        0,
        b"\x93NUMPY",
        "an array of NumPy; save it as CSV with names (numpy.savetxt(..., delimiter=\",\", header=\"x,y\", comments=\"\"))",
    ),
    (0, b"<stata_dta>", STATA),
    (0, b"\x71\x01\x01\x00", STATA),
    (0, b"\x71\x02\x01\x00", STATA),
    (0, b"\x72\x01\x01\x00", STATA),
    (0, b"\x72\x02\x01\x00", STATA),
    (0, b"\x73\x01\x01\x00", STATA),
    (0, b"\x73\x02\x01\x00", STATA),
    (0, b"$FL2", SPSS),
    (0, b"$FL3", SPSS),
    (12, b"\xc2\xea\x81\x60\xb3\x14\x11\xcf", SAS),
    (0, b"HEADER RECORD*******LIB", SAS),
    (0, b"RDX2\n", R_DATA),
    (0, b"RDX3\n", R_DATA),
    (0, b"X\n\x00\x00\x00", R_DATA),
    (
        0,
        b"MATLAB 5.0 MAT-file",
        "a MAT file of MATLAB; save the table there with writetable(T, 'table.csv')",
    ),
    (0, b"%PDF-", "a PDF file; give a CSV file, a Parquet file or a spreadsheet"),
    (0, b"%!PS", "a PostScript file; give a CSV file, a Parquet file or a spreadsheet"),
    (0, b"{\\rtf", "a text document; save its table as CSV"),
    (0, b"\x89PNG\r\n", TABLE),
    (0, b"\xff\xd8\xff", TABLE),
    (0, b"GIF87a", TABLE),
    (0, b"GIF89a", TABLE),
    (0, b"II*\x00", TABLE),
    (0, b"MM\x00*", TABLE),
    (8, b"WEBP", TABLE),
    (0, b"\x7fELF", "a program; give a CSV file, a Parquet file or a spreadsheet"),
    (
        0,
        b"version https://git-lfs.",
        "the place of a file that Git LFS has not fetched; fetch it with git lfs pull",
    ),
    (0, b"-- MySQL dump", "a dump of a database; save the table as CSV"),
    (
        0,
        b"--\n-- PostgreSQL database dump",
        "a dump of a database; save the table as CSV (COPY name TO STDOUT CSV HEADER)",
    ),
    (0, b"PK\x05\x06", "an empty zip archive; give a CSV file, a Parquet file or a spreadsheet"),
];
