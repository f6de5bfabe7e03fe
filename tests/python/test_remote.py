"""Edges on servers: S3 as implemented by moto, and HTTPS with a private certificate."""

from __future__ import annotations

import gzip
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import outcore
import pyarrow as pa
import pyarrow.parquet
import pytest
from conftest import Edge, write_text
from moto.server import ThreadedMotoServer

BUCKET = "graphs"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "hidden",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=server, region_name="us-east-1")
    client.create_bucket(Bucket=BUCKET)
    yield client
    for found in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        client.delete_object(Bucket=BUCKET, Key=found["Key"])
    client.delete_bucket(Bucket=BUCKET)


@pytest.fixture
def expected(edges: list[Edge]) -> bytes:
    return communities(write_text(edges, Path("expected.tsv")))


def communities(edges: Any, **options: Any) -> bytes:
    found = outcore.cluster(edges, output="out.tsv", method="modularity", seed=1, **options)
    return Path(found.path).read_bytes()


def parquet_of(edges: list[Edge], **options: Any) -> bytes:
    source, target, weight = zip(*edges, strict=True)
    table = pa.table({"source": source, "extra": target, "target": target, "weight": weight})
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink, **options)
    return sink.getvalue().to_pybytes()


def text_of(edges: list[Edge]) -> bytes:
    return write_text(edges, Path("text.tsv")).read_bytes()


def test_text_and_gzip_on_s3(bucket: Any, edges: list[Edge], expected: bytes) -> None:
    bucket.put_object(Bucket=BUCKET, Key="a b/edges#1?.tsv", Body=text_of(edges))
    bucket.put_object(Bucket=BUCKET, Key="edges.tsv.gz", Body=gzip.compress(text_of(edges)))
    for memory in ("96MiB", "1GiB"):
        assert communities(f"s3://{BUCKET}/a b/edges#1?.tsv", memory=memory) == expected
        assert communities(f"s3://{BUCKET}/edges.tsv.gz", memory=memory) == expected


@pytest.mark.parametrize("options", [{}, {"row_group_size": 1500, "data_page_size": 4096, "use_dictionary": False}])
def test_parquet_on_s3(bucket: Any, edges: list[Edge], expected: bytes, options: dict[str, Any]) -> None:
    bucket.put_object(Bucket=BUCKET, Key="edges.parquet", Body=parquet_of(edges, **options))
    for threads in (1, 3):
        assert communities(f"s3://{BUCKET}/edges.parquet", threads=threads, memory="128MiB") == expected


def test_large_parquet_on_s3_is_read_in_parallel(bucket: Any) -> None:
    many = [(f"node{k * 7919 % 9001:020}", f"node{k * 104729 % 9001:020}", k % 97 / 8) for k in range(1, 200_000)]
    body = parquet_of(many, row_group_size=30_000, compression="none", use_dictionary=False)
    assert len(body) > 8 << 20
    Path("local.parquet").write_bytes(body)
    bucket.put_object(Bucket=BUCKET, Key="many.parquet", Body=body)
    local = communities("local.parquet", threads=4)
    assert communities(f"s3://{BUCKET}/many.parquet", threads=4) == local


def test_patterns_on_s3_are_sorted(bucket: Any, edges: list[Edge], expected: bytes) -> None:
    for part in range(4):
        body = parquet_of(edges[part * 5000 : (part + 1) * 5000])
        bucket.put_object(Bucket=BUCKET, Key=f"parts/{part}.parquet", Body=body)
    bucket.put_object(Bucket=BUCKET, Key="parts/deeper/4.parquet", Body=b"not of the pattern")
    bucket.put_object(Bucket=BUCKET, Key="parts/note.txt", Body=b"not of the pattern")
    assert communities(f"s3://{BUCKET}/parts/*.parquet") == expected
    assert communities(f"s3://{BUCKET}/p*/[0-3].parquet") == expected
    with pytest.raises(outcore.FileError, match=r"no object matches `s3://graphs/parts/\*.csv`"):
        communities(f"s3://{BUCKET}/parts/*.csv")


