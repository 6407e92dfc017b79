// SPDX-License-Identifier: Apache-2.0

// Command load puts a server on this machine under mixed traffic and compares every answer with the same request run
// alone. run.sh starts a server and calls it.
//
// First it sends a number of requests one after the other, each under a cache salt of its own, and keeps the answers:
// prompts of 16 tokens and more, outputs of 16 tokens and more, half of them greedy and half sampled under a seed.
// Then clients send these requests in any order, at once, streamed or not, some with a common cache. Some clients
// vanish in the middle of a stream, some stop reading for a while. In the end nothing may run or wait on the server.
//
// It exits with 1 if any answer differs or fails, or something is left. It is bounded in clients and time, and speaks
// to loopback addresses only.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"time"
)

// Bounds of what the flags may ask for.
const (
	maxClients  = 256
	maxDuration = time.Hour
)

type options struct {
	url      string
	clients  int
	duration time.Duration
	requests int // different ones
	prompt   int // most tokens
	output   int
	seed     uint64
	steps    string // log of the server at level debug
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", "http://127.0.0.1:7267", "server, on a loopback address")
	flag.IntVar(&o.clients, "clients", 64, "clients at once")
	flag.DurationVar(&o.duration, "duration", 30*time.Second, "how long to send requests; a third of it goes to those alone")
	flag.IntVar(&o.requests, "requests", 32, "different requests")
	flag.IntVar(&o.prompt, "prompt", 4000, "longest prompt, in tokens")
	flag.IntVar(&o.output, "output", 512, "longest output, in tokens")
	flag.Uint64Var(&o.seed, "seed", 1, "of the traffic")
	flag.StringVar(&o.steps, "steps", "", "the server's log, written at level debug: durations of steps are taken from it")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(o options, out io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "load: traffic from seed %d\n", o.seed)
	// What hangs ends at four times the time.
	ctx, cancel := context.WithTimeout(context.Background(), 4*o.duration+time.Minute)
	defer cancel()
	c, err := connect(ctx, o.url)
	if err != nil {
		return err
	}
	all := traffic(rand.New(rand.NewPCG(o.seed, 0)), o, c.context)
	alone, err := c.alone(ctx, all, o.duration/3)
	if err != nil {
		return err
	}
	r := c.together(ctx, alone, o)
	if r.Left, err = c.drained(ctx); err != nil {
		return err
	}
	if o.steps != "" {
		if r.Steps, err = readSteps(o.steps); err != nil {
			return err
		}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return err
	}
	return r.verdict()
}

func (o *options) check() error {
	u, err := url.Parse(o.url)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("--url %s: want a loopback address", o.url)
	}
	switch {
	case o.clients < 1 || o.clients > maxClients:
		return fmt.Errorf("--clients %d: want 1 to %d", o.clients, maxClients)
	case o.duration < time.Second || o.duration > maxDuration:
		return fmt.Errorf("--duration %v: want 1s to %v", o.duration, maxDuration)
	case o.requests < 1 || o.prompt < 16 || o.output < 16:
		return errors.New("want one request or more, and 16 tokens or more")
	}
	return nil
}
