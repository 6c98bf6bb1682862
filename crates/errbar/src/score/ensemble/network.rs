//! Sorts members of many rows at once, without a branch.

/// Rows that are sorted side by side: two registers of 512 bits.
pub(super) const LANES: usize = 16;

/// The members of rows side by side.
pub(super) type Lanes = [f64; LANES];

/// From this many members on, rows are sorted one by one.
pub(super) const MOST: usize = 512;

/// Batcher's merge exchange (Knuth, *The Art of Computer Programming* 3, 5.2.2, algorithm M): which pairs to put in order,
/// one after the other, to sort so many numbers, whatever they are. About $\tfrac14 M \log\_2^2 M$ of them: 35 for 11 is
/// the least known, 38 are here.
pub(super) fn pairs(members: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    if members < 2 {
        return pairs;
    }
    let top = members.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            for i in (0..members.saturating_sub(d)).filter(|i| i & p == r) {
                pairs.push((i, i + d));
            }
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    pairs
}

/// Puts the members of each row in order.
#[inline(always)]
pub(super) fn sort(members: &mut [Lanes], pairs: &[(usize, usize)]) {
    for &(low, high) in pairs {
        let (a, b) = (members[low], members[high]);
        let (mut least, mut most) = (a, b);
        for lane in 0..LANES {
            least[lane] = if b[lane] < a[lane] { b[lane] } else { a[lane] };
            most[lane] = if b[lane] < a[lane] { a[lane] } else { b[lane] };
        }
        members[low] = least;
        members[high] = most;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that sorts all rows of zeros and ones sorts everything (Knuth, theorem Z).
    #[test]
    fn zeros_and_ones_are_sorted() {
        for members in 1..=16usize {
            let pairs = pairs(members);
            for bits in 0..1u32 << members {
                let mut lanes: Vec<Lanes> =
                    (0..members).map(|m| [f64::from(bits >> m & 1); LANES]).collect();
                sort(&mut lanes, &pairs);
                assert!(lanes.is_sorted_by(|a, b| a[0] <= b[0]), "{members} {bits:b}");
            }
        }
    }

    #[test]
    fn larger_ones_sort_too() {
        for members in [17, 50, 51, 100, 257, 511] {
            let pairs = pairs(members);
            for turn in 0..20usize {
                let value =
                    |m: usize, lane: usize| ((m * 7919 + lane * 31 + turn * 613) % 1009) as f64;
                let mut lanes: Vec<Lanes> =
                    (0..members).map(|m| std::array::from_fn(|lane| value(m, lane))).collect();
                sort(&mut lanes, &pairs);
                for lane in 0..LANES {
                    let mut want: Vec<f64> = (0..members).map(|m| value(m, lane)).collect();
                    want.sort_unstable_by(f64::total_cmp);
                    assert!(want.iter().zip(&lanes).all(|(w, l)| *w == l[lane]), "{members}");
                }
            }
        }
    }
}
