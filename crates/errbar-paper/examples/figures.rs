//! Draws the paper's figures and claims into a folder, from fewer runs and points than the paper's:
//!
//! ```sh
//! cargo run --release -p errbar-paper --example figures -- FOLDER [RUNS]
//! ```
//!
//! A polynomial stands in for the network of figure 9.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use errbar::sigma::polynomial::{self, Order};
use errbar_paper::{DataSet, Method, PaperFigure, claims, run_all};
use errbar_report::Figure;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("give the folder to draw into")?;
    let runs = arguments.next().map_or(Ok(20), |runs| runs.parse())?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let write = |name: &str, figure: &Figure| -> Result<(), Box<dyn Error>> {
        std::fs::write(folder.join(format!("{name}.svg")), figure.svg()?)?;
        std::fs::write(folder.join(format!("{name}.png")), figure.png(2.0)?)?;
        Ok(())
    };

    let start = Instant::now();
    let mut figures: Vec<PaperFigure> = vec![errbar_paper::crps_isolines()];
    figures.extend(errbar_paper::regressions(0)?);
    figures.push(errbar_paper::sigma_distribution(1_000_000, 0));
    println!("figures 1 to 5: {:.2} s", start.elapsed().as_secs_f64());

    let start = Instant::now();
    let methods = [Method::ArNetwork, Method::ArPolynomial];
    let all = run_all(&DataSet::ONE_DIMENSIONAL, runs, 0, &methods, || false)?;
    figures.extend(errbar_paper::sigma_estimates(&all.unwrap_or_default()));
    println!("figures 6 to 8: {:.2} s", start.elapsed().as_secs_f64());

    let start = Instant::now();
    let draw = DataSet::FiveD.draw(10_000, &mut DataSet::FiveD.stream(0, 0));
    let options = polynomial::Options {
        order: Order::Fixed,
        largest_order: 16,
        ..polynomial::Options::general()
    };
    // Sigma depends on the sum of the inputs: who knows that needs no network.
    let sums = |x: &[f64]| x.chunks_exact(5).map(|x| x.iter().sum()).collect::<Vec<f64>>();
    let model = polynomial::fit(&sums(&draw.x), 1, &draw.y, &options)?;
    println!("polynomial of 5D: {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let density =
        errbar_paper::sigma_density(1_000_000, 0, |x| model.predict(&sums(x)), |_| false)?;
    if let Some(density) = density {
        figures
            .push(density.figure("a polynomial of the sum of the inputs, fitted to 10,000 points"));
    }
    println!("figure 9: {:.2} s", start.elapsed().as_secs_f64());
    for figure in &figures {
        write(figure.name, &figure.figure)?;
        println!("{}. {}\n", figure.number, figure.caption);
    }

    let start = Instant::now();
    for claim in claims(runs, 0, || false)?.unwrap_or_default() {
        if let Some(figure) = &claim.figure {
            write(claim.name, figure)?;
        }
        println!("## {}\n{}\n", claim.title, claim.text);
        if let Some((heading, rows)) = &claim.table {
            println!("{}", heading.join(" | "));
            rows.iter().for_each(|row| println!("{}", row.join(" | ")));
        }
        println!();
    }
    println!("claims: {:.2} s", start.elapsed().as_secs_f64());
    Ok(())
}
