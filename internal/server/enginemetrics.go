// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sampo-ai/sampo/internal/inference"
)

// An engineCollector reads the figures that engines keep themselves, when they are asked for.
type engineCollector struct {
	models      []Model
	running     *prometheus.Desc
	waiting     *prometheus.Desc
	usage       *prometheus.Desc
	preemptions *prometheus.Desc
	evictions   *prometheus.Desc
	stepTime    *prometheus.Desc
	tokens      *prometheus.Desc
	drafts      *prometheus.Desc
	drafted     *prometheus.Desc
	accepted    *prometheus.Desc
	cacheConfig *prometheus.Desc
}

func newEngineCollector(models []Model) *engineCollector {
	desc := func(name, help string, further ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append(append([]string(nil), vllmLabels...), further...), nil)
	}
	own := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"model"}, nil)
	}
	return &engineCollector{
		models:      models,
		running:     desc("vllm:num_requests_running", "Sequences that the engine works on."),
		waiting:     desc("vllm:num_requests_waiting", "Sequences that wait for a place."),
		usage:       desc("vllm:kv_cache_usage_perc", "Part of the cache's blocks that sequences hold, 0 to 1."),
		preemptions: desc("vllm:num_preemptions_total", "Sequences whose blocks were taken back."),
		cacheConfig: desc("vllm:cache_config_info", "Always 1; the labels tell the cache.", "block_size", "num_gpu_blocks"),
		evictions:   own("sampo_cache_evictions_total", "Cached blocks whose contents were given up for others."),
		stepTime:    own("sampo_step_seconds", "Duration of a step."),
		tokens:      desc("vllm:iteration_tokens_total", "Tokens that a step computed."),
		drafts:      desc("vllm:spec_decode_num_drafts_total", "Times that tokens were proposed by speculation."),
		drafted:     desc("vllm:spec_decode_num_draft_tokens_total", "Tokens proposed by speculation."),
		accepted:    desc("vllm:spec_decode_num_accepted_tokens_total", "Proposed tokens that became output."),
	}
}

// Describe implements prometheus.Collector.
func (c *engineCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.running, c.waiting, c.usage, c.preemptions, c.cacheConfig, c.evictions, c.stepTime, c.tokens, c.drafts, c.drafted, c.accepted} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *engineCollector) Collect(to chan<- prometheus.Metric) {
	for _, m := range c.models {
		gauge := func(d *prometheus.Desc, v float64, further ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{m.Name, engineLabel}, further...)...)
		}
		running, waiting := m.Engine.Load()
		gauge(c.running, float64(running))
		gauge(c.waiting, float64(waiting))
		info := m.Engine.Info()
		gauge(c.cacheConfig, 1, strconv.Itoa(info.BlockSize), strconv.Itoa(info.Blocks))
		if meter, ok := m.Engine.(inference.Meter); ok {
			s := meter.Stats()
			gauge(c.usage, s.Usage())
			c.collectCounts(to, m.Name, &s)
		}
	}
}

// collectCounts sends what only grows.
func (c *engineCollector) collectCounts(to chan<- prometheus.Metric, model string, s *inference.Stats) {
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	count(c.preemptions, s.Preemptions, model, engineLabel)
	count(c.evictions, s.Evictions, model)
	count(c.drafts, s.Drafts, model, engineLabel)
	count(c.drafted, s.DraftTokens, model, engineLabel)
	count(c.accepted, s.AcceptedTokens, model, engineLabel)
	to <- histogram(c.stepTime, s.StepSeconds, model)
	to <- histogram(c.tokens, s.StepTokens, model, engineLabel)
}

// histogram adds up the counts of the buckets, as the format wants them.
func histogram(d *prometheus.Desc, h inference.Histogram, labels ...string) prometheus.Metric {
	below := map[float64]uint64{}
	sum := uint64(0)
	for i, bound := range h.Bounds {
		sum += h.Counts[i]
		below[bound] = sum
	}
	return prometheus.MustNewConstHistogram(d, h.Count, h.Sum, below, labels...)
}
