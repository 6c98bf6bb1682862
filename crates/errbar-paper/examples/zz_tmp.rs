fn main() {
    let t = std::time::Instant::now();
    let set = errbar_paper::DataSet::FiveD;
    let draw = set.draw(10_000, &mut set.stream(1000, 0));
    let mut o = errbar::sigma::network::Options::general();
    o.regularisation = vec![0.001];
    o.starts = 1;
    o.iterations = 300;
    let m = errbar::sigma::network::fit(&draw.x, 5, &draw.y, &o).unwrap();
    println!("fit {:?}", t.elapsed());
    let t = std::time::Instant::now();
    let d = errbar_paper::sigma_density(10_000_000, 1000, |x| m.predict(x), |_| false)
        .unwrap()
        .unwrap();
    println!("density {:?}", t.elapsed());
    let f = d.figure("a network");
    println!("{}", f.caption);
    std::fs::write("/tmp/figs/zz.png", f.figure.png(2.0).unwrap()).unwrap();
}
