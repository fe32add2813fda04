# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Secrets out of what Strata keeps of command lines and environments.

A value is masked when its name says that it is a secret (`--password X`, `API_KEY=X`), or when its
form does (`https://user:X@host`, a known kind of token). What looks like neither is kept: a record
that hides `ROS_DOMAIN_ID` would be of no use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

MASK = "***"
_SECRETS = frozenset(
    [
        *("passwords", "secrets", "credential", "credentials"),
        *("apikey", "accesskey", "privatekey", "secretkey", "usrpwd"),
    ]
)
_SECRET_ENDS = ("password", "passwd", "passphrase", "secret", "token", "sshpass")
# Elsewhere in a name they are common words: a key frame, a pass count, a pin mode.
_COMMON = frozenset(("key", "keys"))
_ONLY_LAST = _COMMON | {"pass", "pw", "pwd", "pin"}
# What comes before the last word of a filter's pass, or of a connector's pin.
_OTHER_MEANINGS = {
    "pass": frozenset(("low", "high", "band", "all", "by")),
    "pin": frozenset(("gpio", "led", "input", "output", "interrupt", "reset", "trigger", "enable")),
}
# `--password-file X` names where the secret is, `--token-limit 5` is none.
_HARMLESS_ENDS = frozenset(
    [
        *("file", "path", "dir", "directory", "store", "stdin", "prompt", "name", "names", "id"),
        *("length", "len", "size", "count", "limit", "limits", "timeout", "ttl", "expiry", "age"),
        *("type", "policy", "format", "max", "min", "bytes", "rate", "enabled", "required"),
    ]
)
_HARMLESS_BEGINS = frozenset(("no", "ask", "prompt", "without", "max", "min", "num", "sort"))
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAMES_OF_DIRECTORIES = frozenset(("PWD", "OLDPWD"))

# Bounded, so that no text takes long.
_NAME = r"(?<![\w./-])[A-Za-z_][\w./-]{0,100}"
_QUOTED = r"\"[^\"]*\"|'[^']*'"
# NAME=X, NAME:=X, "NAME": X, NAME: X; the value ends where a shell's word or a list's item does.
_ASSIGNED = re.compile(
    rf"(?P<before>(?P<quote>[\"']?)(?P<name>{_NAME})(?P=quote)\s?(?::=|=|:(?=\s|[\"']))\s?)"
    rf"(?P<value>{_QUOTED}|[^\s;&|,\"'}}\]]+)"
)
_OPTION = re.compile(
    rf"(?P<before>(?<!\S)(?P<name>--?[A-Za-z_][\w./-]{{0,100}})\s+)(?P<value>{_QUOTED}|[^\s;&|-]\S*)"
)
_ELEMENT = re.compile(rf"(?P<before><(?P<name>{_NAME})[^<>]*>)(?P<value>[^<>]+)(?=</)")
_USER_INFO = re.compile(
    r"(?P<before>(?<!\w)[A-Za-z][\w+.-]{0,30}://[^\s/:@?#]{0,200}:)[^\s/@?#]+(?=@)"
)
_HEADER = re.compile(r"(?i)(?P<before>authorization:\s*(?:\w+\s+)?)[^\s\"']+")
_TOKENS = re.compile(
    r"\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}"
    r"|sk-[\w-]{20,}|eyJ[\w-]{8,2000}\.[\w-]{8,4000}\.[\w-]*)"
)
_PEM = re.compile(
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S
)
_LOGIN = re.compile(r"(?P<before>[^\s:/@]+:)(?!\d+$)(?!=)\S+")
_LOGIN_OPTIONS = ("-u", "--user", "--proxy-user")


def is_secret(name: str) -> bool:
    """Tell whether a name, of a variable or an option, is that of a secret."""
    words = [word.lower() for word in _WORDS.findall(name) if not word.isdigit()]
    if not words or name in _NAMES_OF_DIRECTORIES:
        return False
    if words[0] in _HARMLESS_BEGINS or words[-1] in _HARMLESS_ENDS:
        return False
    if words[-1] in _ONLY_LAST:
        return not words[-2:-1] or words[-2] not in _OTHER_MEANINGS.get(words[-1], ())
    return any(word in _SECRETS or word.endswith(_SECRET_ENDS) for word in words)


def mask_text(text: str) -> str:
    """Mask what looks like a secret anywhere in a text, such as a shell's script."""
    text = _PEM.sub(rf"\1{MASK}\2", text)
    text = _USER_INFO.sub(rf"\g<before>{MASK}", text)
    text = _HEADER.sub(rf"\g<before>{MASK}", text)
    for pattern in (_ASSIGNED, _ELEMENT, _OPTION):
        text = pattern.sub(_masked_value, text)
    return _TOKENS.sub(MASK, text)


def mask_command(words: Sequence[str]) -> list[str]:
    """Mask the secrets of a command line, given as its words."""
    masked: list[str] = []
    for word in words:
        option = masked[-1] if masked else ""
        value = not word.startswith("-")
        if value and option.startswith("-") and "=" not in option and is_secret(option):
            masked.append(MASK)
        elif option in _LOGIN_OPTIONS and _LOGIN.fullmatch(word):
            masked.append(_LOGIN.sub(rf"\g<before>{MASK}", word))
        else:
            masked.append(_mask_word(word))
    return masked


def mask_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Mask the secrets of an environment."""
    return {
        name: MASK if value and is_secret(name) else mask_text(value)
        for name, value in environment.items()
    }


def mask_document(value: Any) -> Any:
    """Mask the secrets of a document: by its keys, and in its lists as in command lines."""
    if isinstance(value, dict):
        return {
            key: MASK
            if one and is_secret(str(key)) and isinstance(one, str)
            else mask_document(one)
            for key, one in value.items()
        }
    if isinstance(value, list | tuple):
        if value and all(isinstance(one, str) for one in value):
            return mask_command(value)
        return [mask_document(one) for one in value]
    return mask_text(value) if isinstance(value, str) else value


def _names_secret(key: object) -> bool:
    """Tell of a mapping's key; `key` itself is a common one, and no secret's."""
    return str(key).lower() not in _COMMON and is_secret(str(key))


def _mask_word(word: str) -> str:
    """Mask in one word of a command line: all after NAME= belongs to the value."""
    match = re.match(r"(-{0,2}(?P<name>[A-Za-z_][\w./-]{0,100})(?::=|=))(?=.)", word, re.S)
    if match and is_secret(match["name"]) and not re.search(r"\s", match[0]):
        return f"{match[1]}{MASK}"
    return mask_text(word)


def _masked_value(match: re.Match[str]) -> str:
    value = match["value"]
    secret = _names_secret if match["before"].rstrip().endswith(":") else is_secret
    if not secret(match["name"]) or value.startswith("$"):
        return match[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{match['before']}{quote}{MASK}{quote}"
