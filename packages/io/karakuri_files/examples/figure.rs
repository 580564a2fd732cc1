//! Draws the figure that standard input describes, as `karakuri plot FIGURE.yaml` does, where there is no ROS 2: `figure FILE.svg < FIGURE`.

use std::error::Error;
use std::path::PathBuf;

use karakuri_files::Plot;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: figure FILE.svg < FIGURE")?;
    let plot: Plot =
        karakuri_model::yaml::read("figure", &std::io::read_to_string(std::io::stdin())?)?;
    Ok(plot.write_svg(&PathBuf::from(file))?)
}
