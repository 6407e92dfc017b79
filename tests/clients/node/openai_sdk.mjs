// SPDX-License-Identifier: Apache-2.0
// The OpenAI SDK for JavaScript against a Sampo server at SAMPO_BASE_URL.
import assert from "node:assert/strict";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.SAMPO_BASE_URL, apiKey: "any-key-will-do", maxRetries: 0 });
const model = (await client.models.list()).data[0].id;
const messages = [{ role: "user", content: "What is the capital of Finland?" }];
const ask = (more = {}) => client.chat.completions.create({ model, messages, temperature: 0, ...more });

const tests = {
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
  async "leaving a stream early is fine"() {
    for await (const _ of await ask({ stream: true, max_tokens: 200, ignore_eos: true })) break;
    assert.ok((await ask()).choices.length === 1);
  },
  async "completions continue text"() {
    const answer = await client.completions.create({ model, prompt: "Hello", max_tokens: 5, temperature: 0 });
    assert.equal(typeof answer.choices[0].text, "string");
  },
  async "errors name the field"() {
    await assert.rejects(ask({ top_p: 2 }), (e) => e.status === 400 && e.param === "top_p");
    await assert.rejects(ask({ model: "nope" }), (e) => e.status === 404 && e.code === "model_not_found");
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log("ok  ", name);
  } catch (error) {
    failed++;
    console.log("FAIL", name, error);
  }
}
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
