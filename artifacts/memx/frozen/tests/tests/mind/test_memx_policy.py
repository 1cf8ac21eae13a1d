"""Each rule of the base policy in a small world of its own."""

from __future__ import annotations

from mind_toy import FREE_FLOOR, IDS, Toy, known, live, mind_of

from echoctl.mind import Mind, Shape, Trial
from echoctl.mind.roles import ENTER, GOAL, HURT, NOOP, OPEN, PICK, TAKE, USE, USE_WITH
from echoctl.percept import DROP, FORWARD, WAIT
from echoctl.percept import TAKE as GRAB
from echoctl.percept import USE as OPERATE
from echoctl.tracks.memx.policy import CURIOUS_RULES, RULES

WALL = [("#", kind, NOOP) for kind in (ENTER, TAKE, USE, USE_WITH)]
DOOR = [("D", kind, NOOP) for kind in (ENTER, TAKE, USE)]
KEY = [("k", ENTER, NOOP), ("k", TAKE, PICK)]
FACTS = [FREE_FLOOR, *WALL, ("G", ENTER, GOAL), ("~", ENTER, HURT)]


def rules_of(steps: list[tuple[str, int]]) -> list[str]:
    """Return the rules in order, each once a run."""
    return [rule for at, (rule, _) in enumerate(steps) if at == 0 or steps[at - 1][0] != rule]


def won(toy: Toy) -> bool:
    return toy.over and toy.grid[toy.pos] == "G"


def test_the_rules_come_in_the_order_of_the_page() -> None:
    assert [name for name, _ in RULES] == [
        "look", "goal", "open", "resume", "probe", "fetch", "empty", "apply", "swap", "unpack",
        "doubt", "rest",
    ]  # fmt: skip
    assert [name for name, _ in CURIOUS_RULES][:3] == ["look", "probe", "goal"]
    assert sorted(CURIOUS_RULES, key=str) == sorted(RULES, key=str)


def test_look_the_very_first_action_is_to_wait() -> None:
    steps = live(mind_of(known(*FACTS), RULES), Toy("####", "#>G#", "####"))
    assert steps == [("look", WAIT), ("goal", FORWARD)]


def test_goal_is_reached_by_the_shortest_way_that_leads_through_nothing_harmful() -> None:
    toy = Toy("######", "#>~.G#", "#....#", "######")
    steps = live(mind_of(known(*FACTS), RULES), toy)
    assert won(toy)
    assert len(steps) == 1 + 8, "down, three east, up, with a turn before each"


def test_goal_is_left_alone_when_only_harm_leads_to_it() -> None:
    toy = Toy("######", "#>~.G#", "######")
    steps = live(mind_of(known(*FACTS), RULES), toy, steps=10)
    assert not toy.over
    assert rules_of(steps) == ["look", "rest"]


def test_open_opens_what_is_known_to_open() -> None:
    facts = [*FACTS, ("d", ENTER, NOOP), ("d", TAKE, NOOP), ("d", USE, OPEN)]
    toy = Toy("######", "#>.d.#", "####G#", "######")
    steps = live(mind_of(known(*facts), RULES), toy)
    assert won(toy)
    assert rules_of(steps)[:3] == ["look", "open", "probe"], "the open door is a new class"


def test_open_never_uses_what_may_still_be_taken() -> None:
    facts = [*FACTS, ("b", ENTER, NOOP), ("b", USE, OPEN)]
    toy = Toy("#####", "#>.b#", "#####", goal="b")
    steps = live(mind_of(known(*facts), RULES), toy)
    assert toy.hand == "b"
    assert toy.over
    assert OPERATE not in [action for _, action in steps]


def test_probe_tries_the_nearest_unknown_class_by_entering_then_taking_then_using() -> None:
    toy = Toy("#####", "#D>.#", "#...#", "#####")
    mind = mind_of(known(*FACTS), RULES)
    live(mind, toy, steps=8)
    done = [(a.key & 7) for a in mind.gate.log if a.key >> 3 == IDS["D"]]
    assert done == [ENTER, TAKE, USE]
    assert [f.key & 7 for f in mind.failures if f.key >> 3 == IDS["D"]] == [ENTER, TAKE, USE]


