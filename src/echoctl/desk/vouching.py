"""Asking somebody outside to vouch: a signature (L2) or a time stamp (L3) on each receipt.

Nothing here is trusted later on its own word: whoever verifies names the signers and the
authority that count (docs/formats.md, "witness").
"""

from __future__ import annotations

import subprocess
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from echoctl.desk.witnesses import write_witnesses
from echoctl.desk.workspace import Workspace
from echoctl.disk import read_plain, write_whole
from echoctl.errors import CheckFailed, EchoError, Refused, UsageError

NAMESPACE = "echoctl"
"""What the signature is for, as ``ssh-keygen -Y`` calls it."""

_WAIT = 30
_MOST = 1 << 20


@dataclass(frozen=True)
class Vouched:
    """Which receipts were signed or stamped now, and which had it already."""

    id: str
    how: str
    """``signature`` or ``time stamp``."""
    made: tuple[str, ...]
    kept: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return asdict(self)


def sign(ws: Workspace, id: str, *, key: Path) -> Vouched:
    """Sign every receipt that has no signature yet with an SSH key, as git does it.

    Refused before a freeze; CheckFailed where ssh-keygen cannot sign.
    """
    if not key.is_file():
        raise UsageError(f"{key} is no key file", "name a private key, or a public one in an agent")
    made, kept = [], []
    for receipt in _receipts(ws, id):
        target = receipt.with_name(f"{receipt.name}.sig")
        if target.exists():
            kept.append(target.name)
            continue
        try:
            done = subprocess.run(
                ["ssh-keygen", "-Y", "sign", "-f", str(key.resolve()), "-n", NAMESPACE],
                input=read_plain(receipt), capture_output=True, check=False,
            )  # fmt: skip
        except FileNotFoundError:
            raise CheckFailed("ssh-keygen is not installed here", "install OpenSSH") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise CheckFailed(f"ssh-keygen does not sign: {said}", "see that the key can be used")
        write_whole(target, done.stdout)
        made.append(target.name)
    return Vouched(id, "signature", tuple(made), tuple(kept))


def stamp(ws: Workspace, id: str, *, url: str) -> Vouched:
    """Ask a time authority (RFC 3161) for a stamp on every receipt that has none yet.

    The reply must answer this very question: its hash and its nonce are compared. Whether the
    authority is to be trusted is for whoever verifies. EchoError where it does not answer.
    """
    if not url.startswith(("https://", "http://")):
        raise UsageError(f"{url!r} is no address of a time authority", "write it as https://...")
    made, kept = [], []
    for receipt in _receipts(ws, id):
        target = receipt.with_name(f"{receipt.name}.tsr")
        if target.exists():
            kept.append(target.name)
            continue
        write_whole(target, _asked(url, read_plain(receipt)))
        made.append(target.name)
    return Vouched(id, "time stamp", tuple(made), tuple(kept))


def _asked(url: str, data: bytes) -> bytes:
    """Return the authority's reply on some data, after comparing what it says it stamped."""
    try:
        import rfc3161_client as rfc3161
    except ImportError:
        raise UsageError(
            "time stamps need the package rfc3161-client", "pip install 'echoctl[stamp]'"
        ) from None
    question = (
        rfc3161.TimestampRequestBuilder()
        .data(data)
        .hash_algorithm(rfc3161.HashAlgorithm.SHA256)
        .nonce(nonce=True)
        .cert_request(cert_request=True)
        .build()
    )
    request = urllib.request.Request(  # noqa: S310 - http or https, and the stamp is signed
        url, question.as_bytes(), {"Content-Type": "application/timestamp-query"}, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=_WAIT) as said:  # noqa: S310
            reply = bytes(said.read(_MOST))
        answer = rfc3161.decode_timestamp_response(reply)
    except (urllib.error.URLError, OSError, ValueError) as problem:
        raise EchoError(
            f"the time authority does not answer: {problem}",
            "the stamp is pending; ask again later, nothing else waits for it",
        ) from None
    if answer.status not in (0, 1):
        raise EchoError(f"the time authority refuses: {answer.status_string}", "ask another one")
    given = answer.tst_info
    same = given.message_imprint.message == question.message_imprint.message
    if not same or given.nonce != question.nonce:
        raise CheckFailed("the time authority stamped something else", "ask another one")
    return reply


def _receipts(ws: Workspace, id: str) -> list[Path]:
    """Return the receipt files of a frozen track, the freeze's first.

    A freeze that was stamped later than its claim is evidence of nothing, by one second too.
    """
    ws.require(id)
    dossier = ws.dossier(id)
    if dossier.freeze is None:
        raise Refused(f"{id} has no receipt yet: it is not frozen", f"see: echoctl status {id}")
    write_witnesses(ws, dossier)
    return sorted((ws.artifacts(id) / "witness").glob("*.txt"), reverse=True)
