// SPDX-License-Identifier: Apache-2.0
// The OpenAI SDK for JavaScript against the servers at SAMPO_BASE_URL and SAMPO_BUSY_URL (see ../common.sh).
import assert from "node:assert/strict";
import OpenAI from "openai";
import { run } from "./run.mjs";

const client = new OpenAI({ baseURL: process.env.SAMPO_BASE_URL, maxRetries: 0 });
const busy = (more = {}) => new OpenAI({ baseURL: process.env.SAMPO_BUSY_URL, maxRetries: 0, ...more });
const model = process.env.SAMPO_MODEL;
const messages = [{ role: "user", content: "What is the capital of Finland?" }];
const ask = (more = {}) => client.chat.completions.create({ model, messages, temperature: 0, ...more });
// say asks the scripted model for a text that is known.
const say = (script, more = {}) => ask({ model: "scripted", messages: [{ role: "user", content: `say:${script}` }], ...more });
// endless takes seconds on the fastest machine.
const endless = { model, messages, max_tokens: 4000, n: 16, temperature: 1, ignore_eos: true };
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Get the weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

// occupied runs a call while the only place of the busy server is taken.
async function occupied(call) {
  const stream = await busy().chat.completions.create({ ...endless, stream: true });
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  try {
    return await call(stream);
  } finally {
    stream.controller.abort();
  }
}

await run({
  async "models are listed and found"() {
    assert.deepEqual((await client.models.list()).data.map((m) => m.id), [model, "scripted"]);
    assert.equal((await client.models.retrieve(model)).id, model);
    await assert.rejects(client.models.retrieve("nope"), OpenAI.NotFoundError);
  },
  async "chat answers"() {
    const answer = await ask();
    assert.match(answer.choices[0].message.content, /Helsinki/);
    assert.equal(answer.choices[0].finish_reason, "stop");
  },
  async "a stream joins to the plain answer"() {
    const whole = (await ask()).choices[0].message.content;
    let text = "";
    let usage;
    for await (const chunk of await ask({ stream: true, stream_options: { include_usage: true } })) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, whole);
    assert.ok(usage.completion_tokens > 0);
    const runner = client.chat.completions.stream({ model, messages, temperature: 0 });
    assert.equal((await runner.finalChatCompletion()).choices[0].message.content, whole);
  },
  async "a tool is run by the helper of the library"() {
    const cities = [];
    const runner = client.chat.completions.runTools({
      model: "scripted",
      temperature: 0,
      messages: [{ role: "user", content: "say:call" }],
      tools: [{ type: "function", function: { ...weather.function, parse: JSON.parse, function: ({ city }) => (cities.push(city), "-4 C, say:yes") } }],
    });
    assert.equal(await runner.finalContent(), "yes.");
    assert.deepEqual(cities, ["Oulu"]);
  },
  async "tool calls stream"() {
    const runner = client.chat.completions.stream({ model: "scripted", temperature: 0, messages: [{ role: "user", content: "say:calls" }], tools: [weather] });
    const choice = (await runner.finalChatCompletion()).choices[0];
    assert.equal(choice.finish_reason, "tool_calls");
    assert.deepEqual(choice.message.tool_calls.map((c) => JSON.parse(c.function.arguments).city), ["Oulu", "Oslo"]);
  },
  async "reasoning comes apart"() {
    const { message } = (await say("think")).choices[0];
    assert.equal(message.reasoning_content.trim(), "The capital is asked for.");
    assert.equal(message.content.trim(), "Helsinki.");
  },
  async "characters are whole in a stream"() {
    let text = "";
    for await (const chunk of await say("half", { stream: true })) text += chunk.choices[0]?.delta.content ?? "";
    assert.equal(text, "Hé 🦔 日本語 ok");
  },
  async "n gives n choices"() {
    const answer = await ask({ n: 3, temperature: 1, seed: 7, max_tokens: 8 });
    assert.deepEqual(answer.choices.map((c) => c.index), [0, 1, 2]);
  },
  async "stop cuts before the string"() {
    const whole = (await ask()).choices[0].message.content;
    const stop = whole.slice(whole.length / 2, whole.length / 2 + 2);
    const cut = await ask({ stop });
    assert.equal(cut.choices[0].message.content, whole.slice(0, whole.indexOf(stop)));
  },
  async "logprobs cover every token"() {
    const answer = await ask({ logprobs: true, top_logprobs: 2 });
    assert.equal(answer.choices[0].logprobs.content.length, answer.usage.completion_tokens);
  },
  async "completions continue text and score it"() {
    const answer = await client.completions.create({ model, prompt: "Hello", max_tokens: 5, temperature: 0, echo: true, logprobs: 1 });
    assert.ok(answer.choices[0].text.startsWith("Hello"));
    assert.equal(answer.choices[0].logprobs.tokens.length, answer.usage.total_tokens);
  },
  async "many at once"() {
    const seeds = Array.from({ length: 24 }, (_, i) => i % 6);
    const answers = await Promise.all(seeds.map((seed) => ask({ temperature: 1, seed, max_tokens: 12 })));
    answers.forEach((a, i) => assert.equal(a.choices[0].message.content, answers[i % 6].choices[0].message.content));
  },
  async "errors have their classes"() {
    await assert.rejects(ask({ top_p: 2 }), (e) => e instanceof OpenAI.BadRequestError && e.param === "top_p");
    await assert.rejects(ask({ messages: [{ role: "user", content: "Hello ".repeat(20_000) }] }), (e) => e instanceof OpenAI.BadRequestError && e.code === "context_length_exceeded");
    await assert.rejects(ask({ model: "nope" }), (e) => e instanceof OpenAI.NotFoundError && e.code === "model_not_found");
    await assert.rejects(new OpenAI({ baseURL: client.baseURL, apiKey: "wrong" }).models.list(), OpenAI.AuthenticationError);
    await assert.rejects(client.embeddings.create({ model, input: "Hello" }), (e) => e instanceof OpenAI.BadRequestError && e.code === "unsupported_endpoint");
  },
  async "a full server is a rate limit, and a retry finds the place that was freed"() {
    const short = { model, messages, max_tokens: 4 };
    await occupied((stream) => assert.rejects(busy().chat.completions.create(short), OpenAI.RateLimitError).then(() => stream.controller.abort()));
    let attempts = 0;
    await occupied(async (stream) => {
      const counted = async (...request) => {
        const response = await fetch(...request);
        attempts++;
        if (response.status === 429) stream.controller.abort();
        return response;
      };
      assert.ok((await busy({ maxRetries: 5, fetch: counted }).chat.completions.create(short)).choices[0].message.content);
    });
    assert.ok(attempts > 1);
  },
  async "a timeout and an abort are told apart"() {
    await assert.rejects(client.chat.completions.create(endless, { timeout: 300 }), OpenAI.APIConnectionTimeoutError);
    await assert.rejects(client.chat.completions.create(endless, { signal: AbortSignal.timeout(300) }), OpenAI.APIUserAbortError);
    for await (const _ of await ask({ ...endless, stream: true })) break;
    assert.equal((await ask()).choices.length, 1);
  },
});
