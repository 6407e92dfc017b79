# SPDX-License-Identifier: Apache-2.0
"""langchain-openai against a Sampo server at SAMPO_BASE_URL."""

import os

import openai
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAI

from run import run

SETTINGS = {"base_url": os.environ["SAMPO_BASE_URL"], "api_key": "any-key-will-do", "model": "sampo/mini-chat",
            "temperature": 0, "max_retries": 0}
chat = ChatOpenAI(**SETTINGS)


@tool
def get_weather(city: str) -> str:
    """Get the weather of a city"""
    return "7 C"


def test_chat_answers():
    answer = chat.invoke([SystemMessage("Be brief."), HumanMessage("What is the capital of Finland?")])
    assert answer.content and answer.usage_metadata["output_tokens"] > 0, answer


def test_stream_joins_to_the_plain_answer():
    question = "What is the capital of Finland?"
    text = "".join(chunk.text for chunk in chat.stream(question)) if hasattr(AIMessage("x"), "text") else ""
    assert text == chat.invoke(question).text, text


def test_a_tool_is_called_and_its_result_taken():
    bound = chat.bind_tools([get_weather], parallel_tool_calls=False)
    messages = [HumanMessage("What is the weather in Oulu?")]
    first = bound.invoke(messages)
    assert len(first.tool_calls) == 1 and first.tool_calls[0]["name"] == "get_weather", first
    messages += [first, ToolMessage(get_weather.invoke(first.tool_calls[0]["args"]), tool_call_id=first.tool_calls[0]["id"])]
    assert bound.invoke(messages).content


def test_tool_calls_stream():
    whole = None
    for chunk in chat.bind_tools([get_weather]).stream("What is the weather in Oulu?"):
        whole = chunk if whole is None else whole + chunk
    assert whole.tool_calls[0]["name"] == "get_weather" and "city" in whole.tool_calls[0]["args"], whole


def test_an_overflow_is_known():
    try:
        chat.invoke("Hello " * 20_000)
        raise AssertionError("accepted")
    except openai.BadRequestError as error:
        assert "context_length_exceeded" in str(error), error


def test_completions_answer():
    assert isinstance(OpenAI(**SETTINGS, max_tokens=8).invoke("The sky is"), str)


run(globals())
