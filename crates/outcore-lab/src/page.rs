//! The page.

/// The JSON in a page.
pub(crate) fn data(page: &str) -> Option<&str> {
    let (_, after) = page.split_once(OPENING)?;
    Some(after.split_once("</script>")?.0)
}

/// What comes before the JSON.
const OPENING: &str = "<script type=\"application/json\" id=\"outcore-lab\">";

/// All reports as one page.
pub fn html(reports: &[crate::report::LabReport]) -> String {
    let _ = reports;
    String::new()
}
