//! What fuzzers call. Not for use elsewhere.

use errbar::fit::Fitted;

/// The mark of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// Reads any bytes as a text in every way there is (as a CSV, aligned by blanks, with comments), and compares.
///
/// # Panics
/// If something is wrong with the reader or the writer.
pub fn csv(bytes: &[u8]) {
    if !bytes.starts_with(PARQUET) {
        errbar_table::fuzzing::check(bytes);
    }
}

/// As [`csv`], for Parquet files.
///
/// # Panics
/// As [`csv`].
pub fn parquet(bytes: &[u8]) {
    if bytes.starts_with(PARQUET) {
        errbar_table::fuzzing::check(bytes);
    }
}

/// As [`csv`], for JSON.
///
/// # Panics
/// As [`csv`].
pub fn json(bytes: &[u8]) {
    if errbar_table::fuzzing::is_json(bytes) {
        errbar_table::fuzzing::check(bytes);
    }
}

/// As [`csv`], for compressed files.
///
/// # Panics
/// As [`csv`].
pub fn packed(bytes: &[u8]) {
    if errbar_table::fuzzing::is_packed(bytes) {
        errbar_table::fuzzing::check(bytes);
    }
}

/// As [`csv`], for spreadsheets: whole ones, and their parts (see [`errbar_table::fuzzing::check_sheet`]).
///
/// # Panics
/// As [`csv`].
pub fn sheets(bytes: &[u8]) {
    match bytes.starts_with(b"PK") {
        true => errbar_table::fuzzing::check(bytes),
        false => errbar_table::fuzzing::check_sheet(bytes),
    }
}

/// Reads any lines as a column of times in every way there is, the first as its format, and compares.
///
/// # Panics
/// If something is wrong with the reader.
pub fn dates(bytes: &[u8]) {
    errbar_table::fuzzing::check_dates(bytes);
}

/// Reads any bytes as a model; one that is accepted must work.
///
/// # Panics
/// If it does not.
pub fn model(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(fitted) = Fitted::from_json(text) else { return };
    let columns = fitted.names().len();
    let each = |value: &dyn Fn((f64, f64)) -> f64| -> Vec<f64> {
        (0..columns).map(|c| value(fitted.range(c).expect("a range for each input"))).collect()
    };
    let inputs = [
        each(&|(low, _)| low),
        each(&|(_, high)| high),
        each(&|(low, high)| 0.5 * low + 0.5 * high),
        each(&|_| 0.0),
        each(&|_| f64::MAX),
        each(&|_| f64::MIN),
        each(&|_| -f64::MIN_POSITIVE),
    ]
    .concat();
    let predicted = fitted.predict(&inputs).expect("a model predicts for every finite input");
    for sigma in predicted.sigma() {
        assert!(*sigma > 0.0 && sigma.is_finite(), "sigma is {sigma}");
    }
    let rows = inputs.len() / columns;
    assert!(predicted.sigma().len() == rows && predicted.outside().len() == rows);
    let finite = |forecast: &[f64]| forecast.iter().all(|mu| mu.is_finite());
    assert!(predicted.forecast().is_none_or(finite), "{:?}", predicted.forecast());
    assert!(predicted.bias().is_none_or(finite), "{:?}", predicted.bias());
    if let Some((low, high)) = predicted.sigma_band(0.9).expect("as predict") {
        assert!(low.iter().chain(&high).all(|end| *end > 0.0 && end.is_finite()));
    }
    if fitted.guarantee().is_some() {
        // More may be asked for than it can promise.
        let (low, high) = predicted.guaranteed_errors(0.5).unwrap_or_default();
        assert!(low.iter().zip(&high).all(|(low, high)| low <= high), "{low:?} {high:?}");
    }

    let saved = fitted.to_json().expect("a model that was read can be saved");
    let again = Fitted::from_json(&saved).expect("a model that was saved can be read");
    assert_eq!(again.predict(&inputs).expect("as before"), predicted, "saved and read again");
    assert_eq!(again.to_json().expect("as before"), saved, "saved twice");
    crate::export::check(&fitted);
}
