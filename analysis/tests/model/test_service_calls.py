# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Service calls: four events with one client and one sequence number."""

from __future__ import annotations

from scene import BASE, Scene

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.service_calls import METHODS

Row = tuple[int | None, int | None, int | None, int | None]


def scene() -> Scene:
    made = Scene()
    made.service("/add", node="/server", pid=2, symbol="on_add")
    made.client("ana", "/add", node="/a", pid=1)
    made.client("bob", "/add", node="/b", pid=3)
    return made


def calls(model: Model) -> list[Row]:
    """The times of the events of each call: sent, taken, answered, got."""
    exchange, found = model.service_traffic.exchange, model.service_traffic.calls
    kinds = (
        (exchange.sent_requests, found.request),
        (exchange.taken_requests, found.taken),
        (exchange.sent_responses, found.response),
        (exchange.taken_responses, found.taken_response),
    )
    columns = [[None if r == NONE else int(e.ns[r]) - BASE for r in of] for e, of in kinds]
    return list(zip(*columns, strict=True))


def methods(model: Model) -> list[str | None]:
    return [None if m == NONE else METHODS[m] for m in model.service_traffic.calls.method]


def test_clients_with_one_sequence_number_are_told_apart() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        101 3.3 rmw_send_request bob 1
        110 2.2 rmw_take_request on_add bob 1
        111 2.2 rmw_send_response on_add bob 1 111
        112 2.2 rmw_take_request on_add ana 1
        113 2.2 rmw_send_response on_add ana 1 113
        120 3.3 rmw_take_response bob 1 111
        121 1.1 rmw_take_response ana 1 113
        """
    )
    model = made.model()
    assert calls(model) == [(100, 112, 113, 121), (101, 110, 111, 120)]
    assert methods(model) == ["gid+sequence"] * 2
    assert model.findings.counts == {"requests_without_callback": 2}


def test_outstanding_calls_may_be_answered_in_any_order() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        101 1.1 rmw_send_request ana 2
        102 1.1 rmw_send_request ana 3
        110 2.2 rmw_take_request on_add ana 1
        111 2.3 rmw_take_request on_add ana 2
        112 2.3 rmw_send_response on_add ana 2 112
        113 1.1 rmw_take_response ana 2 112
        114 2.2 rmw_send_response on_add ana 1 114
        115 1.1 rmw_take_response ana 1 114
        """
    )
    model = made.model()
    rows = [(100, 110, 114, 115), (101, 111, 112, 113), (102, None, None, None)]
    assert calls(model) == rows
    assert model.findings.counts["untaken_requests"] == 1


def test_a_new_client_at_an_old_address_begins_to_count_again() -> None:
    made = scene()
    made.client("ann", "/add", node="/a", pid=1, at=200, like="ana")
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        110 2.2 rmw_take_request on_add ana 1
        300 1.1 rmw_send_request ana 1
        305 2.2 rmw_send_response on_add ana 1 305     to a client that is no more
        310 2.2 rmw_take_request on_add ann 1
        320 2.2 rmw_send_response on_add ann 1 320
        330 1.1 rmw_take_response ana 1 320
        """
    )
    model = made.model()
    assert calls(model) == [(100, 110, 305, None), (300, 310, 320, 330)]
    assert model.service_traffic.calls.client.tolist() == [0, 2]
    assert model.findings.counts["untaken_responses"] == 1


def test_one_process_id_and_address_on_another_host_or_process_is_another_client() -> None:
    made = scene()
    made.client("eve", "/add", node="/e", pid=4, like="ana")
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        101 4.4 rmw_send_request eve 1
        110 2.2 rmw_take_request on_add eve 1
        """
    )
    model = made.model()
    assert calls(model) == [(100, None, None, None), (101, 110, None, None)]


def with_a_gid_again() -> Scene:
    """Another process gets the GID of ana, and asks with the same numbers: `second`."""
    made = scene()
    first = made.entities["ana"]
    made.client("ana", "/add", node="/a2", pid=5, at=200)
    made.entities["second"], made.entities["ana"] = made.entities["ana"], first
    return made


def test_a_gid_that_is_used_again_is_told_apart_by_lifetimes() -> None:
    made = with_a_gid_again()
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        110 2.2 rmw_take_request on_add ana 1
        120 2.2 rmw_send_response on_add ana 1 120
        130 1.1 rmw_take_response ana 1 120
        300 5.5 rmw_send_request second 1
        310 2.2 rmw_take_request on_add ana 1
        320 2.2 rmw_send_response on_add ana 1 320
        330 5.5 rmw_take_response second 1 320
        """
    )
    model = made.model()
    assert calls(model) == [(100, 110, 120, 130), (300, 310, 320, 330)]
    assert "ambiguous_service_events" not in model.findings.counts


def test_what_may_be_of_an_earlier_client_of_the_gid_is_not_matched() -> None:
    made = with_a_gid_again()
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        300 5.5 rmw_send_request second 1
        310 2.2 rmw_take_request on_add ana 1          whose?
        """
    )
    model = made.model()
    assert calls(model) == [
        (100, None, None, None),
        (300, None, None, None),
        (None, 310, None, None),
    ]
    assert model.findings.counts["ambiguous_service_events"] == 1


