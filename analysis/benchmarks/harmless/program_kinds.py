# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of programs that a recording must leave as they are, and what it cannot leave so."""

from __future__ import annotations

from dataclasses import dataclass, replace

NOTHING = ""
NO_PRELOAD = "everything: nothing can be preloaded"
BY_SYSTEM_CALL = "perhaps what comes after"
CLONED = "a child of the `clone` system call"


@dataclass(frozen=True)
class Kind:
    """A program: how it is built and called, and what is known of it.

    `about` is its row in the docs. Words of `command` and `build` may have `{place}`, where what
    was built lies, and `{here}`, where sources do. It is left out where a program of `needs` is
    missing. `emits`: how many events it emits when it is given a mark, of which the recording must
    have `recorded`; null: it takes no mark. `differs`: why one that emits cannot be left as it is,
    and `untraced` what of it is not in the trace. `output` false: only its exit status is compared.
    `slow`: takes seconds, or what tests do not install.
    """

    name: str
    about: str
    command: tuple[str, ...]
    build: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    emits: int | None = None
    recorded: int | None = None
    differs: str = ""
    untraced: str = NOTHING
    output: bool = True
    slow: bool = False


_SOURCES = ("{here}/main.c", "{here}/list.c", "{here}/descriptors.c", "{here}/processes.c")
_ALL = (*_SOURCES, "{here}/kernel.c", "-ldl", "-pthread", "-O1", "-g", "-w", "-o")
BUILD = ("cc", *_ALL, "{place}/kinds")
# What each program of main.c emits besides.
_AROUND = 20


def _c(name: str, about: str, emits: int | None = 0, **more: object) -> Kind:
    total = None if emits is None else emits + _AROUND
    kind = Kind(name, about, ("{place}/kinds", name), BUILD, emits=total, recorded=total)
    return replace(kind, **more)  # type: ignore[arg-type]


def _built(name: str, about: str, compiler: str, *flags: str, **more: object) -> Kind:
    """Give main.c's `work`, built in another way."""
    build = (compiler, *_ALL, f"{{place}}/{name}", *flags)
    kind = Kind(name, about, (f"{{place}}/{name}", "work"), build, (compiler,))
    return replace(kind, **more)  # type: ignore[arg-type]


def _run(name: str, about: str, *command: str, **more: object) -> Kind:
    """Give a program, or `work` under one that runs others."""
    kind = Kind(name, about, command, BUILD if "{place}/kinds" in command else (), command[:1])
    return replace(kind, **more)  # type: ignore[arg-type]


def _sh(name: str, about: str, script: str, **more: object) -> Kind:
    kind = replace(_run(name, about, "sh", "-c", script), build=BUILD)
    return replace(kind, **more)  # type: ignore[arg-type]


_OTHERS = "{here}/others"
_NARROW_LIBC = "/usr/lib32/libc.so.6"
_WORK = ("{place}/kinds", "work")
# As programs of an installed ROS 2 are: it is there from their start.
_LINKED = ("-Wl,--no-as-needed", "-llttng-ust")
_SECCOMP = "ended, as LTTng-UST's system calls are forbidden"

