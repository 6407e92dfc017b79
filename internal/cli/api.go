// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sampo-ai/sampo/internal/server"
)

// apiFlags are the flags of api.
type apiFlags struct {
	url     string
	key     string
	method  string
	data    string
	fields  []string
	texts   []string
	headers []string
	query   []string
	include bool
	json    bool
}

// newAPI lists the routes of the server, or calls one.
func newAPI(env *Env) *cobra.Command {
	f := &apiFlags{}
	cmd := &cobra.Command{
		Use: "api [METHOD PATH]", Short: "List every route of the server, or call one",
		Long: "Without arguments, list the routes; with a path, describe it; with a method and a path, call it and print the\n" +
			"body. A path with a body is a POST. The server is --url, else SAMPO_URL, else the one that runs with this home,\n" +
			"else the default port on this machine. The key is --key, else SAMPO_API_KEY, else the one in the home, which is\n" +
			"sent to this machine only.",
		Example: "  sampo api\n  sampo api /v1/models\n  sampo api GET /api/health\n" +
			"  sampo api POST /v1/completions -d '{\"prompt\": \"The sea is\"}'\n" +
			"  sampo api POST /v1/completions -F prompt=@tale.txt -F max_tokens=8 -F 'stop=[\".\"]'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 2 {
				return usagef("api: unexpected argument %q", args[2])
			}
			calls := f.method != "" || f.data != "" || len(f.fields)+len(f.texts) > 0
			switch {
			case len(args) == 2 && f.method != "":
				return usagef("api: the method is given twice, %s and --method %s", args[0], f.method)
			case len(args) == 2:
				f.method = args[0]
			case calls && len(args) == 0:
				return usagef("api: a call needs a path, such as /v1/models")
			case len(args) == 0:
				return f.list(env)
			case !calls:
				return f.describe(env, args[0])
			case f.method == "":
				f.method = http.MethodPost
			}
			return f.call(cmd.Context(), env, strings.ToUpper(f.method), "/"+strings.TrimPrefix(args[len(args)-1], "/"))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "address of the server, such as http://127.0.0.1:7267")
	flags.StringVar(&f.key, "key", "", "API key")
	flags.StringVarP(&f.method, "method", "X", "", "method, in place of the first argument")
	flags.StringVarP(&f.data, "data", "d", "", "body to send: JSON, @FILE, or - for standard input")
	flags.StringArrayVarP(&f.fields, "field", "F", nil, "field of the body, as name=JSON, name=text or name=@FILE; of the query for GET")
	flags.StringArrayVarP(&f.texts, "raw-field", "f", nil, "as --field, always as text")
	flags.StringArrayVarP(&f.headers, "header", "H", nil, "header to send, as 'Name: value'")
	flags.StringArrayVar(&f.query, "query", nil, "parameter to send, as name=value")
	flags.BoolVarP(&f.include, "include", "i", false, "print status and headers to standard error")
	flags.BoolVar(&f.json, "json", false, "list the routes as JSON")
	return cmd
}

// list prints all routes.
func (f *apiFlags) list(env *Env) error {
	if f.json {
		type row struct {
			Method  string `json:"method"`
			Path    string `json:"path"`
			Scope   string `json:"scope"`
			Also    string `json:"also,omitempty"` // another scope that is enough
			Summary string `json:"summary"`
		}
		var rows []row
		for _, r := range server.Routes() {
			rows = append(rows, row{r.Method, r.Path, string(r.Scope), string(r.Also), r.Summary})
		}
		return printJSON(env, rows)
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "METHOD\tPATH\tSCOPE\tWHAT")
	for _, r := range server.Routes() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Method, r.Path, scopeText(&r), r.Summary)
	}
	return w.Flush()
}

func scopeText(r *server.Route) string {
	switch {
	case r.Scope == "":
		return "open"
	case r.Also != "":
		return string(r.Scope) + " or " + string(r.Also)
	}
	return string(r.Scope)
}

// describe prints what there is to know about a path.
func (f *apiFlags) describe(env *Env, path string) error {
	found := false
	for _, r := range server.Routes() {
		if r.Path != path {
			continue
		}
		found = true
		fmt.Fprintf(env.Stdout, "%s %s\n  %s.\n", r.Method, r.Path, r.Summary)
		if r.Doc != "" {
			fmt.Fprintf(env.Stdout, "  %s\n", r.Doc)
		}
		for _, line := range [][2]string{{"scope", scopeText(&r)}, {"body", r.In}, {"answer", r.Out}, {"events", r.Events}} {
			if line[1] != "" {
				fmt.Fprintf(env.Stdout, "  %-7s %s\n", line[0], line[1])
			}
		}
		for _, q := range r.Query {
			fmt.Fprintf(env.Stdout, "  query   %s: %s\n", q.Name, q.Doc)
		}
	}
	if !found {
		return usagef("api: there is no route %s; %s", path, nearest(path))
	}
	fmt.Fprintln(env.Stdout, "  The bodies are described at /api of a running server, and in its /api/openapi.json.")
	return nil
}

