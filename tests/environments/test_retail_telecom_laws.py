"""Laws 3, 4, 5 and 11 for the retail and the telecom domain, on a made-up shop and a made-up carrier."""

from __future__ import annotations

import attrs
import pytest
import tiny_retail
import tiny_telecom
from tiny_telecom import LINE, agent, user

from multigold.environments.base import Environment
from multigold.environments.replay import replay
from multigold.model.task import ToolCall
from multigold.state.database import EndState
from multigold.testing import assert_initial_state_untouched, assert_reads_change_nothing, assert_replay_deterministic

CARRIER = tiny_telecom.environment()


@attrs.frozen
class Scene:
    environment: Environment
    start: EndState
    gold: tuple[ToolCall, ...]
    independent: tuple[tuple[ToolCall, ToolCall], ...]


SHOP = tiny_retail.environment()
RETAIL = Scene(
    SHOP,
    SHOP.initial,
    (
        tiny_retail.modify(["cup-s"], ["cup-m"]),
        tiny_retail.exchange(["cup-s"], ["cup-l"]),
        tiny_retail.repay("card_v", "#G"),
        tiny_retail.cancel(),
    ),
    (
        (tiny_retail.modify(["cup-s"], ["cup-m"]), tiny_retail.give_back(["cup-s"])),
        (tiny_retail.cancel("#G"), tiny_retail.readdress(city="Bonn")),
        (tiny_retail.repay("card_v", "#G"), tiny_retail.cancel()),
    ),
)
TELECOM = Scene(
    CARRIER,
    tiny_telecom.scene(CARRIER, ("break_vpn", {}), ("break_apn_settings", {})),
    (
        agent("send_payment_request", customer_id="C1", bill_id="B2"),
        user("make_payment"),
        user("reset_apn_settings"),
        agent("refuel_data", **LINE, gb_amount=1.5),
        user("reboot_device"),
        user("disconnect_vpn"),
    ),
    (
        (agent("refuel_data", **LINE, gb_amount=2), user("toggle_data_saver_mode")),
        (
            agent("refuel_data", **LINE, gb_amount=2),
            agent("refuel_data", customer_id="C2", line_id="L3", gb_amount=1),
        ),
        (agent("resume_line", customer_id="C1", line_id="L2"), user("toggle_roaming")),
        (agent("enable_roaming", **LINE), user("disconnect_vpn")),
    ),
)
SCENES = pytest.mark.parametrize("scene", [RETAIL, TELECOM], ids=["retail", "telecom"])


@SCENES
def test_law_3_a_replay_leaves_its_start_alone(scene: Scene) -> None:
    assert_initial_state_untouched(scene.environment, initial=scene.start, examples=scene.gold)


@SCENES
def test_law_4_reads_unknown_tools_and_clean_failures_change_nothing_wherever_they_stand(scene: Scene) -> None:
    assert_reads_change_nothing(scene.environment, scene.gold, initial=scene.start, examples=scene.gold)


@SCENES
def test_law_5_calls_on_other_records_commute(scene: Scene) -> None:
    for one, other in scene.independent:
        there, back = (replay(scene.environment, calls, initial=scene.start) for calls in ([one, other], [other, one]))
        assert there.refusals == back.refusals == ()
        assert there.end_state == back.end_state
        assert there.end_state != scene.start


@SCENES
def test_law_11_a_replay_is_the_same_whatever_was_replayed_before(scene: Scene) -> None:
    assert_replay_deterministic(scene.environment, initial=scene.start, examples=scene.gold)
