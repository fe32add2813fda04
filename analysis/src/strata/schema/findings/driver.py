# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about sensor drivers: what was lost before a message, and how messages were linked."""

from __future__ import annotations

from strata.schema.diagnostic import Diagnostic, Severity

DRIVER = (
    Diagnostic(
        "driver_packets_dropped",
        Severity.WARNING,
        "{count} {packet|packets} of a sensor {was|were} dropped because the socket's buffer was "
        "full: the driver reads too slowly (driver_losses).",
    ),
    Diagnostic(
        "driver_buffers_dropped",
        Severity.WARNING,
        "{count} {buffer|buffers} {was|were} dropped by an appsink that was full: the driver pulls "
        "too slowly (driver_losses).",
    ),
    Diagnostic(
        "driver_packets_missing",
        Severity.WARNING,
        "{count} {packet|packets} of sensor frames never arrived, and the socket dropped none at "
        "that time: lost in transit, or never sent (driver_losses).",
    ),
    Diagnostic(
        "driver_frames_unpublished",
        Severity.WARNING,
        "{count} sensor {frame was|frames were} complete, but no message was published from "
        "{it|them}, although messages were published from other frames of the same source (the "
        "driver gave {it|them} up, nobody subscribed at that time, or the link is not known).",
    ),
    Diagnostic(
        "driver_sources_unpublished",
        Severity.INFO,
        "{count} {source|sources} of sensor data {was|were} read, but no message is known to be "
        "made from {it|them} (nobody subscribed, or the link is not known).",
    ),
    Diagnostic(
        "driver_links_inferred",
        Severity.WARNING,
        "{count} {message was|messages were} linked to the data that {its|their} thread had read "
        "last, because the driver does not report frames: inferred.",
    ),
    Diagnostic(
        "driver_links_with_losses",
        Severity.WARNING,
        "{count} {message|messages} may have been made from sensor data, but events were lost "
        "meanwhile: {it has|they have} no driver layers.",
    ),
    Diagnostic(
        "driver_frames_unread",
        Severity.WARNING,
        "{count} {message was|messages were} made from a sensor frame whose data the trace does "
        "not show being read (events were lost, or the trace began later): no driver layers.",
    ),
)
