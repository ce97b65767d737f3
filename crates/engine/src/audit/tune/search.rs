//! The bits a key with which lookups read the fewest blocks, within a budget of bytes.

/// One choice for one level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Item {
    /// The index of the setting in the grid.
    pub(super) setting: usize,
    pub(super) bits_per_key: u32,
    /// The size of the level's filters in bytes.
    pub(super) size: f64,
    /// The mean number of blocks that a lookup reads from this level in vain.
    pub(super) reads: f64,
}

/// The maximum number of combinations to keep from level to level.
const MAX_STATES: usize = 20_000;
/// Savings of reads below this are ignored.
const NO_GAIN: f64 = 0.000_2;

/// One item for each of the first levels.
#[derive(Clone, Debug)]
struct State {
    size: f64,
    reads: f64,
    chosen: Vec<Item>,
}

/// Chooses an item for each level. Of the combinations that stay within the budget and that `is_allowed` returns true
/// for, the chosen one reads the least. Among nearly equal choices, takes the smallest. `None` if there is no such
/// combination.
///
/// Tries all combinations. If there are more than `MAX_STATES` after a level, combinations that are no smaller than
/// another one and read no less are left out, and if too many remain, they are thinned out. Monkey (Dayan,
/// Athanassoulis and Idreos, 2017) solves this problem in closed form for a tree of ideal filters; with measured rates
/// and few levels, trying is enough.
pub(super) fn best_by_level(
    levels: &[Vec<Item>],
    budget: f64,
    is_allowed: impl Fn(&[Item]) -> bool,
) -> Option<Vec<Item>> {
    let mut states = vec![State { size: 0.0, reads: 0.0, chosen: Vec::new() }];
    for items in levels {
        let mut next = Vec::with_capacity(states.len().saturating_mul(items.len()));
        for state in &states {
            for item in items.iter().filter(|item| state.size + item.size <= budget) {
                let mut chosen = state.chosen.clone();
                chosen.push(*item);
                next.push(State { size: state.size + item.size, reads: state.reads + item.reads, chosen });
            }
        }
        states = if next.len() > MAX_STATES { undominated(next) } else { next };
    }
    states.sort_by(|a, b| a.reads.total_cmp(&b.reads).then(a.size.total_cmp(&b.size)));
    let (mut most, mut good) = (f64::INFINITY, Vec::new());
    for State { size, reads, chosen } in states {
        if reads > most {
            break;
        }
        if is_allowed(&chosen) {
            most = most.min(nearly(reads));
            good.push((size, reads, chosen));
        }
    }
    least(good.into_iter())
}

/// The most reads that are about as good as `reads`.
fn nearly(reads: f64) -> f64 {
    reads * 1.01 + NO_GAIN
}

/// Returns `what` of the element `(size, reads, what)` that reads the least, or of a smaller element that is
/// nearly as good. `None` if `all` is empty.
pub(super) fn least<T>(all: impl Iterator<Item = (f64, f64, T)>) -> Option<T> {
    let all: Vec<_> = all.collect();
    let fewest = all.iter().map(|(_, reads, _)| *reads).min_by(f64::total_cmp)?;
    let good = all.into_iter().filter(|(_, reads, _)| *reads <= nearly(fewest));
    good.min_by(|(a, ..), (b, ..)| a.total_cmp(b)).map(|(.., what)| what)
}

