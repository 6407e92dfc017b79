// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/registry"
	"github.com/sampo-ai/sampo/internal/server"
	"github.com/sampo-ai/sampo/internal/tracing"
)

const (
	defaultHost = "127.0.0.1"
	defaultPort = 7267
)

// serveFlags are the flags of serve beside those of the model.
type serveFlags struct {
	model        modelFlags
	host         string
	hostGiven    bool // the host is not the default
	port         int
	public       bool
	apiKeyFile   string
	keysGiven    bool // apiKeyFile is not the default
	noAuth       bool
	config       string
	reasoning    string
	toolCalls    string
	origins      []string
	hosts        []string
	maxBody      byteSize
	earlyHeaders bool
	logLevel     string
	otlpEndpoint string
	drain        time.Duration
}

// newServe serves models over HTTP.
func newServe(env *Env) *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use: "serve [MODEL ...]", Short: "Serve models over HTTP",
		Long: "Serve models through the APIs that clients already speak. Without a model, those in the configuration are\n" +
			"served, else the built-in sampo/mini-chat. Every flag is also an environment variable and, but for --config, a key of the\n" +
			"configuration file: --max-body is SAMPO_MAX_BODY and max_body. There the key models is a list of models. The home is\n" +
			"SAMPO_HOME, else .sampo in your home folder.",
		Example: "  sampo serve\n  sampo serve ./model.gguf --port 8000\n  sampo serve owner/name:Q4_K_M --public",
		RunE: func(cmd *cobra.Command, args []string) error {
			models, err := applySettings(env, cmd, f.config)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				models = args
			}
			if len(models) == 0 {
				models = []string{assets.MiniChatName}
			}
			f.hostGiven, f.keysGiven = cmd.Flags().Changed("host"), cmd.Flags().Changed("api-key-file")
			return f.serve(env, models)
		},
	}
	flags := cmd.Flags()
	f.model.register(flags)
	flags.StringVar(&f.host, "host", defaultHost, "address to listen on")
	flags.IntVar(&f.port, "port", defaultPort, "port to listen on; 0 takes a free one")
	flags.BoolVar(&f.public, "public", false, "listen on every address, with an API key that is made if there is none")
	flags.StringVar(&f.apiKeyFile, "api-key-file", "", "file with the API keys that clients may send, one on each line, and its scopes behind it; if others can read the file, its mode is made 0600")
	flags.BoolVar(&f.noAuth, "no-auth", false, "let anybody who can reach the address use it")
	flags.StringVar(&f.config, "config", "", "configuration file (default: config.yaml in the home)")
	flags.StringVar(&f.reasoning, "reasoning-parser", "auto", "how reasoning is found in answers: auto")
	flags.StringVar(&f.toolCalls, "tool-call-parser", "auto", "how tool calls are found in answers: auto")
	flags.StringSliceVar(&f.origins, "allowed-origins", nil, "origins of web pages that may call the server")
	flags.StringSliceVar(&f.hosts, "allowed-hosts", nil, "further host names by which clients may call a server on this machine")
	flags.Var(&f.maxBody, "max-body", "largest request body (default 64MiB)")
	flags.BoolVar(&f.earlyHeaders, "early-headers", false, "send the headers of a stream before its first token")
	flags.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.DurationVar(&f.drain, "shutdown-drain", defaultDrain, "how long running requests may go on after an interrupt; what is left then ends with an error")
	flags.StringVar(&f.otlpEndpoint, "otlp-endpoint", "", "send traces there, OTLP over HTTP, such as http://localhost:4318 (default: OTEL_EXPORTER_OTLP_ENDPOINT, else nowhere)")
	return cmd
}

func (f *serveFlags) check(models []string) error {
	switch {
	case f.port < 0 || f.port > 65535:
		return usagef("--port: got %d, want 0 to 65535", f.port)
	case f.reasoning != "auto":
		return usagef("--reasoning-parser: %q is not part of this build; it has auto", f.reasoning)
	case f.toolCalls != "auto":
		return usagef("--tool-call-parser: %q is not part of this build; it has auto", f.toolCalls)
	case f.model.modelID != "" && len(models) > 1:
		return usagef("--model-id names one model, and %d are given", len(models))
	case f.drain < 0:
		return usagef("--shutdown-drain: got %v, want at least 0", f.drain)
	case f.public && f.noAuth:
		return usagef("--public demands a key, and --no-auth none: give one of them")
	case f.keysGiven && f.apiKeyFile == "" && !f.noAuth: // a variable that is not set must not open the server
		return usagef("--api-key-file: the name of the file is empty")
	case f.apiKeyFile != "" && f.noAuth:
		return usagef("--api-key-file demands a key, and --no-auth none: give one of them")
	}
	if err := f.checkAddresses(); err != nil {
		return err
	}
	return f.model.check()
}

