//! The command as users see it: help pages, errors and results as snapshots.

/// `TRYCMD=overwrite cargo test -p outcore-cli --test it cli::` updates the snapshots.
#[test]
fn every_page_and_message_is_as_recorded() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
