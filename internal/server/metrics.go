// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/wire/openai"
)

// The buckets are those of vLLM, whose dashboards then work. Between tokens and to the first one there are finer ones
// below, where small models live.
var (
	bucketsFirst   = []float64{.001, .0025, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	bucketsBetween = []float64{.001, .0025, .005, .01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	bucketsRequest = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	bucketsChoices = []float64{1, 2, 5, 10, 20, 64}
)

// metrics are the figures that /metrics shows. docs/metrics.md says what each means. All their methods may be called
// from many goroutines at once.
type metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec // by api, model, code, finish
	refused   *prometheus.CounterVec // by parameter
	keys      *prometheus.CounterVec // failures, by reason
	surplus   prometheus.Counter     // connections
	reasoning *prometheus.CounterVec // tokens, by model
	models    map[string]*modelMetrics
}

// modelMetrics are the figures of one model that have vLLM's names.
type modelMetrics struct {
	promptTokens, cachedTokens, outputTokens prometheus.Counter
	queries, hits                            prometheus.Counter // of the prefix cache, in tokens
	finished                                 *prometheus.CounterVec
	first, between, perToken                 prometheus.Observer
	total, queue, inference, prefill, decode prometheus.Observer
	requestPrompt, requestOutput, choices    prometheus.Observer
	reasoning                                prometheus.Counter
}

// A maker registers metrics that have the labels of vLLM.
type maker struct{ registry *prometheus.Registry }

func (m maker) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m maker) histogram(name, help string, buckets []float64) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, vllmLabels)
	m.registry.MustRegister(h)
	return h
}

// vllmLabels are what vLLM's metrics carry; the engine is the replica, of which there is one.
var vllmLabels = []string{"model_name", "engine"}

const engineLabel = "0"

func newMetrics(cfg *Config) *metrics {
	r := prometheus.NewRegistry()
	make := maker{r}
	m := &metrics{
		registry:  r,
		requests:  make.counter("sampo_requests_total", "Requests answered, refused ones included.", "api", "model", "code", "finish"),
		refused:   make.counter("sampo_refused_total", "Requests refused because a parameter is not supported.", "param"),
		keys:      make.counter("sampo_auth_failures_total", "Requests refused for their key.", "reason"),
		reasoning: make.counter("sampo_reasoning_tokens_total", "Output tokens between the thinking markers.", "model"),
		models:    map[string]*modelMetrics{},
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "sampo_build_info", Help: "Always 1; the labels tell the build."}, []string{"version", "revision", "goversion"})
	build.WithLabelValues(cfg.Version, cfg.Revision, runtime.Version()).Set(1)
	r.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newEngineCollector(cfg.Models))
	m.surplus = make.counter("sampo_connections_refused_total", "Connections closed at once because there were too many.").WithLabelValues()
	m.addModels(make, cfg.Models)
	return m
}

// addModels makes the series of each model, so that they are there from the start, at zero.
func (m *metrics) addModels(make maker, models []Model) {
	counters := map[string]*prometheus.CounterVec{}
	for name, help := range map[string]string{
		"vllm:prompt_tokens_total":        "Prompt tokens of requests whose first token came.",
		"vllm:prompt_tokens_cached_total": "Of those, tokens read from the prefix cache.",
		"vllm:generation_tokens_total":    "Output tokens, those of a beam search that was cut off too.",
		"vllm:prefix_cache_queries_total": "Prompt tokens looked up in the prefix cache.",
		"vllm:prefix_cache_hits_total":    "Prompt tokens found in the prefix cache.",
	} {
		counters[name] = make.counter(name, help, vllmLabels...)
	}
	finished := make.counter("vllm:request_success_total", "Choices that ended, by reason.", append([]string{"finished_reason"}, vllmLabels...)...)
	times := map[string]*prometheus.HistogramVec{}
	for name, help := range map[string]string{
		"vllm:e2e_request_latency_seconds":    "From the request to the end of its answer.",
		"vllm:request_queue_time_seconds":     "From the request read whole to the first step that works on it.",
		"vllm:request_inference_time_seconds": "From that step to the last output token.",
		"vllm:request_prefill_time_seconds":   "From that step to the first output token.",
		"vllm:request_decode_time_seconds":    "From the first output token to the last.",
	} {
		times[name] = make.histogram(name, help, bucketsRequest)
	}
	first := make.histogram("vllm:time_to_first_token_seconds", "From the request to its first output token.", bucketsFirst)
	between := make.histogram("vllm:inter_token_latency_seconds", "Between two output tokens of a choice.", bucketsBetween)
	perToken := make.histogram("vllm:request_time_per_output_token_seconds", "Mean time between the output tokens of a request.", bucketsBetween)
	longest := 1
	for _, m := range models {
		longest = max(longest, m.MaxContext())
	}
	sizes := sizeBuckets(longest)
	prompt := make.histogram("vllm:request_prompt_tokens", "Prompt tokens of a request.", sizes)
	output := make.histogram("vllm:request_generation_tokens", "Output tokens of a request.", sizes)
	choices := make.histogram("vllm:request_params_n", "Choices of a request.", bucketsChoices)
	for _, model := range models {
		name := model.Name
		count := func(metric string) prometheus.Counter { return counters[metric].WithLabelValues(name, engineLabel) }
		time := func(metric string) prometheus.Observer { return times[metric].WithLabelValues(name, engineLabel) }
		mm := &modelMetrics{
			promptTokens: count("vllm:prompt_tokens_total"), cachedTokens: count("vllm:prompt_tokens_cached_total"),
			outputTokens: count("vllm:generation_tokens_total"), queries: count("vllm:prefix_cache_queries_total"), hits: count("vllm:prefix_cache_hits_total"),
			finished: finished.MustCurryWith(prometheus.Labels{"model_name": name, "engine": engineLabel}),
			first:    first.WithLabelValues(name, engineLabel), between: between.WithLabelValues(name, engineLabel), perToken: perToken.WithLabelValues(name, engineLabel),
			total: time("vllm:e2e_request_latency_seconds"), queue: time("vllm:request_queue_time_seconds"), inference: time("vllm:request_inference_time_seconds"),
			prefill: time("vllm:request_prefill_time_seconds"), decode: time("vllm:request_decode_time_seconds"),
			requestPrompt: prompt.WithLabelValues(name, engineLabel), requestOutput: output.WithLabelValues(name, engineLabel), choices: choices.WithLabelValues(name, engineLabel),
			reasoning: m.reasoning.WithLabelValues(name),
		}
		for _, reason := range []string{"stop", "length", "abort", "error"} {
			mm.finished.WithLabelValues(reason)
		}
		m.models[name] = mm
	}
}

