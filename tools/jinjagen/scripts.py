# SPDX-License-Identifier: Apache-2.0
"""Fills in the expected results of internal/prompt/jinja/testdata/*.txt with Python's jinja2.

Usage: python3 tools/jinjagen/scripts.py internal/prompt/jinja/testdata/*.txt   (jinja2 3.1.6, Python 3.11)

A case is a line "## name", an optional line "vars {JSON}", the source of a template up to a line "----", and one line
with the result: the output as a JSON string, or "!" and the kind of error. The environment is that of the chat
templates of transformers: a sandbox without mutation, trim_blocks, lstrip_blocks, loop controls and a block tag
generation.
"""

import datetime
import json
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox

CLOCK = datetime.datetime(2026, 3, 15, 9, 26, 53)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    def _render(self, caller):
        return caller()


class Namespace(jinja2.utils.Namespace):
    def __init__(*args, **kwargs):
        self, args = args[0], args[1:]
        for name in dict(*args, **kwargs):
            Namespace.check(name)
        jinja2.utils.Namespace.__init__(self, *args, **kwargs)

    def __setitem__(self, name, value):
        Namespace.check(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def check(name):
        if name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"refused name {name!r}")


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals.update(raise_exception=raise_exception, namespace=Namespace, strftime_now=CLOCK.strftime)
    return env


def result(source, variables):
    try:
        template = environment().from_string(source)
    except (jinja2.exceptions.TemplateSyntaxError, SyntaxError):
        return "! syntax"
    try:
        return json.dumps(template.render(**variables), ensure_ascii=False)
    except jinja2.exceptions.SecurityError:
        return "! security"
    except Exception:
        return "! runtime"


def fill(path):
    with open(path, encoding="utf-8", newline="") as f:
        head, *cases = f.read().split("## ")
    out = [head]
    for case in cases:
        name, _, body = case.partition("\n")
        source, _, _ = body.partition("\n----\n")
        variables = {}
        text = source
        if source.startswith("vars "):
            line, _, text = source.partition("\n")
            variables = json.loads(line[len("vars "):])
        out.append(f"## {name}\n{source}\n----\n{result(text, variables)}\n\n")
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write("".join(out).rstrip("\n") + "\n")


for path in sys.argv[1:]:
    fill(path)
