// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"slices"
)

// A Scope is a right that a key has, or that a route asks for.
type Scope string

// The scopes of keys. ScopeAdmin includes all.
const (
	ScopeInfer       Scope = "infer"
	ScopeModelsRead  Scope = "models:read"
	ScopeModelsWrite Scope = "models:write"
	ScopeData        Scope = "data"
	ScopeMetrics     Scope = "metrics"
	ScopeAccount     Scope = "account"
	ScopeAdmin       Scope = "admin"
)

// What routes may ask for beside a scope.
const (
	scopeOpen Scope = ""    // no key is needed
	scopeAny  Scope = "any" // any key will do
)

// Scopes lists what keys may have.
func Scopes() []Scope {
	return []Scope{ScopeInfer, ScopeModelsRead, ScopeModelsWrite, ScopeData, ScopeMetrics, ScopeAccount, ScopeAdmin}
}

// A Route is everything that the server knows about one endpoint. The router, the check of keys, the API's document, its
// page and `sampo api` read it.
type Route struct {
	Method, Path string // a path that ends in {id} takes everything below it
	Group        string // heading in the document
	Summary      string // one line
	Doc          string // more, for those who look closer
	Scope        Scope
	Also         Scope // another scope that is enough; "" if there is none
	Query        []Param
	In, Out      string // names of schemas, or a media type; In is "" without a body
	Events       string // schema of the events, if the answer may stream
	API          string // what metrics call it; "" for routes that generate nothing

	handle func(s *Server, x *exchange) error
}

// A Param is a parameter in the query.
type Param struct{ Name, Doc string }

const (
	generates = "Generate"
	describes = "Models and tokens"
	serves    = "Service"
	playing   = "Playground"
	refuses   = "Not for these models"
)

// Routes returns all endpoints, in the order of the document. It makes a new list each time.
func Routes() []Route {
	return slices.Concat(generateRoutes(), modelRoutes(), serviceRoutes(), unsupportedRoutes())
}

func generateRoutes() []Route {
	return []Route{
		{
			Method: http.MethodPost, Path: "/v1/chat/completions", Group: generates, Summary: "Answer a conversation",
			Doc:   "As OpenAI's, with vLLM's further fields. Unknown fields are ignored and named in the header X-Sampo-Notice; with the header X-Sampo-Strict: 1 they are refused.",
			Scope: ScopeInfer, In: "ChatRequest", Out: "ChatAnswer", Events: "ChatChunk", API: "chat", handle: (*Server).chat,
		},
		{
			Method: http.MethodPost, Path: "/v1/completions", Group: generates, Summary: "Continue a text, or score it",
			Doc:   "The prompt is taken as it is: no chat template. max_tokens 0 with echo and logprobs scores a prompt.",
			Scope: ScopeInfer, In: "CompletionRequest", Out: "CompletionAnswer", Events: "CompletionAnswer", API: "completions", handle: (*Server).complete,
		},
		{
			Method: http.MethodPost, Path: "/api/playground/complete", Group: playing, Summary: "Continue a text and look at each choice of a token",
			Doc:   "The fields and the answer of /v1/completions with one prompt. With explain each output token stands in the choice's sampo_tokens with the candidates for its place. Unknown fields are refused.",
			Scope: ScopeInfer, In: "PlaygroundRequest", Out: "CompletionAnswer", Events: "CompletionAnswer", API: "completions", handle: (*Server).playground,
		},
	}
}

// unsupportedRoutes are those of models that do something else than generate text. They say so, in place of a 404.
func unsupportedRoutes() []Route {
	var list []Route
	for _, path := range []string{"/v1/embeddings", "/rerank", "/v1/rerank", "/v2/rerank", "/score", "/v1/score"} {
		list = append(list, Route{
			Method: http.MethodPost, Path: path, Group: refuses, Summary: "Refused: the models here generate text", Doc: "The answer is 400 unsupported_endpoint.",
			Scope: ScopeInfer, In: "Object", Out: "Error", handle: (*Server).unsupported,
		})
	}
	return list
}

func modelRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: "/v1/models", Group: describes, Summary: "List the models", Scope: ScopeModelsRead, Also: ScopeInfer, Out: "ModelList", handle: (*Server).listModels},
		{
			Method: http.MethodGet, Path: "/v1/models/{id}", Group: describes, Summary: "Describe a model", Doc: "The id may hold slashes, escaped or not.",
			Scope: ScopeModelsRead, Also: ScopeInfer, Out: "Model", handle: (*Server).showModel,
		},
		{
			Method: http.MethodPost, Path: "/tokenize", Group: describes, Summary: "Turn a text or a conversation into token ids", Doc: "Nothing is refused for its length.",
			Scope: ScopeInfer, In: "TokenizeRequest", Out: "TokenizeAnswer", handle: (*Server).tokenize,
		},
		{Method: http.MethodPost, Path: "/detokenize", Group: describes, Summary: "Turn token ids into text", Scope: ScopeInfer, In: "DetokenizeRequest", Out: "DetokenizeAnswer", handle: (*Server).detokenize},
		{
			Method: http.MethodGet, Path: "/tokenizer_info", Group: describes, Summary: "Describe the tokenizer and its chat template", Scope: ScopeInfer,
			Query: []Param{{"model", "Name of the model. Left out: the only one in memory."}}, Out: "TokenizerInfo", handle: (*Server).tokenizerInfo,
		},
	}
}

func serviceRoutes() []Route {
	const text = "text/plain"
	return []Route{
		{Method: http.MethodGet, Path: "/health", Group: serves, Summary: "Whether the server serves", Doc: "200 with ok, or 503.", Out: text, handle: (*Server).health},
		{Method: http.MethodGet, Path: "/ping", Group: serves, Summary: "As /health, with an empty body", Out: text, handle: (*Server).ping},
		{Method: http.MethodPost, Path: "/ping", Group: serves, Summary: "As /health, with an empty body", Out: text, handle: (*Server).ping},
		{Method: http.MethodGet, Path: "/version", Group: serves, Summary: "The program's version", Out: "Version", handle: (*Server).version},
		{Method: http.MethodGet, Path: "/metrics", Group: serves, Summary: "Figures for Prometheus", Out: text, handle: (*Server).metricsPage},
		{Method: http.MethodGet, Path: "/load", Group: serves, Summary: "Requests that generate now", Scope: ScopeInfer, Out: "Load", handle: (*Server).load},
		{Method: http.MethodGet, Path: "/v1/load", Group: serves, Summary: "Requests that generate now", Scope: ScopeInfer, Out: "Load", handle: (*Server).load},
		{
			Method: http.MethodGet, Path: "/api/health", Group: serves, Summary: "State, warnings, models and queue, for people and pages",
			Scope: ScopeModelsRead, Also: ScopeMetrics, Out: "Health", handle: (*Server).apiHealth,
		},
		{Method: http.MethodGet, Path: "/api", Group: serves, Summary: "This reference as a page", Scope: scopeAny, Out: "text/html", handle: (*Server).reference},
		{Method: http.MethodGet, Path: "/api/openapi.json", Group: serves, Summary: "This reference as OpenAPI 3.1", Scope: scopeAny, Out: "Object", handle: (*Server).openAPI},
		{Method: http.MethodGet, Path: "/", Group: serves, Summary: "Address, endpoints and a line to try, as text", Out: text, handle: (*Server).page},
		{Method: http.MethodGet, Path: "/v1", Group: serves, Summary: "Address, endpoints and a line to try, as text", Out: text, handle: (*Server).page},
	}
}
