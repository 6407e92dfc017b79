# SPDX-License-Identifier: Apache-2.0
"""Checks what mini-swe-agent did in a folder: check.py FOLDER"""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


def trajectory(work):
    return json.loads((folder / f"{work}.json").read_text())


mended = trajectory("mended")
assert mended["info"]["exit_status"] == "Submitted", mended["info"]
assert (folder / "mended" / "greeting.txt").read_text() == "hello from the mill\n"
assert [m["role"] for m in mended["messages"]] == ["system", "user", "assistant", "tool", "assistant", "exit"], mended["messages"]
print(f"scripted: {mended['info']['model_stats']['api_calls']} turns, the file is mended, {mended['info']['exit_status']}")

tried = trajectory("tried")
assert tried["info"]["exit_status"] in ("RepeatedFormatError", "LimitsExceeded", "Submitted"), tried["info"]
assert tried["info"]["model_stats"]["api_calls"] >= 2, tried["info"]
print(f"mini-chat: {tried['info']['model_stats']['api_calls']} turns, {tried['info']['exit_status']}")

for work, words in {"overflown": ("ContextWindowExceededError", "context length"), "unknown": ("NotFoundError", "sampo pull nope")}.items():
    info = trajectory(work)["info"]
    text = json.dumps(trajectory(work))
    assert info["exit_status"] == words[0] and words[1] in text, (info["exit_status"], text[-2000:])
    print(f"{work}: {words[0]}")
