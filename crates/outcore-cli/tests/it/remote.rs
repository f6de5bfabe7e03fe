//! Edges on a web server: the same result as from a file, whatever the server does, or an error with the reason.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests from outside")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod server;

use crate::common::{listed, outcore, run, stderr};
use server::{Fault, Server};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Directory with edges as text, and their communities.
struct Expected {
    directory: TempDir,
    text: Vec<u8>,
    communities: Vec<u8>,
}

impl Expected {
    fn new(edges: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let sizes = ["--nodes", "5000", "--edges", edges, "--weights"];
        let made =
            run(directory.path(), &[&["generate", "planted", "-o", "e.tsv"], &sizes[..]].concat());
        assert!(made.status.success(), "{}", stderr(&made));
        let text = std::fs::read(directory.path().join("e.tsv")).unwrap();
        let mut expected = Self { directory, text, communities: Vec::new() };
        expected.communities = expected.of(&["e.tsv"]).unwrap().0;
        expected
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Clusters with these arguments; returns the communities and the report, or the exit status and the messages.
    fn of(&self, args: &[&str]) -> Result<(Vec<u8>, serde_json::Value), (Option<i32>, String)> {
        let _ = std::fs::remove_file(self.path().join("out.tsv"));
        let output = [
            "-o",
            "out.tsv",
            "--report",
            "report.json",
            "-t",
            "2",
            "--method",
            "label-propagation",
        ];
        let done = run(self.path(), &[&["cluster"], args, &output[..]].concat());
        if !done.status.success() {
            return Err((done.status.code(), stderr(&done)));
        }
        let report = std::fs::read(self.path().join("report.json")).unwrap();
        let communities = std::fs::read(self.path().join("out.tsv")).unwrap();
        Ok((communities, serde_json::from_slice(&report).unwrap()))
    }

    /// Returns the messages for `url`, which cannot be read.
    fn refused(&self, url: &str, status: i32) -> String {
        let (found, reported) = self.of(&[url]).unwrap_err();
        assert_eq!(found, Some(status), "{reported}");
        assert!(!reported.contains("secret"), "{reported}");
        reported
    }
}

#[test]
fn an_object_is_read_like_a_file() {
    let expected = Expected::new("400000");
    let packed = zstd::encode_all(&expected.text[..], 1).unwrap();
    for content in [&expected.text, &packed] {
        let server = Server::start(content, Fault::None);
        for memory in ["96MiB", "1GiB"] {
            let (found, _) = expected.of(&[&server.url("edges"), "-m", memory]).unwrap();
            assert!(found == expected.communities, "{memory}");
        }
        let received = server.received();
        assert!(received.iter().all(|request| request.starts_with("GET ")));
        // All requests but the first are on the condition that nothing has changed.
        let conditions = received.iter().filter(|request| request.contains("if-match: \"first\""));
        assert_eq!(conditions.count(), received.len() - 2);
    }
}

#[test]
fn a_server_that_misbehaves_occasionally_does_not_change_the_result() {
    let expected = Expected::new("400000");
    for fault in [
        Fault::Drops,
        Fault::Short,
        Fault::BusyAtFirst,
        Fault::Slow,
        Fault::Untagged,
        Fault::Weak,
        Fault::Redirects,
    ] {
        let server = Server::start(&expected.text, fault);
        let (found, _) = expected.of(&[&server.url("edges")]).unwrap();
        assert!(found == expected.communities, "{fault:?}");
    }
    let server = Server::start(&expected.text, Fault::Untagged);
    expected.of(&[&server.url("edges")]).unwrap();
    let condition = "if-unmodified-since: Wed, 21 Oct 2015 07:28:00 GMT";
    assert!(server.received().iter().skip(1).all(|request| request.contains(condition)));
}

#[test]
fn objects_that_cannot_be_read_are_reported_with_a_hint() {
    let expected = Expected::new("400000");
    for (fault, status, reported) in [
        (Fault::Status(404), 1, "there is no such object (404)"),
        (Fault::Status(403), 1, "access is denied (403)"),
        (Fault::Status(400), 1, "the server refuses the request (400)"),
        (Fault::Busy, 1, "the server is unavailable (503)"),
        (Fault::IgnoresRanges, 1, "pipe it in: `curl -L 'http://127.0.0.1:"),
        (Fault::Anonymous, 1, "its server does not identify its version"),
        (Fault::AlwaysShort, 1, "its server sent"),
        (Fault::LongerThanItIs, 1, "it is shorter than its server reported"),
        (Fault::Changes { heeds: true }, 3, "has changed while it was read"),
        (Fault::Changes { heeds: false }, 3, "and is"),
    ] {
        let server = Server::start(&expected.text, fault);
        let url = server.url("edges.tsv");
        let found = expected.refused(&format!("{url}?signature=secret"), status);
        assert!(found.contains(reported), "{fault:?}: {found}");
        assert!(found.contains(&format!("`{url}`")), "{fault:?}: {found}");
        let left = listed(expected.path());
        assert!(left.iter().all(|path| !path.ends_with("out.tsv")), "{left:?}");
    }
    let found = expected.refused("https://name.invalid/edges.tsv", 1);
    assert!(found.contains("its host is unknown"), "{found}");
    let server = Server::start(&expected.text, Fault::None);
    let found = expected.refused(&server.url("edges").replace("http:", "https:"), 1);
    assert!(found.contains("no secure connection"), "{found}");
    let closed = server.url("edges");
    drop(server);
    assert!(expected.refused(&closed, 1).contains("cannot read `http://127.0.0.1"));
}

#[test]
fn an_empty_object_is_an_empty_file() {
    let expected = Expected::new("1000");
    let server = Server::start(b"", Fault::None);
    let found = expected.refused(&server.url("edges"), 3);
    assert!(found.contains("error[bad-input]"), "{found}");
    let both = expected.of(&["e.tsv", &server.url("edges")]).unwrap();
    assert!(both.0 == expected.communities);
}

#[test]
fn secrets_are_used_and_never_shown() {
    let expected = Expected::new("400000");
    let server = Server::start(&expected.text, Fault::Private);
    let (host, address) = (format!("127.0.0.1:{}", server.port), server.url("edges"));
    let found = expected.refused(&address, 1);
    assert!(found.contains("access is denied (401)") && found.contains("USER:PASSWORD"), "{found}");
    let url = format!("http://user:secret@{host}/edges?X-Amz-Signature=secret");
    let (found, report) = expected.of(&[&url, "--restart", "-v"]).unwrap();
    assert!(found == expected.communities);
    assert!(!report.to_string().contains("secret"), "{report}");
    assert!(
        server.received().iter().skip(1).all(|request| request.contains("?X-Amz-Signature=secret"))
    );
    let server = Server::start(&expected.text, Fault::None);
    let two = [server.url("x?a=secret"), server.url("x?b=secret")];
    let both = run(expected.path(), &["cluster", &two[0], &two[1], "-o", "two.tsv"]);
    let reported = stderr(&both);
    // These are two objects, although they are shown under the same name.
    assert!(reported.contains("800,000 edges") && !reported.contains("secret"), "{reported}");
}

/// A job that was killed resumes from its graph of an object only if the object is unchanged.
#[test]
fn an_object_is_recognized_by_the_next_job() {
    let expected = Expected::new("1500000");
    let server = Server::start(&expected.text, Fault::None);
    let address = server.url("edges");
    let killed = || {
        let url = format!("{address}?signature=secret");
        let args = ["cluster", &url, "-o", "out.tsv", "-t", "2", "--method", "label-propagation"];
        let mut job = outcore(expected.path(), &args).stderr(Stdio::null()).spawn().unwrap();
        let manifest = expected.path().join(".out.tsv.outcore").join("manifest.json");
        let begin = Instant::now();
        loop {
            let text = std::fs::read_to_string(&manifest).unwrap_or_default();
            if text.contains("\"merge\"") {
                job.kill().unwrap();
                job.wait().unwrap();
                return text;
            }
            assert!(
                begin.elapsed() < Duration::from_secs(120) && job.try_wait().unwrap().is_none()
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    let manifest = killed();
    assert!(!manifest.contains("secret"), "{manifest}");
    assert!(manifest.contains(&address) && manifest.contains("\\\"first\\\""), "{manifest}");
    // With a new signature it is the same object.
    let (found, report) = expected.of(&[&format!("{address}?signature=other")]).unwrap();
    assert!(found == expected.communities && report["resumed"] == true, "{report}");
    killed();
    server.set(Fault::Changes { heeds: true });
    let (found, report) = expected.of(&[&address]).unwrap();
    assert!(found == expected.communities && report["resumed"] == false, "{report}");
}

#[test]
fn nothing_is_written_to_a_server() {
    let expected = Expected::new("1000");
    let elsewhere = "s3://key:secret@bucket/x?secret";
    for args in [
        vec!["cluster", "e.tsv", "-o", elsewhere],
        vec!["cluster", "e.tsv", "-o", "c.tsv", "--report", elsewhere],
        vec!["cluster", "e.tsv", "-o", "c.tsv", "--representatives", elsewhere],
        vec!["cluster", "e.tsv", "-o", "c.tsv", "--work-dir", elsewhere],
        vec!["cluster", "e.tsv", "-o", "c.tsv", "--rejects", elsewhere, "--on-bad-line", "skip"],
        vec!["build", "e.tsv", "-o", elsewhere],
        vec!["generate", "rmat", "--scale", "4", "-o", elsewhere],
        vec!["inspect", elsewhere],
        vec!["score", elsewhere, "e.tsv"],
    ] {
        let before = listed(expected.path());
        let refused = run(expected.path(), &args);
        let reported = stderr(&refused);
        assert_eq!(refused.status.code(), Some(2), "{args:?}: {reported}");
        assert!(
            reported.contains("`s3://bucket/x`") && !reported.contains("secret"),
            "{args:?}: {reported}"
        );
        assert_eq!(listed(expected.path()), before);
    }
    for (path, reported) in [
        ("s3:/bucket/x", "two slashes"),
        ("https://host/*.tsv", "web servers do not list files"),
        ("s3://bucket/", "names no object"),
    ] {
        let found = expected.refused(path, 2);
        assert!(found.contains(reported), "{found}");
    }
}

#[test]
fn the_limit_holds_for_an_object_that_is_larger() {
    let expected = Expected::new("6000000");
    let limit: u64 = 96 << 20;
    assert!(expected.text.len() as u64 > limit, "{}", expected.text.len());
    let server = Server::start(&expected.text, Fault::None);
    let (found, report) = expected.of(&[&server.url("edges"), "-m", "96MiB"]).unwrap();
    assert!(found == expected.communities);
    // The program itself takes memory on top of the limit; a build for tests is larger than a release.
    let peak = report["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak <= limit + (48 << 20), "{peak}");
    // Requests are large, and read each byte about once.
    let received = server.received();
    assert!(received.len() < 100, "{}", received.len());
}

#[test]
fn a_signal_ends_a_job_that_waits_for_a_server() {
    let expected = Expected::new("400000");
    let server = Server::start(&expected.text, Fault::Silent);
    let mut job = outcore(expected.path(), &["cluster", &server.url("edges"), "-o", "out.tsv"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while server.received().len() < 4 {
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", server.received());
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    let sent = std::process::Command::new("kill").args(["-INT", &job.id().to_string()]).status();
    assert!(sent.unwrap().success());
    let signalled = Instant::now();
    let status = job.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(signalled.elapsed() < Duration::from_secs(3), "{:?}", signalled.elapsed());
}

#[test]
fn a_plan_samples_an_object() {
    let expected = Expected::new("400000");
    let server = Server::start(&expected.text, Fault::None);
    let of_file = run(expected.path(), &["plan", "e.tsv", "--json", "-m", "1GiB"]);
    let of_object = run(expected.path(), &["plan", &server.url("e"), "--json", "-m", "1GiB"]);
    assert!(of_object.status.success(), "{}", stderr(&of_object));
    std::io::stdout().write_all(&of_object.stderr).unwrap();
    assert_eq!(of_file.stdout, of_object.stdout);
}
