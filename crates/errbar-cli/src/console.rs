//! What the program says, and where: results on standard output, everything else on standard error.

use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use errbar::{Monitor, Task};
use indicatif::{ProgressBar, ProgressStyle};

use crate::timings::{self, Timings};
use crate::{output, stop};

/// How much to say.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Console {
    /// Say nothing but results and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Say how long each stage took, on standard error.
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
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
        self.watched(
            what,
            self.bar(what, 1000, "{prefix:8} {bar:40} {percent:>3}%, {eta} left  {msg}"),
        )
    }

    /// The same with its steps counted.
    #[cfg(feature = "paper")]
    pub(crate) fn steps(self, what: &str, length: u64) -> Progress {
        self.watched(what, self.bar(what, length, "{prefix:8} {bar:40} {pos}/{len}, {eta} left"))
    }

    fn watched(self, what: &str, bar: ProgressBar) -> Progress {
        Progress { bar, timings: self.verbose.then(|| (what.to_string(), Timings::new())) }
    }

    fn bar(self, what: &str, length: u64, style: &str) -> ProgressBar {
        if self.quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(length).with_prefix(what.to_string());
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar
    }
}

/// A progress bar and Ctrl-C as the library knows them; the bar goes when this does.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// What is being done, and how long its stages took.
    timings: Option<(String, Timings)>,
}

#[cfg(feature = "paper")]
impl Progress {
    /// A step is done; says whether to stop.
    pub(crate) fn step(&self) -> bool {
        self.bar.inc(1);
        stop::asked()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if let Some((what, timings)) = &self.timings {
            say(&timings.in_words(what));
        }
    }
}

impl Monitor for Progress {
    fn progress(&self, share: f64) {
        self.bar.set_position((self.bar.length().unwrap_or(0) as f64 * share) as u64);
    }

    fn should_stop(&self) -> bool {
        stop::asked()
    }

    fn begin(&self, task: Task) {
        if !self.bar.is_hidden() {
            self.bar.set_message(timings::in_words(task));
        }
        if let Some((_, timings)) = &self.timings {
            timings.begin();
        }
    }

    fn end(&self, task: Task) {
        if let Some((_, timings)) = &self.timings {
            timings.end(task);
        }
    }
}

/// A line on standard error, without colours where they are not wanted. There is nobody to tell when
/// it cannot be written.
pub(crate) fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}
