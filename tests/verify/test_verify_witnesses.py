"""What somebody outside vouches for: git, SSH signatures, time stamps, receipts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from copy import deepcopy
from pathlib import Path

import exam_builder as builder
import pytest

from echoctl import verify

FROZEN = ("seeds/", "artifacts/toy/frozen/", "artifacts/toy/ledger.jsonl")
WITNESS = "artifacts/toy/witness/"

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen here")


@pytest.fixture(scope="module")
def sealed() -> builder.Exam:
    return builder.build()


@pytest.fixture
def exam(sealed: builder.Exam) -> builder.Exam:
    return deepcopy(sealed)


def state(place: Path, check: str, **options: object) -> tuple[str, str, str]:
    """Return a check's state, the key of its reason, and the grade."""
    chosen = verify.Options(**options)  # type: ignore[arg-type]
    report = verify.verify(verify.Folder(place), "toy", chosen)
    found = report.case.checks[check]
    return found.state, found.reason[0] if found.reason else "", report.case.grade


# --- git ------------------------------------------------------------------------------------


def git(place: Path, *words: str) -> None:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}  # fmt: skip
    subprocess.run(
        ["git", *words], cwd=place, check=True, capture_output=True, timeout=60,
        env={**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull},
    )  # fmt: skip


def write_frozen(exam: builder.Exam, place: Path) -> None:
    early = builder.Exam({n: d for n, d in exam.files.items() if n.startswith(FROZEN)})
    early.write(place)


def test_a_commit_with_the_freeze_before_the_claims_commit_is_grade_one(
    exam: builder.Exam, tmp_path: Path
) -> None:
    place = tmp_path / "repository" / "inside"
    write_frozen(exam, place)
    git(place.parent, "init", "-q")
    git(place, "add", ".")
    git(place, "commit", "-qm", "freeze")
    exam.write(place)
    assert state(place, "git") == ("pending", "git_claim", "L0")
    git(place, "add", ".")
    git(place, "commit", "-qm", "exam")
    assert state(place, "git") == ("ok", "", "L1")


def test_freeze_and_claim_in_the_same_commit_prove_no_order(
    exam: builder.Exam, tmp_path: Path
) -> None:
    exam.write(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "everything at once")
    assert state(tmp_path, "git") == ("not checked", "git_order", "L0")


@pytest.mark.parametrize("how", ["message", "tag"])
def test_a_receipt_in_a_message_or_an_annotated_tag_is_a_witness(
    exam: builder.Exam, tmp_path: Path, how: str
) -> None:
    receipt = f"echoctl-freeze toy {exam.find('freeze')['data']['manifest']}"
    (tmp_path / "README").write_text("?", "utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", receipt if how == "message" else "nothing")
    if how == "tag":
        git(tmp_path, "tag", "-a", "frozen", "-m", receipt)
    exam.write(tmp_path)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "exam")
    assert state(tmp_path, "git") == ("ok", "", "L1")


def test_another_freeze_in_git_is_no_witness(exam: builder.Exam, tmp_path: Path) -> None:
    other = builder.build(builder.contract(title="another"))
    write_frozen(other, tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "freeze of something else")
    exam.write(tmp_path)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "exam")
    assert state(tmp_path, "git") == ("not checked", "git_order", "L0")


def test_a_folder_without_a_repository_was_not_checked(exam: builder.Exam, tmp_path: Path) -> None:
    assert state(exam.write(tmp_path), "git") == ("not checked", "no_git", "L0")


@needs_ssh
def test_a_strangers_repository_makes_git_run_nothing(exam: builder.Exam, tmp_path: Path) -> None:
    place, proof, key = tmp_path / "ws", tmp_path / "proof", tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    write_frozen(exam, place)
    git(place, "init", "-q")
    git(place, "config", "gpg.format", "ssh")
    git(place, "config", "user.signingKey", str(key))
    git(place, "add", ".")
    git(place, "commit", "-S", "-qm", "freeze")
    exam.write(place)
    git(place, "add", ".")
    git(place, "commit", "-S", "-qm", "exam")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho ran >> {proof}\n", "utf-8")
    trap.chmod(0o755)
    git(place, "config", "log.showSignature", "true")
    git(place, "config", "gpg.ssh.allowedSignersFile", str(key))
    for name in ("gpg.ssh.program", "core.fsmonitor", "core.sshCommand", "core.pager"):
        git(place, "config", name, str(trap))
    # The trap reads nothing, so git may die of a broken pipe; that it ran is what counts.
    subprocess.run(["git", "-C", str(place), "log"], check=False, capture_output=True, timeout=60)
    assert proof.exists(), "this repository is no trap"
    proof.unlink()
    assert state(place, "git") == ("ok", "", "L1")
    assert not proof.exists()


