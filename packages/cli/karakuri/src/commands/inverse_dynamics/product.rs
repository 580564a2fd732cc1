//! `[L]`, `[T]` and `{P}` of an instant as text.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use karakuri_control::nodal::{Mechanism, Part, Product};

use super::dofs::dof_names;
use super::errors::Study;

/// Text of the factors at the sample nearest to a time.
pub(super) fn text(mechanism: &Mechanism, study: &Study, time: f64) -> Result<String> {
    let (model, samples) = (&mechanism.model, &study.samples);
    let n = samples.q.len() / model.nq;
    let end = (n - 1) as f64 * samples.dt;
    ensure!(
        (-0.5 * samples.dt..end + 0.5 * samples.dt).contains(&time),
        "--product {time}: the motion lasts from 0 to {end} s"
    );
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let at = (time / samples.dt).round().max(0.0) as usize;
    let (q, rates) = (at * model.nq..(at + 1) * model.nq, at * model.nv..(at + 1) * model.nv);
    let points = 3 * mechanism.force_points.len();
    let forces = samples.forces.get(at * points..(at + 1) * points).unwrap_or_default();
    let motion = [&samples.q[q], &samples.v[rates.clone()], &samples.vdot[rates.clone()]];
    let product = mechanism.product(motion, forces);
    let mut text = String::new();
    let kind = if product.planar { "planar" } else { "spatial" };
    writeln!(
        text,
        "{{τ}} = [L][T]{{P}} at t = {} s ({kind}; m, N, N·m; the loops cut, without rotors)",
        at as f64 * samples.dt
    )?;
    let rows: Vec<String> = dof_names(mechanism).into_iter().map(|(name, _)| name).collect();
    let bodies: Vec<&str> = model.bodies.iter().map(|body| body.name.as_str()).collect();
    write_lengths(&mut text, &product, &rows, &bodies)?;
    writeln!(text, "\n[T] = diag over the links of Rᵀ, once a vector (a planar moment: 1)")?;
    for (body, name) in bodies.iter().enumerate() {
        let n = product.columns.len();
        let Some(first) = product.columns.iter().position(|(b, _)| *b == body) else { continue };
        let size = if product.planar { 2 } else { 3 };
        for row in first..first + size {
            let name = if row == first { name } else { "" };
            let row = &product.turns[row * n + first..][..size];
            writeln!(text, "  {name:>16} {}", numbers(row.iter().copied()))?;
        }
    }
    for (title, values) in [("{P}", product.forces.clone()), ("[T]{P}", product.turned())] {
        writeln!(text, "\n{title}")?;
        for (body, name) in bodies.iter().enumerate() {
            writeln!(text, "  {name:>16} {}", of_body(&product, body, &values))?;
        }
    }
    let total = &study.torques.tau[rates];
    let title =
        if study.torques.lambda.is_empty() { "" } else { ", and with the forces across the cuts" };
    writeln!(text, "\n{{τ}}{title}")?;
    for ((name, tree), total) in rows.iter().zip(&product.tau).zip(total) {
        let total = if title.is_empty() { String::new() } else { number(*total) };
        writeln!(text, "  {name:>16} {}{total}", number(*tree))?;
    }
    Ok(text)
}

fn write_lengths(
    text: &mut String,
    product: &Product,
    rows: &[String],
    bodies: &[&str],
) -> Result<()> {
    writeln!(
        text,
        "\n[L], row by row, link by link: of the force, the moment | of what is beyond"
    )?;
    let n = product.columns.len().max(1);
    for (name, row) in rows.iter().zip(product.lengths.chunks_exact(n)) {
        writeln!(text, "  {name}")?;
        for (body, link) in bodies.iter().enumerate() {
            writeln!(text, "  {link:>16} {}", of_body(product, body, row))?;
        }
    }
    Ok(())
}

/// Numbers of a link's columns, outboard points set apart.
fn of_body(product: &Product, body: usize, values: &[f64]) -> String {
    let size = if product.planar { 2 } else { 3 };
    let mut line = String::new();
    let mut beyond = 0;
    for ((b, part), value) in product.columns.iter().zip(values) {
        if *b != body {
            continue;
        }
        if *part == Part::Beyond {
            if beyond % size == 0 {
                line.push_str(" |");
            }
            beyond += 1;
        }
        line.push_str(&number(*value));
    }
    line
}

fn numbers(values: impl Iterator<Item = f64>) -> String {
    values.map(number).collect()
}

fn number(value: f64) -> String {
    // Adding zero turns minus zero into zero.
    format!(" {:12.6}", value + 0.0)
}
