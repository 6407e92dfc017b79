# SPDX-License-Identifier: Apache-2.0
"""instructor against the server at SAMPO_BASE_URL (see ../common.sh): tool calls become objects."""

import os
from collections.abc import Iterable

import instructor
import openai
from pydantic import BaseModel

from run import run

client = openai.OpenAI(base_url=os.environ["SAMPO_BASE_URL"], max_retries=0)


class get_weather(BaseModel):  # the function's name
    """Get the weather of a city"""

    city: str


def test_calls_become_objects():
    # The model chooses the tool by itself: a forced choice needs constrained decoding.
    tools = instructor.from_openai(client, mode=instructor.Mode.PARALLEL_TOOLS)
    found = list(tools.chat.completions.create(
        model="scripted", temperature=0, max_retries=0, tool_choice="auto", response_model=Iterable[get_weather],
        messages=[{"role": "user", "content": "say:calls"}]))
    assert [f.city for f in found] == ["Oulu", "Oslo"], found


def test_a_text_that_is_json_becomes_an_object():
    class Letter(BaseModel):
        a: str

    plain = instructor.from_openai(client, mode=instructor.Mode.MD_JSON)
    assert plain.chat.completions.create(model="scripted", temperature=0, max_retries=0, response_model=Letter,
                                         messages=[{"role": "user", "content": "say:json"}]).a == "x"


def test_a_forced_choice_is_refused_in_words():
    forced = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
    try:
        forced.chat.completions.create(model=os.environ["SAMPO_MODEL"], max_retries=0, response_model=get_weather,
                                       messages=[{"role": "user", "content": "What is the weather in Oulu?"}])
        raise AssertionError("accepted")
    except Exception as error:
        assert "tool_choice" in str(error) or "tools" in str(error), error


run(globals())
