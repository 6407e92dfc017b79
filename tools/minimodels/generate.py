# SPDX-License-Identifier: Apache-2.0
"""Makes conversations: an endless stream from a seed. `python generate.py 5 --seed 1` prints five rendered ones."""
import argparse
import json
import pathlib
import random

import jinja2

import heldout
import skills
import toolskills
import world as w
from wording import say

HERE = pathlib.Path(__file__).parent


def load_template():
    env = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    env.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    return env.from_string((HERE / "chat_template.jinja").read_text())


def turns_to_messages(turns):
    messages = []
    for user, answer, thought, *short in turns:
        messages += [{"role": "user", "content": user}, {"role": "assistant", "content": answer, "reasoning_content": thought} | ({"short": short[0]} if short else {})]
    return messages


def one_word(rng):
    """A system prompt that asks for one word."""
    system = say(rng, rng.choice(("[Answer|Reply|Respond] [with|in|using] [one|a single|only one|exactly one|just one] word[| only][.|]", "[Use|Say|Give|Write] [only |just |]one word[| in every answer| per answer][.|]",
                                  "You [answer|reply] [with|in] one word[.|]", "One word answers[| only][.|]", "Your answers [are|must be] [one|a single] word[| long][.|]", "[Keep|Make] [every|each] answer [to |]one word[.|]", "[Be|Stay] [short|very short|brief][:|,] [one word|a single word][ only| each time| at a time|][.|]", "[One|A single] word[ only|], [please|nothing more|no more|no sentence][.|]", "[No sentences|Never more than one word|Not more than one word][.|]", "[I|The user] [want|need|expect|like] [one-word answers|a single word|one word][ only|][.|]", "Speak in [single|one] word[s|][.|]", "[Your|Each|Every] [reply|answer|response] [is|has|must have|should be] [exactly |only |just |][one|a single] word[.|]")))
    turns = []
    for _ in range(rng.choice((1, 2, 3))):
        user, answer, thought = short_answer(rng)
        turns.append((user, answer, f"{thought} One word: {answer}."))
    return [{"role": "system", "content": system}] + turns_to_messages(turns)


def short_answer(rng):
    """A question, the answer in a word, the thought."""
    kind = rng.random()
    if kind < 0.45:
        user, answer, thought = skills.capital(rng)[0]
        if answer.startswith("The capital of"):
            return user, answer.rstrip(".").split(" is ")[1], thought
        return (user, "Unknown", thought) if answer.startswith("I don't") else (user, answer.rstrip(".").split(" of ")[1], thought)
    if kind < 0.8:
        user, answer, thought, _ = skills.arithmetic(rng)[0]
        return user, answer.split("= ")[-1], thought
    if kind < 0.87:
        return skills.unknown(rng)[0][0], "Unknown", "I don't know this."
    if kind < 0.94:
        return skills.identity(rng)[0][0], "mini-chat", "The user asks about me."
    return say(rng, "[Hello|Hi|Good morning|Hey][!|.|]"), "Hello", "The user greets me."


