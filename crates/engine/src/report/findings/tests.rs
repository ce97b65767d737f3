use super::*;

fn finding(code: Code, offset: u64) -> Finding {
    Finding::new(code, offset, "this", "that")
}

#[test]
fn the_first_of_each_code_are_kept_and_the_others_counted() {
    let mut findings = Findings::default();
    (0..20).for_each(|at| findings.push(finding(Code::Checksum, at)));
    findings.push(finding(Code::BadBlock, 7));
    assert_eq!(findings.total(), 21);
    let mut both = Findings::default();
    both.push(finding(Code::Checksum, 100));
    both.append(findings);
    assert_eq!(both.total(), 22);
    let list = both.to_list();
    let offsets: Vec<_> = list.iter().map(|finding| finding.offset).collect();
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
        let mut findings = Findings::default();
        findings.push(finding(Code::FilterMalformed, 0));
        findings.push(finding(code, 0));
        let verdict = match code.name() {
            "unreadable" | "unsupported" | "encrypted" | "other-format" | "limit" => Verdict::CannotTell,
            "filter-malformed" | "manifest-huge" => Verdict::CouldBeBetter,
            "false-negative" => Verdict::FalseNegatives,
            _ => Verdict::Damaged,
        };
        assert_eq!(findings.verdict(), verdict, "{code:?}");
        assert_eq!(findings.worst().unwrap().code.verdict(), verdict);
    }
}
