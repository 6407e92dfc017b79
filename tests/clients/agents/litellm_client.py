# SPDX-License-Identifier: Apache-2.0
"""litellm against a Sampo server at SAMPO_BASE_URL, by both of its providers for OpenAI-compatible servers."""

import json
import os

import litellm

from run import run

BASE = os.environ["SAMPO_BASE_URL"]
QUESTION = [{"role": "user", "content": "What is the capital of Finland?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def ask(provider="openai", **more):
    arguments = {"model": f"{provider}/sampo/mini-chat", "api_base": BASE, "api_key": "any-key-will-do",
                 "messages": QUESTION, "temperature": 0, "num_retries": 0, **more}
    return litellm.completion(**arguments)


def test_both_providers_answer():
    texts = {ask(p).choices[0].message.content for p in ("openai", "hosted_vllm")}
    assert len(texts) == 1 and all(texts), texts


def test_stream_joins_to_the_plain_answer():
    chunks = list(ask("hosted_vllm", stream=True, stream_options={"include_usage": True}))
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == ask("hosted_vllm").choices[0].message.content, text
    assert any(getattr(c, "usage", None) for c in chunks)


def test_a_tool_is_called_and_its_result_taken():
    messages = [{"role": "user", "content": "What is the weather in Oulu?"}]
    first = ask("hosted_vllm", messages=messages, tools=[WEATHER])
    choice = first.choices[0]
    assert choice.finish_reason == "tool_calls", choice
    call = choice.message.tool_calls[0]
    assert isinstance(json.loads(call.function.arguments), dict), call
    messages += [choice.message.model_dump(), {"role": "tool", "tool_call_id": call.id, "content": "7 C"}]
    assert ask("hosted_vllm", messages=messages, tools=[WEATHER]).choices[0].message.content


def test_reasoning_is_understood():
    answer = ask("hosted_vllm", messages=[{"role": "user", "content": "What is 3 + 4?"}],
                 extra_body={"chat_template_kwargs": {"enable_thinking": True}})
    assert answer.choices[0].message.reasoning_content, answer


def test_errors_have_their_classes():
    for provider in ("openai", "hosted_vllm"):
        try:
            ask(provider, max_tokens=10_000_000)
            raise AssertionError("accepted")
        except litellm.ContextWindowExceededError:
            pass
        try:
            ask(provider, top_p=7)
            raise AssertionError("accepted")
        except litellm.BadRequestError:
            pass
    try:
        litellm.completion(model="openai/nope", api_base=BASE, api_key="x", messages=QUESTION, num_retries=0)
        raise AssertionError("accepted")
    except litellm.NotFoundError as error:
        assert "sampo pull nope" in str(error), error


run(globals())
