"""A contract shaped like memx and made-up outcomes, so that every kind of check has something
to say. The numbers are drawn from names; they are nobody's results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from echoctl.contract import Contract, load_contract
from echoctl.draws import Draws
from echoctl.render.film import Film, Frame
from echoctl.render.report import Event, Evidence, Exhibit, Report
from echoctl.track import Outcome
from echoctl.verdict import Verdict, decide

YAML = """\
schema: echoctl/1
id: muestra
title: MUESTRA
lang: es
approved: {by: Nadie, on: 2026-10-20}
track: muestra
question: >-
  ¿Puede una memoria <aprendida> en unos mundos equivocarse menos en familias que nunca ha visto,
  mejor que una vacía & una barajada?
does_not_claim:
  - Que el agente entienda los mundos.
  - Que esto valga fuera de estos mundos.
unit: {name: macro, count: 10}
arms:
  - {id: vacia, kind: control, gloss: empty memory}
  - {id: aprendida, kind: treatment, gloss: learned memory}
  - {id: barajada, kind: control, gloss: shuffled memory}
  - {id: marginal, kind: control, gloss: as careful without looking at the key}
  - {id: oraculo, kind: reference, gloss: true roles}
  - id: llm
    kind: reported
    optional: true
    gloss: a language model
    text: Sin servicio configurado no se juega.
regimes: [A1, A2]
worlds:
  development: {families: [LavaGapS5, DoorKey-5x5, Dynamic-Obstacles-5x5], per_unit: 4}
  exam:
    families: [LavaGapS7, DoorKey-6x6, Dynamic-Obstacles-6x6]
    per_unit: 4
    rounds: 5
    sealed: true
    stand_in:
      LavaGapS7: LavaGapS5
      DoorKey-6x6: DoorKey-5x5
      Dynamic-Obstacles-6x6: Dynamic-Obstacles-5x5
seeds:
  development: {base: 1000000}
  rehearsal: {base: 1100000, size: 1000}
  exam: {base: 1200000}
measures:
  success: {better: higher}
  harm: {better: lower}
  waste: {better: lower}
  destroyed: {better: lower}
predictions:
  P1:
    text: El daño de aprendida es menor que el de los tres controles y como mucho la mitad.
    all:
      - ratio: {measure: harm, where: {regime: A1}, arm: aprendida, to: vacia, at_most: "0.50"}
      - wilcoxon:
          measure: harm
          where: {regime: A1}
          arm: aprendida
          below: [marginal, barajada, vacia]
          alpha: "0.01"
          correction: holm
  P2:
    text: El éxito no baja.
    all:
      - not_lower: {measure: success, arm: aprendida, than: [vacia, marginal]}
      - share:
          measure: harm
          arm: aprendida
          relation: not_above
          than: vacia
          plus: 1
          at_least: "75 %"
  P3:
    text: El daño baja ronda tras ronda.
    all:
      - monotone:
          measure: harm
          arm: aprendida
          in_a_row: 3
          first_round: 1
          last_round: 5
          guard: {measure: success, may_not: fall}
      - rate: {hits: harm, of: waste, arm: aprendida, at_most: "0.9"}
  P4:
    decides: false
    text: Casi nadie acierta en el azar.
    all:
      - any:
          - count: {measure: harm, arm: vacia, every: unit, at_most: 3}
          - not: {wilcoxon: {measure: waste, arm: aprendida, differs_from: [vacia], alpha: "0.01"}}
          - identical: {digests: [memory, memory_after]}
  P5:
    decides: false
    text: El oráculo no acierta menos.
    all:
      - not_higher: {measure: success, arm: aprendida, than: [oraculo]}
invariants:
  - equal: {measure: destroyed, to: 0}
verdict:
  green: [P1, P2, P3]
  labels:
    - {when: {pass: [P1, P2], fail: [P3]}, text: "transferencia de identidad, no de rol"}
exhibits:
  - curve: {measure: harm, where: {regime: A1}}
    text: El daño <por ronda> de cada brazo.
  - table: {measures: [harm], by: family, where: {round: 5}, against: {round: 1}}
    text: Cada familia antes y después.
  - table: {measures: [harm, waste], by: round, arms: [aprendida, llm]}
  - table: {measures: [harm], by: unit, where: {regime: A2, family: LavaGapS7}}
  - log: {measure: waste, by: round, only: [harm], beside: [harm, success], arms: [aprendida]}
    text: Lo que sobró.
