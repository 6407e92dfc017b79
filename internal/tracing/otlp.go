// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	wire "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

// resourceSpans puts spans of one tracer into OTLP's form.
func resourceSpans(spans []sdktrace.ReadOnlySpan) []*wire.ResourceSpans {
	if len(spans) == 0 {
		return nil
	}
	scope := spans[0].InstrumentationScope()
	list := make([]*wire.Span, len(spans))
	for i, s := range spans {
		list[i] = wireSpan(s)
	}
	return []*wire.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: wireAttributes(spans[0].Resource().Attributes())},
		ScopeSpans: []*wire.ScopeSpans{{
			Scope: &common.InstrumentationScope{Name: scope.Name, Version: scope.Version}, Spans: list,
		}},
	}}
}

func wireSpan(s sdktrace.ReadOnlySpan) *wire.Span {
	own, parent := s.SpanContext(), s.Parent()
	traceID, spanID := own.TraceID(), own.SpanID()
	out := &wire.Span{
		TraceId: traceID[:], SpanId: spanID[:], TraceState: own.TraceState().String(), Flags: wireFlags(own, parent),
		Name: s.Name(), Kind: wireKind(s.SpanKind()), Attributes: wireAttributes(s.Attributes()),
		StartTimeUnixNano: uint64(s.StartTime().UnixNano()), EndTimeUnixNano: uint64(s.EndTime().UnixNano()),
		DroppedAttributesCount: uint32(s.DroppedAttributes()), Status: wireStatus(s.Status()),
	}
	if id := parent.SpanID(); id.IsValid() {
		out.ParentSpanId = id[:]
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, &wire.Span_Event{TimeUnixNano: uint64(e.Time.UnixNano()), Name: e.Name, Attributes: wireAttributes(e.Attributes)})
	}
	return out
}

// wireFlags are the W3C flags, and whether the parent is in another process.
func wireFlags(own, parent trace.SpanContext) uint32 {
	flags := uint32(own.TraceFlags()) | uint32(wire.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK)
	if parent.IsRemote() {
		flags |= uint32(wire.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)
	}
	return flags
}

func wireKind(k trace.SpanKind) wire.Span_SpanKind {
	if k == trace.SpanKindServer {
		return wire.Span_SPAN_KIND_SERVER
	}
	return wire.Span_SPAN_KIND_INTERNAL
}

func wireStatus(s sdktrace.Status) *wire.Status {
	if s.Code == codes.Error {
		return &wire.Status{Code: wire.Status_STATUS_CODE_ERROR, Message: s.Description}
	}
	return &wire.Status{}
}

func wireAttributes(attrs []attribute.KeyValue) []*common.KeyValue {
	list := make([]*common.KeyValue, len(attrs))
	for i, a := range attrs {
		list[i] = &common.KeyValue{Key: string(a.Key), Value: wireValue(a.Value)}
	}
	return list
}

// wireValue knows the kinds of values that this package uses; others are written as text.
func wireValue(v attribute.Value) *common.AnyValue {
	switch v.Type() {
	case attribute.BOOL:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.INT64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	case attribute.STRINGSLICE:
		list := &common.ArrayValue{}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, text(s))
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}
	default:
		return text(v.String())
	}
}

// text makes a string valid, since one that is not would spoil the whole export.
func text(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: strings.ToValidUTF8(s, "\uFFFD")}}
}
