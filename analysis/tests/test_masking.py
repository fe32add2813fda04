# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which values of command lines and environments are kept, and which are masked."""

from __future__ import annotations

import pytest

from strata.masking import is_secret, mask_command, mask_document, mask_environment, mask_text

SECRETS = [
    *("password", "--password", "DB_PASSWORD", "PGPASSWORD", "passwd", "SSHPASS", "--pass", "PASS"),
    *("token", "GITHUB_TOKEN", "authToken", "access-token", "ROS_TOKEN_2", "client_secret"),
    *("SECRET", "AWS_SECRET_ACCESS_KEY", "API_KEY", "apiKey", "APIKEY", "--key", "ROS_KEY"),
    *("credential", "MY_CREDENTIALS", "private-key", "transport/auth/usrpwd/password"),
    *("DB_PWD", "MYSQL_PWD", "DB_PASS", "dbPass", "DB_PW", "--pin", "USER_PIN", "sim-pin", "PIN"),
]
HARMLESS = [
    *("ROS_DOMAIN_ID", "keyboard", "keep_last", "monkey", "key_frame_interval", "--key-size"),
    *("ROS_SECURITY_KEYSTORE", "--password-file", "TOKEN_PATH", "--max-tokens", "tokens_per_s"),
    *("PWD", "OLDPWD", "bypass", "band_pass", "--no-password", "--ask-password", "--sort-key"),
    *("RMW_IMPLEMENTATION", "PYTHONPATH", "secretary", "tokenizer", "author", "--compass"),
    *("low_pass", "use_high_pass", "gpio_pin", "pin_mode", "pass_count", "MAPPIN", "--spin"),
]


@pytest.mark.parametrize("name", SECRETS)
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", HARMLESS)
def test_names_of_other_things(name: str) -> None:
    assert not is_secret(name)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("client --password hunter2 --rate 5", "client --password *** --rate 5"),
        (
            "env DB_PWD=qux MYSQL_PWD=a unlock --pin 1234",
            "env DB_PWD=*** MYSQL_PWD=*** unlock --pin ***",
        ),
        ("env PWD=/tmp OLDPWD=/ node --spin 3", "env PWD=/tmp OLDPWD=/ node --spin 3"),
        ("client --password=hun=ter2 -v", "client --password=*** -v"),
        ("env API_KEY=abc ROS_DOMAIN_ID=7 talker", "env API_KEY=*** ROS_DOMAIN_ID=7 talker"),
        (
            "node --ros-args -p password:=x -p rate:=5",
            "node --ros-args -p password:=*** -p rate:=5",
        ),
        ("curl -u me:pw https://h/?token=ab&n=1", "curl -u me:*** https://h/?token=***&n=1"),
        ("docker run --user 1000:1000 image", "docker run --user 1000:1000 image"),
        ("git clone https://me:pw@host/x.git", "git clone https://me:***@host/x.git"),
        ("ssh://git@host/x a:b@c", "ssh://git@host/x a:b@c"),
        ("login ghp_0123456789abcdefghijABCDEF", "login ***"),
        ("ros2 topic pub /key std_msgs/String", "ros2 topic pub /key std_msgs/String"),
        ("tool --password --verbose", "tool --password --verbose"),
        ("python3 -m relay_chain --log truth", "python3 -m relay_chain --log truth"),
    ],
)
def test_command_lines(given: str, kept: str) -> None:
    assert mask_command(given.split(" ")) == kept.split(" ")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("export API_KEY='a b'; run --password pw x", "export API_KEY='***'; run --password *** x"),
        ("run --password $PW", "run --password $PW"),
        ('curl -H "Authorization: Bearer abc" h', 'curl -H "Authorization: Bearer ***" h'),
        ('{"password": "x", "rate": 5}', '{"password": "***", "rate": 5}'),
        ("password: hunter2\nrate: 5\n", "password: ***\nrate: 5\n"),
        ("{key: frequency, before: 1}", "{key: frequency, before: 1}"),
        ("<a><Password>x</Password><Key/></a>", "<a><Password>***</Password><Key/></a>"),
        (
            "transport/auth/usrpwd/password=x;mode=peer",
            "transport/auth/usrpwd/password=***;mode=peer",
        ),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----",
        ),
        (
            "topic: /keyboard/key_pressed, qos: keep_last",
            "topic: /keyboard/key_pressed, qos: keep_last",
        ),
    ],
)
def test_scripts_and_other_texts(given: str, kept: str) -> None:
    assert mask_text(given) == kept


def test_environments() -> None:
    assert mask_environment(
        {"ROS_TOKEN": "x", "ROS_DOMAIN_ID": "7", "ROS_SECRET": "", "CYCLONEDDS_URI": "tcp://a:b@c"}
    ) == {
        "ROS_TOKEN": "***",
        "ROS_DOMAIN_ID": "7",
        "ROS_SECRET": "",
        "CYCLONEDDS_URI": "tcp://a:***@c",
    }


def test_documents() -> None:
    document = {"environment": {"API_KEY": "x", "N": "1"}, "command": ["a", "--token", "x"], "n": 1}
    assert mask_document([document]) == [
        {"environment": {"API_KEY": "***", "N": "1"}, "command": ["a", "--token", "***"], "n": 1}
    ]


def test_masking_is_quick_on_long_texts() -> None:
    for text in ("a" * 100_000, "a:" * 50_000, "--key " * 20_000, "<a>" * 30_000, "eyJ" * 30_000):
        mask_text(text)
