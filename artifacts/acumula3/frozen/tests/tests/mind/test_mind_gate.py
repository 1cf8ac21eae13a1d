from __future__ import annotations

from mind_toy import FREE_FLOOR, IDS, Toy, known, live, mind_of

from echoctl.mind import BLOCK, MODIFY, OK, Mind, Shape, Tables
from echoctl.mind.reading import NOWHERE, Belief
from echoctl.mind.roles import ENTER, HURT, NONE, NOOP, TAKE, UNKNOWN, USE, Trial
from echoctl.percept import FORWARD, WAIT
from echoctl.tracks.memx.policy import RULES, probe

PROBE = (("probe", probe), ("rest", Mind.rest_here))


def answers(mind: Mind) -> list[tuple[str, int]]:
    letters = {id_: letter for letter, id_ in IDS.items()}
    return [(letters[a.key >> 3] + str(a.key & 7), a.verdict) for a in mind.gate.log]


def test_ok_block_and_modify_each_with_its_reason() -> None:
    tables = known(FREE_FLOOR, ("~", ENTER, HURT), ("#", ENTER, NOOP), ("#", TAKE, NOOP))
    mind = mind_of(tables, PROBE)
    live(mind, Toy("#####", "#>~.#", "#.G.#", "#####"), steps=3)
    assert answers(mind)[:4] == [
        ("~0", BLOCK),
        ("#0", MODIFY),
        ("#1", MODIFY),
        ("#3", OK),
    ]
    reasons = [answer.why for answer in mind.gate.log]
    lava, wall = IDS["~"], IDS["#"]
    assert reasons[0] == f"BLOCK: enter id {lava}, layer 1 says HURT (3 of 3)"
    assert reasons[1] == f"MODIFY: enter id {wall}, layer 1 says NOOP (3 of 3)"
    assert reasons[3] == f"OK: use id {wall}, of which nothing is known"


def test_a_blocked_thing_is_never_touched() -> None:
    mind = mind_of(known(FREE_FLOOR, ("~", ENTER, HURT)), PROBE)
    toy = Toy("~~~~~", "~>.~~", "~~~~~")
    steps = live(mind, toy, steps=5)
    assert not toy.over
    assert [action for _, action in steps] == [WAIT] * 5
    assert mind.counts() == (1, 1, 1, 0)


def test_modify_puts_the_next_kind_of_action_in_the_place_of_the_pruned_one() -> None:
    mind = mind_of(known(FREE_FLOOR, ("#", ENTER, NOOP)), PROBE)
    live(mind, Toy("###", "#>#", "###"), steps=1)
    assert answers(mind) == [("#0", MODIFY), ("#1", OK)]
    assert mind.action == 3, "it takes instead of entering"


def test_asks_hits_blocks_and_modifies_count_each_id_and_kind_once_an_episode() -> None:
    tables = known(FREE_FLOOR, ("#", ENTER, NOOP), ("#", TAKE, NOOP), ("~", ENTER, HURT))
    mind = mind_of(tables, PROBE)
    live(mind, Toy("######", "#>..~#", "######"), steps=20)
    assert mind.counts() == (4, 3, 1, 2), "use on the wall is asked and unknown"


def test_what_was_lived_is_pruned_too_but_not_counted() -> None:
    mind = mind_of(Tables(known().reading), PROBE)
    live(mind, Toy("###", "#>#", "###"), steps=10)
    assert mind.counts() == (3, 0, 0, 0)
    assert mind.gate.ask(IDS["#"] * 8 + ENTER, "test") == MODIFY
    assert "this episode says NOOP" in mind.gate.log[-1].why
    assert mind.counts() == (3, 0, 0, 0)


class Ambush(Toy):
    """A ball that moves at once, and then right in front of where the agent is about to be."""

    def _move(self) -> None:
        at = self.grid.index("o")
        to = at + 1 if self.tick == 1 else self.pos + 2
        self.grid[at], self.grid[to] = ".", "o"


def test_what_moves_into_the_way_is_blocked_and_the_way_planned_anew() -> None:
    tables = known(FREE_FLOOR, ("G", ENTER, 2), ("o", ENTER, HURT), ("#", ENTER, NOOP))
    mind = mind_of(tables, RULES)
    toy = Ambush("########", "#>....G#", "#..o...#", "#......#", "########", drift=(1, 2))
    mind.begin(toy.percept())
    for _ in range(2):
        mind.feel(toy.step(mind.act()))
    assert (mind.rule, toy.grid[toy.pos + 1]) == ("goal", "o")
    action = mind.act()
    assert action != FORWARD
    assert [a.why for a in mind.gate.log if a.verdict == BLOCK] == [
        f"BLOCK: enter id {IDS['o']}, layer 1 says HURT (3 of 3)"
    ]
    while not toy.over:
        mind.feel(toy.step(action))
        action = mind.act()
    assert toy.grid[toy.pos] == "G"


def test_each_decision_says_the_rule_and_which_key_of_which_layer_answered() -> None:
    far = Shape(0, 1, 0, 9, 9, 0)
    tables = known(FREE_FLOOR)
    tables.add([Trial(at, 250, ENTER, 2, far) for at in range(3)])
    mind = mind_of(tables, RULES)
    live(mind, Toy("#####", "#>.G#", "#####"))
    look, goal = mind.decisions
    assert (look.rule, look.key) == ("look", -1)
    assert (goal.rule, goal.key) == ("goal", IDS["G"] * 8 + ENTER)
    place = tables.reading.place(tables.reading.sign(far), ENTER)
    assert goal.belief == Belief(2, 2, place)


def test_a_failure_names_the_key_that_had_spoken_just_before() -> None:
    tables = known(FREE_FLOOR, ("~", ENTER, NONE))
    mind = mind_of(tables, RULES)
    live(mind, Toy("#####", "#>~G#", "#####"))
    failure = mind.failures[-1]
    assert failure.role == HURT
    assert failure.belief == Belief(NONE, 1, IDS["~"] * 8 + ENTER)
    assert failure.rule == "probe"


def test_an_unknown_key_is_believed_to_be_nothing() -> None:
    mind = mind_of(known(), PROBE)
    mind.begin(Toy("###", "#>#", "###").percept())
    assert mind.believe(IDS["k"] * 8 + USE) == Belief(UNKNOWN, NOWHERE, -1)