def test_probe_goes_to_the_nearer_of_two_unknowns_first() -> None:
    mind = mind_of(known(*FACTS), RULES)
    live(mind, Toy("#######", "#D..>k#", "#######"), steps=3)
    assert mind.gate.log[0].key == IDS["k"] * 8 + ENTER


def test_a_curious_mind_probes_before_it_walks_to_a_known_goal() -> None:
    rows = ("######", "#>.kG#", "#....#", "######")
    plain, curious = mind_of(known(*FACTS), RULES), mind_of(known(*FACTS), CURIOUS_RULES)
    assert "probe" not in rules_of(live(plain, Toy(*rows)))
    assert rules_of(live(curious, Toy(*rows)))[1] == "probe"


def test_fetch_takes_a_key_for_a_door_that_it_is_known_to_open() -> None:
    facts = [*FACTS, *DOOR, *KEY, ("D", USE_WITH, OPEN), ("_", ENTER, 0)]
    toy = Toy("######", "#k>.D#", "####.#", "####G#", "######")
    toy = Toy("#######", "#k>.D.#", "#####G#", "#######")
    steps = live(mind_of(known(*facts), RULES), toy)
    assert won(toy)
    assert rules_of(steps) == ["look", "fetch", "open", "goal"]


def test_fetch_takes_nothing_that_is_of_no_use_to_anything() -> None:
    facts = [*FACTS, *DOOR, *KEY, ("D", USE_WITH, NOOP)]
    steps = live(mind_of(known(*facts), RULES), Toy("######", "#k>.D#", "######"), steps=8)
    assert "fetch" not in rules_of(steps)


def test_empty_and_resume_drop_beside_what_is_untaken_and_then_take_it() -> None:
    facts = [*FACTS, *KEY, ("b", ENTER, NOOP), ("D", ENTER, NOOP), ("D", TAKE, NOOP)]
    toy = Toy("#######", "#k>...#", "#....b#", "#D#####", goal="b")
    toy.grid[8], toy.hand = ".", ""
    mind = mind_of(known(*facts), RULES)
    first = toy.percept()
    mind.begin(first)
    toy.hand = "k"
    mind.feel(toy.step(mind.act()))
    steps: list[tuple[str, int]] = []
    while not toy.over and len(steps) < 30:
        action = mind.act()
        steps.append((mind.rule, action))
        mind.feel(toy.step(action))
    assert toy.hand == "b"
    assert rules_of(steps) == ["empty", "resume"]
    put_down = next(at for at, (_, action) in enumerate(steps) if action == DROP)
    assert len(steps) - put_down <= 4, "it walked beside the box before it let go"


def test_apply_uses_what_is_held_on_what_cannot_be_entered() -> None:
    facts = [*FACTS, *DOOR, *KEY, ("_", ENTER, 0)]
    toy = Toy("#######", "#k>.D.#", "#####G#", "#######")
    steps = live(mind_of(known(*facts), RULES), toy)
    assert won(toy)
    assert rules_of(steps) == ["look", "fetch", "apply", "goal"]


def test_swap_puts_down_what_fits_nowhere_for_what_may() -> None:
    facts = [*FACTS, *DOOR, *KEY, ("b", ENTER, NOOP), ("b", TAKE, PICK), ("_", ENTER, 0)]
    toy = Toy("########", "#.b>.D.#", "#k####G#", "########")
    steps = live(mind_of(known(*facts), RULES), toy)
    assert won(toy)
    assert rules_of(steps)[:5] == ["look", "fetch", "apply", "swap", "resume"]


def test_unpack_opens_what_can_be_taken_when_all_else_has_failed() -> None:
    facts = [*FACTS, *DOOR, *KEY, ("B", ENTER, NOOP), ("B", TAKE, PICK), ("_", ENTER, 0)]
    facts += [("D", USE_WITH, OPEN)]
    toy = Toy("#######", "#B>.D.#", "#####G#", "#######")
    # The box cannot be lifted here, so the fetch fails and using it is what is left.
    steps = live(mind_of(known(*facts), RULES), toy)
    assert won(toy)
    assert OPERATE in [action for _, action in steps]


