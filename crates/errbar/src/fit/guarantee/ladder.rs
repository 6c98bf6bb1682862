//! How far guaranteed intervals reach when they are read off another level than their own.

use std::sync::OnceLock;

use super::{Category, Guarantee, place, place_together, together_in_order};

/// For each of some levels the sizes that its intervals are read off, group by group. Which these are follows from
/// the level itself, whatever other it is read off.
#[derive(Debug)]
pub(crate) struct Ladders<'a> {
    guarantee: &'a Guarantee,
    /// For each level what groups are promised, and the sizes of those that are promised it together.
    levels: Vec<(Vec<Category>, Vec<f64>)>,
    /// Of all groups.
    all: OnceLock<Vec<f64>>,
}

/// Whose interval it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// That of a group; of none that is known, where there is nothing to promise.
    Group(Option<u32>),
    /// That of all groups together, or of rows without groups.
    All,
}

impl Guarantee {
    /// Of the split method.
    pub(crate) fn ladders(&self, levels: &[f64]) -> Ladders<'_> {
        let of = |level: &f64| {
            let categories = self.categories(*level);
            let small = self.parts[0].by_group.iter().zip(&categories);
            let small = small.filter(|(_, category)| **category == Category::Together);
            let together = together_in_order(small.map(|(sizes, _)| sizes));
            (categories, together)
        };
        Ladders { guarantee: self, levels: levels.iter().map(of).collect(), all: OnceLock::new() }
    }
}

impl Ladders<'_> {
    /// The size that an interval of the level at this place reaches to when it is read off another one: infinite
    /// where that is more than the sizes can tell, 0 where it is none, NaN where nothing is promised.
    pub(crate) fn reach(&self, level: usize, whose: Whose, read_off: f64) -> f64 {
        let by_group = &self.guarantee.parts[0].by_group;
        let (categories, together) = &self.levels[level];
        let (sizes, place) = match whose {
            _ if self.guarantee.group.is_none() => (&by_group[0], place as fn(f64, usize) -> usize),
            Whose::All => {
                let all = self.all.get_or_init(|| together_in_order(by_group.iter()));
                (all, place_together as _)
            }
            Whose::Group(group) => {
                let own = group.and_then(|group| Some((group, categories.get(group as usize)?)));
                match own {
                    Some((group, Category::Own)) => (&by_group[group as usize], place as _),
                    Some((_, Category::Together)) => (together, place_together as _),
                    Some((_, Category::Nothing)) | None => return f64::NAN,
                }
            }
        };
        match read_off {
            off if off.is_nan() => f64::NAN,
            off if off <= 0.0 => 0.0,
            off if off >= 1.0 => f64::INFINITY,
            off => sizes.get(place(off, sizes.len()) - 1).copied().unwrap_or(f64::INFINITY),
        }
    }
}
