# SPDX-License-Identifier: Apache-2.0
"""Tool loops through the OpenAI SDK with the built-in model: it calls, the program answers, it tells what came back."""

import json
import os

import openai

client = openai.OpenAI(base_url=os.environ["SAMPO_BASE_URL"], max_retries=0)
MODEL = "sampo/mini-chat"


def tool(name, description, **parameters):
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": {
        "type": "object", "properties": properties, "required": list(properties)}}}


TOOLS = [tool("get_weather", "Get the weather in a city.", city="string"),
         tool("get_time", "Get the current time in a city.", city="string")]
FUNCTIONS = {"get_weather": lambda city: json.dumps({"temperature": -4, "condition": "snowy"}),
             "get_time": lambda city: json.dumps({"time": "16:45"})}


def loop(messages, question, called):
    """Asks, runs the calls of each answer and sends their results back, until an answer has none. Adds the calls to called."""
    messages.append({"role": "user", "content": question})
    for _ in range(4):
        choice = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS, temperature=0).choices[0]
        messages.append(choice.message.model_dump(exclude_none=True))
        if choice.finish_reason != "tool_calls":
            return choice.message.content
        for call in choice.message.tool_calls:
            arguments = json.loads(call.function.arguments)
            called.append((call.function.name, arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": FUNCTIONS[call.function.name](**arguments)})
    raise AssertionError(f"no end of calls: {called}")


def main():
    messages, called = [], []
    answer = loop(messages, "What is the weather in Helsinki?", called)
    assert called == [("get_weather", {"city": "Helsinki"})], called
    assert "-4" in answer and "snowy" in answer and "Helsinki" in answer, answer
    print("ok   a call, its result, the answer")

    answer = loop(messages, "What is the weather in Rome?", called)
    assert called[1:] == [("get_weather", {"city": "Rome"})], called
    assert "-4" in answer and "Rome" in answer, answer
    print("ok   another call after it, in the same conversation")

    messages, called = [], []
    answer = loop(messages, "What is the weather in Oslo and the weather in Paris?", called)
    assert called == [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Paris"})], called
    assert "Oslo" in answer and "Paris" in answer, answer
    print("ok   two calls for one question")

    messages, called = [], []
    answer = loop(messages, "What is the capital of Finland?", called)
    assert not called and "Helsinki" in answer, (called, answer)
    print("ok   no call where none is needed")


if __name__ == "__main__":
    main()
