# SPDX-License-Identifier: Apache-2.0
"""litellm against the servers at SAMPO_BASE_URL and SAMPO_BUSY_URL (see ../common.sh), by both of its providers for
OpenAI-compatible servers."""

import asyncio
import json
import os

import litellm

from run import run

BASE, BUSY, KEY = (os.environ[name] for name in ("SAMPO_BASE_URL", "SAMPO_BUSY_URL", "OPENAI_API_KEY"))
QUESTION = [{"role": "user", "content": "What is the capital of Finland?"}]
MODEL = os.environ["SAMPO_MODEL"]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def arguments(provider="openai", name=MODEL, **more):
    return {"model": f"{provider}/{name}", "api_base": BASE, "api_key": KEY, "messages": QUESTION, "temperature": 0,
            "num_retries": 0, "max_retries": 0, **more}


def ask(provider="openai", name=MODEL, **more):
    return litellm.completion(**arguments(provider, name, **more))


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"accepted, want {kind.__name__}")


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
    if os.environ["SAMPO_MODEL_TOOLS"] != "true":
        refused(litellm.BadRequestError, lambda: ask("hosted_vllm", messages=messages, tools=[WEATHER]))
        return
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
    if MODEL == "sampo/mini-chat":  # others may not think
        assert answer.choices[0].message.reasoning_content, answer


def test_tool_calls_stream():
    chunks = list(ask("hosted_vllm", "scripted", messages=[{"role": "user", "content": "say:calls"}], tools=[WEATHER], stream=True))
    whole = litellm.stream_chunk_builder(chunks).choices[0]
    assert [json.loads(c.function.arguments)["city"] for c in whole.message.tool_calls] == ["Oulu", "Oslo"], whole
    assert whole.finish_reason == "tool_calls", whole


def test_text_completions_answer():
    answer = litellm.text_completion(model=f"text-completion-openai/{MODEL}", api_base=BASE, api_key=KEY, prompt="Hello",
                                     max_tokens=5, temperature=0, logprobs=1, echo=True)
    assert answer.choices[0].text.startswith("Hello"), answer
    assert len(answer.choices[0].logprobs.tokens) == answer.usage.total_tokens, answer


def test_many_at_once():
    async def all_of_them():
        return await asyncio.gather(*(
            litellm.acompletion(**{**arguments(seed=seed % 4, max_tokens=8), "temperature": 1}) for seed in range(12)))

    texts = [a.choices[0].message.content for a in asyncio.run(all_of_them())]
    assert texts == texts[:4] * 3, texts


def test_errors_have_their_classes():
    for provider in ("openai", "hosted_vllm"):
        refused(litellm.ContextWindowExceededError, lambda: ask(provider, max_tokens=10_000_000))
        refused(litellm.ContextWindowExceededError, lambda: ask(provider, messages=[{"role": "user", "content": "Hello " * 20_000}]))
        assert "top_p" in str(refused(litellm.BadRequestError, lambda: ask(provider, top_p=7)))
        refused(litellm.AuthenticationError, lambda: ask(provider, api_key="wrong"))
        assert "sampo pull nope" in str(refused(litellm.NotFoundError, lambda: ask(provider, "nope")))


def test_a_full_server_is_a_rate_limit():
    stream = ask(api_base=BUSY, stream=True, max_tokens=4_000, n=16, temperature=1, extra_body={"ignore_eos": True})
    next(iter(stream))
    refused(litellm.RateLimitError, lambda: ask(api_base=BUSY, max_tokens=4))


def test_a_timeout_is_one():
    refused(litellm.Timeout, lambda: ask(timeout=0.3, max_tokens=4_000, n=16, temperature=1, extra_body={"ignore_eos": True}))


run(globals())
