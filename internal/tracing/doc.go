// SPDX-License-Identifier: Apache-2.0

// Package tracing tells an OpenTelemetry collector what became of requests: a SERVER span for each, with the HTTP
// attributes, and an INTERNAL one below it for the work of the engine, with those of the GenAI conventions.
//
// A nil Tracer, and the nil Request that it starts, do nothing: a server without tracing pays for a comparison.
//
// Always true: nothing is sent unless Open was given an endpoint; no span holds a prompt or an answer; a request never
// waits for a collector, whose absence costs spans and nothing else.
//
// Spans are made by OpenTelemetry's SDK. Sending is written here, as OTLP over HTTP: the SDK's own exporter brings all of
// gRPC with it, eleven megabytes that would never run.
//
// W3C Trace Context; OTLP 1.x; OpenTelemetry's semantic conventions for HTTP and, in development there, for generative AI.
package tracing