// nearest names the routes whose paths look most like one.
func nearest(path string) string {
	type near struct {
		path     string
		distance int
	}
	var list []near
	for _, r := range server.Routes() {
		if n := (near{r.Path, editDistance(path, r.Path)}); !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return a.distance - b.distance })
	return fmt.Sprintf("the nearest are %s, %s and %s", list[0].path, list[1].path, list[2].path)
}

// editDistance counts the characters to insert, delete or replace, after Levenshtein 1966.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// call sends a request and prints the answer.
func (f *apiFlags) call(ctx context.Context, env *Env, method, path string) error {
	req, err := f.request(ctx, env, method, path)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("api: no server answers at %s; sampo serve starts one, --url names another", req.URL.Host)
	case err != nil:
		return fmt.Errorf("api: no answer from %s: %w", req.URL.Host, errors.Unwrap(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if f.include {
		fmt.Fprintf(env.Stderr, "%s %s\n", resp.Proto, resp.Status)
		_ = resp.Header.Write(env.Stderr)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return printEvents(env.Stdout, resp.Body)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	if err := printBody(env, body); err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return f.failure(resp, path, body)
	}
	return nil
}

func (f *apiFlags) request(ctx context.Context, env *Env, method, path string) (*http.Request, error) {
	base, from, own := f.server(env)
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usagef("%s: got %q, want an address such as http://127.0.0.1:7267", from, base)
	}
	target, err := url.Parse(strings.TrimSuffix(base, "/") + path)
	if err != nil {
		return nil, usagef("api: got the path %q, want one such as /v1/models, with %%25 for a percent sign", path)
	}
	query := target.Query()
	for _, pair := range f.query {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, usagef("--query: got %q, want name=value", pair)
		}
		query.Add(name, value)
	}
	body, err := f.body(env, method, query)
	if err != nil {
		return nil, err
	}
	target.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, usagef("api: %v", err)
	}
	if len(body) > 0 || f.data != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key := f.keyFor(env, target, own); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, usagef("--header: got %q, want 'Name: value'", h)
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if strings.EqualFold(name, "Host") {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

// server returns the address to call, where it comes from, and whether a server of this home runs there.
func (f *apiFlags) server(env *Env) (address, from string, own bool) {
	running, isRunning := readServerFile(env)
	switch variable := env.Getenv("SAMPO_URL"); {
	case f.url != "":
		address, from = f.url, "--url"
	case variable != "":
		address, from = variable, "SAMPO_URL"
	case isRunning:
		address, from = running.URL, serverPath(env)
	default:
		address, from = fmt.Sprintf("http://%s:%d", defaultHost, defaultPort), "the default"
	}
	return address, from, isRunning && strings.TrimSuffix(address, "/") == running.URL
}

// keyFor returns the key to send. What is in the home goes to this machine and our own server only.
func (f *apiFlags) keyFor(env *Env, target *url.URL, own bool) string {
	switch key := strings.TrimSpace(env.Getenv("SAMPO_API_KEY")); {
	case f.key != "":
		return f.key
	case key != "":
		return key
	case !own && !isLoopback(target.Hostname()):
		return ""
	}
	kept := &access{}
	if err := kept.readKeys(keyPath(env)); err != nil {
		return "" // there is none
	}
	return kept.keys[0].Secret
}

// failure makes an error of an answer whose status tells of one.
func (f *apiFlags) failure(resp *http.Response, path string, body []byte) error {
	var envelope struct {
		Error struct{ Message, Code string }
	}
	_ = json.Unmarshal(body, &envelope) // other servers may have another form
	text := fmt.Sprintf("api: %d", resp.StatusCode)
	if envelope.Error.Code != "" {
		text += " " + envelope.Error.Code
	}
	if envelope.Error.Message != "" {
		text += ": " + envelope.Error.Message
	}
	if envelope.Error.Code == "unknown_url" {
		text += "; " + nearest(path)
	}
	return errors.New(text)
}

// printBody writes a body as it is; JSON on a terminal is made readable.
func printBody(env *Env, body []byte) error {
	var pretty bytes.Buffer
	if env.OutScreen && json.Indent(&pretty, body, "", "  ") == nil {
		body = append(pretty.Bytes(), '\n')
	}
	_, err := env.Stdout.Write(body)
	return err
}

// printEvents writes the data of each event on a line.
func printEvents(w io.Writer, events io.Reader) error {
	const longest = 64 << 20
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, longest)
	failed := false
	for lines.Scan() {
		failed = failed || lines.Text() == "event: error"
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && data != "[DONE]" {
			fmt.Fprintln(w, data)
		}
	}
	if failed {
		return errors.New("api: the stream ended with an error")
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("api: the stream broke off: %w", err)
	}
	return nil
}
