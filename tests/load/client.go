// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// errBusy says that the server's queue was full.
var errBusy = errors.New("queue is full")

// errVanished says that the client closed the connection, as it wanted.
var errVanished = errors.New("client vanished")

// A client speaks to one server.
type client struct {
	url     string
	http    http.Client
	context int // most tokens of prompt plus output
}

func connect(ctx context.Context, url string) (*client, error) {
	c := &client{url: strings.TrimSuffix(url, "/")}
	c.http.Transport = &http.Transport{MaxIdleConnsPerHost: maxClients, DisableCompression: true}
	var models struct {
		Data []struct {
			MaxModelLen int `json:"max_model_len"`
		} `json:"data"`
	}
	if err := c.get(ctx, "/v1/models", &models); err != nil {
		return nil, err
	}
	if len(models.Data) == 0 || models.Data[0].MaxModelLen < 64 {
		return nil, fmt.Errorf("%s serves no model with a context of 64 tokens", url)
	}
	c.context = models.Data[0].MaxModelLen
	return c, nil
}

func (c *client) get(ctx context.Context, path string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(v)
}

// A piece is an answer's body, or a part of it.
type piece struct {
	Choices []struct {
		TokenIDs []int `json:"token_ids"`
	} `json:"choices"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// A timing says when tokens came.
type timing struct {
	first time.Duration   // to the first token
	gaps  []time.Duration // between parts of a stream
}

// ask sends a request and reads its answer in the given manner. after is how many parts of a stream come before the
// client vanishes or stalls.
func (c *client) ask(ctx context.Context, q request, m manner, after int) (tokens []int, t timing, err error) {
	q.Stream = m != waits
	body, err := json.Marshal(q)
	if err != nil {
		return nil, t, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v1/completions", bytes.NewReader(body))
	if err != nil {
		return nil, t, err
	}
	req.Header.Set("Content-Type", "application/json")
	begun := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, t, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusServiceUnavailable:
		return nil, t, errBusy
	case resp.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return nil, t, fmt.Errorf("%s: %s", resp.Status, text)
	case m == waits:
		tokens, err = readPiece(resp.Body)
		return tokens, t, err
	}
	s := stream{lines: bufio.NewScanner(resp.Body), begun: begun, manner: m, after: after}
	s.lines.Buffer(nil, 1<<20)
	tokens, err = s.read(ctx)
	return tokens, s.timing, err
}

func readPiece(body io.Reader) ([]int, error) {
	var p piece
	if err := json.NewDecoder(body).Decode(&p); err != nil {
		return nil, err
	}
	return p.tokens()
}

func (p *piece) tokens() ([]int, error) {
	if p.Error != nil {
		return nil, errors.New(p.Error.Message)
	}
	if len(p.Choices) == 0 {
		return nil, nil
	}
	return p.Choices[0].TokenIDs, nil
}

// A stream is an answer that comes in parts.
type stream struct {
	lines  *bufio.Scanner
	begun  time.Time
	manner manner
	after  int
	timing timing
}

func (s *stream) read(ctx context.Context) (tokens []int, err error) {
	latest := s.begun
	for parts := 0; s.lines.Scan(); {
		data, ok := strings.CutPrefix(s.lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return tokens, nil
		}
		more, err := readPiece(strings.NewReader(data))
		if err != nil {
			return tokens, err
		}
		if len(more) == 0 {
			continue
		}
		tokens = append(tokens, more...)
		latest = s.note(latest)
		if parts++; parts == s.after {
			if err := s.behave(ctx); err != nil {
				return tokens, err
			}
			latest = time.Now()
		}
	}
	return tokens, errors.Join(s.lines.Err(), io.ErrUnexpectedEOF)
}

// note takes the time of a part that follows the one that came at latest.
func (s *stream) note(latest time.Time) time.Time {
	now := time.Now()
	if s.timing.first == 0 {
		s.timing.first = now.Sub(s.begun)
	} else {
		s.timing.gaps = append(s.timing.gaps, now.Sub(latest))
	}
	return now
}

// behave does what the client came for, besides reading.
func (s *stream) behave(ctx context.Context) error {
	switch s.manner {
	case vanishes:
		return errVanished
	case stalls:
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
	case streams, waits:
	}
	return nil
}
