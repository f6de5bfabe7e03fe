//! Addresses of objects: which paths are addresses, and how to show them without secrets.

use std::path::Path;

const SCHEMES: [&str; 3] = ["s3://", "https://", "http://"];

/// Returns whether a path is the address of an object rather than of a file.
pub fn is_address(path: &Path) -> bool {
    let begin = path.as_os_str().as_encoded_bytes();
    SCHEMES.iter().any(|scheme| {
        begin.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// Returns a path as it may be shown: an address without user, password and query.
pub fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    match text.split_once("://") {
        Some((scheme, rest)) if is_address(path) => {
            let rest = rest.split(['?', '#']).next().unwrap_or_default();
            let (host, file) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{file}")
        }
        _ => text.into_owned(),
    }
}

/// Returns whether a path is an address that has lost one of its two slashes, as in a `pathlib.Path` of Python.
pub fn is_squeezed(path: &Path) -> bool {
    let begin = path.as_os_str().as_encoded_bytes();
    !is_address(path)
        && SCHEMES.iter().any(|scheme| begin.starts_with(&scheme.as_bytes()[..scheme.len() - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_secrets() {
        for (written, reported) in [
            ("https://u:p@host:1/a/b.tsv?X-Amz-Signature=abc#f", "https://host:1/a/b.tsv"),
            ("https://host?token=a/b@c", "https://host"),
            ("http://a@b:c@host/x@y", "http://host/x@y"),
            ("S3://bucket/a b", "S3://bucket/a b"),
            ("s3://key:secret@bucket/x", "s3://bucket/x"),
            ("dir/what?ever", "dir/what?ever"),
        ] {
            assert_eq!(shown(Path::new(written)), reported);
        }
    }

    #[test]
    fn files_are_not_addresses() {
        for path in
            ["-", "s3:/bucket/key", "edges.tsv", "./https://host", "s3", "", "https:/host/x"]
        {
            assert!(!is_address(Path::new(path)), "{path}");
        }
        assert!(is_address(Path::new("HTTPS://host/x")));
        assert!(
            is_squeezed(Path::new("s3:/bucket/key")) && is_squeezed(Path::new("https:/host/x"))
        );
        assert!(!is_squeezed(Path::new("s3://bucket/key")) && !is_squeezed(Path::new("a/s3:/b")));
    }
}
