// SPDX-License-Identifier: Apache-2.0
// Tool loops through the OpenAI SDK with the built-in model: it calls, the program answers, it tells what came back.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { run } from "./run.mjs";

const client = new OpenAI({ baseURL: process.env.SAMPO_BASE_URL, maxRetries: 0 });
const tool = (name, description) => ({
  type: "function",
  function: { name, description, parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
});
const tools = [tool("get_weather", "Get the weather in a city."), tool("get_time", "Get the current time in a city.")];
const results = { get_weather: { temperature: -4, condition: "snowy" }, get_time: { time: "16:45" } };

// loop asks, sends a result for each call of an answer, and so on until an answer has no call. It returns the last text
// and the calls since the question; messages holds the conversation.
async function loop(messages, question) {
  messages.push({ role: "user", content: question });
  const called = [];
  for (let round = 0; round < 4; round++) {
    const answer = await client.chat.completions.create({ model: "sampo/mini-chat", messages, tools, temperature: 0 });
    const { message, finish_reason } = answer.choices[0];
    messages.push(message);
    if (finish_reason !== "tool_calls") return { text: message.content, called };
    for (const call of message.tool_calls) {
      called.push([call.function.name, JSON.parse(call.function.arguments).city]);
      messages.push({ role: "tool", tool_call_id: call.id, content: JSON.stringify(results[call.function.name]) });
    }
  }
  assert.fail(`no end of calls: ${JSON.stringify(called)}`);
}

await run({
  async "a call, its result, the answer; then another in the same conversation"() {
    const messages = [];
    const first = await loop(messages, "What is the weather in Helsinki?");
    assert.deepEqual(first.called, [["get_weather", "Helsinki"]]);
    for (const part of ["-4", "snowy", "Helsinki"]) assert.ok(first.text.includes(part), first.text);
    const second = await loop(messages, "What is the weather in Rome?");
    assert.deepEqual(second.called, [["get_weather", "Rome"]]);
    assert.ok(second.text.includes("-4") && second.text.includes("Rome"), second.text);
  },
  async "two calls for one question"() {
    const { text, called } = await loop([], "What is the weather in Oslo and the weather in Paris?");
    assert.deepEqual(called, [["get_weather", "Oslo"], ["get_weather", "Paris"]]);
    assert.ok(text.includes("Oslo") && text.includes("Paris"), text);
  },
  async "no call where none is needed"() {
    const { text, called } = await loop([], "What is the capital of Finland?");
    assert.deepEqual(called, []);
    assert.match(text, /Helsinki/);
  },
});