def test_missing_objects_and_credentials_are_reported(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(outcore.FileError, match=r"there is no such object \(404") as raised:
        communities(f"s3://{BUCKET}/nothing.tsv")
    assert "AWS_REGION" in raised.value.hint
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(outcore.UsageError) as raised_too:
        communities(f"s3://{BUCKET}/nothing.tsv")
    assert "AWS_SECRET_ACCESS_KEY" in raised_too.value.hint
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(outcore.FileError, match="no credentials were found"):
        communities(f"s3://{BUCKET}/nothing.tsv")
    with pytest.raises(outcore.UsageError, match="is neither a file nor an address"):
        communities(Path("s3://bucket/edges.tsv"))


def test_an_object_changed_between_two_calls_is_read_again(bucket: Any, edges: list[Edge]) -> None:
    place = f"s3://{BUCKET}/edges.tsv"
    bucket.put_object(Bucket=BUCKET, Key="edges.tsv", Body=text_of(edges))
    assert outcore.plan(place, memory="256MiB").input.edge_count == len(edges)
    before = communities(place)
    bucket.put_object(Bucket=BUCKET, Key="edges.tsv", Body=text_of(edges[:10_000]))
    assert communities(place) != before


def test_a_signed_address_is_read_and_its_signature_not_reported(
    bucket: Any, edges: list[Edge], expected: bytes
) -> None:
    bucket.put_object(Bucket=BUCKET, Key="edges.tsv", Body=text_of(edges))
    signed = bucket.generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": "edges.tsv"})
    assert "Signature" in signed
    found = outcore.cluster(signed, output="out.tsv", method="modularity", seed=1)
    assert Path("out.tsv").read_bytes() == expected
    assert found.report is not None
    assert "Signature" not in json.dumps(found.report, default=str)
    # With another signature it is the same call.
    again = signed.replace("Signature=", "Signature=x")
    assert outcore._api._place(again) == outcore._api._place(signed) == signed.split("?")[0]


class Ranges(http.server.BaseHTTPRequestHandler):
    """Server of ranges of one file."""

    content = b""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        first, last = (int(part) for part in self.headers["Range"].removeprefix("bytes=").split("-"))
        body = self.content[first : last + 1]
        self.send_response(206)
        self.send_header("ETag", '"one"')
        self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(self.content)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


def own_certificate(directory: Path) -> tuple[Path, Path]:
    """Write a certificate for 127.0.0.1 that no authority has signed, and its key."""
    from datetime import datetime, timedelta, timezone
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a test")])
    now = datetime.now(timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = directory / "certificate.pem", directory / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


def test_a_secure_server_is_trusted_by_its_certificate(
    edges: list[Edge], expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = own_certificate(Path.cwd())
    handler = type("Served", (Ranges,), {"content": gzip.compress(text_of(edges))})
    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    served.socket = context.wrap_socket(served.socket, server_side=True)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    place = f"https://127.0.0.1:{served.server_port}/edges.tsv.gz"
    try:
        with pytest.raises(outcore.FileError, match="no secure connection") as raised:
            communities(place)
        assert "SSL_CERT_FILE" in raised.value.hint
        monkeypatch.setenv("SSL_CERT_FILE", os.fspath(certificate.resolve()))
        monkeypatch.delenv("SSL_CERT_DIR", raising=False)
        assert communities(place) == expected
    finally:
        served.shutdown()
        served.server_close()


INTERRUPTED = """
import http.server, os, signal, sys, threading, time
sys.path[:0] = {path!r}
import outcore
from test_remote import Ranges

class Silent(Ranges):
    content = b"a b\\n" * 1_000_000
    asked = threading.Event()

    def do_GET(self):
        if self.headers["Range"] == "bytes=0-0":
            return super().do_GET()
        self.asked.set()
        time.sleep(60)

served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
threading.Thread(target=served.serve_forever, daemon=True).start()

def interrupt():
    Silent.asked.wait()
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
begin = time.monotonic()
try:
    outcore.cluster(f"http://127.0.0.1:{{served.server_port}}/edges", progress=False)
except outcore.Interrupted:
    print("interrupted", time.monotonic() - begin < 10)
"""


def test_ctrl_c_ends_waiting_for_a_server() -> None:
    program = INTERRUPTED.format(path=[os.path.dirname(__file__)])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.stdout.split() == ["interrupted", "True"], done.stderr
