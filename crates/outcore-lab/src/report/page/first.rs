//! What a page shows first: whether the machine was busy, a card for each task, and the claims with their verdicts.

use super::prose;
use crate::claims::{Judged, Judgement};
use crate::number::three;
use crate::report::answers::{Advice, Answer};
use maud::{Markup, html};

/// Renders a card for each task; `rows` returns the address of an experiment in the page.
pub(super) fn cards(answers: &[Answer], rows: impl Fn(&str) -> String) -> Markup {
    html! {
        section.cards {
            @for answer in answers {
                article.card {
                    h3 {
                        @if answer.advice.is_empty() { (answer.task) }
                        @else { a href=(rows(&answer.experiment)) { (answer.task) } }
                    }
                    @for each in &answer.advice { (advice(each)) }
                    @match answer.naive() {
                        Some(naive) => p.faint { "Times as fast as " code { (naive) } },
                        None => p.faint { "Not measured: " code { (answer.command()) } " measures it." },
                    }
                }
            }
        }
    }
}

fn advice(advice: &Advice) -> Markup {
    html! {
        p {
            span.badge.(if advice.is_sure { "holds" } else { "open" }) { (advice.certainty()) }
            " " (advice.when) ": " code { (advice.way) } br;
            strong { (advice.times_text()) } ", " (advice.figure)
        }
    }
}

/// Cell of a table of claims.
pub(super) type Cell = Markup;

/// Renders a table whose cells fold, and that becomes a list of cards in a narrow window.
pub(super) fn folding(headings: &[&str], rows: &[Vec<Cell>]) -> Markup {
    html! {
        table.folding {
            thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
            tbody {
                @for cells in rows {
                    tr {
                        @for (cell, heading) in cells.iter().zip(headings) {
                            td data-label=(heading) { (cell) }
                        }
                    }
                }
            }
        }
    }
}

/// Renders claims: the verdict first, then the claim with its source, and both ratios.
pub(super) fn claims<'a>(claims: impl IntoIterator<Item = &'a Judged>) -> Markup {
    let cells = |claim: &Judged| {
        let says =
            html! { (claim.compared()) small { (claim.source) ", " cite { (claim.title) } } };
        vec![verdict(claim), says, here(claim), html! { (claim.original) }, because(claim)]
    };
    let rows: Vec<Vec<Cell>> = claims.into_iter().map(cells).collect();
    folding(&["verdict", "claim", "here", "there", "because"], &rows)
}

/// Renders claims with all that is known of them.
pub(super) fn all_claims(claims: &[Judged]) -> Markup {
    let cells = |claim: &Judged| {
        let says = html! {
            (claim.says) ": " (claim.compared())
            small { (claim.source) ", " cite { (claim.title) } "; " (claim.machine) }
        };
        let here = html! {
            (here(claim))
            @if let Some(ratio) = claim.ratio { small { (three(ratio.low)) "-" (three(ratio.high)) } }
        };
        let there = html! { (claim.original) small { "holds for " (claim.rule) } };
        vec![verdict(claim), says, here, there, because(claim)]
    };
    let rows: Vec<Vec<Cell>> = claims.iter().map(cells).collect();
    folding(&["verdict", "claim", "here", "there", "because"], &rows)
}

/// Renders the verdict and the ratio of one report, for a table of several.
pub(super) fn judged(claim: &Judged) -> Cell {
    html! { (verdict(claim)) " " (here(claim)) }
}

fn verdict(claim: &Judged) -> Cell {
    let class = match claim.judgement {
        Judgement::Holds => "holds",
        Judgement::Differs => "differs",
        Judgement::CannotTell | Judgement::NotMeasured => "open",
    };
    html! { span.badge.(class) { (claim.judgement.name()) } }
}

fn here(claim: &Judged) -> Cell {
    html! { (claim.here()) }
}

fn because(claim: &Judged) -> Cell {
    prose(&claim.because)
}
