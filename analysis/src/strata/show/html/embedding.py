# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What pages share: their file, their styles, figures as JSON, names that break well."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bokeh import __version__ as bokeh_version
from bokeh.document import Document
from markupsafe import Markup, escape

from strata.errors import OutputError
from strata.marks import is_own_page
from strata.printable import printable, printable_lines

if TYPE_CHECKING:
    from bokeh.models import LayoutDOM


# As JSON writes them: controls of a text's direction, and characters that are not seen.
_ESCAPED_UNSEEN = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u(?:00ad|061c|200[b-f]|202[89a-e]|206[0-9a-f]|feff)"
)


def check_target(path: Path, *, force: bool, replace_page: bool = False) -> None:
    """Raise OutputError when `path` must not or cannot be written.

    With `replace_page` a page that Strata wrote may be replaced without `force`.
    """
    if path.is_dir():
        raise OutputError(
            f"Cannot write the report {path}: it is a directory. Name a file with -o."
        )
    if path.exists() and not path.is_file():
        raise OutputError(
            f"Cannot write the report {path}: it is neither a file nor a directory. Name a file "
            "with -o."
        )
    replaceable = force or (replace_page and is_own_page(path))
    if os.path.lexists(path) and not replaceable:
        raise OutputError(
            f"Cannot write the report {path}: the file exists. Choose another name with -o or "
            "overwrite it with --force."
        )
    if not path.parent.is_dir():
        raise OutputError(
            f"Cannot write the report {path}: there is no directory {path.parent}. Make it, or "
            "choose another file with -o."
        )
    if (path.parent / "metadata").is_file():
        raise OutputError(
            f"Cannot write the report {path}: {path.parent} is a CTF trace, where every file is "
            "read as a stream. Choose another directory with -o."
        )


def write_page(path: Path, page: str) -> Path:
    """Write a page and return its path; when that fails, nothing is left behind (OutputError)."""
    try:
        _replace(path, page)
    except OSError as error:
        raise OutputError(
            f"Cannot write the report {path}: {error.strerror}. Choose another file with -o."
        ) from error
    return path


def figure_json(plot: LayoutDOM, place: str) -> Markup:
    """Return a figure's document as JSON that can stand inside a script element.

    It is what bokeh.embed.json_item gives, which looks through all parts of a figure four times.
    """
    document = Document(title="")
    document.add_root(plot)
    content = document.to_json(deferred=False)
    item = {
        "target_id": place,
        "root_id": content["roots"][0]["id"],
        "doc": content,
        "version": bokeh_version,
    }
    text = json.dumps(item, allow_nan=False, separators=(",", ":"))
    text = _ESCAPED_UNSEEN.sub(r"\1\\ufffd", text)
    # Inside a script element only "<" can end it or begin a comment.
    return Markup(text.replace("<", "\\u003c"))


def inside_script(document: Mapping[str, Any]) -> Markup:
    """Return JSON that neither ends the script element that it is in, nor begins a comment."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return Markup(printable(text).replace("<", "\\u003c"))


def seen(value: object) -> object:
    """Return what a template writes: a text without characters that are not seen."""
    return printable_lines(value) if type(value) is str else value


def glued(text: str) -> str:
    """No line break between a number and its unit."""
    return re.sub(r"(?<=\d) (?=(?:ns|us|µs|ms|s|%)(?!\w))", "\N{NO-BREAK SPACE}", text)


def breakable(name: str) -> Markup:
    """Let a long name break where a reader would: after a slash, an underscore or a colon."""
    return Markup(re.sub(r"(?<=[\w:][/_:])(?=\w)", "<wbr>", str(escape(printable(name)))))


def page_asset(name: str) -> Markup:
    """Return a style sheet or script of the pages."""
    return Markup((Path(__file__).parent / "assets" / name).read_text(encoding="utf-8"))


def _replace(path: Path, text: str) -> None:
    """Write beside `path` and rename, so that a reader never sees half a page."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
