//! Clients of servers: settings, certificates, timeouts and retries.
//!
//! TLS is `rustls` with the system's certificates (`SSL_CERT_FILE` names others); proxies are those of
//! `HTTPS_PROXY` and `NO_PROXY`, as for `curl`.

use crate::failure;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{HttpClient, HttpConnector};
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientOptions, HeaderMap, ObjectStore, RetryConfig};
use outcore::{Error, ErrorKind, Result};
use reqwest::redirect::Policy;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum time until a server responds, and between parts of its response.
const SILENCE: Duration = Duration::from_secs(30);
/// Maximum time to open a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum number of redirects.
const REDIRECTS: usize = 10;

/// Store with few retries for the first look at an object, because a mistyped name should fail quickly, and with
/// many for reading it.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) look: Arc<dyn ObjectStore>,
    pub(crate) read: Arc<dyn ObjectStore>,
}

impl Stores {
    fn new<S: ObjectStore>(
        build: impl Fn(RetryConfig) -> object_store::Result<S>,
    ) -> object_store::Result<Self> {
        let backoff = || BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(10),
            base: 2.0,
        };
        let patient = |max_retries, seconds| RetryConfig {
            backoff: backoff(),
            max_retries,
            retry_timeout: Duration::from_secs(seconds),
        };
        Ok(Self {
            look: Arc::new(build(patient(3, 15))?),
            read: Arc::new(build(patient(20, 180))?),
        })
    }
}

/// Creates stores.
pub(crate) struct Clients {
    web: reqwest::Client,
    settings: Vec<(AmazonS3ConfigKey, String)>,
    /// Whether credentials may be requested from the machine's metadata service, if there are no others.
    uses_metadata: bool,
    /// Stores of the buckets used so far, to reuse their connections.
    buckets: Mutex<BTreeMap<String, Stores>>,
}

impl Clients {
    /// Creates clients with settings for S3, named like environment variables; other names are ignored.
    pub(crate) fn new(settings: Vec<(String, String)>) -> Result<Self> {
        // If another provider is installed already, that one will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let web = web(HeaderMap::new()).map_err(|error| {
            let error = failure::innermost(&error);
            Error::new(ErrorKind::Io, format!("cannot read the system's certificates: {error}"))
                .hint("install `ca-certificates`, or name a file of them in SSL_CERT_FILE")
        })?;
        let is_off = |(name, value): &(String, String)| {
            name == "AWS_EC2_METADATA_DISABLED" && value.eq_ignore_ascii_case("true")
        };
        let uses_metadata = !settings.iter().any(is_off);
        let settings = settings.into_iter().filter_map(|(name, value)| {
            let name = name.strip_prefix("AWS_").map(|_| name.to_ascii_lowercase())?;
            Some((name.parse().ok()?, value))
        });
        Ok(Self { web, settings: settings.collect(), uses_metadata, buckets: Mutex::default() })
    }

    /// Returns a store with one object, at its root.
    pub(crate) fn of_url(&self, name: &str, url: &reqwest::Url) -> Result<Stores> {
        // The library turns user and password into a header, which no message shows.
        let request = self.web.get(url.clone()).build().map_err(|error| unusable(name, &error))?;
        let (url, headers) = (request.url().to_string(), request.headers());
        let connector = Connector(match headers.is_empty() {
            true => self.web.clone(),
            false => web(headers.clone()).map_err(|error| unusable(name, &error))?,
        });
        Stores::new(|retry| {
            let store = HttpBuilder::new().with_url(&url).with_retry(retry);
            store.with_http_connector(connector.clone()).build()
        })
        .map_err(|error| unusable(name, &error))
    }

    /// Returns a store with the objects of a bucket.
    pub(crate) fn of_bucket(&self, bucket: &str) -> Result<Stores> {
        let mut known = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stores) = known.get(bucket) {
            return Ok(stores.clone());
        }
        let stores = self.new_bucket(bucket)?;
        known.insert(bucket.to_owned(), stores.clone());
        Ok(stores)
    }

    /// Returns whether the settings provide credentials, or make them unnecessary.
    fn has_credentials(&self) -> bool {
        self.settings.iter().any(|(key, value)| match key {
            AmazonS3ConfigKey::SkipSignature => value.eq_ignore_ascii_case("true"),
            AmazonS3ConfigKey::AccessKeyId
            | AmazonS3ConfigKey::SecretAccessKey
            | AmazonS3ConfigKey::WebIdentityTokenFile
            | AmazonS3ConfigKey::ContainerCredentialsRelativeUri
            | AmazonS3ConfigKey::ContainerCredentialsFullUri => !value.is_empty(),
            _ => false,
        })
    }

    fn new_bucket(&self, bucket: &str) -> Result<Stores> {
        if !self.uses_metadata && !self.has_credentials() {
            return Err(failure::no_credentials(&format!("s3://{bucket}")));
        }
        let is_endpoint = |key: &AmazonS3ConfigKey| {
            matches!(key, AmazonS3ConfigKey::Endpoint | AmazonS3ConfigKey::S3Endpoint)
        };
        let mut endpoints = self.settings.iter().filter(|(key, _)| is_endpoint(key));
        // An endpoint with `http://` is intended.
        let is_plain = endpoints.any(|(_, url)| url.starts_with("http://"));
        let options = ClientOptions::new()
            .with_timeout_disabled()
            .with_read_timeout(SILENCE)
            .with_connect_timeout(CONNECT)
            .with_allow_http(is_plain);
        Stores::new(|retry| {
            let builder = AmazonS3Builder::new()
                .with_client_options(options.clone())
                .with_retry(retry)
                .with_bucket_name(bucket);
            let settings = self.settings.iter().filter(|(_, value)| !value.is_empty());
            settings.fold(builder, |builder, (key, value)| builder.with_config(*key, value)).build()
        })
        .map_err(|error| {
            unusable(&format!("s3://{bucket}"), &error).hint(crate::object_address::S3_SETTINGS)
        })
    }
}

fn unusable(name: &str, error: &(dyn std::error::Error + 'static)) -> Error {
    let message = format!("cannot read `{name}`: {}", failure::innermost(error));
    Error::new(ErrorKind::Usage, message)
}

/// Creates a client of web servers that sends these headers with every request.
fn web(headers: HeaderMap) -> reqwest::Result<reqwest::Client> {
    reqwest::Client::builder()
        .user_agent(concat!("outcore/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE)
        .http1_only()
        // It would disclose the query to the target of a redirect.
        .referer(false)
        .redirect(Policy::custom(|attempt| {
            let is_secure = |url: &reqwest::Url| url.scheme() == "https";
            let was_secure = attempt.previous().iter().any(is_secure);
            if was_secure && !is_secure(attempt.url()) {
                return attempt.error("it leads from https:// to http://");
            }
            if attempt.previous().len() > REDIRECTS {
                return attempt.error("it leads to too many redirects");
            }
            attempt.follow()
        }))
        .build()
}

/// Connector that always returns its client.
#[derive(Debug, Clone)]
struct Connector(reqwest::Client);

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}
