//! Columns that are known by their names: lead times, latitudes and longitudes.

use anyhow::bail;

use crate::columns::{NumberId, Request, Role};

const LEADS: [&str; 16] = [
    "lead",
    "lead_h",
    "lead_hours",
    "lead_hour",
    "lead_days",
    "lead_day",
    "lead_time",
    "leadtime",
    "leadtime_h",
    "lead_time_h",
    "lead_time_hours",
    "lead_time_days",
    "step",
    "step_h",
    "horizon",
    "forecast_horizon",
];
const LATITUDES: [&str; 2] = ["lat", "latitude"];
const LONGITUDES: [&str; 4] = ["lon", "lng", "long", "longitude"];

/// The first column that has one of some names, whatever their case and what is between their words.
fn found(request: &Request, names: &[&str], used: &[Option<&String>]) -> Option<String> {
    let plain = |name: &str| name.trim().to_lowercase().replace([' ', '-', '.'], "_");
    let is_known = |column: &&String| names.contains(&plain(column).as_str());
    let is_free = |column: &&String| !used.contains(&Some(*column));
    request.header().iter().filter(is_free).find(is_known).cloned()
}

/// The column with the lead times: the one given, or one that is called so.
pub(super) fn lead(
    request: &Request,
    given: Option<&str>,
    used: &[Option<&String>],
) -> anyhow::Result<Option<String>> {
    match given {
        Some(name) if !request.has(name) => Err(request.lacks(name, ", which --lead names")),
        Some(name) => Ok(Some(name.to_string())),
        None => Ok(found(request, &LEADS, used)),
    }
}

/// The columns with latitude and longitude: those given, or those that are called so.
pub(super) fn places(
    request: &Request,
    given: [Option<&str>; 2],
) -> anyhow::Result<Option<[String; 2]>> {
    let options = ["latitude", "longitude"];
    for (name, option) in given.iter().zip(options) {
        if let Some(name) = name
            && !request.has(name)
        {
            return Err(request.lacks(name, &format!(", which --{option} names")));
        }
    }
    let own = |at: usize, names: &[&str]| {
        given[at].map(str::to_string).or_else(|| found(request, names, &[]))
    };
    match [own(0, &LATITUDES), own(1, &LONGITUDES)] {
        [Some(latitude), Some(longitude)] => Ok(Some([latitude, longitude])),
        [None, Some(_)] if given[1].is_some() => bail!("a map needs --latitude beside --longitude"),
        [Some(_), None] if given[0].is_some() => bail!("a map needs --longitude beside --latitude"),
        _ => Ok(None),
    }
}

/// Asks for both. A gap costs no row; one that is given must hold numbers.
pub(super) fn ask(
    [latitude, longitude]: [String; 2],
    given: [Option<&str>; 2],
    request: &mut Request,
) -> anyhow::Result<[(String, NumberId); 2]> {
    let mut one = |name: String, given: Option<&str>| -> anyhow::Result<(String, NumberId)> {
        let id = match given {
            Some(_) => {
                let id = request.number(Role::Input, &name)?;
                request.keep_gaps(id);
                request.keep_infinite(id);
                id
            }
            None => request.number_with_gaps(Role::Input, &name)?,
        };
        Ok((name, id))
    };
    Ok([one(latitude, given[0])?, one(longitude, given[1])?])
}
