//! The program `errbar`.

use std::process::ExitCode;

fn main() -> ExitCode {
    errbar_cli::run(std::env::args_os())
}
