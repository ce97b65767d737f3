//! Linear equations, solved by least squares.

/// Returns the unknowns that fit the equations best. Each equation is given by its factors and its sum. An unknown on
/// which nothing depends is 0.
pub(super) fn solve(equations: &[(Vec<f64>, f64)], unknowns: usize) -> Vec<f64> {
    // The normal equations, with the sums as a last column.
    let mut rows = vec![vec![0.0; unknowns + 1]; unknowns];
    for (factors, sum) in equations {
        for (row, factor) in rows.iter_mut().zip(factors) {
            for (cell, other) in row.iter_mut().zip(factors.iter().chain([sum])) {
                *cell += factor * other;
            }
        }
    }
    // The matrix is symmetric and has no negative eigenvalue, so that no rows need to be exchanged.
    for column in 0..unknowns {
        let pivot = rows[column].clone();
        // Nothing depends on this unknown.
        if pivot[column].abs() < 1e-15 {
            continue;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(number, _)| *number != column) {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(&pivot).for_each(|(cell, of_pivot)| *cell -= factor * of_pivot);
        }
    }
    let solution = rows.iter().enumerate().map(|(at, row)| {
        let is_known = row[at].abs() >= 1e-15;
        if is_known { row[unknowns] / row[at] } else { 0.0 }
    });
    solution.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknowns_are_found() {
        let truth = [1.5, 0.25, 4.0];
        let equation = |factors: [f64; 3]| {
            let sum = factors.iter().zip(truth).map(|(factor, truth)| factor * truth).sum();
            (factors.to_vec(), sum)
        };
        let equations = [
            equation([0.1, 0.02, 0.003]),
            equation([0.03, 0.2, 0.05]),
            equation([0.0, 0.01, 0.2]),
            equation([0.3, 0.1, 0.1]),
        ];
        for (found, truth) in solve(&equations, 3).into_iter().zip(truth) {
            assert!((found - truth).abs() < 1e-9, "{found} {truth}");
        }
        let without_second: Vec<_> = [[1.0, 0.0, 2.0], [2.0, 0.0, 1.0]].into_iter().map(equation).collect();
        let found = solve(&without_second, 3);
        assert!(
            (found[0] - 1.5).abs() < 1e-9 && found[1] == 0.0 && (found[2] - 4.0).abs() < 1e-9,
            "{found:?}"
        );
    }
}
