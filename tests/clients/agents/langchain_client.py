# SPDX-License-Identifier: Apache-2.0
"""langchain-openai against the server at SAMPO_BASE_URL (see ../common.sh)."""

import asyncio
import os

import openai
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAI

from run import run

SETTINGS = {"base_url": os.environ["SAMPO_BASE_URL"], "model": os.environ["SAMPO_MODEL"], "temperature": 0, "max_retries": 0}
chat = ChatOpenAI(**SETTINGS)
scripted = ChatOpenAI(**{**SETTINGS, "model": "scripted"})


@tool
def get_weather(city: str) -> str:
    """Get the weather of a city"""
    return "7 C"


def test_chat_answers():
    answer = chat.invoke([SystemMessage("Be brief."), HumanMessage("What is the capital of Finland?")])
    assert answer.content and answer.usage_metadata["output_tokens"] > 0, answer


def test_stream_joins_to_the_plain_answer():
    question = "What is the capital of Finland?"
    whole = None
    for chunk in chat.stream(question, stream_usage=True):
        whole = chunk if whole is None else whole + chunk
    assert whole.text == chat.invoke(question).text, whole
    assert whole.usage_metadata["output_tokens"] > 0, whole


def test_a_tool_is_called_and_its_result_taken():
    bound = chat.bind_tools([get_weather], parallel_tool_calls=False)
    messages = [HumanMessage("What is the weather in Oulu?")]
    if os.environ["SAMPO_MODEL_TOOLS"] != "true":
        try:
            bound.invoke(messages)
            raise AssertionError("accepted")
        except openai.BadRequestError as error:
            assert error.param == "tools", error
        return
    first = bound.invoke(messages)
    assert len(first.tool_calls) == 1 and first.tool_calls[0]["name"] == "get_weather", first
    messages += [first, ToolMessage(get_weather.invoke(first.tool_calls[0]["args"]), tool_call_id=first.tool_calls[0]["id"])]
    assert bound.invoke(messages).content


def test_tool_calls_stream():
    whole = None
    for chunk in scripted.bind_tools([get_weather]).stream("say:calls"):
        whole = chunk if whole is None else whole + chunk
    assert [c["args"] for c in whole.tool_calls] == [{"city": "Oulu"}, {"city": "Oslo"}], whole
    assert not whole.invalid_tool_calls, whole


def test_many_at_once():
    questions = ["What is the capital of Finland?", "say:yes", "say:no"] * 4
    answers = [a.content for a in asyncio.run(scripted.abatch(questions))]
    assert answers == ["The sampo grinds flour, salt and gold.", "yes.", "no, never."] * 4, answers


def test_logprobs_come_with_the_answer():
    answer = chat.bind(logprobs=True, top_logprobs=2).invoke("What is the capital of Finland?")
    assert len(answer.response_metadata["logprobs"]["content"]) == answer.usage_metadata["output_tokens"], answer


def refused(kind, call):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"accepted, want {kind.__name__}")


def test_errors_have_their_classes():
    assert "context_length_exceeded" in refused(openai.BadRequestError, lambda: chat.invoke("Hello " * 20_000))
    assert "model_not_found" in refused(openai.NotFoundError, lambda: ChatOpenAI(**{**SETTINGS, "model": "nope"}).invoke("Hello"))
    refused(openai.AuthenticationError, lambda: ChatOpenAI(**SETTINGS, api_key="wrong").invoke("Hello"))


def test_completions_answer():
    assert isinstance(OpenAI(**SETTINGS, max_tokens=8).invoke("The sky is"), str)


run(globals())
