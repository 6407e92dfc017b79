# SPDX-License-Identifier: Apache-2.0
"""Turns a pattern with choices into one wording, and roughens it the way people type."""
import re

_CHOICE = re.compile(r"\[([^\[\]]*)\]")


def say(rng, pattern, **values):
    """`[a|b|]` picks one alternative, innermost first; `{x}` is replaced afterwards, so values may hold brackets."""
    while True:
        match = _CHOICE.search(pattern)
        if not match:
            break
        pattern = pattern[:match.start()] + rng.choice(match.group(1).split("|")) + pattern[match.end():]
    for key, value in values.items():
        pattern = pattern.replace("{" + key + "}", str(value))
    return pattern


_BEFORE = ["Please ", "please ", "Hey, ", "Hi, ", "OK, ", "Now ", "And ", "So, ", "Hello! ", "Next: ", "Quick question: ",
           "Can you help? ", "Well, ", "Great. ", "Thanks. ", "Could you tell me: ", "Um, ", "I wonder: ", "Sorry, "]
_PLAIN = set("""What Which Tell Give Name Say Do Write The How Of For In Can Where Capital Calculate Compute Work Solve Find Add Sum Subtract
Take Deduct If Count List Start From Spell Spelling Repeat Echo Copy Print Type Please Just Answer Translate Put Turn Make Invent A Story Two
Who When Why Explain Show Is Are Define My Summarize Review Did Does Has Will Should Weather Time Search Look Google Get Check Fetch Introduce
Describe List Help With Remember And""".split())
_AFTER = [" Please.", " please", " Thanks.", " Thank you!", " thanks", " OK?", " I need to know.", " It is for school.",
          " I forgot.", " Be quick."]


def rough(rng, text):
    """Adds what people add and drops what they drop; never touches the words that matter."""
    plain = text.split(maxsplit=1)[0] in _PLAIN
    if rng.random() < 0.2:
        before = rng.choice(_BEFORE)
        keep = not plain or before.rstrip().endswith((".", "!", "?"))
        text = before + (text if keep else text[0].lower() + text[1:])
    if rng.random() < 0.1:
        text = text.rstrip(".") + ("" if text[-1] in "?!." else ".") + rng.choice(_AFTER)
    if rng.random() < 0.12 and text[-1] in ".?!":
        text = text[:-1]
    if rng.random() < 0.02:
        text += rng.choice(("!!", "!", "??", " :)", "..."))
    if plain and rng.random() < 0.08:
        text = text[0].lower() + text[1:]
    return text
