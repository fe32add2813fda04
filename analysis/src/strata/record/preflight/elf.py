# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a shared library tells of its functions: who exports them, and how calls reach them.

pyelftools reads the structure; the big tables are read as NumPy arrays, since a DDS library has
some ten thousand symbols and relocations, and megabytes of code.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from strata.errors import SessionError
from strata.record.preflight import calls

try:
    from elftools.common.exceptions import ELFError
    from elftools.elf.dynamic import DynamicSection
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import Section
except ModuleNotFoundError as error:
    raise SessionError(
        "Cannot record: pyelftools, which looks at the DDS libraries, is not installed. Run "
        "`pip install 'strata[record]'`."
    ) from error

_SYMBOL = np.dtype(
    [
        ("name", "<u4"),
        ("info", "u1"),
        ("other", "u1"),
        ("section", "<u2"),
        ("value", "<u8"),
        ("size", "<u8"),
    ]
)
_RELOCATION = np.dtype([("offset", "<u8"), ("info", "<u8"), ("addend", "<i8")])
_HIDDEN = (1, 2)  # STV_INTERNAL, STV_HIDDEN
_PROTECTED = 3
_VISIBILITY = 0x3
_LOCAL = 0  # STB_LOCAL
_DF_SYMBOLIC = 0x2
_EXECUTABLE = 0x4  # SHF_EXECINSTR
_ALLOCATED = 0x2  # SHF_ALLOC


@dataclass(frozen=True)
class Machine:
    """Relocation types of a processor: those that look a symbol up, and the one that does not."""

    by_symbol: tuple[int, ...]  # absolute word (tables of virtual functions), GLOB_DAT, JUMP_SLOT
    relative: int


MACHINES = {
    "EM_X86_64": Machine(by_symbol=(1, 6, 7), relative=8),
    "EM_AARCH64": Machine(by_symbol=(257, 1025, 1026), relative=1027),
}


@dataclass(frozen=True)
class Symbol:
    """A symbol of the dynamic table; `defined` false: the library only refers to it.

    `address` is relative to the library's beginning.
    """

    index: int
    address: int
    defined: bool
    protected: bool


