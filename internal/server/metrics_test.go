// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
)

// metric returns the value of a series, which is named with its labels in the order of the page.
func (s *site) metric(series string) float64 {
	s.t.Helper()
	page := s.do(http.MethodGet, "/metrics", "")
	for line := range strings.Lines(page.body) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "} ")
		if ok && name+"}" == series {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			return v
		}
	}
	s.t.Fatalf("no series %s in:\n%s", series, page.body)
	return 0
}

func TestMetricsCountWhatClientsGet(t *testing.T) {
	s := say(t, "abXYZdef<|im_end|>")
	const m = `{engine="0",model_name="m"}`
	s.post("/v1/completions", `{"prompt":"hi","stop":"XYZ","max_tokens":10}`)
	s.post("/v1/completions", `{"prompt":"hi","max_tokens":2,"stream":true}`)
	s.post("/v1/completions", `{"prompt":"hi","suffix":"x"}`)
	for series, want := range map[string]float64{
		// The stop string ends with the fifth token; the three that follow it are in no figure.
		"vllm:generation_tokens_total" + m:                                                    7,
		"vllm:prompt_tokens_total" + m:                                                        4,
		`vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"}`:        1,
		`vllm:request_success_total{engine="0",finished_reason="length",model_name="m"}`:      1,
		"vllm:time_to_first_token_seconds_count" + m:                                          2,
		"vllm:inter_token_latency_seconds_count" + m:                                          5,
		"vllm:e2e_request_latency_seconds_count" + m:                                          2,
		"vllm:request_generation_tokens_sum" + m:                                              7,
		"vllm:num_requests_running" + m:                                                       0,
		`sampo_requests_total{api="completions",code="200",finish="stop",model="m"}`:          1,
		`sampo_requests_total{api="completions",code="400",finish="",model="m"}`:              1,
		`sampo_refused_total{param="suffix"}`:                                                 1,
		`vllm:request_generation_tokens_bucket{engine="0",model_name="m",le="5"}`:             2,
		`vllm:request_generation_tokens_bucket{engine="0",model_name="m",le="2"}`:             1,
		`vllm:cache_config_info{block_size="0",engine="0",model_name="m",num_gpu_blocks="0"}`: 1,
	} {
		if got := s.metric(series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
}

func TestMetricsAreRightUnderConcurrency(t *testing.T) {
	s := say(t, "abc<|im_end|>")
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for i := range 10 {
				s.post("/v1/completions", `{"prompt":"hi","n":2,"stream":`+strconv.FormatBool(i%2 == 0)+`}`)
				s.do(http.MethodGet, "/metrics", "")
			}
		})
	}
	clients.Wait()
	if got := s.metric(`vllm:generation_tokens_total{engine="0",model_name="m"}`); got != 8*10*2*4 {
		t.Errorf("%v output tokens, want %d", got, 8*10*2*4)
	}
	if got := s.metric(`vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"}`); got != 160 {
		t.Errorf("%v choices ended, want 160", got)
	}
}

// A context of 1000 tokens was two buckets of one size, and the server ended with a panic.
func TestAnyContextHasBucketsThatGrow(t *testing.T) {
	for longest, want := range map[int][]float64{
		1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 100: {1, 2, 5, 10, 20, 50, 100}, 128: {1, 2, 5, 10, 20, 50, 100, 128},
		1000: {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000},
	} {
		if got := sizeBuckets(longest); !slices.Equal(got, want) {
			t.Errorf("sizeBuckets(%d) = %v, want %v", longest, got, want)
		}
	}
}

func TestMetricsPageHasItsContentTypes(t *testing.T) {
	s := say(t, "a")
	r := s.do(http.MethodGet, "/metrics", "")
	if got := r.Header.Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	r = s.do(http.MethodGet, "/metrics", "", "Accept: application/openmetrics-text; version=1.0.0")
	if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text") || !strings.HasSuffix(r.body, "# EOF\n") {
		t.Errorf("content type %q, end %q", got, r.body[max(0, len(r.body)-20):])
	}
}

// A parser that keeps to the rules took none of the page: two families had one name.
func TestOpenMetricsNamesEachFamilyOnce(t *testing.T) {
	r := say(t, "a").do(http.MethodGet, "/metrics", "", "Accept: application/openmetrics-text; version=1.0.0")
	seen := map[string]bool{}
	for line := range strings.Lines(r.body) {
		if !strings.HasPrefix(line, "# TYPE ") {
			continue
		}
		if name := strings.Fields(line)[2]; seen[name] {
			t.Errorf("two families are named %s", name)
		} else {
			seen[name] = true
		}
	}
	if !seen["go_memstats_alloc_bytes"] || !seen["vllm:generation_tokens"] {
		t.Errorf("families are missing: %v", seen)
	}
}

func TestKeysAreCountedAndKeepTheirCachesApart(t *testing.T) {
	m, engine := bytechat.Say("m", "a<|im_end|>")
	s := start(t, m, engine, func(c *Config) { c.Keys = []Key{{Secret: "one"}, {Secret: "two"}} })
	const body = `{"prompt":"hi","cache_salt":"x"}`
	s.post("/v1/completions", body, "Authorization: Bearer one")
	s.post("/v1/completions", body, "X-Api-Key: two")
	s.post("/v1/completions", body, "X-Api-Key: two")
	s.post("/v1/completions", body, "X-Api-Key: three")
	s.post("/v1/completions", body)
	r := engine.Requests()
	if len(r) != 3 || r[0].Tenant == r[1].Tenant || r[1].Tenant != r[2].Tenant || r[0].CacheSalt == r[1].CacheSalt || r[1].CacheSalt != r[2].CacheSalt {
		t.Errorf("requests %+v", r)
	}
	for reason, want := range map[string]float64{"wrong": 1, "missing": 1} {
		if got := s.metric(`sampo_auth_failures_total{reason="` + reason + `"}`); got != want {
			t.Errorf("%s keys: %v, want %v", reason, got, want)
		}
	}
}
