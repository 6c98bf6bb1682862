//! `errbar completions` and `errbar man`: help where the shell looks for it.

use std::path::PathBuf;

use anyhow::Context;
use clap::CommandFactory;

use crate::console::Console;
use crate::output;

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  errbar completions bash > ~/.local/share/bash-completion/completions/errbar
  errbar completions zsh > ~/.zfunc/_errbar
  errbar completions fish > ~/.config/fish/completions/errbar.fish")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Write the manual pages.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  errbar man ~/.local/share/man/man1 && man errbar-fit")]
pub(crate) struct Manual {
    /// The folder to write to; it is made if it is not there.
    folder: PathBuf,

    #[command(flatten)]
    console: Console,
}

pub(crate) fn completions(arguments: &Completions) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "errbar", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}

pub(crate) fn manual(arguments: &Manual) -> anyhow::Result<()> {
    let folder = &arguments.folder;
    output::make_folder(folder)?;
    let mut all = crate::Arguments::command();
    all.build();
    let pages = std::iter::once(&all).chain(all.get_subcommands());
    let mut count = 0;
    for command in pages.filter(|command| command.get_name() != "help") {
        let name = match command.get_name() {
            "errbar" => String::from("errbar"),
            name => format!("errbar-{name}"),
        };
        let mut page = Vec::new();
        let command = command.clone().display_name(&name);
        clap_mangen::Man::new(command).render(&mut page).context("cannot make a manual page")?;
        output::write(&folder.join(format!("{name}.1")), &page)?;
        count += 1;
    }
    arguments.console.note(&format!("{count} manual pages in {}", folder.display()));
    Ok(())
}
