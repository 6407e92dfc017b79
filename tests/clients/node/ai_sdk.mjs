// SPDX-License-Identifier: Apache-2.0
// The Vercel AI SDK against a Sampo server at SAMPO_BASE_URL.

import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";

const provider = createOpenAICompatible({ name: "sampo", baseURL: process.env.SAMPO_BASE_URL, apiKey: "any-key-will-do", includeUsage: true });
const model = provider("sampo/mini-chat");
const weather = tool({
  description: "Get the weather of a city",
  inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
  execute: async () => "7 C",
});

const tests = {
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
    const result = await generateText({ model, temperature: 0, prompt: "What is the weather in Oulu?", tools: { get_weather: weather }, stopWhen: stepCountIs(3) });
    assert.equal(result.steps[0].toolCalls[0].toolName, "get_weather");
    assert.ok(result.text);
  },
  async "a tool call streams"() {
    const parts = [];
    for await (const part of streamText({ model, temperature: 0, prompt: "What is the weather in Oulu?", tools: { get_weather: weather } }).fullStream) parts.push(part.type);
    assert.ok(parts.includes("tool-call") && parts.includes("tool-result"), parts.join(" "));
  },
  async "reasoning is understood"() {
    const { reasoningText } = await generateText({ model, temperature: 0, prompt: "What is 3 + 4?", providerOptions: { sampo: { reasoningEffort: "high" } } });
    assert.ok(reasoningText);
  },
  async "an overflow is an error"() {
    await assert.rejects(generateText({ model, maxRetries: 0, maxOutputTokens: 10_000_000, prompt: "hi" }), /context_length_exceeded/);
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
process.exit(failed > 0 ? 1 : 0);
