//! Parsed addresses of objects: a bucket and a key, or a URL.

use crate::address::shown;
use outcore::{Error, ErrorKind, Result};
use std::path::Path;

/// Returns whether a key is a pattern.
pub(crate) fn is_pattern(key: &str) -> bool {
    key.contains(['*', '?', '['])
}

/// Address of an object.
pub(crate) enum Address {
    S3 {
        bucket: String,
        /// Key without encoding; or a pattern.
        key: String,
    },
    /// URL with user, password and query.
    Http(reqwest::Url),
}

impl Address {
    /// Parses an address as the user wrote it.
    pub(crate) fn parse(path: &Path) -> Result<Self> {
        let usage = |what: &str| {
            Error::new(
                ErrorKind::Usage,
                format!("`{}` is not the address of an object: {what}", shown(path)),
            )
        };
        let text = path.to_str().ok_or_else(|| usage("it is not Unicode"))?;
        let (scheme, rest) = text.split_once("://").ok_or_else(|| usage("it has no scheme"))?;
        if !scheme.eq_ignore_ascii_case("s3") {
            let url = reqwest::Url::parse(text).map_err(|error| usage(&error.to_string()))?;
            if url.path().contains('*') {
                let message =
                    format!("`{}` is a pattern, but web servers do not list files", shown(path));
                return Err(Error::new(ErrorKind::Usage, message)
                    .hint("name each file; a `*` that belongs to a name is written as `%2A`"));
            }
            return Ok(Self::Http(url));
        }
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.contains(['@', ':']) {
            return Err(usage("it names a user").hint(S3_SETTINGS));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if bucket.is_empty() || !bucket.chars().all(is_name) {
            return Err(usage("it has no bucket name").hint("write `s3://BUCKET/KEY`"));
        }
        if key.is_empty() || key.ends_with('/') {
            return Err(usage("it names no object").hint(
                "write `s3://BUCKET/KEY`, or a pattern such as `'s3://BUCKET/edges/*.parquet'`",
            ));
        }
        Ok(Self::S3 { bucket: bucket.into(), key: key.into() })
    }
}

/// Hint about the settings of S3.
pub(crate) const S3_SETTINGS: &str = "S3 is configured by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (with \
    AWS_SESSION_TOKEN, if there is one), AWS_REGION, AWS_ENDPOINT_URL for servers other than Amazon's, and \
    AWS_SKIP_SIGNATURE=true for public buckets; `aws configure export-credentials --format env` prints those \
    of a profile";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_no_object_are_refused() {
        let refused = |text: &str| {
            let error = Address::parse(Path::new(text)).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
            error.message().to_owned()
        };
        assert!(refused("s3://bucket").contains("names no object"));
        assert!(refused("s3://bucket/edges/").contains("names no object"));
        assert!(refused("s3:///key").contains("no bucket name"));
        assert!(refused("s3://key:secret@bucket/x").contains("names a user"));
        assert!(
            refused("https://u:secret@host/*.tsv?secret")
                .contains("`https://host/*.tsv` is a pattern")
        );
        assert!(refused("https://").contains("`https://` is not the address"));
        assert!(Address::parse(Path::new("https://host/a?b=*")).is_ok());
    }
}
