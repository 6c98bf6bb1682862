//! The nearest number to a decimal fraction of up to nineteen digits.
//!
//! Most tables of numbers are written with all the digits of a double, seventeen, and reading those is where
//! the time of reading goes. A fraction m / 10^k with m below 2^53 is a quotient of two exact numbers. For a
//! longer m the product with the first 64 bits of 1 / 5^k tells its 53 bits, and the next 64 bits decide where the first
//! leave a doubt (Lemire 2021, doi 10.1002/spe.2984; that two words always suffice: Mushtak and Lemire 2023,
//! doi 10.1002/spe.3198).

/// Fractions have at most so many decimals.
pub(super) const MOST: usize = 19;

const EXACT: [f64; MOST + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
];

/// The first 128 bits of 1 / 5^k, rounded up.
const RECIPROCALS: [(u64, u64); MOST + 1] = {
    let mut all = [(0, 0); MOST + 1];
    let (mut k, mut power) = (1, 5u64);
    while k <= MOST {
        all[k] = reciprocal(power);
        power *= 5;
        k += 1;
    }
    all
};

/// 2^b / d + 1 for the b that makes it 128 bits long, in halves; limb by limb.
const fn reciprocal(d: u64) -> (u64, u64) {
    let b = 64 - (d - 1).leading_zeros() + 127;
    let mut rest = 0u128;
    let mut quotient = 0u128;
    let mut limb = 3;
    while limb > 0 {
        limb -= 1;
        let bits = if b / 64 == limb { 1u128 << (b % 64) } else { 0 };
        let part = (rest << 64) | bits;
        quotient = (quotient << 64) | (part / d as u128);
        rest = part % d as u128;
    }
    let rounded = quotient + 1;
    ((rounded >> 64) as u64, rounded as u64)
}

/// The double nearest to `digits` / 10^`decimals`, ties to even.
#[inline]
pub(super) fn nearest(digits: u64, decimals: usize) -> Option<f64> {
    let power = EXACT.get(decimals)?;
    if digits <= 1 << 53 || decimals == 0 {
        return Some(digits as f64 / power);
    }
    Some(of_long(digits, decimals, *RECIPROCALS.get(decimals)?))
}

/// The same for digits beyond 2^53, with at least one decimal.
#[inline]
fn of_long(digits: u64, decimals: usize, (first, second): (u64, u64)) -> f64 {
    let zeros = digits.leading_zeros();
    let digits = u128::from(digits << zeros);
    let mut product = digits * u128::from(first);
    // 53 bits, one to round by, and one that the product may be short of: should all below be set, the
    // rest of the reciprocal may still carry over.
    const BELOW: u64 = u64::MAX >> 55;
    if (product >> 64) as u64 & BELOW == BELOW {
        product += (digits * u128::from(second)) >> 64;
    }
    let (high, low) = ((product >> 64) as u64, product as u64);
    let upper = (high >> 63) as u32;
    let mut mantissa = high >> (upper + 9);
    // A product without a remainder lies exactly between two doubles, and goes to the even one.
    if low <= 1 && decimals <= 4 && mantissa & 3 == 1 && mantissa << (upper + 9) == high {
        mantissa &= !1;
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    // log2(10^-k), rounded down.
    let power = (-217_706 * decimals as i64) >> 16;
    let mut exponent = (power + 63 + 1023) as u64 + u64::from(upper) - u64::from(zeros);
    if mantissa >= 2 << 52 {
        mantissa = 1 << 52;
        exponent += 1;
    }
    f64::from_bits((exponent << 52) | (mantissa & ((1 << 52) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of a simple generator.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    #[track_caller]
    fn check(digits: u64, decimals: usize) {
        let expected: f64 = format!("{digits}e-{decimals}").parse().unwrap();
        let found = nearest(digits, decimals).unwrap();
        assert_eq!(found.to_bits(), expected.to_bits(), "{digits}e-{decimals}: {found}");
    }

    #[test]
    fn fractions_are_those_of_the_standard_library() {
        let mut state = 1;
        for round in 0..400_000u32 {
            let digits = random(&mut state) >> (round % 12);
            check(digits, round as usize % (MOST + 1));
        }
        assert_eq!(nearest(1, MOST + 1), None);
    }

    /// Exactly between two doubles, and the decimals next to it: odd multiples of half a unit in the last
    /// place, which have few decimals.
    #[test]
    fn ties_go_to_the_even_one() {
        let mut state = 2;
        for round in 0..200_000u32 {
            let half_units = random(&mut state) >> 10 | 1 << 53 | 1;
            for decimals in 1..=4u32 {
                // half_units / 2^decimals, with so many decimals.
                let Some(digits) = half_units.checked_mul(5u64.pow(decimals)) else { continue };
                check(digits, decimals as usize);
                check(digits + 1, decimals as usize);
                check(digits - 1, decimals as usize);
                check(digits, (decimals + round % 15) as usize);
            }
        }
    }

    #[test]
    fn doubles_written_with_all_digits_come_back() {
        let mut state = 3;
        let mut checked = 0;
        while checked < 100_000 {
            let value = f64::from_bits(random(&mut state) >> 2 | 1 << 62) * 1e-300;
            let text = format!("{value}");
            let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
            let digits: Option<u64> = format!("{whole}{fraction}").parse().ok();
            let Some(digits) = digits.filter(|_| fraction.len() <= MOST) else {
                state = state.wrapping_add(1);
                let value = (random(&mut state) >> 11) as f64 / (1u64 << 43) as f64;
                let text = format!("{value}");
                let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
                let Ok(digits) = format!("{whole}{fraction}").parse() else { continue };
                if fraction.len() <= MOST {
                    assert_eq!(nearest(digits, fraction.len()), Some(value), "{text}");
                    checked += 1;
                }
                continue;
            };
            assert_eq!(nearest(digits, fraction.len()), Some(value), "{text}");
            checked += 1;
        }
    }
}
