from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from echoctl import desk
from echoctl.desk import Workspace
from echoctl.errors import CheckFailed, EchoError, Refused, UsageError

needs_keys = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen here")
needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here")

AUTHORITY = """
[req]
distinguished_name = name
x509_extensions = tsa
prompt = no
[name]
CN = A local time authority
[tsa]
extendedKeyUsage = critical,timeStamping
basicConstraints = CA:TRUE
subjectKeyIdentifier = hash
[tsa_config]
default_tsa = here
[here]
serial = FOLDER/serial
default_policy = 1.2.3.4.1
digests = sha256
signer_digest = sha256
ess_cert_id_alg = sha256
"""


@needs_keys
def test_a_signature_by_a_named_signer_is_grade_two(decided: Workspace, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada", "-f", str(key)], check=True
    )
    done = desk.sign(decided, "toy", key=key)
    assert done.made == ("freeze.txt.sig", "claim.txt.sig")
    assert desk.sign(decided, "toy", key=key).kept == done.made
    signers = tmp_path / "signers"
    signers.write_text(f"ada@example.org {key.with_suffix('.pub').read_text()}")
    assert desk.verify(decided, "toy").grade == "L0"
    assert desk.verify(decided, "toy", signers=signers).grade == "L2"
    found = desk.evidence(decided, decided.dossier("toy"), signers=signers)
    assert (found.grade, found.witnesses["ssh"]) == ("L2", "ok")


@needs_keys
def test_a_receipt_that_a_kill_left_unwritten_is_written_before_it_is_signed(
    frozen: Workspace, tmp_path: Path
) -> None:
    receipt = frozen.artifacts("toy") / "witness/freeze.txt"
    before = receipt.read_bytes()
    receipt.unlink()
    key = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada", "-f", str(key)], check=True
    )
    assert desk.sign(frozen, "toy", key=key).made == ("freeze.txt.sig",)
    assert receipt.read_bytes() == before


@needs_keys
def test_what_cannot_sign_says_so(frozen: Workspace, checked: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no key file"):
        desk.sign(frozen, "toy", key=tmp_path / "none")
    (tmp_path / "text").write_text("not a key\n")
    with pytest.raises(CheckFailed, match="ssh-keygen does not sign"):
        desk.sign(frozen, "toy", key=tmp_path / "text")
    with pytest.raises(Refused, match="it is not frozen"):
        desk.sign(checked, "toy", key=tmp_path / "text")


class Authority:
    """A time authority of this machine: openssl behind a small HTTP server."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.certificate = folder, folder / "ca.pem"
        self.reply: bytes | None = None
        (folder / "serial").write_text("01\n")
        (folder / "tsa.cnf").write_text(AUTHORITY.replace("FOLDER", str(folder)))
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-keyout", "key.pem",
            "-out", "ca.pem", "-config", "tsa.cnf",
        )  # fmt: skip

    def _openssl(self, *words: str) -> None:
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def answer(self, question: bytes) -> bytes:
        if self.reply is not None:
            return self.reply
        (self.folder / "q.tsq").write_bytes(question)
        self._openssl(
            "ts", "-reply", "-queryfile", "q.tsq", "-inkey", "key.pem", "-signer", "ca.pem",
            "-config", "tsa.cnf", "-section", "here", "-out", "r.tsr",
        )  # fmt: skip
        return (self.folder / "r.tsr").read_bytes()


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[tuple[Authority, str]]:
    folder = tmp_path / "authority"
    folder.mkdir()
    behind = Authority(folder)

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = behind.answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Door)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield behind, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@needs_openssl
def test_a_stamp_of_a_named_authority_is_grade_three(
    decided: Workspace, authority: tuple[Authority, str]
) -> None:
    pytest.importorskip("rfc3161_client")
    behind, url = authority
    assert desk.stamp(decided, "toy", url=url).made == ("freeze.txt.tsr", "claim.txt.tsr")
    assert desk.verify(decided, "toy").grade == "L0"
    assert desk.verify(decided, "toy", tsa_ca=behind.certificate).grade == "L3"


@needs_openssl
def test_a_stamp_on_something_else_or_no_stamp_at_all_is_refused(
    frozen: Workspace, authority: tuple[Authority, str]
) -> None:
    rfc3161 = pytest.importorskip("rfc3161_client")
    behind, url = authority
    other = rfc3161.TimestampRequestBuilder().data(b"something else")
    other = other.hash_algorithm(rfc3161.HashAlgorithm.SHA256).nonce(nonce=True)
    behind.reply = behind.answer(other.build().as_bytes())
    with pytest.raises(CheckFailed, match="stamped something else"):
        desk.stamp(frozen, "toy", url=url)
    behind.reply = b"no stamp"
    with pytest.raises(EchoError, match="does not answer") as caught:
        desk.stamp(frozen, "toy", url=url)
    assert "pending" in caught.value.todo
    assert not list((frozen.artifacts("toy") / "witness").glob("*.tsr"))
    with pytest.raises(UsageError, match="is no address"):
        desk.stamp(frozen, "toy", url="file:///etc/passwd")
