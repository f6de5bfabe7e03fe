//! The table of claims is complete, fits on a screen, and is the one in the documentation.
#![expect(clippy::disallowed_methods, reason = "tests read and write the documentation")]

use outcore_lab::claims::{
    CLAIMS, Claim, Deciding, Judgement, Reference, Rule, SUMMARIZED, counts, summary,
};
use outcore_lab::experiments::LIST;
use outcore_lab::report::Experiment;
use outcore_lab::rounds::Measured;
use outcore_lab::row::Missing;
use outcore_lab::statistics::Interval;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Columns of a line of the terminal for a claim of the summary, besides its verdict and ratios.
const COMPARED: usize = 50;

#[test]
fn claims_are_named_once_and_decided_by_experiments_that_exist() {
    let names: BTreeSet<&str> = CLAIMS.iter().map(|claim| claim.name).collect();
    assert_eq!(names.len(), CLAIMS.len());
    assert!(CLAIMS.len() >= 30);
    let texts: BTreeSet<&str> = CLAIMS.iter().map(|claim| claim.reference.title).collect();
    assert_eq!(texts.len(), 5, "the texts that the laboratory repeats: {texts:?}");
    for claim in CLAIMS {
        let experiment = claim.rows.experiment();
        assert!(LIST.iter().any(|listed| listed.name == experiment), "{experiment}");
        let (holds, differs) = claim.because;
        assert!(![claim.says, claim.original, holds, differs].contains(&""), "{}", claim.name);
    }
    let headlines: Vec<_> = CLAIMS.iter().filter(|claim| claim.is_headline).collect();
    assert!(headlines.len() <= SUMMARIZED, "{} headlines", headlines.len());
    for source in CLAIMS.iter().map(|claim| (claim.reference.who, claim.reference.title)) {
        let same = |claim: &&&Claim| (claim.reference.who, claim.reference.title) == source;
        assert!(headlines.iter().filter(same).count() >= 2, "few headlines of {source:?}");
    }
}

/// Judges all claims as if every ratio were the given one.
fn judged(ratio: Interval) -> Vec<outcore_lab::claims::Judged> {
    CLAIMS.iter().map(|claim| claim.judged(Some(ratio), None)).collect()
}

#[test]
fn a_summary_has_one_line_for_each_claim_and_all_headlines() {
    for middle in [0.01, 1.02, 123.0] {
        let all = judged(Interval { middle, low: middle * 0.9, high: middle * 1.1 });
        let short = summary(&all);
        assert_eq!(short.len(), SUMMARIZED);
        for claim in &short {
            assert!(claim.compared().chars().count() <= COMPARED, "{}", claim.compared());
            assert!(claim.is_headline);
        }
    }
    let open: Vec<_> = CLAIMS.iter().map(|claim| claim.unmeasured("why".into())).collect();
    assert!(summary(&open).iter().all(|claim| claim.is_headline), "measured or not");
    assert_eq!(counts(&open), format!("of {0} known claims, {0} are not measured", open.len()));
}

#[test]
fn rules_judge_intervals() {
    let judge = |rule: Rule, low: f64, high: f64| {
        rule.judge(Interval { middle: (low * high).sqrt(), low, high })
    };
    use Judgement::{CannotTell, Differs, Holds};
    for (rule, low, high, expected) in [
        (Rule::AtMost(0.5), 0.3, 0.5, Holds),
        (Rule::AtMost(0.5), 0.4, 0.6, CannotTell),
        (Rule::AtMost(0.5), 0.6, 2.0, Differs),
        (Rule::AtLeast(2.0), 2.0, 9.0, Holds),
        (Rule::AtLeast(2.0), 1.0, 1.9, Differs),
        (Rule::AtLeast(2.0), 1.0, 2.1, CannotTell),
        (Rule::Within(0.9, 1.1), 0.95, 1.05, Holds),
        (Rule::Within(0.9, 1.1), 0.5, 0.8, Differs),
        (Rule::Within(0.9, 1.1), 1.2, 1.3, Differs),
        (Rule::Within(0.9, 1.1), 0.5, 2.0, CannotTell),
    ] {
        assert_eq!(judge(rule, low, high), expected, "{rule:?} of {low} to {high}");
    }
}