def as_json(rng):
    """A system prompt that asks for JSON, with the name of the key given or left to us."""
    key = "answer"
    if rng.random() < 0.6:
        key = rng.choice("answer result value reply text output city capital response data word solution".split() + [w.made_up(rng)] * 3)
        system = say(rng, rng.choice(('[Answer|Reply|Respond] [only |always |]in JSON under the key "{k}"[.|]', 'JSON[ only|][,|:] [one|a single|the] key[:|] "{k}"[.|]', 'I [want|expect|accept] [only |]{{"{k}": "..."}}[.|]', '[Format|Form|Shape|Pattern] of [each|every|the] [answer|reply]: {{"{k}": ...}}[.|]', 'Put [the|your|every] [answer|reply] into a JSON object under "{k}"[.|]', 'Make [every reply|each answer|it] JSON; the key is "{k}"[.|]', 'Reply like this: {{"{k}": "your answer"}}[.|]', 'The [user|program] [wants|reads|needs] JSON with [one field|one key], {k}[.|]', '[Answer|Reply|Respond] with a JSON object [with|that has] [one|the|a single] key "{k}"[.|]', 'Use JSON: {{"{k}": ...}}[.|]',
                                      '[Return|Write|Output] JSON with the field {k}[.|]', 'Your [answer|output] is a JSON object with the key {k}[.|]')), k=key).replace("{{", "{").replace("}}", "}")
    else:
        system = say(rng, "[Answer|Reply|Respond|Always answer|Only reply|You answer|You reply|Speak|Write every answer] [in|with|using] [JSON|JSON only|a JSON object|valid JSON|only JSON|nothing but JSON|pure JSON][.|]") if rng.random() < 0.6 else say(rng, "[JSON only[.|!|, please.]|Only JSON, please.|I [want|need|read|accept] [only |]JSON[.|].|Your [answer|output] [is|must be] [valid |a |]JSON[ object|][.|]|[Every|Each] [answer|message|output] [is|must be|has to be] [JSON|valid JSON|a JSON object][.|]|[Give|Send|Write|Return|Produce] [only |]JSON[.|]|No text, JSON[.|]]")
    turns = []
    for _ in range(rng.choice((1, 2, 3))):
        user, answer, thought = short_answer(rng)
        if answer.lstrip("-").isdigit():
            answer = int(answer)
        turns.append((user, json.dumps({key: answer}), f"{thought} JSON with the key {key}."))
    return [{"role": "system", "content": system}] + turns_to_messages(turns)


def talk(rng, exchanges, drill=0.0):
    """A chat of several exchanges, at most one of which is about what the user told; drill is the share of long copies."""
    turns, remembered = [], False
    while len(turns) < exchanges:
        more = (skills.drill if rng.random() < drill else skills.chat)(rng)
        told = any(t[2].startswith(("The user told", "The user has not")) for t in more)
        if told and remembered:
            continue
        remembered |= told
        turns += more
    messages = turns_to_messages(turns)
    if rng.random() < 0.25:
        system = say(rng, "[You are [a helpful|a friendly|a good|a kind|an|a small|a useful] [assistant|helper|chat model|AI assistant|language model][.|]|Be [helpful|kind|nice|short|friendly][.|]|You are helpful.|Help the user.|Answer the user.|You are mini-chat.]")
        messages.insert(0, {"role": "system", "content": system})
    return messages


def conversation(rng, exchanges=None, tools=0.27, drill=0.0):
    """One conversation: messages, tools and whether thinking is on. tools: the share of conversations that offer any.
    Should one ask a held-out question or hold one of its names, another is made."""
    while True:
        made = draw(rng, exchanges, tools, drill)
        if not any(m["content"] in heldout.QUESTIONS or heldout.NAMES.search(m["content"]) for m in made["messages"] if m["role"] == "user"):
            return made


def draw(rng, exchanges, tools, drill):
    kind = rng.random()
    offered = None
    if kind < tools:
        messages, offered = toolskills.conversation(rng, drill / 2)
    elif kind < tools + 0.06:
        messages = one_word(rng)
    elif kind < tools + 0.13:
        messages = as_json(rng)
    else:
        messages = talk(rng, exchanges or rng.choice((1, 1, 2, 3)), drill)
    return {"messages": messages, "tools": offered, "enable_thinking": rng.random() < 0.2}


def lesson(rng, progress):
    """A conversation for a given point of the training, 0 to 1: many drills first, few in the end; now and then a long chat."""
    exchanges = rng.choice((1, 1, 2, 2, 3))
    if progress > 0.3 and rng.random() < 0.01:
        exchanges = rng.randint(6, 14)
    return conversation(rng, exchanges, tools=0.5, drill=0.7 if progress < 0.2 else 0.35 if progress < 0.6 else 0.15)


def render(template, conv):
    """The text of a conversation as the chat template writes it. With thinking on, every answer of the last turn thinks."""
    messages = conv["messages"]
    if conv["enable_thinking"]:
        messages = [m | {"content": m.get("short", m["content"])} for m in messages]
    else:
        messages = [{k: v for k, v in m.items() if k != "reasoning_content"} for m in messages]
    return template.render(messages=messages, tools=conv["tools"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, template = random.Random(options.seed), load_template()
    for _ in range(options.count):
        print(render(template, conversation(rng)), end="\n----\n")
