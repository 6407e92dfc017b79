# SPDX-License-Identifier: Apache-2.0
"""Runs what README.md shows against the server that it starts: readme.py README.md SCRATCH SAMPO NODE-FOLDER

Blocks in Python, JavaScript and Go, curl lines, and the conversation in the terminal. Each kind must be there.
"""

import os
import pathlib
import pty
import re
import subprocess
import sys
import textwrap

readme, scratch, sampo, modules = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4])
text = readme.read_text()


def fenced(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def indented(start):
    """Returns the indented blocks whose first line begins so."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)
    return [b for b in (textwrap.dedent(b).strip("\n") for b in blocks) if b.startswith(start)]


def output(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **more)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def run_python(sample):
    (scratch / "hello.py").write_text(sample)
    return output("python3", str(scratch / "hello.py"))


def run_javascript(sample):
    (modules / "hello.mjs").write_text(sample)
    return output("node", "hello.mjs", cwd=modules)


def run_curl(sample):
    return output("bash", "-c", sample)


def run_go(sample):
    """Makes a module of its own around the lines, in the way that the README tells."""
    module = scratch / "hello"
    module.mkdir(exist_ok=True)
    imports = "\n".join(f'import "{p}"' for p in ("context", "fmt", "log", "github.com/sampo-ai/sampo"))
    (module / "main.go").write_text(f"package main\n\n{imports}\n\nfunc main() {{\n{sample}}}\n")
    output("go", "mod", "init", "example.com/hello", cwd=module)
    [edit] = re.findall(r"`(go mod edit [^`]*)`", text)
    output("bash", "-c", edit.replace("PATH_OF_THE_CLONE", str(readme.parent)), cwd=module)
    output("go", "mod", "tidy", cwd=module)
    return output("go", "run", ".", cwd=module)


def run_conversation(sample):
    """Types the lines behind the prompts in a terminal, and looks for each answer in turn."""
    command, *rest = sample.splitlines()
    parent, child = pty.openpty()
    words = [sampo, *command.removeprefix("$ sampo ").split()]
    program = subprocess.Popen(words, stdin=child, stdout=child, stderr=child, env={**os.environ, "TERM": "dumb"})
    os.close(child)
    seen = ""

    def wait(words):
        nonlocal seen
        while words not in seen:
            seen += os.read(parent, 4096).decode(errors="replace").replace("\r", "")
        seen = seen[seen.index(words) + len(words):]

    for line in filter(None, rest):
        if line.startswith("> "):
            wait("> ")
            os.write(parent, line.removeprefix("> ").encode() + b"\n")
            wait(line.removeprefix("> "))
        else:
            wait(line)
    wait("> ")
    os.write(parent, b"/bye\n")
    assert program.wait(60) == 0, program.returncode
    return rest[-1]


failed = 0
for name, samples, run, expected in (
    ("Python", fenced("python"), run_python, "Helsinki"),
    ("JavaScript", fenced("javascript"), run_javascript, "Helsinki"),
    ("curl", indented("curl "), run_curl, "Helsinki"),
    ("Go", fenced("go"), run_go, ""),
    ("conversation", indented("$ sampo run "), run_conversation, "Aino"),
):
    if not samples:
        failed += 1
        print(f"FAIL README.md shows no sample: {name}")
    for sample in samples:
        try:
            told = run(sample)
            assert expected in told and told.strip(), told
            print("ok  ", name, "|", told.strip().splitlines()[-1][:100])
        except Exception as error:
            failed += 1
            print("FAIL", name, repr(error))
sys.exit(failed > 0)
