//! The program `errbar` as a library: [`run`] takes the arguments and does everything the program
//! does, so that other packages can carry the same program.

mod advice;
mod arguments;
mod backtest;
mod columns;
mod compare;
mod console;
mod demo;
mod export;
mod files;
mod fill_values;
mod fit;
mod forms;
#[doc(hidden)]
pub mod fuzzing;
mod help;
mod kept;
mod learning;
mod licences;
pub mod model_file;
mod output;
mod predict;
mod promise;
mod report;
#[cfg_attr(not(feature = "paper"), path = "reproduce/elsewhere.rs")]
mod reproduce;
mod resampling;
mod samples;
mod score;
mod series;
mod stop;
mod text_table;
mod timings;
mod training;
mod update;
mod with_columns;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use errbar_table::output::write as write_file;
pub use predict::numbers;

/// Error bars you can trust, on any forecast.
#[derive(Debug, Parser)]
#[command(name = "errbar", version, about, arg_required_else_help = true)]
#[command(
    after_help = "Exit status: 0 done, 1 failed, 2 wrong arguments, 3 fit again (update), 130 stopped with Ctrl-C."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Fit(fit::Arguments),
    Predict(predict::Arguments),
    Update(update::Arguments),
    Report(report::Arguments),
    Score(score::Arguments),
    Compare(compare::Arguments),
    Backtest(backtest::Arguments),
    Export(export::Arguments),
    Reproduce(reproduce::Arguments),
    Licences(licences::Arguments),
    Completions(help::Completions),
    Man(help::Manual),
}

/// Runs the program on these arguments, the first of which is its name.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    status(arguments).into()
}

/// [`run`] with the exit status as a number.
pub fn status(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    output::survive_size_limits();
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to standard output and are no failure; clap knows. A closed pipe
            // is no reason to complain either.
            let _ = error.print();
            return error.exit_code() as u8;
        }
    };
    match dispatch(&arguments) {
        Ok(status) => status,
        Err(error) if stop::is_stopped(&error) => {
            stop::say();
            130
        }
        Err(error) => {
            console::say(&format!("errbar: {error:#}{}", advice::after(&error)));
            1
        }
    }
}

/// Runs one command, which may have a status of its own.
fn dispatch(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.command {
        Command::Update(arguments) => return update::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Fit(arguments) => fit::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Score(arguments) => score::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Backtest(arguments) => backtest::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Reproduce(arguments) => reproduce::run(arguments),
        Command::Licences(arguments) => licences::run(arguments),
        Command::Completions(arguments) => help::completions(arguments),
        Command::Man(arguments) => help::manual(arguments),
    }?;
    Ok(0)
}