class Library:
    """A shared library, opened for reading; `soname` is the file's name where it has no own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._elf = ELFFile(cast(IO[bytes], self._bytes))
            self._sections = list(self._elf.iter_sections())
            self._machine = self._known_machine()
            self._read_dynamic()
        except OSError as error:
            raise SessionError(
                f"Cannot read library {path}: {error.strerror}. Check the path."
            ) from error
        except (ELFError, ValueError) as error:
            raise SessionError(
                f"Cannot read library {path}: it is not an ELF file ({error or 'damaged'}). Name "
                "a shared library."
            ) from error

    def _known_machine(self) -> Machine:
        name = str(self._elf.header["e_machine"])
        if name not in MACHINES or self._elf.elfclass != 64 or not self._elf.little_endian:
            raise SessionError(
                f"Cannot read library {self.path}: it is for {name.removeprefix('EM_')}, "
                f"{self._elf.elfclass} bit. Name one for x86-64 or aarch64."
            )
        self._name = name
        return MACHINES[name]

    def _read_dynamic(self) -> None:
        soname, self.needed, self.symbolic = "", list[str](), False
        table = next((s for s in self._sections if isinstance(s, DynamicSection)), None)
        if table is None or self._section("SHT_DYNSYM") is None:
            raise SessionError(
                f"Cannot read library {self.path}: it has no dynamic symbols. "
                "Name a shared library."
            )
        for entry in table.iter_tags():
            # Its texts are attributes that only some kinds of entry have.
            tag: Any = entry
            kind = tag.entry.d_tag
            if kind == "DT_SONAME":
                soname = tag.soname
            elif kind == "DT_NEEDED":
                self.needed.append(tag.needed)
            elif kind == "DT_SYMBOLIC":
                self.symbolic = True
            elif kind == "DT_FLAGS":
                self.symbolic |= bool(tag.entry.d_val & _DF_SYMBOLIC)
        self.soname: str = soname or self.path.name

    def find(self, name: str) -> Symbol | None:
        """Look a symbol up in the dynamic table; null when it is not there."""
        rows = self._rows(self._dynamic, self._dynamic_names, name.encode() + b"\0")
        if not len(rows):
            return None
        entry = self._dynamic[rows[0]]
        return Symbol(
            index=int(rows[0]),
            address=int(entry["value"]),
            defined=bool(entry["section"]),
            protected=int(entry["other"]) & _VISIBILITY == _PROTECTED,
        )

    def exports_beginning_with(self, beginning: str) -> int:
        """Count the exported symbols whose name begins so."""
        rows = self._rows(self._dynamic, self._dynamic_names, beginning.encode())
        return int(np.count_nonzero(self._dynamic["section"][rows]))

    @property
    def is_stripped(self) -> bool:
        """Return whether the table of symbols that are not exported is gone."""
        return self._section("SHT_SYMTAB") is None

    def holds_unexported(self, name: str) -> bool | None:
        """Return whether the library has the function for itself only; null when it is stripped."""
        section = self._section("SHT_SYMTAB")
        if section is None:
            return None
        table = self._array(section, _SYMBOL)
        rows = self._rows(table, self._linked(section), name.encode() + b"\0")
        entries = table[rows][table["section"][rows] != 0]
        hidden = np.isin(entries["other"] & _VISIBILITY, _HIDDEN)
        return bool(np.any(hidden | (entries["info"] >> 4 == _LOCAL)))

    def references(self, symbol: Symbol) -> int:
        """Count the relocations that look a symbol up when the library is loaded, or called."""
        relocations = self._relocations
        named = (relocations["info"] >> 32) == symbol.index
        by_symbol = np.isin(relocations["info"] & 0xFFFFFFFF, self._machine.by_symbol)
        return int(np.count_nonzero(named & by_symbol))

    def fixed_references(self, symbol: Symbol) -> int:
        """Count what reaches a function of this library without looking its symbol up.

        Direct calls and jumps, and addresses in tables; what the compiler inlined is not seen.
        """
        direct = int(np.count_nonzero(self._call_targets == symbol.address))
        relative = self._relocations["info"] == self._machine.relative
        in_tables = self._relocations["addend"][relative] == symbol.address
        return direct + int(np.count_nonzero(in_tables)) + self._packed_entries(symbol.address)

    def _packed_entries(self, address: int) -> int:
        # Packed relative relocations (RELR) leave the address in the table itself.
        if self._section("SHT_RELR") is None:
            return 0
        count = 0
        for section in self._sections:
            if section.name in (".data.rel.ro", ".data", ".got"):
                count += int(np.count_nonzero(self._array(section, np.dtype("<u8")) == address))
        return count

    @cached_property
    def _call_targets(self) -> NDArray[np.int64]:
        code = [
            calls.targets(self._array(section, np.dtype("u1")), section["sh_addr"], self._name)
            for section in self._sections
            if section["sh_flags"] & _EXECUTABLE and section["sh_type"] == "SHT_PROGBITS"
        ]
        return np.concatenate(code) if code else np.empty(0, np.int64)

    @cached_property
    def _relocations(self) -> NDArray[Any]:
        tables = [
            self._array(section, _RELOCATION)
            for section in self._sections
            if section["sh_type"] == "SHT_RELA" and section["sh_flags"] & _ALLOCATED
        ]
        return np.concatenate(tables) if tables else np.empty(0, _RELOCATION)

    @cached_property
    def _dynamic(self) -> NDArray[Any]:
        section = self._section("SHT_DYNSYM")
        assert section is not None
        return self._array(section, _SYMBOL)

    @cached_property
    def _dynamic_names(self) -> bytes:
        section = self._section("SHT_DYNSYM")
        assert section is not None
        return self._linked(section)

    def _rows(self, table: NDArray[Any], names: bytes, wanted: bytes) -> NDArray[np.int64]:
        """Find the symbols whose name begins with some bytes."""
        # A name may be stored as the end of a longer one: every occurrence may be a symbol's.
        places, at = [], names.find(wanted)
        while at >= 0:
            places.append(at)
            at = names.find(wanted, at + 1)
        return np.flatnonzero(np.isin(table["name"], np.array(places, np.uint32)))

    def _section(self, kind: str) -> Section | None:
        return next((s for s in self._sections if s["sh_type"] == kind), None)

    def _linked(self, section: Section) -> bytes:
        names = self._sections[section["sh_link"]]
        begin = names["sh_offset"]
        return self._bytes[begin : begin + names["sh_size"]]

    def _array(self, section: Section, kind: np.dtype[Any]) -> NDArray[Any]:
        count = section["sh_size"] // kind.itemsize
        begin = section["sh_offset"]
        if begin + count * kind.itemsize > len(self._bytes):
            raise SessionError(
                f"Cannot read library {self.path}: it is cut off within {section.name}. "
                "Reinstall it."
            )
        return np.frombuffer(self._bytes, kind, count, begin)
