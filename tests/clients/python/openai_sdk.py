# SPDX-License-Identifier: Apache-2.0
"""The OpenAI SDK for Python against a Sampo server at SAMPO_BASE_URL."""

import os
import sys

import openai

client = openai.OpenAI(base_url=os.environ["SAMPO_BASE_URL"], api_key="any-key-will-do", max_retries=0)
MODEL = client.models.list().data[0].id
QUESTION = [{"role": "user", "content": "What is the capital of Finland?"}]


def ask(**more):
    return client.chat.completions.create(**{"model": MODEL, "messages": QUESTION, "temperature": 0, **more})


def test_chat_answers():
    answer = ask()
    choice = answer.choices[0]
    assert choice.message.role == "assistant", choice
    assert "Helsinki" in choice.message.content, choice
    assert choice.finish_reason == "stop", choice
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens, answer.usage


def test_a_conversation_goes_on():
    first = client.chat.completions.create(
        model=MODEL, temperature=0, messages=[{"role": "user", "content": "Hi, my name is Aino."}])
    second = client.chat.completions.create(
        model=MODEL, temperature=0,
        messages=[{"role": "user", "content": "Hi, my name is Aino."},
                  first.choices[0].message.model_dump(exclude_none=True),
                  {"role": "user", "content": "What is my name?"}])
    assert second.choices[0].message.content, second


def test_stream_joins_to_the_plain_answer():
    whole = ask().choices[0].message.content
    chunks = list(ask(stream=True, stream_options={"include_usage": True}))
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole, (text, whole)
    assert chunks[-1].usage.completion_tokens > 0, chunks[-1]
    with client.chat.completions.stream(model=MODEL, messages=QUESTION, temperature=0) as stream:
        for _ in stream:
            pass
        assert stream.get_final_completion().choices[0].message.content == whole


def test_n_gives_n_choices():
    answer = ask(n=3, temperature=1, seed=7, max_tokens=8)
    assert [c.index for c in answer.choices] == [0, 1, 2], answer
    again = ask(n=1, temperature=1, seed=8, max_tokens=8)
    assert answer.choices[1].message.content == again.choices[0].message.content, (answer, again)


def test_stop_cuts_before_the_string():
    whole = ask().choices[0].message.content
    middle = len(whole) // 2
    stop = whole[middle:middle + 2]
    cut = ask(stop=[stop])
    assert cut.choices[0].message.content == whole[:whole.index(stop)], (cut, whole)
    assert cut.choices[0].finish_reason == "stop"


def test_logprobs_cover_every_token():
    answer = ask(logprobs=True, top_logprobs=3)
    content = answer.choices[0].logprobs.content
    assert len(content) == answer.usage.completion_tokens, answer
    assert all(len(t.top_logprobs) == 3 and t.logprob <= 0 for t in content), content
    assert content[0].token == content[0].top_logprobs[0].token, content[0]


def test_completions_continue_text_and_ids():
    text = client.completions.create(model=MODEL, prompt="Hello", max_tokens=5, temperature=0, echo=True, logprobs=1)
    assert text.choices[0].text.startswith("Hello"), text
    lp = text.choices[0].logprobs
    assert len(lp.tokens) == len(lp.token_logprobs) == len(lp.text_offset) == text.usage.total_tokens, text
    ids = client.post("/../tokenize", body={"model": MODEL, "prompt": "Hello"}, cast_to=object)["tokens"]
    by_ids = client.completions.create(model=MODEL, prompt=ids, max_tokens=5, temperature=0)
    assert text.choices[0].text == "Hello" + by_ids.choices[0].text, (text, by_ids)


def test_errors_name_the_field():
    try:
        ask(top_p=2)
    except openai.BadRequestError as e:
        assert e.param == "top_p", e.body
    else:
        raise AssertionError("top_p 2 was accepted")
    try:
        client.chat.completions.create(model="nope", messages=QUESTION)
    except openai.NotFoundError as e:
        assert e.code == "model_not_found", e.body
    else:
        raise AssertionError("an unknown model was accepted")


def main():
    tests = [(name, f) for name, f in globals().items() if name.startswith("test_")]
    failed = 0
    for name, test in tests:
        try:
            test()
            print("ok  ", name)
        except Exception as e:  # a failing test must not hide the next one
            failed += 1
            print("FAIL", name, repr(e))
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
