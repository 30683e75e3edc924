"""Write `airline_results.json`: a dozen invented runs on tasks with gold sets, as a tau2 results file would hold them.

    python examples/make_airline_results.py

The conversations are invented, the tool results are what the tools answer, and the recorded verdict is what the
benchmark's single gold gives. The file names its benchmark release and embeds no task texts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import multigold
from multigold.benchmark_data import load_tasks
from multigold.environments import Drafts, step

TARGET = Path(__file__).with_name("airline_results.json")
RELEASE = "37199f3"

Step = tuple[str, dict[str, Any]] | str


def call(name: str, **arguments: Any) -> Step:
    return name, arguments


def legs(*flights: str) -> list[dict[str, str]]:
    return [dict(zip(("flight_number", "date"), flight.split(), strict=True)) for flight in flights]


def certificate(user: str, amount: int) -> Step:
    return call("send_certificate", user_id=user, amount=amount)


def change(reservation: str, cabin: str, payment: str, *flights: str) -> Step:
    return call(
        "update_reservation_flights",
        reservation_id=reservation,
        cabin=cabin,
        flights=legs(*flights),
        payment_id=payment,
    )


NOAH, ETHAN = "noah_muller_9847", "ethan_martin_2396"
BOSTON = call("get_reservation_details", reservation_id="4OG6T3")
SEATTLE = call("get_reservation_details", reservation_id="M61CQM")
NEWARK = call("get_reservation_details", reservation_id="OWZ4XL")
PHOENIX = call("get_reservation_details", reservation_id="PEP4E0")
CARD = "credit_card_9659780"
UPGRADE = change("OWZ4XL", "economy", CARD, "HAT202 2024-05-21", "HAT232 2024-05-21")
NONSTOP = change("OWZ4XL", "economy", CARD, "HAT041 2024-05-21")
KEPT_BASIC = change("OWZ4XL", "basic_economy", CARD, "HAT041 2024-05-21")

RUNS: tuple[tuple[str, str, str, tuple[Step, ...]], ...] = (
    # manner, task, how the run ended, what the agent did and said
    ("generous", "2", "user_stop", (BOSTON, certificate(NOAH, 50), "A certificate of $50 is on its way.")),
    ("strict", "2", "user_stop", (BOSTON, "You do not want to change the trip, so I cannot compensate you.")),
    ("strict", "2", "too_many_errors", (call("get_user", id=NOAH),)),
    ("generous", "27", "user_stop", (SEATTLE, certificate(ETHAN, 150), "A certificate of $150 is on its way.")),
    ("generous", "27", "user_stop", (SEATTLE, certificate(ETHAN, 50), "A certificate of $50 is on its way.")),
    (
        "strict",
        "27",
        "user_stop",
        (
            SEATTLE,
            change("M61CQM", "economy", "credit_card_5447957", "HAT223 2024-05-15", "HAT039 2024-05-16"),
            certificate(ETHAN, 150),
            "You leave tomorrow, and a certificate of $150 is on its way.",
        ),
    ),
    ("strict", "27", "user_stop", ("I have sent you a certificate of $150.",)),
    ("generous", "32", "user_stop", (NEWARK, UPGRADE, NONSTOP, "You are on HAT041 in economy.")),
    ("strict", "32", "user_stop", (NEWARK, NONSTOP, "You are on HAT041 in economy.")),
    ("strict", "32", "user_stop", (NEWARK, "A basic economy ticket cannot be changed.")),
    ("generous", "32", "user_stop", (NEWARK, KEPT_BASIC, UPGRADE, NONSTOP, "You are on HAT041 in economy.")),
    ("strict", "45", "user_stop", (PHOENIX, "I can neither cancel nor change this ticket, nor add insurance.")),
    (
        "generous",
        "45",
        "user_stop",
        (
            PHOENIX,
            change("PEP4E0", "economy", "credit_card_9302073", "HAT176 2024-05-20", "HAT097 2024-05-20"),
            change("PEP4E0", "economy", "credit_card_9302073", "HAT024 2024-05-22", "HAT002 2024-05-22"),
            "You now fly on May 22 in economy.",
        ),
    ),
)


def text_of(observation: Any) -> str:
    """Return a tool's answer as tau2 writes it into the conversation."""
    return observation if isinstance(observation, str) else json.dumps(observation)


def messages(environment: multigold.Environment, steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    """Return the conversation of one run, with the answers that the tools give."""
    drafts = Drafts(environment.initial)
    conversation: list[dict[str, Any]] = [{"role": "user", "content": "Hello, I need help with a reservation."}]
    for number, one in enumerate(steps):
        if isinstance(one, str):
            conversation.append({"role": "assistant", "content": one})
            continue
        name, arguments = one
        identity = {"id": f"call_{number}", "requestor": "assistant"}
        outcome = step(environment, drafts, multigold.ToolCall(name, arguments))
        answer = f"Error: {outcome.refusal.message}" if outcome.refusal else text_of(outcome.observation)
        calls = [{**identity, "name": name, "arguments": arguments}]
        conversation.append({"role": "assistant", "content": None, "tool_calls": calls})
        conversation.append({"role": "tool", **identity, "content": answer, "error": outcome.refusal is not None})
    return [*conversation, {"role": "user", "content": "Thank you. ###STOP###"}]


def simulations() -> list[dict[str, Any]]:
    """Return the runs as tau2 stores them."""
    environment = multigold.load_environment("tau2-airline")
    tasks = load_tasks("tau2-airline", RELEASE)
    trials: dict[str, int] = {}
    stored = []
    for manner, task_id, termination, steps in RUNS:
        trial = trials[task_id] = trials.get(task_id, -1) + 1
        conversation = messages(environment, steps)
        trajectory = multigold.Trajectory.from_messages(conversation, termination=termination)
        single = multigold.score(tasks[task_id], trajectory, environment=environment)
        ended = termination == "user_stop"
        reward = single.rewards.single
        stored.append(
            {
                "id": f"{task_id}-{trial}-{manner}",
                "task_id": task_id,
                "trial": trial,
                "termination_reason": termination,
                "reward_info": {
                    "reward": reward,
                    "db_check": {"db_match": single.benchmark_matched, "db_reward": reward} if ended else None,
                    "reward_basis": ["DB", "COMMUNICATE"],
                },
                "messages": conversation,
            }
        )
    return stored


def main() -> None:
    """Write the file."""
    document = {
        "info": {
            "git_commit": RELEASE,
            "agent_info": {"implementation": "invented", "llm": "example"},
            "environment_info": {"domain_name": "airline"},
        },
        "simulations": simulations(),
    }
    TARGET.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(document['simulations'])} runs")


if __name__ == "__main__":
    main()
