# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Middleware profiles: which transports a command's messages take, set for it by variables.

Fast DDS reads an XML file that FASTRTPS_DEFAULT_PROFILES_FILE (2.x) or
FASTDDS_DEFAULT_PROFILES_FILE (3.x) names, Cyclone DDS one that CYCLONEDDS_URI names; rmw_zenoh
reads JSON5 that ZENOH_SESSION_CONFIG_URI or, for its router, ZENOH_ROUTER_CONFIG_URI names. Several
other variables decide whether what the file says has any effect; those are set with it, and a value
that is there already and contradicts it is refused: a profile that is silently ignored makes a
recording that lies about its transport.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import json5

from strata.documents import DocumentError, decode, parse_xml, read_bytes
from strata.errors import SessionError
from strata.masking import mask_environment
from strata.record.broker import Broker
from strata.record.places import find_file, shipped_files, shipped_root
from strata.record.profile_transports import meant_by_xml, meant_by_zenoh
from strata.record.ros import Ros, ament_prefixes
from strata.schema.transports import ICEORYX
from strata.yaml_document import parse_yaml

FAST_DDS = "Fast DDS"
CYCLONE_DDS = "Cyclone DDS"
ZENOH = "Zenoh"
_ROOTS = {"profiles": FAST_DDS, "dds": FAST_DDS, "CycloneDDS": CYCLONE_DDS}
_RMW = {FAST_DDS: "rmw_fastrtps_cpp", CYCLONE_DDS: "rmw_cyclonedds_cpp", ZENOH: "rmw_zenoh_cpp"}
_ROUTER = "router"
_VARIANTS = "variants.yaml"
_OVERRIDE = "ZENOH_CONFIG_OVERRIDE"
# The parser of JSON5 is slow.
_MAX_BYTES = 256 << 10
_FILE_OF_2 = "FASTRTPS_DEFAULT_PROFILES_FILE"
_FILE_OF_3 = "FASTDDS_DEFAULT_PROFILES_FILE"
_FAST_DDS_2 = ("humble", "iron", "jazzy")
_TRANSPORTS = frozenset({"userTransports", "useBuiltinTransports", "builtinTransports"})
_ENDPOINTS = ("data_writer", "data_reader", "publisher", "subscriber")
# rmw_fastrtps overwrites just these of an endpoint's profile, unless it is told to leave them.
_OVERWRITTEN = frozenset({"data_sharing", "publishMode", "historyMemoryPolicy"})
_LOCALHOST = "LOCALHOST"
_OF_THIS_MACHINE = re.compile(r"tcp/(localhost|127\.0\.0\.1|\[::1\]):\d+")
# Where iceoryx 1 and 2 have it on Linux, whatever the configuration says.
_ROUDI = "unix//tmp/roudi"
_SIZES = {
    "pool_size": "ZENOH_SHM_ALLOC_SIZE",
    "message_size_threshold": "ZENOH_SHM_MESSAGE_SIZE_THRESHOLD",
}