/// Leaves out states that are no smaller than another and read no less. Keeps at most `MAX_STATES`.
fn undominated(mut states: Vec<State>) -> Vec<State> {
    states.sort_by(|a, b| a.size.total_cmp(&b.size).then(a.reads.total_cmp(&b.reads)));
    let mut fewest = f64::INFINITY;
    states.retain(|state| {
        let is_better = state.reads < fewest;
        fewest = fewest.min(state.reads);
        is_better
    });
    let step = states.len().div_ceil(MAX_STATES).max(1);
    // The last state reads the least, and has to be kept.
    states.reverse();
    states.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels of an ideal tree: sizes from the bits, rates from the formula.
    fn tree(keys: &[f64]) -> Vec<Vec<Item>> {
        let items = |keys: f64| {
            let item = |bits: u32| Item {
                setting: 0,
                bits_per_key: bits,
                size: keys * f64::from(bits) / 8.0,
                reads: 0.6185_f64.powi(bits as i32),
            };
            (4..=20).map(item).collect()
        };
        keys.iter().map(|keys| items(*keys)).collect()
    }

    fn reads(chosen: &[Item]) -> f64 {
        chosen.iter().map(|item| item.reads).sum()
    }

    /// The figures of a tree of four levels, each ten times as large as the one above.
    #[test]
    fn small_levels_get_more_bits() {
        let levels = tree(&[1e3, 1e4, 1e5, 1e6]);
        let budget = 1.111e6 * 10.0 / 8.0;
        let chosen = best_by_level(&levels, budget, |_| true).unwrap();
        let bits: Vec<_> = chosen.iter().map(|item| item.bits_per_key).collect();
        assert!(bits.is_sorted_by(|a, b| a >= b), "{bits:?}");
        assert!(bits.last() == Some(&9) && bits.first() >= Some(&17), "{bits:?}");
        assert!(chosen.iter().map(|item| item.size).sum::<f64>() <= budget);
        let uniform = 4.0 * 0.6185_f64.powi(10);
        assert!(reads(&chosen) < uniform / 1.8, "{} {uniform}", reads(&chosen));
    }

    #[test]
    fn no_choice_reads_less() {
        let levels = tree(&[3e3, 1e4, 2e4]);
        for budget in [2e4, 3.3e4, 5e4, 9e4] {
            let mut fewest = f64::INFINITY;
            for a in levels[0].iter() {
                for b in levels[1].iter() {
                    for c in levels[2].iter() {
                        if a.size + b.size + c.size <= budget {
                            fewest = fewest.min(a.reads + b.reads + c.reads);
                        }
                    }
                }
            }
            let chosen = best_by_level(&levels, budget, |_| true).unwrap();
            assert!(reads(&chosen) <= fewest * 1.01 + NO_GAIN && reads(&chosen) >= fewest, "{budget}");
        }
        assert_eq!(best_by_level(&levels, 1e4, |_| true), None);
        assert_eq!(best_by_level(&[], 1.0, |_| true), Some(vec![]));
    }

    /// The best choice with at most 10 bits on the first level is taken, however good other choices are.
    #[test]
    fn what_is_not_allowed_is_not_chosen() {
        let levels = tree(&[1e3, 1e4]);
        let best = |is_allowed: fn(&[Item]) -> bool| best_by_level(&levels, 1.5e4, is_allowed);
        let chosen = best(|chosen| chosen[0].bits_per_key <= 10).unwrap();
        assert!(chosen[0].bits_per_key == 10 && reads(&chosen) > 1.2 * reads(&best(|_| true).unwrap()));
        let fewest = levels[1].iter().filter(|item| item.size + levels[0][6].size <= 1.5e4);
        let fewest = fewest.map(|item| item.reads + levels[0][6].reads).min_by(f64::total_cmp).unwrap();
        assert!(reads(&chosen) <= nearly(fewest), "{chosen:?}");
        assert_eq!(best(|_| false), None);
    }

    #[test]
    fn thinned_out_choices_keep_the_best() {
        let states = |number: usize| -> Vec<State> {
            let at = |at: usize| State { size: at as f64, reads: (number - at) as f64, chosen: Vec::new() };
            (0..number).map(at).collect()
        };
        assert_eq!(undominated(states(MAX_STATES)).len(), MAX_STATES);
        let kept = undominated(states(2 * MAX_STATES + 2));
        assert!((MAX_STATES / 2..=MAX_STATES).contains(&kept.len()), "{}", kept.len());
        let fewest = kept.iter().map(|state| state.reads).fold(f64::INFINITY, f64::min);
        assert_eq!(fewest, 1.0);
        // The states kept lie evenly between the smallest and the largest.
        assert!(kept.iter().any(|state| state.size < 3.0));
    }

    #[test]
    fn space_that_saves_nothing_is_not_taken() {
        let chosen = best_by_level(&tree(&[1e3]), 1e9, |_| true).unwrap();
        assert!(chosen[0].bits_per_key < 20, "{chosen:?}");
        assert_eq!(least([(5.0, 1.0, 'a'), (4.0, 1.005, 'b'), (1.0, 1.02, 'c')].into_iter()), Some('b'));
    }
}