def shaped(kind: int, role: int) -> list[Trial]:
    """Three cases of something that looked like one inner cell, under an id not seen here."""
    return [Trial(at, 250, kind, role, Shape(0, 1, 0, 9, 9, 0)) for at in range(3)]


def test_doubt_tries_once_what_another_thing_of_that_shape_failed_to_do() -> None:
    tables = known(*FACTS, ("d", ENTER, NOOP), ("d", TAKE, NOOP), ("_", ENTER, 0))
    tables.add(shaped(USE, NOOP))
    toy = Toy("#######", "#>.d.G#", "#######")
    mind = mind_of(tables, RULES)
    steps = live(mind, toy)
    assert won(toy)
    assert rules_of(steps) == ["look", "doubt", "goal"]
    assert f"MODIFY: use id {IDS['d']}, layer 2 says NOOP (3 of 3)" in [
        answer.why for answer in mind.gate.log
    ]


def test_doubt_leaves_alone_what_this_very_id_did() -> None:
    facts = [*FACTS, ("d", ENTER, NOOP), ("d", TAKE, NOOP), ("d", USE, NOOP), ("_", ENTER, 0)]
    toy = Toy("#######", "#>.d.G#", "#######")
    assert rules_of(live(mind_of(known(*facts), RULES), toy, steps=20)) == ["look", "rest"]


def test_doubt_never_enters_what_was_not_to_be_entered() -> None:
    tables = known(*FACTS)
    tables.add(shaped(ENTER, NOOP))
    mind = mind_of(tables, RULES)
    steps = live(mind, Toy("######", "#>.k.#", "######"), steps=30)
    assert rules_of(steps)[-1] == "rest"
    assert all(failure.key & 7 != ENTER for failure in mind.failures)


def test_rest_waits_when_nothing_is_left() -> None:
    mind = mind_of(known(*FACTS, ("~", TAKE, NOOP)), RULES)
    steps = live(mind, Toy("~~~", "~>~", "~~~"), steps=4)
    assert steps == [("look", WAIT)] + [("rest", WAIT)] * 3
    assert mind.resting
    assert mind.settled
    assert mind.idle == 3


def test_a_veto_of_a_later_policy_piece_is_heeded() -> None:
    facts = [*FACTS, *DOOR, *KEY]

    def no_key(mind: Mind, id_: int, kind: int, cell: int) -> bool:
        return (id_, kind) == (IDS["k"], TAKE)

    mind = mind_of(known(*facts), RULES, vetoes=[no_key])
    steps = live(mind, Toy("#######", "#k>.D.#", "#######"), steps=12)
    assert GRAB not in [action for _, action in steps if action == GRAB and mind.picks]
    assert mind.picks == {}


def test_a_wrong_key_is_remembered_only_for_the_key_that_was_tried() -> None:
    mind = mind_of(known(*FACTS, *DOOR, *KEY, ("b", ENTER, NOOP), ("b", TAKE, PICK)), RULES)
    live(mind, Toy("########", "#.b>.D.#", "#k######", "########"), steps=40)
    assert mind.tried_with(IDS["b"], IDS["D"]) == NOOP
    assert mind.tried_with(IDS["k"], IDS["D"]) == OPEN


def test_renaming_every_id_changes_nothing_that_an_empty_memory_does() -> None:
    rows = ("########", "#.k>.D.#", "#.b###G#", "########")
    plain = live(mind_of(known(), RULES), Toy(*rows))
    names = dict(IDS)
    try:
        for letter, id_ in names.items():
            IDS[letter] = 255 - id_  # type: ignore[index]
        renamed = live(mind_of(known(), RULES), Toy(*rows))
    finally:
        IDS.update(names)  # type: ignore[attr-defined]
    assert renamed == plain