KINDS = (
    _c("own_status", "an exit status of its own"),
    _c("close_loop", "`close` of each number", 1000),
    _c("close_range_call", "`close_range(3, ~0)`", 1000),
    _c("closefrom_call", "`closefrom(3)`", 1000),
    _c(
        "close_by_system_call",
        "`syscall(SYS_close_range)`",
        recorded=None,
        untraced=BY_SYSTEM_CALL,
    ),
    _c("close_and_reuse", "closes all, opens its own, appends", 20000),
    _c("dup_over_all", "`dup2` onto 3 to 255", 20000),
    _c("spawn_closing", "`posix_spawn` with closefrom"),
    _c("lowest_descriptor", "counts on the lowest free number", 1000),
    _c("few_descriptors", "`setrlimit(RLIMIT_NOFILE, 12)`", 1000),
    _c("daemonize", "daemon: two forks, all closed", 200, recorded=220),
    _c("fork_and_close_late", "forked child closes all after 1.5 s", 20),
    _c("fork_of_many_threads", "`fork` and `exec` beside busy threads", None),
    _c("fork_and_emit", "`fork` without `exec`", 1000),
    _c("clone_child", "`syscall(SYS_clone)` without `exec`", untraced=CLONED),
    _c("vfork_exec", "`vfork`, `close`, `exec`", 10),
    _c(
        "new_user_namespace",
        "`unshare(CLONE_NEWUSER)`",
        differs="EINVAL: LTTng-UST's threads make it a process of several",
    ),
    _c("change_root", "`chroot`", 1000),
    _c("change_user", "`setuid` to another user", 1000),
    _c("small_address_space", "`setrlimit(RLIMIT_AS, 512 MiB)`", 1000),
    _c("count_threads", "counts its threads", differs="two more, LTTng-UST's"),
    _c("wait_for_all_signals", "`sigwait` for every signal", 1000),
    _c("count_signals", "handlers of SIGUSR1, SIGALRM, real-time signals", 600),
    _c("strict_seccomp", "seccomp, strict", 1000, differs=_SECCOMP),
    _c("filtered_seccomp", "seccomp, a filter that kills", 1000, differs=_SECCOMP),
    _c("read_only_control", "`recvmsg` on a sensor's port, read-only control buffer"),
    _c("work", "threads, memory, a file"),
    _built("linked", "linked to LTTng-UST, closes all, opens its own", "cc", *_LINKED,
           command=("{place}/linked", "close_and_reuse"), emits=20020, recorded=20020),
    _built("linked_lowest", "linked to LTTng-UST, counts on the lowest number", "cc", *_LINKED,
           command=("{place}/linked_lowest", "lowest_descriptor"), emits=1020, recorded=1020),
    _built("asan", "AddressSanitizer (gcc)", "gcc", "-fsanitize=address", emits=20, recorded=20),
    _built("asan_finds", "AddressSanitizer (gcc), finds a fault", "gcc", "-fsanitize=address",
           command=("{place}/asan_finds", "overflow"), output=False),
    _built("asan_clang", "AddressSanitizer (clang, static runtime)", "clang",
           "-fsanitize=address", emits=20, recorded=20, slow=True),
    _built("tsan", "ThreadSanitizer (gcc)", "gcc", "-fsanitize=thread", emits=20, recorded=20),
    _built("ubsan", "UndefinedBehaviorSanitizer (gcc)", "gcc", "-fsanitize=undefined",
           emits=20, recorded=20),
    _built("static", "statically linked", "gcc", "-static", untraced=NO_PRELOAD),
    Kind("narrow", "32-bit", ("{place}/narrow",), ("gcc", "-m32", "-nostartfiles", "-nostdlib",
         "-w", "-o", "{place}/narrow", f"{_OTHERS}/narrow.c", _NARROW_LIBC), ("gcc", _NARROW_LIBC),
         slow=True, untraced=NO_PRELOAD,
         differs="the linker names on stderr what it does not preload"),
    _sh("set_uid", "set-uid program, called by another user",
        "cp {place}/kinds {place}/set_uid && chmod u+s,a+rx {place}/set_uid && chmod a+x {place}"
        " && setpriv --reuid=65534 --regid=65534 --clear-groups {place}/set_uid work",
        untraced=NO_PRELOAD, needs=("setpriv",)),
    _sh("few_from_the_start", "`ulimit -n 12`", "ulimit -n 12; {place}/kinds work"),
    _sh("little_memory", "`ulimit -v 400000`", "ulimit -v 400000; {place}/kinds work"),
    _sh("empty_environment", "`env -i`", "env -i /bin/sh -c 'env | grep -c LD_; echo done'; exit 4",
        untraced="what is started with an environment of its own"),
    _sh("pipeline", "a pipeline of binary data",
        "seq 200000 | gzip -n | tee /dev/null | gunzip | sha256sum"),
    _run("bash_descriptors", "bash with descriptors of its own", "bash", "-c",
         "exec 3>{place}/three 9<&0; echo three >&3; cat {place}/three; ls /proc/self/fd | wc -l"),
    _sh("ended_by_signal", "ended by a signal of its own", "kill -SEGV $$"),
    _run("new_namespaces", "`unshare --mount --pid --net`", "unshare", "--mount", "--pid",
         "--net", "--fork", *_WORK),
    _run("root_of_its_own", "`unshare -r`", "unshare", "-r", "id", "-u"),
    _sh("own_preload", "a preload of the user's",
        "LD_PRELOAD=$LD_PRELOAD:{place}/preloaded.so {place}/kinds close_loop; "
        "LD_PRELOAD={place}/preloaded.so {place}/kinds close_loop",
        build=("cc", "-shared", "-fPIC", "-o", "{place}/preloaded.so", f"{_OTHERS}/preloaded.c"),
        untraced="what is started with an `LD_PRELOAD` of its own alone"),
    _run("python_closing", "Python: `os.closerange`, pools, subprocesses", "python3",
         f"{_OTHERS}/closing.py"),
    _run("python_daemon", "Python: a daemon", "python3", f"{_OTHERS}/daemon.py"),
    _run("perl", "Perl", "perl", "-e", "my $p = fork(); exit 3 unless $p; wait; print $? >> 8"),
    _run("strace", "under strace", "strace", "-f", "-o", "/dev/null", *_WORK, slow=True),
    _run("gdb", "under gdb", "gdb", "-q", "-batch", "-ex", "run", "--args", *_WORK,
         output=False, slow=True),
    _run("valgrind", "under valgrind", "valgrind", "-q", *_WORK, slow=True),
    Kind("go", "Go", ("{place}/in_go",), ("go", "build", "-o", "{place}/in_go",
         f"{_OTHERS}/main.go"), ("go",), untraced=NO_PRELOAD, slow=True),
    Kind("rust", "Rust", ("{place}/in_rust",), ("rustc", "-o", "{place}/in_rust",
         f"{_OTHERS}/main.rs"), ("rustc",), slow=True),
    _run("java", "Java", "java", f"{_OTHERS}/Main.java", slow=True),
    _run("node", "Node.js", "node", "-e",
         "console.log(require('child_process').execSync('echo started').toString());"
         " process.exit(6)", slow=True),
)  # fmt: skip
