//! Web server that sends ranges of one file, and misbehaves in a way that the test chooses.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Misbehavior of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Closes the connection in the middle of every fourth response that is longer than a byte.
    Drops,
    /// Ends every fourth response early, as if no more was requested.
    Short,
    /// Ends every response early.
    AlwaysShort,
    /// Reports that the file is longer than it is.
    LongerThanItIs,
    /// Serves a different file after some requests, with or without heeding conditions.
    Changes {
        heeds: bool,
    },
    /// Sends the whole file, whatever range is requested.
    IgnoresRanges,
    /// Is overloaded for the first requests.
    BusyAtFirst,
    /// Is always overloaded.
    Busy,
    /// Stops responding after it has reported the length of the file.
    Silent,
    /// Delays each response.
    Slow,
    /// Responds with this status.
    Status(u16),
    /// Sends neither tag nor time.
    Anonymous,
    /// Sends no tag.
    Untagged,
    /// Sends a weak tag.
    Weak,
    /// Redirects to another address on the same server.
    Redirects,
    /// Requires authentication.
    Private,
}

/// Server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) port: u16,
    state: Arc<State>,
}

struct State {
    content: Vec<u8>,
    fault: Mutex<Fault>,
    requests: AtomicU64,
    ended: AtomicBool,
    /// First lines and headers of the requests.
    received: Mutex<Vec<String>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::SeqCst);
        // It is waiting for a connection.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Server {
    pub(crate) fn start(content: &[u8], fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            content: content.to_vec(),
            fault: Mutex::new(fault),
            requests: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            received: Mutex::default(),
        });
        let shared = state.clone();
        std::thread::spawn(move || {
            for caller in listener.incoming() {
                if shared.ended.load(Ordering::SeqCst) {
                    return;
                }
                let (caller, shared) = (caller.unwrap(), shared.clone());
                // A client that disconnects is not an error of the server.
                std::thread::spawn(move || drop(shared.serve(caller)));
            }
        });
        Self { port, state }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// Misbehaves in this way from now on.
    pub(crate) fn set(&self, fault: Fault) {
        *self.state.fault.lock().unwrap() = fault;
    }

    pub(crate) fn received(&self) -> Vec<String> {
        self.state.received.lock().unwrap().clone()
    }
}

impl State {
    fn serve(&self, caller: TcpStream) -> std::io::Result<()> {
        let mut out = caller.try_clone()?;
        let mut lines = BufReader::new(caller).lines();
        loop {
            let mut request = Vec::new();
            loop {
                match lines.next() {
                    None => return Ok(()),
                    Some(line) => match line? {
                        end if end.is_empty() => break,
                        line => request.push(line),
                    },
                }
            }
            self.received.lock().unwrap().push(request.join("\n"));
            if !self.answer(&request, &mut out)? {
                return Ok(());
            }
        }
    }

    /// Sends a response; returns whether the connection stays open.
    fn answer(&self, request: &[String], out: &mut TcpStream) -> std::io::Result<bool> {
        let header = |name: &str| {
            request.iter().find_map(|line| {
                let (found, value) = line.split_once(": ")?;
                found.eq_ignore_ascii_case(name).then_some(value)
            })
        };
        let fault = *self.fault.lock().unwrap();
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let is_later = number >= 3;
        match fault {
            Fault::Status(status) => return refuse(out, status),
            Fault::Busy => return refuse(out, 503),
            Fault::BusyAtFirst if number < 2 => return refuse(out, 503),
            Fault::Private if header("authorization") != Some("Basic dXNlcjpzZWNyZXQ=") => {
                return refuse(out, 401);
            }
            Fault::Redirects if !request[0].contains("moved") => {
                write!(
                    out,
                    "HTTP/1.1 302 Found\r\nLocation: /moved?secret=1\r\nContent-Length: 0\r\n\r\n"
                )?;
                return Ok(true);
            }
            Fault::Silent if is_later => {
                std::thread::sleep(Duration::from_secs(60));
                return Ok(false);
            }
            Fault::Slow => std::thread::sleep(Duration::from_millis(20)),
            _ => {}
        }
        let (tag, content) = match fault {
            Fault::Changes { .. } if is_later => ("\"second\"", &self.content),
            Fault::Weak => ("W/\"first\"", &self.content),
            _ => ("\"first\"", &self.content),
        };
        let heeds = fault != Fault::Changes { heeds: false };
        if heeds && header("if-match").is_some_and(|wanted| wanted != tag) {
            return refuse(out, 412);
        }
        let total = content.len() as u64;
        let reported = if fault == Fault::LongerThanItIs { total + 1000 } else { total };
        let mut headers = String::new();
        if !matches!(fault, Fault::Anonymous | Fault::Untagged) {
            headers += &format!("ETag: {tag}\r\n");
        }
        if fault != Fault::Anonymous {
            headers += "Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n";
        }
        let range = header("range").filter(|_| fault != Fault::IgnoresRanges);
        let Some(range) = range else {
            write!(out, "HTTP/1.1 200 OK\r\n{headers}Content-Length: {total}\r\n\r\n")?;
            if !request[0].starts_with("HEAD") {
                out.write_all(content)?;
            }
            return Ok(true);
        };
        let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        let (first, last): (u64, u64) = (first.parse().unwrap(), last.parse().unwrap());
        if first >= total {
            return refuse(out, 416);
        }
        let last = last.min(reported - 1);
        let body = &content[first as usize..(last + 1).min(total) as usize];
        headers += &format!("Content-Range: bytes {first}-{last}/{reported}\r\n");
        let is_fourth = body.len() > 1 && number % 4 == 3;
        let half = &body[..body.len() / 2];
        let (reported, sent) = match fault {
            Fault::Short if is_fourth => (half, half),
            Fault::AlwaysShort if body.len() > 1 => (half, half),
            Fault::Drops if is_fourth => (body, half),
            _ => (body, body),
        };
        let bytes = reported.len();
        write!(out, "HTTP/1.1 206 Partial Content\r\n{headers}Content-Length: {bytes}\r\n\r\n")?;
        out.write_all(sent)?;
        Ok(sent.len() == bytes)
    }
}

fn refuse(out: &mut TcpStream, status: u16) -> std::io::Result<bool> {
    let body = "<Error><Code>Some<b></Code>secret words</Error>";
    let bytes = body.len();
    write!(out, "HTTP/1.1 {status} Whatever\r\nContent-Length: {bytes}\r\n\r\n{body}")?;
    Ok(true)
}
