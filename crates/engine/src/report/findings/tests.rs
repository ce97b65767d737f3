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
        "more: expected at most 16 findings of one code to list, found 5 more of checksum"
    );
}

#[test]
fn only_what_hides_something_makes_a_table_unreadable() {
    for &code in Code::ALL {
        let mut findings = Findings::default();
        findings.push(finding(code, 0));
        let hides =
            matches!(code.name(), "unreadable" | "unsupported" | "encrypted" | "other-format" | "limit");
        assert_eq!(findings.hide_something(), hides, "{code:?}");
    }
}
