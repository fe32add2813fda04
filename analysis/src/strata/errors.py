# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The errors that reach a user.

Every text has the form ``Cannot <verb> <object>: <fact with value and bound>. <next step>.``
The command line prints it and exits with `exit_code`; library code only raises it.
"""

from __future__ import annotations


class StrataError(Exception):
    """What was asked for cannot be done; the text says why and what to do next."""

    exit_code = 1


class TraceError(StrataError):
    """A trace cannot be found or read."""


class NoRos2Error(TraceError):
    """A trace has no event of ROS 2."""


class SessionError(StrataError):
    """A tracing session cannot be configured, started or stopped."""


class ScenarioError(StrataError):
    """A scenario cannot be read, or not be run on this machine."""


class CampaignError(StrataError):
    """A campaign cannot be read, or not be run on this machine."""


class LiveError(StrataError):
    """A session cannot be followed while it is recorded."""


class OutputError(StrataError):
    """A result cannot be written where the user wanted it."""


class OriginalError(StrataError):
    """A published result, of another tool, cannot be read."""


class GateError(StrataError):
    """A file of gates cannot be read, or not be judged with the runs that were given."""


class GuardError(StrataError):
    """A file of conditions cannot be read."""


class ComparisonError(StrataError):
    """Runs cannot be compared."""


class QueryError(StrataError):
    """A query cannot be run."""

    exit_code = 2


class SelectionError(StrataError):
    """What was selected to be shown is not there."""