// serve opens the models and answers requests until a signal comes.
func (f *serveFlags) serve(env *Env, names []string) error {
	if err := f.check(names); err != nil {
		return err
	}
	log, err := newLog(env, f.logLevel)
	if err != nil {
		return err
	}
	access, err := f.access(env)
	if err != nil {
		return err
	}
	tracer, err := f.tracer(env, log)
	if err != nil {
		return err
	}
	secret, err := f.secret(env, len(access.keys))
	if err != nil {
		return err
	}
	found, err := env.findAll(names)
	if err != nil {
		return err
	}
	opt, err := f.model.bundleOptions()
	if err != nil {
		return err
	}
	env.outlivePipes()
	signals := env.signals() // from now on somebody may count on an orderly end
	listener, err := net.Listen("tcp", net.JoinHostPort(access.host, strconv.Itoa(f.port)))
	if err != nil {
		return listenError(err)
	}
	address := baseURL(access.host, listener.Addr())
	cfg := server.Config{
		Version: Version, Revision: revision(), Address: address, Keys: access.keys,
		Loopback: access.loopback, Hosts: f.hosts, Origins: f.origins, MaxBody: int64(f.maxBody),
		EarlyHeaders: f.earlyHeaders, Log: log, Tracer: tracer, Secret: secret,
	}
	early := startStandIn(listener, cfg)
	open, err := unlessInterrupted(signals, func() (*opened, error) { return f.openAll(env, found, opt, log) },
		func(o *opened) { _ = o.Close() }) // nobody is left to tell
	if errors.Is(err, errInterrupted) {
		fmt.Fprintln(env.Stderr, "sampo: interrupted before the models were loaded")
		return early.leave(signals)
	}
	err = errors.Join(err, early.handOver())
	defer early.wait()
	if err != nil {
		return errors.Join(err, open.Close(), listener.Close())
	}
	cfg.Models = open.offers
	access.outside = outsideURLs(access.host, listener.Addr())
	s := server.New(cfg)
	defer writeServerFile(env, address)()
	printBanner(env, address, access, open.models, tracer)
	return f.run(env, signals, &running{server: s, listener: listener, opened: open, tracer: tracer})
}

// newLog returns the log on standard error.
func newLog(env *Env, name string) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return nil, usagef("--log-level: got %q, want debug, info, warn or error", name)
	}
	return slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: level})), nil
}

// withHolders adds to an error about memory which models hold it.
func withHolders(err error, models []*local.Model) error {
	var full *local.MemoryError
	if !errors.As(err, &full) || len(models) == 0 {
		return err
	}
	holders := make([]server.Holder, len(models))
	for i, m := range models {
		holders[i] = server.Holder{Model: m.Name, Bytes: m.HeldBytes()}
	}
	return errors.New("serve: " + server.MemoryMessage(full.Name, full.Need, holders) + " --max-memory makes caches smaller.")
}

// owner says whose a model is: that of the hub, or "" for any other.
func owner(m registry.Model) string {
	if m.Store == registry.HuggingFace {
		return "huggingface"
	}
	return ""
}

// baseURL is the address to tell people: a server that listens everywhere is reached on this machine by its loopback.
func baseURL(host string, addr net.Addr) string {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "http://" + addr.String()
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = defaultHost
	}
	return "http://" + net.JoinHostPort(strings.ReplaceAll(host, "%", "%25"), port) // of a zone, as in fe80::1%eth0
}

// outsideURLs returns addresses that other machines may reach a server at that listens everywhere.
func outsideURLs(host string, addr net.Addr) []string {
	_, port, err := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); err != nil || host != "" && (ip == nil || !ip.IsUnspecified()) {
		return nil
	}
	var urls []string
	addresses, _ := net.InterfaceAddrs() // without them there is nothing to tell
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			urls = append(urls, "http://"+net.JoinHostPort(n.IP.String(), port))
		}
	}
	return urls
}

// printBanner tells where the server is, what it serves, and a line to try.
func printBanner(env *Env, address string, access *access, models []*local.Model, tracer *tracing.Tracer) {
	fmt.Fprintf(env.Stdout, "Sampo %s listens on %s\n\n", Version, address)
	for _, m := range models {
		kind := "chat and completions"
		if !m.Chats() {
			kind = "completions (no chat template)"
		}
		fmt.Fprintf(env.Stdout, "  model    %s: %s, %d tokens of context, up to %s for the cache\n", printable(m.Name), kind, m.MaxContext(), formatBytes(m.CacheBytes))
	}
	access.print(env)
	if tracer != nil {
		fmt.Fprintf(env.Stdout, "  traces   to %s\n", tracer.Endpoint())
	}
	fmt.Fprintf(env.Stdout, "\nTry it:\n\n  %s\n\n", tryLine(address, access, models))
}

// shellURL is an address that may be followed by a path in a command: brackets are a pattern to some shells.
func shellURL(address string) string {
	if strings.Contains(address, "[") {
		return "'" + address + "'"
	}
	return address
}

// tryLine is a command that asks the first model something. Where there are several it must say which.
func tryLine(address string, access *access, models []*local.Model) string {
	m, key, name := models[0], "", ""
	address = shellURL(address)
	if len(models) > 1 {
		name = fmt.Sprintf(`"model": %q, `, m.Name)
	}
	if len(access.keys) > 0 {
		key = fmt.Sprintf(` -H "Authorization: Bearer %s"`, access.shellKey())
	}
	if !m.Chats() {
		return fmt.Sprintf(`curl %s/v1/completions%s -H 'Content-Type: application/json' -d '{%s"prompt": "The sea is"}'`, address, key, name)
	}
	return fmt.Sprintf(`curl %s/v1/chat/completions%s -H 'Content-Type: application/json' -d '{%s"messages": [{"role": "user", "content": "Hello"}]}'`, address, key, name)
}
