//! Progress bars: on stderr, only where that is a terminal, and not with `--quiet`.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// Bar over `total` steps with a caption and the remaining time; silent where stderr is not a terminal.
pub fn bar(total: u64, caption: &str) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg} {wide_bar:.cyan/dim} {pos}/{len} {per_sec} {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
    let target = if output::is_quiet() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(10)
    };
    ProgressBar::with_draw_target(Some(total), target)
        .with_style(style)
        .with_message(caption.to_owned())
}