def test_a_client_without_init_events_is_known_by_its_responses() -> None:
    made = Scene()
    made.client("old", "/add", node="/a", pid=1, known=False)
    made.client("older", "/add", node="/b", pid=3, known=False)
    made.play(
        """
        100 1.1 rmw_send_request old 7
        101 3.3 rmw_send_request older 7
        110 2.2 rmw_take_request unknown old 7
        111 2.2 rmw_send_response unknown old 7 111
        112 2.2 rmw_take_request unknown older 7
        120 1.1 rmw_take_response old 7 111
        130 1.1 rmw_send_request old 8                 never answered, but known by now
        140 2.2 rmw_take_request unknown old 8
        """
    )
    model = made.model()
    assert calls(model) == [
        (100, 110, 111, 120),
        (101, None, None, None),
        (None, 112, None, None),
        (130, 140, None, None),
    ]
    assert methods(model) == ["response timestamp", None, None, "response timestamp"]
    assert model.findings.counts["inferred_calls"] == 2
    assert (
        model.findings.counts["untaken_requests"]
        == model.findings.counts["unmatched_requests"]
        == 1
    )


def test_responses_that_tell_different_gids_tell_nothing() -> None:
    made = Scene()
    made.client("old", "/add", node="/a", pid=1, known=False)
    made.play(
        """
        100 1.1 rmw_send_request old 1
        110 2.2 rmw_take_request unknown old 1
        111 2.2 rmw_send_response unknown old 1 111
        120 1.1 rmw_take_response old 1 111
        130 1.1 rmw_send_request old 2
        140 2.2 rmw_take_request unknown new 2
        141 2.2 rmw_send_response unknown new 2 141
        150 1.1 rmw_take_response old 2 141
        """
    )
    model = made.model()
    assert (100, None, None, 120) in calls(model)
    assert (None, 110, 111, None) in calls(model)
    assert len(calls(model)) == 4
    assert "inferred_calls" not in model.findings.counts
    assert model.findings.counts["calls_of_unseen_services"] == 2


def test_a_client_whose_responses_contradict_its_gid_is_two_and_matches_nothing() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        110 2.2 rmw_take_request on_add ana 1
        200 1.1 rmw_send_request ana 2                 a new client, whose init event was lost
        210 2.2 rmw_take_request on_add new 2
        220 2.2 rmw_send_response on_add new 2 220
        230 1.1 rmw_take_response ana 2 220
        """
    )
    model = made.model()
    assert set(methods(model)) == {"gid+sequence", None}
    assert (100, None, None, None) in calls(model)
    assert (200, None, None, None) in calls(model)
    assert (None, 210, 220, None) in calls(model)
    assert model.findings.counts["unmatched_responses"] == 1


def test_one_client_that_sends_a_number_twice_is_ambiguous() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        110 2.2 rmw_take_request on_add ana 1
        200 1.1 rmw_send_request ana 1
        """
    )
    model = made.model()
    assert calls(model) == [
        (100, None, None, None),
        (None, 110, None, None),
        (200, None, None, None),
    ]
    assert model.findings.counts["ambiguous_service_events"] == 2


def test_of_two_services_the_one_whose_response_came_first_counts() -> None:
    made = scene()
    made.service("/add", node="/other", pid=6, symbol="on_add_too")
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        110 2.2 rmw_take_request on_add ana 1
        112 6.6 rmw_take_request on_add_too ana 1
        115 6.6 rmw_send_response on_add_too ana 1 115
        118 2.2 rmw_send_response on_add ana 1 118
        120 1.1 rmw_take_response ana 1 115
        125 1.1 rmw_take_response ana 1 118
        """
    )
    model = made.model()
    assert calls(model) == [(100, 112, 115, 120), (None, 110, 118, 125)]
    assert model.service_traffic.calls.client.tolist() == [0, 0]
    assert model.service_traffic.calls.further.tolist() == [False, True]
    assert model.findings.counts["requests_taken_by_several"] == 1
    assert "unmatched_requests" not in model.findings.counts


def test_a_response_is_not_given_to_one_of_several_services() -> None:
    made = scene()
    made.service("/add", node="/other", pid=6, symbol="on_add_too")
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        110 2.2 rmw_take_request on_add ana 1
        112 6.6 rmw_take_request on_add_too ana 1
        120 1.1 rmw_take_response ana 1 115            whose send was not recorded
        """
    )
    model = made.model()
    assert calls(model) == [(100, 110, None, None), (None, 112, None, None)]
    assert model.findings.counts["unmatched_responses"] == 1