# --- SSH ------------------------------------------------------------------------------------


def receipts(exam: builder.Exam) -> dict[str, bytes]:
    lines = {"freeze": exam.find("freeze")["data"]["manifest"],
             "claim": exam.find("claim")["data"]["claim"]}  # fmt: skip
    return {kind: f"echoctl-{kind} toy {value}\n".encode() for kind, value in lines.items()}


def sign(exam: builder.Exam, folder: Path, kinds: tuple[str, ...] = ("freeze", "claim")) -> Path:
    """Sign receipts with a fresh key; return the file of allowed signers."""
    folder.mkdir()
    key = folder / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "nav", "-f", str(key)],
        check=True, timeout=60,
    )  # fmt: skip
    for kind in kinds:
        text = folder / f"{kind}.txt"
        text.write_bytes(receipts(exam)[kind])
        subprocess.run(
            ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", "echoctl", str(text)],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip
        exam.files[f"{WITNESS}{kind}.txt"] = text.read_bytes()
        exam.files[f"{WITNESS}{kind}.txt.sig"] = (folder / f"{kind}.txt.sig").read_bytes()
    signers = folder / "signers"
    signers.write_text("nav@example.org " + (folder / "key.pub").read_text("utf-8"), "utf-8")
    return signers


@needs_ssh
def test_signatures_of_a_named_signer_are_grade_two(exam: builder.Exam, tmp_path: Path) -> None:
    signers = sign(exam, tmp_path / "keys")
    place = exam.write(tmp_path / "ws")
    assert state(place, "ssh", signers=signers) == ("ok", "", "L2")


@needs_ssh
def test_a_signature_of_nobody_in_particular_was_not_checked(
    exam: builder.Exam, tmp_path: Path
) -> None:
    sign(exam, tmp_path / "keys")
    assert state(exam.write(tmp_path / "ws"), "ssh") == ("not checked", "no_signers", "L0")


@needs_ssh
def test_a_signature_on_one_of_two_receipts_is_pending(exam: builder.Exam, tmp_path: Path) -> None:
    signers = sign(exam, tmp_path / "keys", ("freeze",))
    place = exam.write(tmp_path / "ws")
    assert state(place, "ssh", signers=signers) == ("pending", "half", "L0")


@needs_ssh
def test_a_signature_of_somebody_else_fails(exam: builder.Exam, tmp_path: Path) -> None:
    other = sign(deepcopy(exam), tmp_path / "others")
    sign(exam, tmp_path / "keys")
    place = exam.write(tmp_path / "ws")
    assert state(place, "ssh", signers=other)[0] == "failed"


@needs_ssh
def test_a_signature_of_another_receipt_fails(exam: builder.Exam, tmp_path: Path) -> None:
    sign(exam, tmp_path / "keys")
    exam.files[WITNESS + "claim.txt.sig"] = exam.files[WITNESS + "freeze.txt.sig"]
    assert state(exam.write(tmp_path / "ws"), "ssh")[0] == "failed"


def test_a_witness_of_another_freeze_fails(exam: builder.Exam, tmp_path: Path) -> None:
    exam.files[WITNESS + "freeze.txt"] = b"echoctl-freeze toy " + b"0" * 64 + b"\n"
    assert state(exam.write(tmp_path), "witness")[0] == "failed"


# --- time stamps ----------------------------------------------------------------------------

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here")

CONFIGURATION = """
[req]
distinguished_name = name
prompt = no
x509_extensions = stamping
[name]
CN = a local time authority
[stamping]
extendedKeyUsage = critical,timeStamping
[tsa]
default_tsa = local
[local]
serial = SERIAL
default_policy = 1.2.3.4.1
digests = sha256
signer_digest = sha256
ess_cert_id_alg = sha256
"""


class Authority:
    """A time authority made with openssl, in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.certificate = folder, folder / "ca.pem"
        (folder / "serial").write_text("01\n", "utf-8")
        self.configuration = folder / "tsa.cnf"
        text = CONFIGURATION.replace("SERIAL", str(folder / "serial"))
        self.configuration.write_text(text, "utf-8")
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-keyout", "key.pem",
            "-out", "ca.pem", "-config", str(self.configuration),
        )  # fmt: skip

    def _openssl(self, *words: str) -> None:
        subprocess.run(
            ["openssl", *words], cwd=self.folder, check=True, capture_output=True, timeout=60
        )

    def stamp(self, exam: builder.Exam, kind: str) -> None:
        """Put a stamped receipt among the witnesses."""
        (self.folder / "data").write_bytes(receipts(exam)[kind])
        self._openssl("ts", "-query", "-data", "data", "-sha256", "-cert", "-out", "q.tsq")
        self._openssl(
            "ts", "-reply", "-queryfile", "q.tsq", "-inkey", "key.pem", "-signer", "ca.pem",
            "-config", str(self.configuration), "-out", "r.tsr",
        )  # fmt: skip
        exam.files[f"{WITNESS}{kind}.txt"] = receipts(exam)[kind]
        exam.files[f"{WITNESS}{kind}.txt.tsr"] = (self.folder / "r.tsr").read_bytes()


@needs_openssl
def test_stamps_of_a_named_authority_are_grade_three(exam: builder.Exam, tmp_path: Path) -> None:
    authority = Authority(tmp_path / "tsa")
    authority.stamp(exam, "freeze")
    place = exam.write(tmp_path / "ws")
    assert state(place, "time", tsa_ca=authority.certificate) == ("pending", "half", "L0")
    authority.stamp(exam, "claim")
    exam.write(place)
    assert state(place, "time") == ("not checked", "no_authority", "L0")
    assert state(place, "time", tsa_ca=authority.certificate) == ("ok", "", "L3")


@needs_openssl
def test_a_stamp_of_another_authority_or_of_another_receipt_fails(
    exam: builder.Exam, tmp_path: Path
) -> None:
    mine, other = Authority(tmp_path / "tsa"), Authority(tmp_path / "other")
    mine.stamp(exam, "freeze")
    mine.stamp(exam, "claim")
    place = exam.write(tmp_path / "ws")
    assert state(place, "time", tsa_ca=other.certificate)[0] == "failed"
    exam.files[WITNESS + "claim.txt.tsr"] = exam.files[WITNESS + "freeze.txt.tsr"]
    exam.write(place)
    assert state(place, "time")[0] == "failed"


@needs_openssl
def test_a_claim_that_was_stamped_before_the_freeze_fails(
    exam: builder.Exam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path / "tsa")
    authority.stamp(exam, "freeze")
    authority.stamp(exam, "claim")
    real = verify._call
    years = iter(["2027", "2026"])

    def later(words: tuple[str, ...], *rest: object, **more: object) -> tuple[int, bytes]:
        code, said = real(words, *rest, **more)  # type: ignore[arg-type]
        if "-text" in words:
            said = re.sub(rb" \d{4} GMT", f" {next(years)} GMT".encode(), said)
        return code, said

    monkeypatch.setattr(verify, "_call", later)
    report = verify.verify(verify.Folder(exam.write(tmp_path / "ws")), "toy")
    assert report.case.checks["time"].state == "failed"
    assert report.case.checks["time"].said[-1][0] == "stamp_order"


@needs_openssl
def test_without_openssl_a_stamp_was_not_checked(
    exam: builder.Exam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path / "tsa")
    authority.stamp(exam, "freeze")
    authority.stamp(exam, "claim")
    monkeypatch.setenv("PATH", str(tmp_path))
    place = exam.write(tmp_path / "ws")
    assert state(place, "time", tsa_ca=authority.certificate) == ("not checked", "no_tool", "L0")


# --- receipts kept outside ------------------------------------------------------------------


def test_receipts_kept_outside_are_compared(exam: builder.Exam, tmp_path: Path) -> None:
    place, lines = exam.write(tmp_path), receipts(exam)
    kept = tuple(line.decode().strip() for line in lines.values())
    assert state(place, "receipt", receipts=kept)[0] == "ok"
    assert state(place, "receipt", receipts=(kept[0][:-1] + "x",))[0] == "failed"
    assert state(place, "receipt", receipts=("echoctl-freeze other 00",))[0] == "not checked"
