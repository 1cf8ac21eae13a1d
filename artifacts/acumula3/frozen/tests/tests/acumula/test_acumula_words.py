from __future__ import annotations

from pathlib import Path

from echoctl.contract import load_contract
from echoctl.mind.edits import BOUND, PIECES, REFINE, Edit
from echoctl.tracks.acumula import Acumula
from echoctl.tracks.acumula3 import Acumula3

CONTRACTS = Path(__file__).parents[2] / "contracts"


def test_a_log_of_edits_says_them_in_words_and_pieces_by_their_names() -> None:
    third = load_contract((CONTRACTS / "acumula3.yaml").read_bytes(), "acumula3.yaml")
    first = load_contract((CONTRACTS / "acumula.yaml").read_bytes(), "acumula.yaml")
    assert Acumula3().word(third, "edit", Edit(PIECES, 0b11).code) == "commit+no_repick"
    assert Acumula3().word(third, "edit", Edit(REFINE, 37, 3).code) == "refine(37, rank)"
    assert Acumula().word(first, "edit", Edit(BOUND, 5 * 128 + 95, 2).code) == "bound(2, 5, 95)"


def test_any_other_measure_is_the_number_that_it_is() -> None:
    first = load_contract((CONTRACTS / "acumula.yaml").read_bytes(), "acumula.yaml")
    assert Acumula().word(first, "steps", 27) == "27"
