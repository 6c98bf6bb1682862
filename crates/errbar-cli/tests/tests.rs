//! The program as a person runs it. One program, so that it is linked once.

mod common;

mod bad_files; // what is no table, by its content, and odd tables that are used
mod bad_input; // one sentence that names the place
mod bounds; // observations that keep to bounds, other scales
mod calendar; // hour of day, day of week, season
mod categories; // inputs that are texts
mod csv_details; // CSV as people have it
mod dates; // times as people write them
mod export; // ONNX
#[cfg(unix)]
mod faults; // full disks, closed pipes, Ctrl-C
mod fit_verdicts; // sentences that follow from numbers
mod fit_words; // options not followed, inputs
mod forms; // members, quantiles, intervals, events
mod fuzz_seeds; // what once crashed, and files of older versions
mod licences; // what is linked
mod many_files; // several files as one table, rows that pass
mod members; // of an ensemble
mod missing_values; // --na, fill values
mod predict_values; // what predict adds
mod prior; // a sigma that is there already
mod promise; // guaranteed intervals in time
mod report; // the page
#[cfg(feature = "paper")]
mod reproduce; // the paper
mod score; // score and compare
mod series; // from fit to update
