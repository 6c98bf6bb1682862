//! `errbar reproduce` in a program built without the paper: where to get it.

use std::ffi::OsString;

/// Make the paper's Table 1 and figures again (not in this build: it says where to get it).
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    // Whatever the whole program takes, so that the answer is the same.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _any: Vec<OsString>,
}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<()> {
    anyhow::bail!(
        "this build leaves out the paper; install the Rust program, which has it, with \
         `cargo install --path crates/errbar-cli` in a clone of errbar"
    )
}
