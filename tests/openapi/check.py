# SPDX-License-Identifier: Apache-2.0
"""Check the API's document against the OpenAPI 3.1 meta-schema, and the answers of a running server against the document.

Usage: check.py [BASE_URL]     (pip install openapi-spec-validator)
"""

import json
import pathlib
import sys
import urllib.request

from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

document = json.loads((pathlib.Path(__file__).parents[2] / "docs/api/openapi.json").read_text())
validate(document)
print("docs/api/openapi.json is valid OpenAPI 3.1")


def schema(name):
    return Draft202012Validator({"$ref": "#/components/schemas/" + name, "components": document["components"]})


def closed(node):
    """Let no key pass that the document does not name."""
    if isinstance(node, dict):
        if "properties" in node and node.get("type") == "object":
            node.setdefault("additionalProperties", False)
        for value in node.values():
            closed(value)
    elif isinstance(node, list):
        for value in node:
            closed(value)


def call(base, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Content-Type": "application/json"} if data else {})
    try:
        with urllib.request.urlopen(request) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as error:
        text = error.read().decode()
    if text.startswith("data: "):
        events = text.removesuffix("\n\ndata: [DONE]\n\n").split("\n\n")
        return [json.loads(e.removeprefix("data: ")) for e in events]
    return [json.loads(text)]


def main(base):
    for name in ("ChatAnswer", "ChatChunk", "CompletionAnswer", "TokenizeAnswer", "DetokenizeAnswer", "TokenizerInfo", "Model", "ModelList", "Error", "Version", "Load", "Health"):
        closed(document["components"]["schemas"][name])
    chat = {"messages": [{"role": "user", "content": "What is 3 + 4?"}], "max_tokens": 60, "temperature": 0}
    weather = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}
    call_it = {**chat, "messages": [{"role": "user", "content": "What is the weather in Oulu?"}], "tools": [weather]}
    everything = {"logprobs": True, "top_logprobs": 2, "return_token_ids": True, "return_prompt_text": True}
    text = {"prompt": "The sky is", "max_tokens": 4, "echo": True, "logprobs": 2, "return_token_ids": True}
    model = call(base, "/v1/models")[0]["data"][0]["id"]
    checked = 0
    for name, path, body in [
        ("ChatAnswer", "/v1/chat/completions", chat),
        ("ChatAnswer", "/v1/chat/completions", {**chat, **everything, "prompt_logprobs": 1, "n": 2}),
        ("ChatAnswer", "/v1/chat/completions", call_it),
        ("ChatChunk", "/v1/chat/completions", {**chat, **everything, "stream": True, "stream_options": {"include_usage": True}}),
        ("ChatChunk", "/v1/chat/completions", {**call_it, "stream": True}),
        ("CompletionAnswer", "/v1/completions", {**text, "prompt_logprobs": 1, "return_prompt_text": True}),
        ("CompletionAnswer", "/v1/completions", {**text, "stream": True}),
        ("CompletionAnswer", "/api/playground/complete", {"prompt": "The sky is", "max_tokens": 3, "explain": 3}),
        ("TokenizeAnswer", "/tokenize", {"prompt": "a", "return_token_strs": True}),
        ("TokenizeAnswer", "/tokenize", {"messages": chat["messages"]}),
        ("DetokenizeAnswer", "/detokenize", {"tokens": [1]}),
        ("TokenizerInfo", "/tokenizer_info", None),
        ("ModelList", "/v1/models", None),
        ("Model", "/v1/models/" + model, None),
        ("Version", "/version", None),
        ("Load", "/load", None),
        ("Health", "/api/health", None),
        ("Error", "/v1/chat/completions", {}),
    ]:
        validator = schema(name)
        for answer in call(base, path, body):
            for error in validator.iter_errors(answer):
                sys.exit(f"{path} {json.dumps(body)}: {error.json_path}: {error.message[:300]}")
            checked += 1
        request_name = document["paths"].get(path, {}).get("post", {}).get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if body and request_name:
            Draft202012Validator({**request_name, "components": document["components"]}).validate(body)
    print(f"{checked} answers have the form that the document says")


if len(sys.argv) > 1:
    main(sys.argv[1].rstrip("/"))
