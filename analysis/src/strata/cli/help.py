# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata help`: explain a concept, or a verb."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from strata.cli import topics


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    del ctx, param
    return [
        CompletionItem(topic, help=topics.summary(topic))
        for topic in topics.TOPICS
        if topic.startswith(incomplete)
    ]


@click.command("help", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("topic", required=False, shell_complete=_complete)
@click.pass_context
def command(ctx: click.Context, topic: str | None) -> None:
    """Explain a concept (TOPIC), or list the topics.

    With the name of a verb, its help is printed.
    """
    if topic is None:
        _list()
    elif topic in topics.TOPICS:
        _show(topics.text(topic))
    else:
        _show_verb(ctx, topic)


def _list() -> None:
    formatter = click.HelpFormatter()
    with formatter.section("Topics"):
        formatter.write_dl([(topic, topics.summary(topic)) for topic in topics.TOPICS])
    click.echo(formatter.getvalue() + "\nstrata help TOPIC explains one; strata help VERB a verb.")


def _show(markdown: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.width = min(console.width, 80)
    console.print(Markdown(markdown))


def _show_verb(ctx: click.Context, name: str) -> None:
    from strata.nearest import did_you_mean

    parent = ctx.parent
    assert parent is not None and isinstance(parent.command, click.Group)
    verbs = parent.command.list_commands(parent)
    found = parent.command.get_command(parent, name)
    if found is None:
        near = did_you_mean(name, [*topics.TOPICS, *verbs])
        raise click.UsageError(f"No such topic {name!r}.{near} strata help lists the topics.", ctx)
    click.echo(found.get_help(click.Context(found, info_name=name, parent=parent)))
