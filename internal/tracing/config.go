// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// A Config says where spans go.
type Config struct {
	Endpoint string            // URL that takes traces
	Headers  map[string]string // sent with each export
	Timeout  time.Duration     // of an export; 0: 10 s
	Service  string            // name of this service; "": sampo
	Version  string
	Resource map[string]string // further attributes of the service
	Sampler  sdktrace.Sampler  // nil: what the caller decided, and everything of those who decided nothing
	Log      *slog.Logger
}

const defaultTimeout = 10 * time.Second

// FromEnvironment reads the variables that OpenTelemetry's SDKs share. endpoint, if it is not "", goes before their
// endpoint. ok is false where nothing is to be sent.
func FromEnvironment(endpoint string, getenv func(string) string) (c Config, ok bool, err error) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return c, false, nil
	}
	traces := func(name string) string {
		return first(getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	switch {
	case endpoint == "" && getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "":
		c.Endpoint = getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	case first(endpoint, getenv("OTEL_EXPORTER_OTLP_ENDPOINT")) != "":
		c.Endpoint = strings.TrimSuffix(first(endpoint, getenv("OTEL_EXPORTER_OTLP_ENDPOINT")), "/") + "/v1/traces"
	default:
		return c, false, nil
	}
	if u, err := url.Parse(c.Endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return c, false, fmt.Errorf("tracing: endpoint %q: want a URL such as http://localhost:4318", c.Endpoint)
	}
	if p := traces("PROTOCOL"); p != "" && p != "http/protobuf" {
		return c, false, fmt.Errorf("tracing: OTEL_EXPORTER_OTLP_PROTOCOL is %q: this build speaks http/protobuf", p)
	}
	if t := traces("TIMEOUT"); t != "" {
		ms, err := strconv.Atoi(t)
		if err != nil || ms <= 0 {
			return c, false, fmt.Errorf("tracing: OTEL_EXPORTER_OTLP_TIMEOUT is %q: want milliseconds", t)
		}
		c.Timeout = time.Duration(ms) * time.Millisecond
	}
	var bad [3]error
	c.Headers, bad[0] = pairs("OTEL_EXPORTER_OTLP_HEADERS", traces("HEADERS"))
	c.Resource, bad[1] = pairs("OTEL_RESOURCE_ATTRIBUTES", getenv("OTEL_RESOURCE_ATTRIBUTES"))
	c.Sampler, bad[2] = sampler(getenv("OTEL_TRACES_SAMPLER"), getenv("OTEL_TRACES_SAMPLER_ARG"))
	c.Service = first(getenv("OTEL_SERVICE_NAME"), c.Resource[serviceName])
	return c, true, errors.Join(bad[:]...)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// pairs reads a list such as a=1,b=2, whose values may be percent-encoded.
func pairs(name, list string) (map[string]string, error) {
	if list == "" {
		return nil, nil
	}
	m := map[string]string{}
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		key, value, ok := strings.Cut(item, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
			return nil, fmt.Errorf("tracing: %s: want KEY=VALUE,KEY=VALUE", name) // it may hold a secret
		}
		m[key] = value
	}
	return m, nil
}

// sampler returns the one that OTEL_TRACES_SAMPLER names.
func sampler(name, arg string) (sdktrace.Sampler, error) {
	name, parentBased := strings.CutPrefix(name, "parentbased_")
	var s sdktrace.Sampler
	switch name {
	case "":
		return sdktrace.ParentBased(sdktrace.AlwaysSample()), nil
	case "always_on":
		s = sdktrace.AlwaysSample()
	case "always_off":
		s = sdktrace.NeverSample()
	case "traceidratio":
		share := 1.0
		if arg != "" {
			var err error
			if share, err = strconv.ParseFloat(arg, 64); err != nil || !(share >= 0 && share <= 1) {
				return nil, fmt.Errorf("tracing: OTEL_TRACES_SAMPLER_ARG is %q: want 0 to 1", arg)
			}
		}
		s = sdktrace.TraceIDRatioBased(share)
	default:
		return nil, fmt.Errorf("tracing: OTEL_TRACES_SAMPLER names no sampler of this build: always_on, always_off or traceidratio, with parentbased_ in front or not")
	}
	if parentBased {
		s = sdktrace.ParentBased(s)
	}
	return s, nil
}

// attributes describe the service.
func (c *Config) attributes() []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String(serviceName, first(c.Service, provider)), attribute.String(serviceVersion, c.Version),
	}
	for key, value := range c.Resource {
		if key != serviceName && key != serviceVersion {
			list = append(list, attribute.String(key, value))
		}
	}
	return list
}
