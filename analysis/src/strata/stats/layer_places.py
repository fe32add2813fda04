# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the layers of messages spent their time: a topic, a node or a callback, as a number.

A place has one number whatever the layer, and becomes words where a sentence or a table is made.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from strata.engine.groups import values_at
from strata.schema.layer import Layer, Place
from strata.schema.layers import BY_NAME
from strata.schema.rows import NONE, Coded, Flags, Ints, Rows
from strata.stats.grouped import paired

Join = Callable[[str, str], str]


class Words:
    """Words by number, in the order in which they came first."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    def number(self, word: str) -> int:
        """Return the number of a word; a new word has the next one."""
        return self._number.setdefault(word, len(self._number))

    def numbers(self, column: Coded) -> npt.NDArray[np.int32]:
        """Return the numbers of a column of text; `NONE` stays."""
        own = [*map(self.number, column.words), NONE]
        return np.asarray(own, np.int32)[column.codes]

    def texts(self) -> tuple[str, ...]:
        """Return all words so far, by number."""
        return tuple(self._number)

    def column(self, numbers: Ints) -> Coded:
        """Return numbers as a column of text."""
        return Coded(numbers, self.texts())


class LayerPlaces:
    """The place of each message in each layer, found when first asked for."""

    def __init__(
        self, place_of: Callable[[str], Coded], kind_of: Callable[[str], Hashable] = str
    ) -> None:
        """Take what returns the place of every message in a layer, by the layer's name.

        Layers of one kind, by `kind_of`, are in one place.
        """
        self.words = Words()
        self._place_of, self._kind_of = place_of, kind_of
        self._known: dict[Hashable, npt.NDArray[np.int32]] = {}

    @classmethod
    def of_messages(cls, messages: Rows, callbacks: Coded) -> LayerPlaces:
        """Return the places of the table `messages`.

        `callbacks` describes each callback by its id (strata.stats.callbacks.describe).
        """
        return cls(
            lambda layer: place_of_layer(BY_NAME[layer], messages, callbacks),
            lambda layer: BY_NAME[layer].place,
        )

    @classmethod
    def of_texts(cls, texts: Mapping[str, Iterable[str]]) -> LayerPlaces:
        """Return places that are given for each message, by layer."""
        return cls(lambda layer: Coded.of(texts[layer]))

    def at(self, layer: str, messages: Ints) -> Ints:
        """Return the place of some messages (rows of the table `messages`) in a layer."""
        kind = self._kind_of(layer)
        if kind not in self._known:
            self._known[kind] = self.words.numbers(self._place_of(layer))
        return values_at(self._known[kind], messages)


def place_of_layer(layer: Layer, messages: Rows, callbacks: Coded) -> Coded:
    """Name where a layer's time was spent, for each message: topic, node or callback."""
    topic = messages.words("topic")
    publisher, reader = messages.words("publisher_node"), messages.words("subscription_node")
    match layer.place:
        case Place.CALLBACK:
            return _described(messages["callback_id"], callbacks, reader)
        case Place.LINKED_CALLBACK:
            return _described(messages["publisher_callback_id"], callbacks, publisher)
        case Place.STORE:
            return joined(topic, reader, "{} in {}".format)
        case Place.SOURCE:
            return joined(messages.words("driver_source"), publisher, "{} ({})".format)
        case Place.PUBLISHER:
            return publisher
        case Place.WRITER:
            return joined(topic, publisher, "{} ({})".format)
        case Place.READER:
            return joined(topic, reader, "{} ({})".format)
        case Place.WAY:
            return joined(topic, reader, "{} to {}".format)
        case Place.CARRIED:
            way = joined(topic, reader, "{} to {}".format)
            return _either(joined(way, messages.words("transport"), "{} over {}".format), way)
        case Place.TOPIC:
            return topic
        case Place.NODE:
            return reader


def joined(first: Coded, second: Coded, join: Join) -> Coded:
    """Return the words that two columns make together; null where either is."""
    words = Words()

    def make(one: int, other: int) -> int:
        if NONE in (one, other):
            return NONE
        return words.number(join(first.words[one], second.words[other]))

    return Coded(paired(first.codes, second.codes, make), words.texts())


def _described(callback: Ints, callbacks: Coded, node: Coded) -> Coded:
    """Describe callbacks; where there is none, its node."""
    return _either(_of(callback, callbacks), node, callback == NONE)


def _of(rows: Ints, column: Coded) -> Coded:
    """Return the text of some rows of a column; null for rows that are `NONE`."""
    return Coded(np.append(column.codes, NONE)[rows], column.words)


def _either(column: Coded, other: Coded, chosen: Flags | None = None) -> Coded:
    """Return a column with another in its place where it is null, or where `chosen` says so."""
    words = Words()
    first, second = words.numbers(column), words.numbers(other)
    missing = first == NONE if chosen is None else chosen
    return Coded(np.where(missing, second, first), words.texts())
