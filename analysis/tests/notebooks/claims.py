# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the text of each notebook says in figures, and how to compute it from its variables.

`CLAIMS` has expressions that are evaluated in the kernel once a notebook has run: each must give
the words that the text has. `GIVEN` are figures that were chosen, for the recorded programs or for
the analysis, and do not come from a recording.
"""

from __future__ import annotations

GIVEN = {
    "first-bottleneck": {"50 Hz", "5 Hz"},
    "layers-of-three-workloads": {"1 KiB"},
    "executors-and-callback-groups": {"50 Hz", "5 Hz", "60 ms"},
    "comparing-middlewares": {"1 KiB", "100 Hz", "30 Hz", "1 MiB", "95 %"},
    "your-own-analysis": {"200 ms"},
}

_OF_FAST = "a.chains.set_index('name').loc['/fast']"
_MEAN = "format_ns(overview['latency_mean_ns']['{}'])"
_SHARE = "format_share((means / means.sum())['{}'].loc[{}].sum())"
_LIDAR = "workloads['lidar'].messages.query(\"topic == '/points'\").nlargest(1, 'latency_ns')"
_SPINS = (
    "traces['separate'].sql('SELECT * FROM executor_threads WHERE executions = 0')"
    ".assign(span=lambda t: t['end_ns'] - t['begin_ns']).iloc[0]"
)
_SMALL = "small.rows().query(\"kind == 'chain' and layer.isna()\").iloc[0]"
_REPAIRED = "messages.resend_ns.notna()"

CLAIMS = {
    "first-bottleneck": [
        ("over 30 ms", f"f\"over {{{_OF_FAST}['latency_p99_ns'] // 1e6:.0f}} ms\""),
        ("`/fast` is 440 us", f"'`/fast` is ' + format_ns({_OF_FAST}['latency_p50_ns'])"),
        ("30.6 ms", f"format_ns({_OF_FAST}['latency_p99_ns'])"),
        (
            "70 times",
            f"f\"{{{_OF_FAST}['latency_p99_ns'] / {_OF_FAST}['latency_p50_ns']:.0f}} times\"",
        ),
        ("1.96 ms", f"format_ns({_OF_FAST}['latency_mean_ns'])"),
        ("98 %", "format_share(slowest['share'].min())"),
        ("after 0.5 ms", "f\"after {path['duration_ms'].iloc[:2].sum():.1f} ms\""),
        ("takes 30.0 ms", "'takes ' + format_ns(callbacks['duration_p50_ns'].max())"),
    ],
    "layers-of-three-workloads": [
        ("1.78 ms", _MEAN.format("relay")),
        ("23 %", "format_share((means / means.sum())['relay'].max())"),
        ("41 %", _SHARE.format("relay", ["wake-up", "executor wait"])),
        (
            "less than 1 %",
            "'less than 1 %' if means['relay']['serialize'] < 0.01 * means['relay'].sum() else ''",
        ),
        ("1.57 MB", "f\"{overview['size']['lidar'] / 1e6:.3g} MB\""),
        ("8.27 ms", _MEAN.format("lidar")),
        ("33 %", _SHARE.format("lidar", ["driver"])),
        ("31 %", _SHARE.format("lidar", ["client take"])),
        ("7.8 %", _SHARE.format("lidar", ["transport"])),
        ("40.2 ms", f"format_ns({_LIDAR}['latency_ns'].iloc[0])"),
        ("26.9 ms", f"format_ns({_LIDAR}['driver_ns'].iloc[0])"),
        ("2.76 MB", "f\"{overview['size']['camera'] / 1e6:.3g} MB\""),
        ("10.7 ms", _MEAN.format("camera")),
        ("46 %", _SHARE.format("camera", ["client take"])),
        ("21 %", _SHARE.format("camera", ["take"])),
        ("11 %", _SHARE.format("camera", ["transport"])),
    ],
    "executors-and-callback-groups": [
        ("within 719 us", "'within ' + format_ns(scan['latency_p50_ns']['single'])"),
        ("42.0 ms", "format_ns(scan['latency_p99_ns']['single'])"),
        ("62.5 ms", "format_ns(scan['latency_p50_ns']['exclusive'])"),
        ("218 ms", "format_ns(scan['latency_p50_ns']['separate'])"),
        (
            "of 200 messages only 50 and 165",
            "f\"of {scan['published']['separate']:.0f} messages only "
            "{scan['received']['exclusive']:.0f} and {scan['received']['separate']:.0f}\"",
        ),
        ("3.13 ms", "format_ns(scan['latency_p99_ns']['apart'])"),
        ("74 %", f"format_share({_SPINS}['ready_ns'] / {_SPINS}['span'])"),
        ("75 %", f"format_share({_SPINS}['cpu_share'])"),
        ("21.6 ms", "format_ns(-scan_rows['shift_p90_ns'].iloc[0])"),
    ],
    "comparing-middlewares": [
        ("140 us", f"format_ns({_SMALL}['a_p50_ns'])"),
        ("139 us", f"format_ns({_SMALL}['b_p50_ns'])"),
        ("-19.2 us", f"format_ns({_SMALL}['shift_low_ns'])"),
        ("3.28 us", f"format_ns({_SMALL}['shift_high_ns'])"),
        ("34.0 ms", "format_ns(hops['Cyclone DDS'].iloc[3] - hops['Fast DDS'].iloc[3])"),
        ("9.5 %", "format_share(hops['Cyclone DDS']['lost'] / hops['Cyclone DDS']['published'])"),
        (
            "10.8 ms slower",
            "format_ns(udp.chains.set_index('name').loc['/messages', 'latency_p50_ns']"
            " - shm.chains.set_index('name').loc['/messages', 'latency_p50_ns']) + ' slower'",
        ),
        ("17 fragments", "f\"{messages['fragments'].max()} fragments\""),
        ("136 of 150 messages", f"f'{{{_REPAIRED}.sum()}} of {{len(messages)}} messages'"),
        ("10.9 ms", "format_ns(messages['resend_ns'].median())"),
        ("3.62 ms", f"format_ns(messages[~{_REPAIRED}]['latency_ns'].median())"),
        (
            "3.42 ms",
            "format_ns(shm.chains.set_index('name').loc['/messages', 'latency_p50_ns'])",
        ),
    ],
    "your-own-analysis": [
        ("133 ms", "format_ns(age['age_ns'].median())"),
        ("1.98 s", "format_ns(age['age_ns'].max())"),
        (
            "9.4 s",
            "f\"{(trace.sql('''SELECT max(publish_ns) FROM messages WHERE topic = '/slow' ''')"
            ".iloc[0, 0] - age['at_ns'].iloc[0]) / 1e9:.1f} s\"",
        ),
        ("33 ms", "f\"{age['age_ns'].min() / 1e6:.0f} ms\""),
        ("is 50.0 ms in every", "f\"is {gaps['p50_ns'].median() / 1e6:.1f} ms in every\""),
    ],
}
