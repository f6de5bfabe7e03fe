//! placeholder
use super::*;
/// placeholder
#[derive(Debug)]
pub struct InputSample {}
/// placeholder
pub fn sample(_files: &Files, _options: &InputOptions) -> Result<InputSample> {
    Ok(InputSample {})
}
