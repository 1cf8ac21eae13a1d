"""The commands. Each parses, calls the desk, hands the answer to render, and ends.

Nothing heavy is imported before a command runs: `echoctl --help` reads this file, typer, and
no more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from echoctl.cli import stats
from echoctl.cli.crew import Crew
from echoctl.cli.power import power
from echoctl.cli.session import Session, deed, verb

app = typer.Typer(
    name="echoctl",
    help="Experiments that are promised before they are measured: contracts, seals, one exam, "
    "exact verdicts.",
    epilog="Exit codes: 0 done (a red verdict is a result), 1 a check failed, 2 usage, 3 refused "
    "by the life cycle, 4 interrupted and resumable, 5 evidence is inconsistent.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

Id = Annotated[str, typer.Argument(metavar="ID", help="The contract's id.")]
SomeId = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="A contract's id; all if absent.")
]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, kept in the ledger.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", "-j", metavar="N", min=1, help="Worker processes; by default one per core."
    ),
]
Runner = Annotated[
    Literal["local", "ray"],
    typer.Option("--runner", metavar="local|ray", help="Where jobs play: here, or on Ray."),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="The Ray cluster to join, or auto; by default one of this machine's own.",
    ),
]
Units = Annotated[
    int | None,
    typer.Option("--units", metavar="N", min=1, help="Play only so many units (macros, teams)."),
]
Expect = Annotated[
    Literal["green", "red"] | None,
    typer.Option(
        "--expect", metavar="green|red", help="End with 1 if the verdict is not this colour."
    ),
]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    if version:
        from echoctl import __version__

        typer.echo(f"echoctl {__version__}")
        raise typer.Exit


# --- reading -------------------------------------------------------------------------------


@app.command(name="list")
@verb
def list_(s: Session) -> None:
    """List every track with its state, reds as loudly as greens."""
    from echoctl.cli import acts

    acts.list_(s)


@app.command()
@verb
def status(s: Session, id: SomeId = None) -> None:
    """Show one track's state, evidence grade and next step."""
    from echoctl.cli import acts

    acts.status(s, id)


@app.command()
@verb
def show(s: Session, id: Id) -> None:
    """Show a contract as a page to read: the whole rule that decides."""
    from echoctl.cli import acts

    acts.show(s, id)


# --- before the freeze ---------------------------------------------------------------------


@app.command()
@verb
def lint(
    s: Session,
    target: Annotated[
        str | None,
        typer.Argument(metavar="[ID|FILE]", help="A contract's id or file; all if absent."),
    ] = None,
) -> int:
    """Check a contract, and what its predictions can and cannot show."""
    from echoctl.cli import acts

    return acts.lint(s, target)


@app.command()
@deed
def preflight(s: Session, id: Id, workers: Workers = None) -> None:
    """Prove that a track is ready, and publish every seed.

    Lint, environment, worlds, determinism and ceiling; then seeds/ID.json with its hash.
    """
    from echoctl.cli import acts

    acts.preflight(s, id, workers)


@app.command()
@verb
def dev(
    s: Session,
    id: Id,
    units: Units = None,
    workers: Workers = None,
    runner: Runner = "local",
    address: Address = None,
) -> None:
    """Play development worlds, any number of times; decides nothing."""
    from echoctl.cli import acts

    acts.dev(s, id, units, Crew(workers, runner, address))


@app.command()
@verb
def rehearse(
    s: Session,
    id: Id,
    units: Units = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep", metavar="DIR", help="Keep the rehearsal's workspace in this folder."
        ),
    ] = None,
    workers: Workers = None,
    runner: Runner = "local",
    address: Address = None,
    expect: Expect = None,
) -> int:
    """Live the whole life in a throw-away workspace.

    Development worlds stand in for the exam, and everything is marked REHEARSAL.
    """
    from echoctl.cli import exams

    return exams.rehearse(s, id, units, keep, Crew(workers, runner, address), expect)


@app.command()
@deed
def amend(s: Session, id: Id, why: Why) -> None:
    """Record that the contract changed, and why. Ends at the freeze."""
    from echoctl.cli import acts

    acts.amend(s, id, why)


@app.command()
@deed
def review(
    s: Session,
    id: Id,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", metavar="NAME", help="Who reviewed.")
    ] = None,
    finding: Annotated[
        list[str] | None,
        typer.Option("--finding", metavar="TEXT", help="A finding that must be answered; repeat."),
    ] = None,
    blocking: Annotated[
        list[str] | None,
        typer.Option(
            "--blocking", metavar="TEXT", help="A finding that blocks the freeze; repeat."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", metavar="FILE", help="YAML or JSON with reviewer and findings instead."
        ),
    ] = None,
    answer: Annotated[
        str | None, typer.Option("--answer", metavar="FINDING", help="Close this finding instead.")
    ] = None,
    action: Annotated[
        str | None, typer.Option("--action", metavar="TEXT", help="What was done about it.")
    ] = None,
) -> None:
    """Record a reviewer's findings, or the action on one.

    With --answer and --action: what was done about that finding.
    """
    from echoctl.cli import acts
    from echoctl.errors import UsageError

    if (answer is None) != (action is None):
        raise UsageError(
            "--answer and --action go together",
            f"echoctl review {id} --answer FINDING --action TEXT",
        )
    if answer is not None and action is not None:
        if reviewer or finding or blocking or file:
            raise UsageError(
                "a review and an answer are two commands", "leave --answer and --action out"
            )
        acts.answer(s, id, answer, action)
        return
    findings: list[dict[str, object]] = [
        *({"text": text, "blocking": True} for text in blocking or []),
        *({"text": text, "blocking": False} for text in finding or []),
    ]
    acts.review(s, id, reviewer or "", findings, file)