// sizeBuckets returns 1, 2, 5, 10 and so on up to the longest context, which is at least 1.
func sizeBuckets(longest int) []float64 {
	var buckets []float64
	for scale := 1; ; scale *= 10 {
		for _, step := range []int{1, 2, 5} {
			if step*scale >= longest {
				return append(buckets, float64(longest))
			}
			buckets = append(buckets, float64(step*scale))
		}
	}
}

// end counts a request that was answered.
func (m *metrics) end(x *exchange) {
	if x.api == "" {
		return
	}
	m.requests.WithLabelValues(x.api, x.model, strconv.Itoa(x.status), x.finish).Inc()
	mm := m.models[x.model]
	if mm == nil {
		return
	}
	mm.reasoning.Add(float64(x.usage.ReasoningTokens))
	switch x.finish {
	case "abort", "error":
		mm.finished.WithLabelValues(x.finish).Inc()
		return
	case "": // refused
		return
	}
	t := x.timings
	mm.total.Observe(time.Since(x.begun).Seconds())
	mm.queue.Observe(t.Queue.Seconds())
	mm.prefill.Observe(t.Prefill.Seconds())
	mm.decode.Observe(t.Decode.Seconds())
	mm.inference.Observe((t.Prefill + t.Decode).Seconds())
	mm.requestPrompt.Observe(float64(x.usage.PromptTokens))
	mm.requestOutput.Observe(float64(x.usage.OutputTokens))
	if t.DecodeTokens > 0 {
		mm.perToken.Observe(t.Decode.Seconds() / float64(t.DecodeTokens))
	}
}

// refuse counts an error that a client could have avoided only by asking for less.
func (m *metrics) refuse(e *openai.Error) {
	if e.Code == openai.CodeUnsupportedParameter || e.Code == openai.CodeUnsupportedValue {
		m.refused.WithLabelValues(plainParam(e.Param)).Inc()
	}
}

// plainParam takes the positions out of a parameter's path, so that there are few of them.
func plainParam(param string) string {
	var b strings.Builder
	inside := false
	for _, c := range param {
		switch {
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case !inside:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// finishLabel is what vLLM calls the end of a choice.
func finishLabel(r chat.Reason) string {
	if r == chat.ReasonLength {
		return "length"
	}
	return "stop"
}

// metricsPage answers GET /metrics in the text format of Prometheus, or in OpenMetrics to who asks for it.
func (s *Server) metricsPage(x *exchange) error {
	families, err := s.metrics.registry.Gather()
	if err != nil {
		return err
	}
	format, contentType := expfmt.NewFormat(expfmt.TypeTextPlain), "text/plain; version=0.0.4; charset=utf-8"
	if strings.Contains(x.r.Header.Get("Accept"), expfmt.OpenMetricsType) {
		format = expfmt.NewFormat(expfmt.TypeOpenMetrics)
		contentType = string(format)
	}
	var page bytes.Buffer
	enc := expfmt.NewEncoder(&page, format)
	last := "" // families are sorted by name
	for _, f := range families {
		// OpenMetrics takes _total off a counter's name; what is then left may be the name of a gauge.
		if format.FormatType() == expfmt.TypeOpenMetrics && f.GetName() == last+"_total" {
			continue
		}
		last = f.GetName()
		if err := enc.Encode(f); err != nil {
			return err
		}
	}
	if c, ok := enc.(expfmt.Closer); ok {
		if err := c.Close(); err != nil {
			return err
		}
	}
	return x.send(http.StatusOK, contentType, page.Bytes())
}
