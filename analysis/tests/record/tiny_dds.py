# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A DDS library of three functions, its middleware and a program, built in every awkward way.

The program is run with hooks preloaded that count: what they count is the truth.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from strata.record.preflight.elf import Library
from strata.record.preflight.hooks import parse_hooks
from strata.record.preflight.preflight import Preflight, examine

HOOKS = """
#ifdef HOOKS_OF_TINY
FUNCTION(write, fastdds, rmw, "write_begin write_end", "Writer::write")
HOOK(write, 1, "libfastdds.so", "_ZN4tiny6Writer5writeEi")

FUNCTION(add, fastdds, self, "reader_notify", "Writer::add")
HOOK(add, 1, "libfastdds.so", "_ZN4tiny6Writer3addEi")

FUNCTION(send, fastdds, vtable, "send_begin send_end", "Transport::send")
HOOK(send, 1, "libfastdds.so", "_ZN4tiny9Transport4sendEi")
#endif
"""
_SYMBOLS = re.findall(r'HOOK\((\w+), .*"(\w+)"\)', HOOKS)

_HEADER = """
#ifndef INNER
#define INNER
#endif
#ifndef ALL
#define ALL
#endif
#ifndef VALUE
#define VALUE int
#endif
namespace tiny {
struct Link { virtual void send(int) = 0; };
struct ALL Transport : Link { INNER void send(int) override; };
struct ALL Writer {
  Link* link;
  void write(VALUE);
  INNER void add(int);
  void near(int);
};
}  // namespace tiny
"""
_LIBRARY = """
#include "tiny.h"
namespace tiny {
volatile int sum;
void Transport::send(int value) { sum = sum - value; }
void Writer::add(int value) { sum = sum + value; }
void Writer::near(int value) { add(value); sum = sum + 1; }
}  // namespace tiny
"""
_SECOND = """
#include "tiny.h"
namespace tiny {
static Transport transport;
void Writer::write(VALUE value) {
  link = &transport;
  add(value);
  near(value);
  link->send(value);
}
}  // namespace tiny
"""
_RMW = '#include "tiny.h"\nextern "C" void rmw() { tiny::Writer writer; writer.write(1); }\n'
_MAIN = "void rmw(void);\nint main(void) { rmw(); return 0; }\n"
_HOOK = """
static int {0}_count;
void {0}(void* self, long value) __asm__("{1}");
__attribute__((visibility("default"))) void {0}(void* self, long value) {{
  {0}_count++;
  void (*real)(void*, long);
  *(void**)&real = dlsym(RTLD_NEXT, "{1}");
  real(self, value);
}}
"""


@dataclass(frozen=True)
class Tiny:
    """The built files, and the directory they are in."""

    directory: Path

    @property
    def library(self) -> Path:
        return self.directory / "libfastdds.so.3.2"

    @property
    def rmw(self) -> Path:
        return self.directory / "librmw_fastrtps_cpp.so"

    def verdict(self) -> Preflight:
        libraries, rmw = [Library(self.library)], [Library(self.rmw)]
        (found,) = examine(parse_hooks(HOOKS), libraries, rmw)
        return found

    def truth(self) -> dict[str, int]:
        """Run it; gives how many calls reached each hook: write once, add twice, send once."""
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": str(self.directory),
            "LD_PRELOAD": str(self.directory / "libhooks.so"),
        }
        done = subprocess.run(
            [self.directory / "main"], env=environment, capture_output=True, text=True, check=True
        )
        return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", done.stdout)}


def build(directory: Path, *options: str) -> Tiny:
    """Build it; the options are for the DDS library, -DVALUE for its user too."""
    tiny = Tiny(directory)
    defines = [option for option in options if option.startswith("-DVALUE")]
    _write(directory)
    _compile(
        directory,
        tiny.library.name,
        *("one.cpp", "two.cpp", "-shared", f"-Wl,-soname,{tiny.library.name}", *options),
    )
    _compile(directory, tiny.rmw.name, "rmw.cpp", "-shared", tiny.library.name, *defines)
    _compile(directory, "libhooks.so", "hooks.c", "-shared", "-ldl")
    _compile(directory, "main", "main.c", tiny.rmw.name, "-Wl,-rpath-link,.")
    return tiny


def _write(directory: Path) -> None:
    hooks = "".join(_HOOK.format(name, symbol) for name, symbol in _SYMBOLS)
    told = "".join(f'  printf("{name}=%d\\n", {name}_count);\n' for name, _ in _SYMBOLS)
    texts = {
        "tiny.h": _HEADER,
        "one.cpp": _LIBRARY,
        "two.cpp": _SECOND,
        "rmw.cpp": _RMW,
        "main.c": _MAIN,
        "hooks.c": "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n"
        f"{hooks}__attribute__((destructor)) static void tell(void) {{\n{told}}}\n",
    }
    for name, text in texts.items():
        (directory / name).write_text(text)


def _compile(directory: Path, target: str, *arguments: str) -> None:
    # -fno-rtti: type descriptions would need the C++ library.
    language = ["-fno-rtti"] if any(name.endswith(".cpp") for name in arguments) else []
    subprocess.run(
        ["gcc", "-O2", "-fPIC", "-fno-inline", *language, *arguments, "-o", target],
        cwd=directory,
        check=True,
        timeout=60,
    )