def test_calls_of_a_service_outside_of_the_trace() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        120 1.1 rmw_take_response ana 1 115
        """
    )
    model = made.model()
    assert calls(model) == [(100, None, None, 120)]
    assert methods(model) == ["client+sequence"]
    assert model.findings.counts == {"calls_of_unseen_services": 1}


def test_a_trace_that_is_cut_at_both_ends() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rmw_take_response ana 1 90             before: sent, taken and answered
        101 2.2 rmw_send_response on_add ana 2 101     before: sent and taken
        102 1.1 rmw_take_response ana 2 101
        103 2.2 rmw_take_request on_add ana 3          before: sent
        104 2.2 rmw_send_response on_add ana 3 104
        105 1.1 rmw_take_response ana 3 104
        200 1.1 rmw_send_request ana 4
        201 2.2 rmw_take_request on_add ana 4
        202 2.2 rmw_send_response on_add ana 4 202     after: taken
        203 1.1 rmw_send_request ana 5
        204 2.2 rmw_take_request on_add ana 5          after: answered
        205 1.1 rmw_send_request ana 6                 after: taken by a service
        """
    )
    model = made.model()
    assert calls(model) == [
        (None, None, 101, 102),
        (None, 103, 104, 105),
        (200, 201, 202, None),
        (203, 204, None, None),
        (205, None, None, None),
    ]
    assert model.findings.counts == {
        "requests_without_callback": 3,
        "unmatched_responses": 1,
        "unmatched_requests": 1,
        "untaken_responses": 1,
        "unanswered_requests": 1,
        "untaken_requests": 1,
    }


def test_takes_of_nothing_are_counted() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        110 2.2 rmw_take_request on_add ana 1 empty
        115 2.2 rmw_take_request on_add ana 1
        """
    )
    model = made.model()
    assert calls(model) == [(100, 115, None, None)]
    assert model.findings.counts["empty_service_takes"] == 1


def test_the_callback_is_the_one_that_the_take_started() -> None:
    made = scene()
    made.subscription("/t", node="/server", pid=2, symbol="on_t")
    made.timer(node="/a", pid=1, symbol="on_tick")
    made.play(
        """
         90 1.1 callback_start on_tick
        100 1.1 rmw_send_request ana 1
        101 1.1 callback_end on_tick
        102 1.1 rmw_send_request ana 2
        110 2.2 execute on_add
        111 2.2 rmw_take_request on_add ana 1
        112 2.2 callback_start on_add
        113 2.2 callback_end on_add
        114 2.2 rmw_send_response on_add ana 1 114
        120 2.2 rmw_take_request on_add ana 2
        121 2.2 callback_start on_t                    a take's event was lost
        122 2.2 callback_end on_t
        """
    )
    model = made.model()
    exchange = model.service_traffic.exchange
    executions = model.executions
    assert executions.start_ns[exchange.caller[0]] == BASE + 90
    assert exchange.caller[1] == NONE
    assert executions.start_ns[exchange.execution[0]] == BASE + 112
    assert exchange.execution[1] == NONE
    assert exchange.picked_ns.tolist() == [BASE + 110, NONE]
    assert model.findings.counts["requests_without_callback"] == 1


def test_service_callbacks_without_any_request_are_remarked() -> None:
    made = Scene()
    made.service("/add", node="/server", pid=2, symbol="on_add")
    made.play(
        """
        112 2.2 callback_start on_add
        113 2.2 callback_end on_add
        """
    )
    model = made.model()
    assert calls(model) == []
    assert model.findings.counts == {"service_calls_unseen": 1}


def test_a_services_callback_is_not_a_messages() -> None:
    made = scene()
    made.publisher("/t", node="/a", pid=1)
    made.subscription("/t", node="/server", pid=2, symbol="on_t")
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        101 1.1 rcl_publish /t
        102 1.1 rmw_publish /t 102
        110 2.2 rmw_take on_t 102                      without a callback; no executor events
        120 2.2 rmw_take_request on_add ana 1
        121 2.2 callback_start on_add
        122 2.2 callback_end on_add
        """
    )
    model = made.model()
    assert model.service_traffic.exchange.execution.tolist() == [0]
    assert model.takes.execution.tolist() == [NONE]
    assert model.findings.counts["takes_without_callback"] == 1


def test_every_event_of_a_call_is_accounted_for() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        105 2.2 rmw_take_request on_add ana 1 empty
        108 2.2 execute on_add
        110 2.2 rmw_take_request on_add ana 1
        111 2.2 rmw_send_response on_add ana 1 111
        120 1.1 rmw_take_response ana 1 111
        130 1.1 rmw_take_response ana 0 90
        """
    )
    model = made.model()
    uses = {
        (use.event.removeprefix("ros2:"), use.text): use.count for use in model.facts.event_uses()
    }
    assert (
        uses.items()
        >= {
            ("rmw_send_request", "a service call"): 1,
            ("rmw_take_request", "a service call"): 1,
            ("rmw_take_request", "nothing was taken"): 1,
            ("rclcpp_executor_execute", "a service was picked"): 1,
            ("rmw_send_response", "a service call"): 1,
            ("rmw_take_response", "a service call"): 1,
            ("rmw_take_response", "its partner is before the trace"): 1,
        }.items()
    )
