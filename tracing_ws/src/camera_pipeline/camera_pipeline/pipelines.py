# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a pipeline must give for an encoding, and sentences for what goes wrong with it."""

from __future__ import annotations

import re
import subprocess

CAPS = {
    "rgb8": "video/x-raw,format=RGB",
    "mono8": "video/x-raw,format=GRAY8",
    "yuv422": "video/x-raw,format=UYVY",
    "jpeg": "image/jpeg",
}
"""What the appsink takes for each image_encoding, as in gscam."""

_ELEMENT = re.compile(r'no element "(?P<name>[^"]+)"')
_NO_FREE_PAD = "end it before the sink: the node puts an appsink there"
_IS_CAPS = "a caps filter cannot be last: put ' ! identity' after it"


def explain(arguments: tuple[str | None, ...], description: str, encoding: str) -> str:
    """Make the sentence for a CaptureError of these arguments (message, code, debug)."""
    message, code, debug = arguments
    text = (message or "it failed").rstrip(".")
    # The last line of GStreamer's own account tells most: a path, a system error.
    detail = (debug or "").rstrip().rpartition("\n")[2].rstrip(".")
    if code == "resource" and detail and detail != text:
        text += f" ({detail})"
    step = _step(code, text, encoding)
    return f"Cannot run pipeline '{description}': {text}. {step}."


def _step(code: str | None, text: str, encoding: str) -> str:
    match = _ELEMENT.search(text)
    if code == "no-such-element" and match:
        name = match["name"]
        if name in ("video", "image"):
            return f"If '{name}/...' was meant: {_IS_CAPS}"
        package = package_of(name)
        if package:
            return f"Install it: apt-get install {package}"
        return "No known package has it: check its spelling with gst-inspect-1.0"
    if code == "not-negotiated":
        return (
            f"For image_encoding {encoding} it must end in {CAPS[encoding]}: "
            + ("try ' ! jpegenc'" if encoding == "jpeg" else "try ' ! videoconvert'")
            + " at its end"
        )
    if code == "no-source-pad":
        return _NO_FREE_PAD[0].upper() + _NO_FREE_PAD[1:]
    if code == "timeout":
        return "Check that its source gives buffers, with gst-launch-1.0"
    return "Try it with gst-launch-1.0, ' ! fakesink' at its end"


def package_of(element: str) -> str | None:
    """Name the distribution's package that has an element; null where that is not known.

    From the field Gstreamer-Elements of Debian's and Ubuntu's package lists.
    """
    try:
        listed = subprocess.run(
            ["apt-cache", "dumpavail"], capture_output=True, text=True, timeout=20, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    package = None
    for line in listed.splitlines():
        if line.startswith("Package: "):
            package = line.removeprefix("Package: ")
        elif line.startswith("Gstreamer-Elements: "):
            names = line.removeprefix("Gstreamer-Elements: ").split(", ")
            if element in names:
                return package
    return None
