use std::sync::atomic::AtomicU64;

use rayon::ThreadPoolBuilder;

use super::*;

fn context<'a>(done: &'a (dyn Fn() -> bool + Sync), stop: &'a AtomicBool) -> Context<'a> {
    Context { runs: 6, seed: 3, done, stop }
}

#[test]
fn claims_are_complete_and_do_not_depend_on_threads() {
    let with = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| claims(3, 0, || false)).unwrap().unwrap()
    };
    let all = with(1);
    assert_eq!(all.len() as u64, CLAIMS);
    for (i, claim) in all.iter().enumerate() {
        assert!(claim.name.starts_with(&format!("claim-{}-", i + 1)));
        assert!(!claim.title.is_empty() && claim.text.ends_with('.'));
        assert!(!claim.text.contains('\n'), "one paragraph");
        let (heading, rows) = claim.table.as_ref().unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| row.len() == heading.len()));
        let svg = claim.figure.as_ref().unwrap().svg().unwrap();
        assert!(svg.starts_with("<svg") && !svg.contains("NaN"));
    }
    let drawn = |all: &[Claim]| -> Vec<String> {
        all.iter().map(|claim| claim.figure.as_ref().unwrap().svg().unwrap()).collect()
    };
    let again = with(2);
    assert_eq!(drawn(&all), drawn(&again));
    assert_eq!(all, again);
}

#[test]
fn one_run_is_enough() {
    for claim in claims(1, 5, || false).unwrap().unwrap() {
        claim.figure.unwrap().svg().unwrap();
    }
}

#[test]
fn steps_are_counted_and_can_stop() {
    let steps = AtomicU64::new(0);
    let count = || {
        steps.fetch_add(1, Ordering::Relaxed);
        false
    };
    claims(2, 0, count).unwrap().unwrap();
    assert_eq!(steps.into_inner(), claim_steps(2));
    assert_eq!(claims(2, 0, || true).unwrap(), None);
}

/// A least cost is monotone in its weights: less weight on reliability cannot lower RS, nor raise CRPS,
/// where the cost is minimised.
#[test]
fn the_weight_moves_training_scores_the_way_it_must() {
    for set in [DataSet::G, DataSet::Y] {
        let (mut rs, mut crps) = ([0.0; 2], [0.0; 2]);
        for run in 0..6 {
            let (scores, _) = trade_off::one_run(set, 3, run).unwrap();
            for (i, beta) in [0.0, 0.9].into_iter().enumerate() {
                let at = trade_off::BETAS.iter().position(|b| *b == beta).unwrap();
                rs[i] += scores[at][0].rs;
                crps[i] += scores[at][0].crps;
            }
        }
        assert!(rs[0] <= rs[1], "{}: RS {rs:?}", set.name());
        assert!(crps[0] >= crps[1], "{}: CRPS {crps:?}", set.name());
    }
}

#[test]
fn reliability_alone_is_more_reliable_in_training_than_accuracy_alone() {
    for set in DataSet::ONE_DIMENSIONAL {
        let runs: Vec<_> = (0..6).map(|run| trade_off::one_run(set, 3, run).unwrap().0).collect();
        let rs = |at: usize| middle(runs.iter().map(|run| run[at][0].rs));
        assert!(rs(0) <= rs(trade_off::BETAS.len() - 1), "{}", set.name());
    }
}

#[test]
fn a_wrong_mean_gets_a_larger_sigma() {
    let (done, stop) = (|| false, AtomicBool::new(false));
    for set in DataSet::ONE_DIMENSIONAL {
        let estimates = wrong_mean::estimates(set, &context(&done, &stop)).unwrap().unwrap();
        let sigma = |e: &wrong_mean::Estimate| mean(e.sigma.iter().map(|s| s.0));
        let grow = estimates.windows(2).all(|pair| sigma(&pair[0]) < sigma(&pair[1]));
        assert!(grow, "{}", set.name());
        let whole = mean(estimates[0].whole.iter().copied());
        assert!((sigma(&estimates[0]) / whole - 1.0).abs() < 0.3, "{}", set.name());
    }
}

#[test]
fn words_and_numbers() {
    let words = |n: usize| listed(["a", "b", "c"][..n].iter().map(ToString::to_string));
    assert_eq!([words(0), words(1), words(2), words(3)], ["", "a", "a and b", "a, b and c"]);
    assert_eq!([number(0.126, 2), number(2.6e11, 3)], ["0.13", "3e11"]);
    // The middle half of eight: the third to the sixth.
    let values = [1e300, 5.0, -7.0, 1.0, 2.0, 3.0, 4.0, f64::INFINITY];
    assert_eq!(middle(values.into_iter()), (2.0 + 3.0 + 4.0 + 5.0) / 4.0);
    assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
}
