//! What the program says, and where: results on standard output, everything else on standard error.

use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use errbar::Monitor;
use indicatif::{ProgressBar, ProgressStyle};

use crate::{output, stop};

/// How much to say.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Console {
    /// Say nothing but results and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Console {
    /// A result, on standard output.
    pub(crate) fn result(self, text: &str) -> anyhow::Result<()> {
        output::print(text)
    }

    /// Something worth knowing, on standard error.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            say(text);
        }
    }

    /// Something that may be wrong with the data or its use, on standard error.
    pub(crate) fn warn(self, text: &str) {
        if !self.quiet {
            let style = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
            say(&format!("{style}warning:{style:#} {text}"));
        }
    }

    /// A progress bar on standard error with the time left; none when quiet or not on a terminal.
    pub(crate) fn progress(self, what: &str) -> Progress {
        Progress(self.bar(what, 1000, "{msg:8} {bar:40} {percent:>3}%, {eta} left"))
    }

    /// The same with its steps counted.
    #[cfg(feature = "paper")]
    pub(crate) fn steps(self, what: &str, length: u64) -> Progress {
        Progress(self.bar(what, length, "{msg:8} {bar:40} {pos}/{len}, {eta} left"))
    }

    fn bar(self, what: &str, length: u64, style: &str) -> ProgressBar {
        if self.quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(length).with_message(what.to_string());
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar
    }
}

/// A progress bar and Ctrl-C as the library knows them; the bar goes when this does.
pub(crate) struct Progress(ProgressBar);

#[cfg(feature = "paper")]
impl Progress {
    /// A step is done; says whether to stop.
    pub(crate) fn step(&self) -> bool {
        self.0.inc(1);
        stop::asked()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Monitor for Progress {
    fn progress(&self, share: f64) {
        self.0.set_position((self.0.length().unwrap_or(0) as f64 * share) as u64);
    }

    fn should_stop(&self) -> bool {
        stop::asked()
    }
}

/// A line on standard error, without colours where they are not wanted. There is nobody to tell when
/// it cannot be written.
pub(crate) fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}
