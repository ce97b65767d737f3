use super::*;

fn problem(code: Code, offset: u64) -> Problem {
    Problem::new(code, offset, "this", "that")
}

#[test]
fn the_first_of_each_code_are_kept_and_the_others_counted() {
    let mut problems = Problems::default();
    (0..20).for_each(|at| problems.push(problem(Code::Checksum, at)));
    problems.push(problem(Code::BadBlock, 7));
    assert_eq!(problems.total(), 21);
    let mut both = Problems::default();
    both.push(problem(Code::Checksum, 100));
    both.append(problems);
    assert_eq!(both.total(), 22);
    let list = both.to_list();
    let offsets: Vec<_> = list.iter().map(|problem| problem.offset).collect();
    let kept = std::iter::once(100).chain(0..15).chain([7]).map(Some).chain([None]);
    assert_eq!(offsets, kept.collect::<Vec<_>>());
    assert_eq!(
        list.last().unwrap().to_string(),
        "more: expected at most 16 problems of one code to list, found 5 more of checksum"
    );
}

#[test]
fn the_worst_problem_decides_the_verdict() {
    for &code in Code::ALL {
        let mut problems = Problems::default();
        problems.push(problem(Code::FilterMalformed, 0));
        problems.push(problem(code, 0));
        let verdict = match code.name() {
            "unreadable" | "unsupported" | "encrypted" | "other-format" | "limit" => Verdict::CannotTell,
            "filter-malformed" | "manifest-huge" => Verdict::CouldBeBetter,
            "false-negative" => Verdict::FalseNegatives,
            _ => Verdict::Damaged,
        };
        assert_eq!(problems.verdict(), verdict, "{code:?}");
        assert_eq!(problems.worst().unwrap().code.verdict(), verdict);
    }
}
