// SPDX-License-Identifier: Apache-2.0
// The Vercel AI SDK against the servers at SAMPO_BASE_URL and SAMPO_BUSY_URL (see ../common.sh).
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { run } from "./run.mjs";

const settings = { name: "sampo", apiKey: process.env.OPENAI_API_KEY, includeUsage: true };
const provider = createOpenAICompatible({ ...settings, baseURL: process.env.SAMPO_BASE_URL });
const model = provider(process.env.SAMPO_MODEL);
const scripted = provider("scripted");
const weather = tool({
  description: "Get the weather of a city",
  inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
  execute: async ({ city }) => `${city}: 7 C, say:yes`,
});
const failure = (status, pattern) => (error) => APICallError.isInstance(error) && error.statusCode === status && pattern.test(error.message + error.responseBody);

await run({
  async "chat answers"() {
    const { text, usage, finishReason } = await generateText({ model, temperature: 0, prompt: "What is the capital of Finland?" });
    assert.ok(text && usage.outputTokens > 0 && finishReason === "stop", text);
  },
  async "a stream joins to the plain answer"() {
    const question = { model, temperature: 0, prompt: "What is the capital of Finland?" };
    const stream = streamText(question);
    let text = "";
    for await (const piece of stream.textStream) text += piece;
    assert.equal(text, (await generateText(question)).text);
    assert.ok((await stream.usage).outputTokens > 0);
  },
  async "a tool is called and its result taken"() {
    const result = await generateText({ model: scripted, temperature: 0, prompt: "say:calls", tools: { get_weather: weather }, stopWhen: stepCountIs(3) });
    assert.deepEqual(result.steps[0].toolResults.map((r) => r.output), ["Oulu: 7 C, say:yes", "Oslo: 7 C, say:yes"]);
    assert.equal(result.text, "yes.");
  },
  async "a tool call streams"() {
    const parts = [];
    for await (const part of streamText({ model: scripted, temperature: 0, prompt: "say:call", tools: { get_weather: weather } }).fullStream) parts.push(part.type);
    for (const type of ["tool-input-start", "tool-input-delta", "tool-call", "tool-result"]) assert.ok(parts.includes(type), parts.join(" "));
  },
  async "a model calls the tool that it has"() {
    const ask = () => generateText({ model, temperature: 0, prompt: "What is the weather in Oulu?", tools: { get_weather: weather }, stopWhen: stepCountIs(3) });
    if (process.env.SAMPO_MODEL_TOOLS !== "true") return assert.rejects(ask(), failure(400, /tools/));
    const result = await ask();
    assert.equal(result.steps[0].toolCalls[0].toolName, "get_weather");
    assert.ok(result.text);
  },
  async "reasoning is understood"() {
    const { reasoningText, text } = await generateText({ model: scripted, temperature: 0, prompt: "say:think" });
    assert.equal(reasoningText.trim(), "The capital is asked for.");
    assert.equal(text.trim(), "Helsinki.");
    if (process.env.SAMPO_MODEL !== "sampo/mini-chat") return;
    const high = await generateText({ model, temperature: 0, prompt: "What is 3 + 4?", providerOptions: { sampo: { reasoningEffort: "high" } } });
    assert.ok(high.reasoningText);
  },
  async "completions continue text"() {
    const { text } = await generateText({ model: provider.completionModel(process.env.SAMPO_MODEL), temperature: 0, maxOutputTokens: 5, prompt: "Hello" });
    assert.ok(text);
  },
  async "a stream can be aborted"() {
    const leave = new AbortController();
    const aborted = [];
    for await (const part of streamText({ model: scripted, prompt: "say:count", abortSignal: leave.signal }).fullStream) {
      if (part.type === "text-delta") leave.abort();
      if (part.type === "abort") aborted.push(part);
    }
    assert.equal(aborted.length, 1);
  },
  async "errors have their status"() {
    const ask = (more) => generateText({ model, maxRetries: 0, prompt: "hi", ...more });
    await assert.rejects(ask({ maxOutputTokens: 10_000_000 }), failure(400, /context_length_exceeded/));
    await assert.rejects(ask({ topP: 7 }), failure(400, /top_p/));
    await assert.rejects(ask({ model: provider("nope") }), failure(404, /model_not_found/));
    const stranger = createOpenAICompatible({ ...settings, apiKey: "wrong", baseURL: process.env.SAMPO_BASE_URL });
    await assert.rejects(ask({ model: stranger(process.env.SAMPO_MODEL) }), failure(401, /invalid_api_key/));
  },
});