prior_knowledge:
  - {text: "Se conocían los resultados publicados.", on: 2026-10-21}
choices:
  - {id: C1, text: "«Éxito no menor» compara totales."}
declarations:
  - {text: "Las macro-semillas son bloques de mundos, no memorias independientes."}
"""

TENDENCY = {"vacia": 60, "aprendida": 12, "barajada": 55, "marginal": 40, "oraculo": 2}


def contract() -> Contract:
    return load_contract(YAML.encode(), "contracts/muestra.yaml")


def outcomes(
    kind: Contract, units: int = 10, tendency: dict[str, int] = TENDENCY
) -> Iterator[Outcome]:
    columns = (
        "stage",
        "family",
        "round",
        "episode",
        "seed",
        "destroyed",
        "harm",
        "success",
        "waste",
    )
    for regime in kind.regimes:
        for arm, likely in tendency.items():
            for unit in range(1, units + 1):
                rows: list[list[Any]] = []
                for family in kind.worlds["exam"].families:
                    for number in range(1, 6):
                        chance = likely // (number if arm == "aprendida" else 1)
                        for episode in range(4):
                            draws = Draws("sample", regime, arm, unit, family, number, episode)
                            harm = int(draws.below(100) < chance)
                            rows.append([
                                "exam", family, number, episode, 1_000_000 + episode, 0, harm,
                                1 - harm, 1 + draws.below(4),
                            ])  # fmt: skip
                digests = {"memory": "a", "memory_after": "a"}
                yield Outcome(
                    f"{regime}-{arm}-{unit}".lower(),
                    {"unit": unit, "arm": arm, "regime": regime},
                    columns, rows, digests,
                )  # fmt: skip


def verdict(mark: str = "", tendency: dict[str, int] = TENDENCY) -> Verdict:
    kind = contract()
    return decide(kind, outcomes(kind, tendency=tendency), mark=mark)


def films(family: str = "LavaGapS7") -> list[Film]:
    from echoctl.percept import ACTION_NAMES
    from echoctl.worlds import build, scene
    from echoctl.worlds.permit import Permit

    seed = 900_000
    recorded = []
    for arm in ("vacia", "aprendida"):
        world = build(family, seed, ids=("sample",), permit=Permit.conformance([family]))
        world.reset()
        frames = [Frame(scene(world))]
        draws = Draws("film", arm)
        while not world.over and len(frames) < 60:
            action = draws.choice((0, 1, 2, 2, 2, 3, 5))
            seen = world.step(action)
            frames.append(Frame(scene(world), ACTION_NAMES[action], seen.reward))
        end = "success" if world.success else "harm" if world.harm else "timeout"
        recorded.append(Film(arm, family, seed, frames, end))
    return recorded


def evidence() -> Evidence:
    return Evidence(
        grade="L0",
        receipts=("echoctl-freeze muestra " + "3f9a" * 16, "echoctl-claim muestra " + "8c1d" * 16),
        events=(
            Event("2026-12-01T09:00:00Z", "preflight", "3 familias, 600 semillas"),
            Event("2026-12-02T09:00:00Z", "review", "2 hallazgos, 2 contestados"),
            Event("2026-12-03T09:00:00Z", "freeze", "120 trabajos"),
            Event("2026-12-03T10:02:11Z", "claim", "8c1d…"),
        ),
        seals={"results": "9c41" * 16, "verdict": "77aa" * 16},
        witnesses={"git": "not checked: no repository"},
        environment={"python": "3.11.7", "minigrid": "3.0.0"},
    )


def report(mark: str = "", exhibits: bool = True) -> Report:
    shown = []
    if exhibits:
        shown = [
            Exhibit(
                "Fijado antes.",
                family,
                "A1",
                "macro 1, episodio 0, semilla 900000",
                films(family),
                family,
            )
            for family in ("LavaGapS7", "Dynamic-Obstacles-6x6", "DoorKey-6x6")
        ]
    return Report(contract(), verdict(mark), evidence(), shown, "0.1.0")
