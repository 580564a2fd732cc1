//! Progress bars: on stderr, and only where that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over `total` steps with a caption and the time left; silent where stderr is no terminal.
pub fn bar(total: u64, caption: &str) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg} {wide_bar:.cyan/dim} {pos}/{len} {per_sec} {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10))
        .with_style(style)
        .with_message(caption.to_owned())
}