@dataclass(frozen=True)
class RmwProfile:
    """A profile: its file, the SHA-256 of its content, its middleware, and what it configures.

    `elements` are the names of the XML elements that decide over variables; of JSON5, its mode.
    `told` are variables that say again what the file does, for a middleware that does not read all
    of it, and what a variant (`variants.yaml`) has otherwise. `broker` is what must run on this
    machine before the processes; null for nothing. `variant` names one; empty for the file itself.
    `meant` is the kind of shared memory that messages shall use (`profile_transports`), or empty.
    """

    file: Path
    sha256: str
    middleware: str
    elements: frozenset[str]
    told: tuple[tuple[str, str], ...] = ()
    broker: Broker | None = None
    variant: str = ""
    meant: str = ""

    @property
    def name(self) -> str:
        """Name the profile, by its file unless it is a variant of that."""
        return self.variant or self.file.stem

    def environment(self, base: Mapping[str, str], ros: Ros | None) -> dict[str, str]:
        """Give `base`, the environment of a command, with what makes its middleware use this.

        Raises SessionError when a variable says otherwise, or when `ros`, null for none, has no
        such middleware.
        """
        self._refuse_other_rmw(base)
        wanted = self.variables(base, ros)
        for variable, value in wanted.items():
            self._refuse_other(base, variable, value)
        if self.middleware == FAST_DDS:
            self._refuse_without_effect(base, wanted)
        self._refuse_missing_rmw({**base, **wanted}, ros)
        return {**base, **wanted}

    def variables(self, base: Mapping[str, str], ros: Ros | None) -> dict[str, str]:
        """Give the variables to set for a command, `base` being its environment without them."""
        rmw = {"RMW_IMPLEMENTATION": base.get("RMW_IMPLEMENTATION") or _RMW[self.middleware]}
        if self.middleware == CYCLONE_DDS:
            return rmw | {"CYCLONEDDS_URI": self.file.as_uri()}
        if self.middleware == ZENOH:
            # A path, though the name says URI.
            role = "ROUTER" if _ROUTER in self.elements else "SESSION"
            return rmw | {f"ZENOH_{role}_CONFIG_URI": str(self.file), **dict(self.told)}
        wanted = rmw | dict.fromkeys(_file_variables(ros), str(self.file))
        if self.elements & _TRANSPORTS and not base.get("ROS_AUTOMATIC_DISCOVERY_RANGE"):
            # Said, not left unset: programs that default to LOCALHOST would add transports.
            wanted["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SYSTEM_DEFAULT"
        if self.elements & _OVERWRITTEN:
            wanted["RMW_FASTRTPS_USE_QOS_FROM_XML"] = "1"
        return wanted

    def as_json(self, environment: Mapping[str, str], ros: Ros | None) -> dict[str, Any]:
        """Describe it for the manifest; `environment` is the one that it made."""
        return {
            "name": self.name,
            "file": str(self.file),
            "sha256": self.sha256,
            "middleware": self.middleware,
            "meant_transport": self.meant or None,
            "variables": mask_environment(
                {name: environment[name] for name in self.variables({}, ros)}
            ),
        }

    def _refuse_other_rmw(self, base: Mapping[str, str]) -> None:
        stated = base.get("RMW_IMPLEMENTATION")
        family = _RMW[self.middleware].removesuffix("_cpp")
        if stated and not stated.startswith(family):
            raise self._refusal(
                f"RMW_IMPLEMENTATION is {stated}, but this is a profile for {self.middleware}",
                f"Unset RMW_IMPLEMENTATION, or set it to {_RMW[self.middleware]}.",
            )

    def _refuse_other(self, base: Mapping[str, str], variable: str, value: str) -> None:
        stated = base.get(variable)
        if not stated or stated == value:
            return
        if value == str(self.file) and Path(stated).resolve() == self.file:
            return
        raise self._refusal(
            f"{variable} is already set to {stated}, but the profile needs {value}",
            f"Unset {variable}.",
        )

    def _refuse_without_effect(self, base: Mapping[str, str], wanted: Mapping[str, str]) -> None:
        """Refuse variables that would add to the profile's transports, or do nothing beside it."""
        if self.elements & _TRANSPORTS:
            for variable, bad in (
                ("ROS_AUTOMATIC_DISCOVERY_RANGE", _LOCALHOST),
                ("ROS_LOCALHOST_ONLY", "1"),
            ):
                if base.get(variable) == bad:
                    raise self._refusal(
                        f"{variable} is {bad}, with which rmw_fastrtps adds its own SHM and "
                        "UDPv4 transports to those of the profile",
                        f"Unset {variable}; the profile sets the discovery range.",
                    )
            self._refuse_idle(base, "FASTDDS_BUILTIN_TRANSPORTS", "which sets transports itself")
        if "RMW_FASTRTPS_USE_QOS_FROM_XML" in wanted:
            self._refuse_idle(base, "RMW_FASTRTPS_PUBLICATION_MODE", "which is read for QoS")

    def _refuse_idle(self, base: Mapping[str, str], variable: str, why: str) -> None:
        if base.get(variable):
            raise self._refusal(
                f"{variable} is set to {base[variable]}, which has no effect together with this "
                f"profile, {why}",
                f"Unset {variable}, or record without --rmw-profile.",
            )

    def _refuse_missing_rmw(self, environment: Mapping[str, str], ros: Ros | None) -> None:
        rmw = environment["RMW_IMPLEMENTATION"]
        if ros is None or has_rmw(rmw, environment):
            return
        raise self._refusal(
            f"no prefix on AMENT_PREFIX_PATH of ROS 2 {ros.distro} has a lib{rmw}.so",
            f"Install {rmw}, or choose a profile for another middleware.",
        )

    def _refusal(self, fact: str, step: str) -> SessionError:
        return SessionError(f"Cannot use profile {self.name}: {fact}. {step}")


def has_rmw(implementation: str, environment: Mapping[str, str]) -> bool:
    """Return whether a prefix on AMENT_PREFIX_PATH has the library of a middleware."""
    library = f"lib{implementation}.so"
    places = [prefix / "lib" for prefix in ament_prefixes(environment)]
    return any((place / library).exists() or any(place.glob(f"*/{library}")) for place in places)


def load_profile(name: str) -> RmwProfile:
    """Read a profile, far enough to know whose it is and which variables it needs.

    `name` is a path, or the name of a shipped one. Raises SessionError when it cannot be read or is
    no profile of a middleware known here.
    """
    variant = _variant(name)
    if variant is not None:
        return variant
    shipped = shipped_files("rmw", ".xml", ".json5")
    shipped += [one for file in shipped_files("rmw", ".yaml") for one in _variants_in(file)]
    path = find_file(name, "profile", sorted(shipped), "Give --rmw-profile", SessionError)
    if path.suffix == ".json5":
        return _load_zenoh(path)
    try:
        content = read_bytes(path, _MAX_BYTES)
        root = parse_xml(content)
    except OSError as error:
        raise SessionError(
            f"Cannot read profile {path}: {error.strerror}. Give --rmw-profile a readable file."
        ) from error
    except DocumentError as error:
        raise error.refusal(path, "profile", SessionError) from error
    middleware = _ROOTS.get(_local(root))
    if middleware is None:
        raise SessionError(
            f"Cannot use profile {path}: its root element is <{_local(root)}>, not one of "
            f"{', '.join(f'<{name}>' for name in _ROOTS)}. Give --rmw-profile an XML file of Fast "
            "DDS or Cyclone DDS."
        )
    sha256 = hashlib.sha256(content).hexdigest()
    meant = meant_by_xml(root)
    return RmwProfile(
        path, sha256, middleware, _deciding(root), broker=_roudi(path, meant), meant=meant
    )


def _variant(name: str) -> RmwProfile | None:
    """Load the variant of a profile that has this name, or path; null when there is none."""
    asked = Path(name)
    files = shipped_files("rmw", ".yaml")
    if "/" in name or asked.suffix:
        files = [] if asked.is_file() else [asked.parent / _VARIANTS]
    for file in files:
        for path, stated in _variants_in(file).items():
            if path.stem != asked.stem or asked.suffix not in ("", path.suffix):
                continue
            if "roudi" in stated:
                profile = _with_roudi(file, stated)
            else:
                changes = {str(key): value for key, value in stated["set"].items()}
                profile = _load_zenoh(file.with_name(f"{stated['as']}.json5"), changes)
            return replace(profile, variant=path.stem)
    return None


def _with_roudi(file: Path, stated: Mapping[str, Any]) -> RmwProfile:
    """Load a profile of Cyclone DDS, with another configuration of iceoryx' daemon.

    Raises SessionError when the profile needs no daemon, or the configuration is not there.
    """
    profile = load_profile(str(file.with_name(f"{stated['as']}.xml")))
    configuration = file.with_name(str(stated["roudi"]))
    if profile.broker is None or not configuration.is_file():
        why = "no such file" if profile.broker else f"{stated['as']} uses no shared memory"
        raise SessionError(
            f"Cannot use {configuration}, which {file} names: {why}. Correct its `roudi` or `as`."
        )
    return replace(profile, broker=replace(profile.broker, arguments=_roudi_words(configuration)))


def _variants_in(file: Path) -> dict[Path, dict[str, Any]]:
    """Read a file of variants: what each says, by the path that a file of its own would have.

    Raises SessionError when it has another form.
    """
    if not file.is_file():
        return {}
    try:
        document = parse_yaml(decode(read_bytes(file, _MAX_BYTES)))
    except DocumentError as error:
        raise error.refusal(file, "profile", SessionError) from error
    entries: dict[str, Any] = document if isinstance(document, dict) else {file.name: None}
    for name, stated in entries.items():
        keys = set(stated) if isinstance(stated, dict) else set()
        is_zenoh = keys == {"as", "set"} and isinstance(stated["set"], dict)
        if not is_zenoh and keys != {"as", "roudi"}:
            raise SessionError(
                f"Cannot read profile {file}: '{name}' has not the keys as and set, or as and "
                "roudi. Write {as: PROFILE, set: {PLACE: VALUE}}, or {as: PROFILE, roudi: FILE}."
            )
    return {
        file.with_name(f"{name}{'.xml' if 'roudi' in stated else '.json5'}"): stated
        for name, stated in entries.items()
    }


def _changed(document: Any, changes: Mapping[str, Any], path: Path) -> None:
    """Change keys of a document, each by its place: `transport/shared_memory/enabled`."""
    for place, value in changes.items():
        *parents, last = place.split("/")
        here = document
        for step in parents:
            here = here.get(step) if isinstance(here, dict) else None
        if not isinstance(here, dict) or last not in here:
            raise SessionError(
                f"Cannot use profile {path}: it has no '{place}', which {_VARIANTS} sets. Write a "
                "place that the file has."
            )
        here[last] = value


def _load_zenoh(path: Path, changes: Mapping[str, Any] | None = None) -> RmwProfile:
    try:
        content = read_bytes(path, _MAX_BYTES)
        document = json5.loads(decode(content), allow_duplicate_keys=False)
    except DocumentError as error:
        raise error.refusal(path, "profile", SessionError) from error
    except (OSError, ValueError, RecursionError) as error:
        fact = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise SessionError(
            f"Cannot read profile {path}: {fact}. Give --rmw-profile a well-formed JSON5 file."
        ) from error
    _changed(document, changes or {}, path)
    mode = document.get("mode") if isinstance(document, dict) else None
    if mode not in ("peer", "client", _ROUTER):
        raise SessionError(
            f"Cannot use profile {path}: its mode is {mode!r}, not one of peer, client, router. "
            "Give --rmw-profile a configuration of Zenoh."
        )
    sha256 = hashlib.sha256(content).hexdigest()
    told, broker = _shared_memory(document), _router(path, document)
    if changes:
        text = ";".join(f"{place}={json5.dumps(value)}" for place, value in changes.items())
        told = (*told, (_OVERRIDE, text))
        # What differs is the sessions'; the router has its own file. This says what that says.
        broker = broker and replace(broker, fixed=((_OVERRIDE, f'mode="{_ROUTER}"'),))
    meant = meant_by_zenoh(document)
    return RmwProfile(path, sha256, ZENOH, frozenset({mode}), told, broker, meant=meant)


def _router(path: Path, document: dict[str, Any]) -> Broker | None:
    """Give the router that a session connects to, if it is on this machine."""
    endpoints = _mapping(document, "connect").get("endpoints") or ()
    if not isinstance(endpoints, list | tuple):
        endpoints = [endpoints]
    local = next(filter(None, (_OF_THIS_MACHINE.match(str(one)) for one in endpoints)), None)
    if local is None or document["mode"] == _ROUTER:
        return None
    variables = (("ZENOH_ROUTER_CONFIG_URI", str(_beside(path, "zenoh_router.json5"))),)
    return Broker("rmw_zenohd", "rmw_zenoh_cpp", local.group(), environment=variables)


def _roudi(path: Path, meant: str) -> Broker | None:
    """Give the daemon of iceoryx, if a profile of Cyclone DDS has shared memory on."""
    if meant != ICEORYX:
        return None
    arguments = _roudi_words(_beside(path, "roudi_config.toml"))
    return Broker("iox-roudi", "iceoryx_posh", _ROUDI, arguments)


def _roudi_words(configuration: Path) -> tuple[str, ...]:
    # With monitoring RouDi removes a process that got no CPU for 1.5 s, and the process crashes.
    return ("-m", "off", "-c", str(configuration))


def _beside(profile: Path, name: str) -> Path:
    """Find a broker's configuration: beside the profile, else the shipped one."""
    own = profile.with_name(name)
    return own if own.is_file() else shipped_root() / "rmw" / name


def _shared_memory(document: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Give what rmw_zenoh of before November 2025 takes from variables: sizes, in bytes."""
    shared = _mapping(_mapping(document, "transport"), "shared_memory")
    sizes = _mapping(shared, "transport_optimization")
    if not shared.get("enabled"):
        return ()
    return tuple((name, str(sizes[key])) for key, name in _SIZES.items() if key in sizes)


def _mapping(document: dict[str, Any], key: str) -> dict[str, Any]:
    """Give a part of a configuration; Zenoh itself says what is wrong with another kind."""
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _deciding(root: ElementTree.Element) -> frozenset[str]:
    """Collect the names of the elements that decide over variables."""
    found = {_local(element) for element in root.iter()} & _TRANSPORTS
    for endpoint in root.iter():
        if _local(endpoint) in _ENDPOINTS:
            found |= {_local(element) for element in endpoint.iter()} & _OVERWRITTEN
    return frozenset(found)


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _file_variables(ros: Ros | None) -> tuple[str, ...]:
    if ros is None or ros.distro == "unknown":
        return (_FILE_OF_2, _FILE_OF_3)
    return (_FILE_OF_2,) if ros.distro in _FAST_DDS_2 else (_FILE_OF_3,)
