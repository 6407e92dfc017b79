# SPDX-License-Identifier: Apache-2.0
"""The OpenAI SDK for Python against the servers at SAMPO_BASE_URL and SAMPO_BUSY_URL (see ../common.sh)."""

import asyncio
import json
import os
import sys
import time
import traceback

import openai

KEY = os.environ["OPENAI_API_KEY"]
client = openai.OpenAI(base_url=os.environ["SAMPO_BASE_URL"], max_retries=0)
MODEL = os.environ["SAMPO_MODEL"]
SCRIPTED = "scripted"
QUESTION = [{"role": "user", "content": "What is the capital of Finland?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def ask(**more):
    return client.chat.completions.create(**{"model": MODEL, "messages": QUESTION, "temperature": 0, **more})


def say(script, **more):
    """Asks the scripted model for a text that is known."""
    return ask(model=SCRIPTED, messages=[{"role": "user", "content": f"say:{script}"}], **more)


def refused(kind, call):
    """Returns the error of the kind that a call ends with."""
    try:
        call()
    except kind as error:
        assert type(error) is kind, repr(error)
        return error
    raise AssertionError(f"accepted, want {kind.__name__}")


def test_models_are_listed_and_found():
    assert [m.id for m in client.models.list()] == [MODEL, SCRIPTED]
    for name in (MODEL, SCRIPTED):
        assert client.models.retrieve(name).id == name
    assert client.models.list().data[0].max_model_len > 0
    assert refused(openai.NotFoundError, lambda: client.models.retrieve("nope")).code == "model_not_found"


def test_chat_answers():
    answer = ask()
    choice = answer.choices[0]
    assert choice.message.role == "assistant", choice
    assert "Helsinki" in choice.message.content, choice
    assert choice.finish_reason == "stop", choice
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens, answer.usage
    assert say("plain").choices[0].message.content == "The sampo grinds flour, salt and gold."


def test_a_conversation_goes_on():
    told = {"role": "user", "content": "Hi, my name is Aino."}
    first = ask(messages=[told])
    second = ask(messages=[told, first.choices[0].message.model_dump(), {"role": "user", "content": "What is my name?"}])
    assert second.choices[0].message.content and second.usage.prompt_tokens > first.usage.total_tokens, second
    if MODEL == "sampo/mini-chat":
        assert "Aino" in second.choices[0].message.content, second


def test_content_parts_and_the_developer_role():
    parts = [{"role": "developer", "content": "Be brief."},
             {"role": "user", "content": [{"type": "text", "text": "What is the capital"}, {"type": "text", "text": "of Finland?"}]}]
    assert ask(messages=parts).choices[0].message.content
    image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]
    assert "image" in refused(openai.BadRequestError, lambda: ask(messages=image)).message


def test_stream_joins_to_the_plain_answer():
    whole = ask().choices[0].message.content
    chunks = list(ask(stream=True, stream_options={"include_usage": True}))
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole, (text, whole)
    assert chunks[-1].usage.completion_tokens > 0 and not chunks[-1].choices, chunks[-1]
    assert all(c.usage is None for c in chunks[:-1])
    assert len({c.id for c in chunks}) == 1
    with client.chat.completions.stream(model=MODEL, messages=QUESTION, temperature=0) as stream:
        for _ in stream:
            pass
        assert stream.get_final_completion().choices[0].message.content == whole


def test_characters_are_whole_in_a_stream():
    pieces = [c.choices[0].delta.content or "" for c in say("half", stream=True)]
    assert "".join(pieces) == say("half").choices[0].message.content == "Hé 🦔 日本語 ok", pieces
    assert not any("\ufffd" in p for p in pieces), pieces


def test_a_tool_is_called_and_its_result_taken():
    messages = [{"role": "user", "content": "say:call"}]
    first = ask(model=SCRIPTED, messages=messages, tools=[WEATHER]).choices[0]
    assert first.finish_reason == "tool_calls" and first.message.content is None, first
    [call] = first.message.tool_calls
    assert call.function.name == "get_weather" and json.loads(call.function.arguments) == {"city": "Oulu"}, call
    messages += [first.message, {"role": "tool", "tool_call_id": call.id, "content": "-4 C, say:yes"}]
    assert ask(model=SCRIPTED, messages=messages, tools=[WEATHER]).choices[0].message.content == "yes."


def test_tool_calls_stream():
    with client.chat.completions.stream(
            model=SCRIPTED, messages=[{"role": "user", "content": "say:calls"}], tools=[WEATHER], temperature=0) as stream:
        done = [e for e in stream if e.type == "tool_calls.function.arguments.done"]
        choice = stream.get_final_completion().choices[0]
    assert [json.loads(e.arguments)["city"] for e in done] == ["Oulu", "Oslo"], done
    assert choice.finish_reason == "tool_calls" and choice.message.content.startswith("Let me look."), choice
    assert len({c.id for c in choice.message.tool_calls}) == 2, choice
    [only] = say("calls", tools=[WEATHER], parallel_tool_calls=False).choices[0].message.tool_calls
    assert json.loads(only.function.arguments) == {"city": "Oulu"}, only
    assert not say("calls", tools=[WEATHER], tool_choice="none").choices[0].message.tool_calls


def test_a_model_calls_the_tool_that_it_has():
    weather = {"messages": [{"role": "user", "content": "What is the weather in Oulu?"}], "tools": [WEATHER]}
    if os.environ["SAMPO_MODEL_TOOLS"] != "true":
        assert refused(openai.BadRequestError, lambda: ask(**weather)).param == "tools"
        return
    choice = ask(**weather).choices[0]
    assert choice.finish_reason == "tool_calls" and choice.message.tool_calls[0].function.name == "get_weather", choice


def test_reasoning_comes_apart():
    message = say("think").choices[0].message
    assert message.reasoning_content.strip() == "The capital is asked for." and message.content.strip() == "Helsinki.", message
    assert say("think").usage.completion_tokens_details.reasoning_tokens > 0
    deltas = [c.choices[0].delta for c in say("think", stream=True)]
    assert "".join(getattr(d, "reasoning_content", None) or "" for d in deltas) == message.reasoning_content
    assert "".join(d.content or "" for d in deltas) == message.content


def test_n_gives_n_choices():
    answer = ask(n=3, temperature=1, seed=7, max_tokens=8)
    assert [c.index for c in answer.choices] == [0, 1, 2], answer
    again = ask(n=1, temperature=1, seed=8, max_tokens=8)
    assert answer.choices[1].message.content == again.choices[0].message.content, (answer, again)
    streamed = ["", "", ""]
    for chunk in ask(n=3, temperature=1, seed=7, max_tokens=8, stream=True):
        streamed[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert streamed == [c.message.content for c in answer.choices], (streamed, answer)


def test_stop_cuts_before_the_string():
    whole = ask().choices[0].message.content
    middle = len(whole) // 2
    stop = whole[middle:middle + 2]
    cut = ask(stop=[stop])
    assert cut.choices[0].message.content == whole[:whole.index(stop)], (cut, whole)
    assert cut.choices[0].finish_reason == "stop"
    assert say("stop", stop=["STOP"]).choices[0].message.content == "abcXYZdef one "


def test_a_limit_ends_with_length():
    for limit in ("max_tokens", "max_completion_tokens"):
        answer = say("count", **{limit: 5})
        assert answer.choices[0].finish_reason == "length" and answer.usage.completion_tokens == 5, answer


def test_logprobs_cover_every_token():
    answer = ask(logprobs=True, top_logprobs=3)
    content = answer.choices[0].logprobs.content
    assert len(content) == answer.usage.completion_tokens, answer
    assert all(len(t.top_logprobs) == 3 and t.logprob <= 0 for t in content), content
    assert content[0].token == content[0].top_logprobs[0].token, content[0]
    streamed = [t for c in ask(logprobs=True, top_logprobs=3, stream=True) if c.choices and c.choices[0].logprobs
                for t in c.choices[0].logprobs.content]
    assert [t.logprob for t in streamed] == [t.logprob for t in content]


def test_completions_continue_text_and_ids():
    text = client.completions.create(model=MODEL, prompt="Hello", max_tokens=5, temperature=0, echo=True, logprobs=1)
    assert text.choices[0].text.startswith("Hello"), text
    lp = text.choices[0].logprobs
    assert len(lp.tokens) == len(lp.token_logprobs) == len(lp.text_offset) == text.usage.total_tokens, text
    assert lp.token_logprobs[0] is None and "".join(lp.tokens) == text.choices[0].text, lp
    ids = client.post("/../tokenize", body={"model": MODEL, "prompt": "Hello"}, cast_to=object)["tokens"]
    by_ids = client.completions.create(model=MODEL, prompt=ids, max_tokens=5, temperature=0)
    assert text.choices[0].text == "Hello" + by_ids.choices[0].text, (text, by_ids)
    many = client.completions.create(model=MODEL, prompt=["Hello", "The sky"], n=2, max_tokens=3, temperature=0)
    assert [c.index for c in many.choices] == [0, 1, 2, 3], many
    chunks = list(client.completions.create(model=MODEL, prompt="Hello", max_tokens=5, temperature=0, stream=True))
    assert "".join(c.choices[0].text for c in chunks) == by_ids.choices[0].text


def test_errors_have_their_classes():
    assert refused(openai.BadRequestError, lambda: ask(top_p=2)).param == "top_p"
    assert refused(openai.BadRequestError, lambda: ask(messages=[])).param == "messages"
    long = [{"role": "user", "content": "Hello " * 20_000}]
    assert refused(openai.BadRequestError, lambda: ask(messages=long)).code == "context_length_exceeded"
    assert refused(openai.BadRequestError, lambda: list(ask(messages=long, stream=True))).code == "context_length_exceeded"
    unknown = refused(openai.NotFoundError, lambda: ask(model="nope"))
    assert unknown.code == "model_not_found" and "sampo pull nope" in unknown.message, unknown.message
    stranger = openai.OpenAI(base_url=client.base_url, api_key="wrong", max_retries=0)
    assert refused(openai.AuthenticationError, stranger.models.list).code == "invalid_api_key"
    assert unknown.request_id, "an answer without a request id"


def test_what_is_not_built_is_refused_in_words():
    for form in ({"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}):
        assert refused(openai.BadRequestError, lambda: ask(response_format=form)).param == "response_format"
    embed = refused(openai.BadRequestError, lambda: client.embeddings.create(model=MODEL, input="Hello"))
    assert embed.code == "unsupported_endpoint", embed.body
    for kind, call in {
        "images": lambda: client.images.generate(model=MODEL, prompt="a mill"),
        "moderations": lambda: client.moderations.create(model=MODEL, input="Hello"),
        "files": lambda: client.files.list(),
    }.items():
        try:
            call()
            raise AssertionError(f"{kind} was accepted")
        except openai.APIStatusError as error:
            assert error.status_code in (400, 404) and error.message and error.body, (kind, error)


def busy(**more):
    return openai.OpenAI(base_url=os.environ["SAMPO_BUSY_URL"], **more)


def occupied(call):
    """Runs a call while the only place of the busy server is taken."""
    stream = busy(max_retries=0).chat.completions.create(
        model=MODEL, messages=QUESTION, stream=True, max_tokens=4_000, n=16, temperature=1, extra_body={"ignore_eos": True})
    next(iter(stream))
    try:
        return call(stream)
    finally:
        stream.close()


def test_a_full_server_is_a_rate_limit():
    def call(_):
        return refused(openai.RateLimitError, lambda: busy(max_retries=0).chat.completions.create(
            model=MODEL, messages=QUESTION, max_tokens=4))

    error = occupied(call)
    assert error.code == "queue_full" and error.response.headers["retry-after"] == "1", error


def test_a_retry_finds_the_place_that_was_freed():
    def call(stream):
        def free(response):
            if response.status_code == 429:
                stream.close()

        patient = busy(max_retries=5, http_client=openai.DefaultHttpxClient(event_hooks={"response": [free]}))
        return patient.chat.completions.with_raw_response.create(model=MODEL, messages=QUESTION, max_tokens=4)

    raw = occupied(call)
    assert raw.parse().choices[0].message.content and raw.retries_taken >= 1, raw


def test_a_timeout_frees_its_place():
    impatient = busy(max_retries=0, timeout=0.3)
    refused(openai.APITimeoutError, lambda: impatient.chat.completions.create(
        model=MODEL, messages=QUESTION, max_tokens=4_000, n=16, temperature=1, extra_body={"ignore_eos": True}))
    wait_until_idle()


def test_leaving_a_stream_frees_its_place():
    occupied(lambda _: None)
    wait_until_idle()


def wait_until_idle():
    """Waits until a short request finds the busy server free again."""
    for _ in range(100):
        try:
            busy(max_retries=0).chat.completions.create(model=MODEL, messages=QUESTION, max_tokens=1)
            return
        except openai.RateLimitError:
            time.sleep(0.1)
    raise AssertionError("the place is still taken")


def test_many_at_once():
    async def all_of_them():
        async with openai.AsyncOpenAI(base_url=client.base_url, max_retries=0) as many:
            return await asyncio.gather(*(
                many.chat.completions.create(model=MODEL, messages=QUESTION, temperature=1, seed=seed % 8, max_tokens=12)
                for seed in range(32)))

    answers = [a.choices[0].message.content for a in asyncio.run(all_of_them())]
    assert answers[:8] * 4 == answers, answers
    assert answers[3] == ask(temperature=1, seed=3, max_tokens=12).choices[0].message.content


def test_an_async_stream_can_be_cancelled():
    async def cut():
        async with openai.AsyncOpenAI(base_url=client.base_url, max_retries=0) as one:
            stream = await one.chat.completions.create(
                model=MODEL, messages=QUESTION, stream=True, max_tokens=4_000, n=16, temperature=1, extra_body={"ignore_eos": True})
            async for _ in stream:
                break
            await stream.close()
            return await one.chat.completions.create(model=MODEL, messages=QUESTION, temperature=0)

    assert "Helsinki" in asyncio.run(cut()).choices[0].message.content


def main():
    tests = [(name, f) for name, f in globals().items() if name.startswith("test_")]
    failed = 0
    for name, test in tests:
        try:
            test()
            print("ok  ", name)
        except Exception:  # a failing test must not hide the next one
            failed += 1
            print("FAIL", name)
            traceback.print_exc()
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
