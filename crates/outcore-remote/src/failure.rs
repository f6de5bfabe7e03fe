//! Errors of servers and connections as messages: the address without secrets, the problem, and what to type. Of a
//! server's response, only a status and a code are shown.

use crate::object_address::S3_SETTINGS;
use object_store::Error as StoreError;
use outcore::{Error, ErrorKind};

/// Returns the hint for a server that sends only whole files.
fn whole(name: &str) -> String {
    let fetch = match name.starts_with("s3://") {
        true => format!("aws s3 cp '{name}' -"),
        false => format!("curl -L '{name}'"),
    };
    format!("download it first, or pipe it in: `{fetch} | outcore ... -`")
}

/// Returns the error for an object that is not the same as at the first look.
pub(crate) fn changed(name: &str, before: &str, now: &str) -> Error {
    Error::new(ErrorKind::InputChanged, format!("`{name}` has changed while it was read"))
        .note(format!("it was {before}, and is {now} now"))
        .hint("run the command again when nothing writes to it")
}

/// Returns the error for a server that does not send ranges.
pub(crate) fn no_ranges(name: &str) -> Error {
    let message = format!("cannot read `{name}`: its server does not send parts of a file");
    Error::new(ErrorKind::Io, message).hint(whole(name))
}

/// Returns the error for an object whose changes could not be detected.
pub(crate) fn no_identity(name: &str) -> Error {
    let message = format!("cannot read `{name}`: its server does not identify its version");
    Error::new(ErrorKind::Io, message)
        .note("the response has neither `ETag` nor `Last-Modified`, so a change could not be detected")
        .hint(whole(name))
}

/// Returns the error for a response whose length is not the requested one.
pub(crate) fn wrong_length(name: &str, expected: u64, found: u64) -> Error {
    let message =
        format!("cannot read `{name}`: its server sent {found} bytes instead of {expected}");
    Error::new(ErrorKind::Io, message)
        .hint("run the command again; if the error repeats, download the file first")
}

/// Converts an error of the library, for an object or a pattern.
pub(crate) fn of(name: &str, error: &StoreError) -> Error {
    let is_s3 = name.starts_with("s3://");
    let failed = |what: String| Error::new(ErrorKind::Io, format!("cannot read `{name}`: {what}"));
    let again = "run the same command again: it resumes from saved progress";
    if is_of_credentials(error) {
        return no_credentials(name);
    }
    match (status(error), error) {
        (Some(412), _) | (_, StoreError::Precondition { .. }) => {
            changed(name, "as at the first look", "another version")
        }
        (_, StoreError::NotSupported { .. }) => no_ranges(name),
        (Some(status @ (404 | 410)), _) => {
            let hint = if is_s3 {
                "check bucket, key, AWS_REGION and AWS_ENDPOINT_URL"
            } else {
                "check the address"
            };
            failed(format!("there is no such object{}", answer(status, error))).hint(hint)
        }
        (Some(status @ (401 | 403)), _) => {
            let hint = match is_s3 {
                true => S3_SETTINGS,
                false => {
                    "if it needs a user, write `https://USER:PASSWORD@HOST/...`; a signed address \
                     may have expired"
                }
            };
            failed(format!("access is denied{}", answer(status, error))).hint(hint)
        }
        (Some(status @ 300..=399), _) => {
            failed(format!("the server redirects elsewhere{}", answer(status, error)))
                .hint("check the address; for S3, AWS_REGION must be the region of the bucket")
        }
        (Some(status @ (408 | 429 | 500..)), _) => {
            failed(format!("the server is unavailable{}", answer(status, error))).hint(again)
        }
        (Some(416), _) => failed("it is shorter than its server reported".into()).hint(whole(name)),
        (Some(status), _) => {
            failed(format!("the server refuses the request{}", answer(status, error)))
        }
        (None, _) => of_transport(name, failed, error, again),
    }
}

/// Converts an error that occurred before a response, or within one.
fn of_transport(
    name: &str,
    failed: impl Fn(String) -> Error,
    error: &StoreError,
    again: &str,
) -> Error {
    let reason = innermost(error);
    let has = |parts: &[&str]| parts.iter().any(|part| reason.contains(part));
    if has(&["redirect without LOCATION"]) {
        return failed("the bucket is in another region".into())
            .hint("set AWS_REGION to its region");
    }
    if has(&["non-partial response", "Content-Range", "Content-Length"]) {
        return no_ranges(name);
    }
    if has(&[
        "certificate",
        "UnknownIssuer",
        "corrupt message",
        "InvalidContentType",
        "tls handshake",
    ]) {
        return failed(format!("no secure connection: {reason}"))
            .hint("check the address; SSL_CERT_FILE names a file of certificates to trust");
    }
    if has(&["lookup address", "dns error", "nodename nor servname", "Name or service"]) {
        return failed(format!("its host is unknown: {reason}")).hint("check the address");
    }
    if has(&["it leads"]) {
        return failed(format!("a redirect was not followed: {reason}")).hint("check the address");
    }
    failed(reason).hint(again.to_owned())
}

/// Returns whether a request for credentials failed rather than one for the object: those go to link-local addresses.
fn is_of_credentials(error: &StoreError) -> bool {
    error.to_string().contains("://169.254.")
}

/// Returns the error for missing credentials.
pub(crate) fn no_credentials(name: &str) -> Error {
    Error::new(ErrorKind::Io, format!("cannot read `{name}`: no credentials were found"))
        .hint(S3_SETTINGS)
}

/// Formats the status of the response, and its code if it looks like one of S3's.
fn answer(status: u16, error: &StoreError) -> String {
    let text = error.to_string();
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    match code.map(|(code, _)| code).filter(|code| code.chars().all(|c| c.is_ascii_alphanumeric()))
    {
        Some(code) => format!(" ({status} {code})"),
        None => format!(" ({status})"),
    }
}

/// Returns the status of the response, which the library has only in its message.
pub(crate) fn status(error: &StoreError) -> Option<u16> {
    const BEGIN: &str = "Server returned non-2xx status code: ";
    chain(error).find_map(|error| error.to_string().strip_prefix(BEGIN)?.get(..3)?.parse().ok())
}

fn chain<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

/// Returns the innermost reason of an error; the outer ones may contain the address.
pub(crate) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let text = chain(error).last().map(ToString::to_string).unwrap_or_default();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(name: &str, text: &'static str) -> String {
        let error = of(name, &StoreError::Generic { store: "S3", source: text.into() });
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        error.message().to_owned()
    }

    #[test]
    fn errors_of_a_server_are_reported_by_status_and_code() {
        let name = "s3://bucket/key";
        let answer = "Server returned non-2xx status code: 403 Forbidden: <Error><Code>SignatureDoesNotMatch\
                      </Code><StringToSign>secret</StringToSign></Error>";
        assert!(reported(name, answer).ends_with("access is denied (403 SignatureDoesNotMatch)"));
        let code = "Server returned non-2xx status code: 500 Error: <Code>a secret</Code>";
        assert!(reported(name, code).ends_with("the server is unavailable (500)"));
        let of_machine = "Error performing PUT http://169.254.169.254/latest/api/token: 403 secret";
        assert!(reported(name, of_machine).ends_with("no credentials were found"));
        let region = "Received redirect without LOCATION, this normally indicates ...";
        assert!(reported(name, region).ends_with("the bucket is in another region"));
    }
}
