//! The program `errbar` as a library: [`run`] takes the arguments and does everything the program
//! does, so that other packages can carry the same program.

mod output;
mod reproduce;
mod stop;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Error bars you can trust, on any forecast.
#[derive(Debug, Parser)]
#[command(name = "errbar", version, about, arg_required_else_help = true)]
#[command(
    after_help = "Exit status: 0 done, 1 failed, 2 wrong arguments, 130 stopped with Ctrl-C."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(reproduce::Arguments),
}

/// Runs the program on these arguments, the first of which is its name.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to standard output and are no failure; clap knows. A closed pipe
            // is no reason to complain either.
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let result = match &arguments.command {
        Command::Reproduce(arguments) => reproduce::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<stop::Stopped>() => {
            eprintln!("errbar: stopped; no file was left half-written");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("errbar: {error:#}");
            ExitCode::FAILURE
        }
    }
}