@app.command()
@deed
def close(s: Session, id: Id, why: Why) -> None:
    """Close a track red in development; its exam is never opened."""
    from echoctl.cli import acts

    acts.close(s, id, why)


# --- the exam ------------------------------------------------------------------------------


@app.command()
@deed
def freeze(
    s: Session,
    id: SomeId = None,
    workers: Workers = None,
    runner: Runner = "local",
    address: Address = None,
) -> None:
    """Train, then seal everything: contract, seeds, code, jobs.

    No ID: every track that is ready.
    """
    from echoctl.cli import exams

    exams.freeze(s, id, Crew(workers, runner, address))


@app.command()
@deed
def exam(
    s: Session,
    id: Id,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted exam, under the same claim.")
    ] = False,
    workers: Workers = None,
    runner: Runner = "local",
    address: Address = None,
    expect: Expect = None,
) -> int:
    """Open the exam, once: run every job, decide, write the report.

    Jobs run from the sealed code. No measure is shown before every job is in.
    """
    from echoctl.cli import exams

    return exams.exam(s, id, resume, Crew(workers, runner, address), expect)


@app.command()
@deed
def report(s: Session, id: SomeId = None) -> None:
    """Write docs/results/ID.md and ID.html again from sealed results."""
    from echoctl.cli import exams

    exams.report(s, id)


@app.command()
@deed
def verify(
    s: Session,
    id: SomeId = None,
    rerun: Annotated[
        int,
        typer.Option("--rerun", metavar="K", min=0, help="Play K jobs again and compare bytes."),
    ] = 0,
    receipt: Annotated[
        list[str] | None,
        typer.Option("--receipt", metavar="LINE", help="A receipt that was kept outside; repeat."),
    ] = None,
    signers: Annotated[
        Path | None,
        typer.Option("--signers", metavar="FILE", help="SSH allowed signers, for signed receipts."),
    ] = None,
    tsa_ca: Annotated[
        Path | None,
        typer.Option("--tsa-ca", metavar="FILE", help="Certificate of the time-stamp authority."),
    ] = None,
    expect: Expect = None,
) -> int:
    """Check everything again, by code that shares nothing.

    No ID: every decided track.
    """
    from echoctl.cli import exams

    asked = exams.Asked(rerun, signers, tsa_ca, tuple(receipt or ()))
    return exams.verify(s, id, asked, expect)


@app.command()
@verb
def bundle(
    s: Session,
    id: Id,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Where to write it; by default ID-evidence.zip."),
    ] = None,
) -> None:
    """Pack all that a stranger needs to verify into one archive."""
    from echoctl.cli import exams

    exams.bundle(s, id, to)


@app.command()
@deed
def sign(
    s: Session,
    id: Id,
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help="An SSH key, as git uses it.")],
) -> None:
    """Sign the receipts with an SSH key: evidence L2."""
    from echoctl.cli import exams

    exams.sign(s, id, key)


@app.command()
@deed
def stamp(
    s: Session,
    id: Id,
    url: Annotated[
        str,
        typer.Option("--url", metavar="URL", help="A time authority (RFC 3161) of your choice."),
    ],
) -> None:
    """Have the receipts time-stamped from outside: evidence L3."""
    from echoctl.cli import exams

    exams.stamp(s, id, url)


# --- looking and beginning -----------------------------------------------------------------


@app.command()
@verb
def new(
    s: Session,
    id: Annotated[str, typer.Argument(metavar="ID", help="The new contract's id; used once.")],
    follows: Annotated[
        str | None,
        typer.Option("--follows", metavar="ID", help="The earlier attempt that this one follows."),
    ] = None,
) -> None:
    """Begin a contract and a track that already rehearse green.

    With --follows: a copy of that contract under the new id, with seeds that nobody has used.
    Where there is no workspace, the current folder (or --workspace) becomes one.
    """
    from echoctl.cli import acts

    acts.new(s, id, follows)


@app.command()
@verb
def replay(
    s: Session,
    id: Id,
    job: Annotated[str, typer.Argument(metavar="JOB", help="The id of a job that was played.")],
    row: Annotated[
        int, typer.Option("--row", metavar="N", min=0, help="Which of its episodes, from 0.")
    ] = 0,
    fps: Annotated[
        float, typer.Option("--fps", metavar="N", min=0.2, max=60, help="Moments per second.")
    ] = 6,
    gif: Annotated[
        Path | None, typer.Option("--gif", metavar="FILE", help="Write a GIF instead of playing.")
    ] = None,
) -> None:
    """Play one episode in the terminal, or write it as a GIF.

    Exam worlds are refused before the exam is complete.
    """
    from echoctl.cli import exams

    exams.replay(s, id, job, row, fps, gif)


app.command()(power)
app.add_typer(stats.app, name="stats")