#[test]
fn claims_without_rows_or_of_a_disturbed_machine_are_not_judged() {
    let few = CLAIMS[0].judged(None, None);
    assert_eq!((few.judgement, few.because.as_str()), (Judgement::CannotTell, "too few rounds"));
    let ratio = Interval { middle: 0.1, low: 0.1, high: 0.1 };
    let doubted = CLAIMS[0].judged(Some(ratio), Some("the machine was unsteady"));
    assert_eq!(doubted.judgement, Judgement::CannotTell);
    assert_eq!(doubted.because, "the machine was unsteady");
    let missing = |name: &str| Missing { name: name.into(), reason: "install it".into() };
    for (experiment, missing, of) in [
        ("sequential-read", missing("ifstream (C++) (warm)"), "ifstream"),
        ("transfer-size", missing("Fortran sequential"), "fortran"),
        (
            "write-buffer",
            missing("{fmt} output_file (lines of one string)"),
            "fprintf-against-output-file",
        ),
    ] {
        let measured = Measured { missing: vec![missing], ..Measured::default() };
        let empty = Experiment::new(experiment, "?", Vec::new(), measured);
        assert!(empty.claims.len() > 1, "claims are listed even if no row was measured");
        assert!(empty.claims.iter().all(|each| each.judgement == Judgement::NotMeasured));
        let with_reason = empty.claims.iter().filter(|each| each.because == "install it");
        assert_eq!(with_reason.map(|each| each.name.as_str()).collect::<Vec<_>>(), [of]);
    }
}

/// Asserts that an experiment has the rows that decide its claims, except those in other languages.
pub(crate) fn are_decided(experiment: &Experiment) {
    let of = CLAIMS.iter().filter(|claim| claim.rows.experiment() == experiment.name);
    let foreign = ["{fmt}", "ifstream", "Fortran"];
    for claim in of {
        let is_foreign = match claim.rows {
            Deciding::Rows(.., pairs) => pairs
                .iter()
                .all(|(of, to)| foreign.iter().any(|word| of.contains(word) || to.contains(word))),
            _ => false,
        };
        let pairs = claim.rows.pairs(&experiment.rows).len();
        assert!(pairs > 0 || is_foreign, "no rows decide `{}`", claim.name);
    }
}

/// Returns the tables of the documentation: one for each text and machine.
fn documented() -> String {
    let mut text = String::new();
    let mut last: Option<&Reference> = None;
    for claim in CLAIMS {
        let Reference { who, year, title, machine } = claim.reference;
        if last.is_none_or(|last| (last.who, last.title) != (who, title)) {
            let _ = write!(text, "\n## {who} {year}: {title}\n\n");
            text += "| Name | The text says | On | Ratio there | It holds for | If so, because | If not, because |\n";
            text += "| --- | --- | --- | --- | --- | --- | --- |\n";
        }
        last = Some(claim.reference);
        let (holds, differs) = claim.because;
        let (subject, object) = claim.words;
        let compared = format!("{}: {subject} against {object}", claim.says);
        let rule = claim.rule.text();
        let _ = writeln!(
            text,
            "| `{}` | {compared} | {machine} | {} | {rule} | {holds} | {differs} |",
            claim.name, claim.original
        );
    }
    text
}

/// `CLAIMS=overwrite cargo test -p outcore-lab --test it claims` updates the page.
#[test]
fn the_documentation_lists_the_claims() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/claims.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let begin = page.find("\n## ").unwrap_or(page.len());
    if std::env::var_os("CLAIMS").is_some_and(|value| value == "overwrite") {
        std::fs::write(&path, page[..begin].to_owned() + &documented()).unwrap();
        return;
    }
    assert_eq!(&page[begin..], documented(), "`CLAIMS=overwrite` updates the page");
}
