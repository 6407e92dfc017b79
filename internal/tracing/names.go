// SPDX-License-Identifier: Apache-2.0

package tracing

// The names of the semantic conventions, as far as they are used. Those of GenAI may still change; they stand here alone.
const (
	httpMethod     = "http.request.method"
	httpRoute      = "http.route"
	httpStatus     = "http.response.status_code"
	urlPath        = "url.path"
	urlScheme      = "url.scheme"
	serverAddress  = "server.address"
	serverPort     = "server.port"
	clientAddress  = "client.address"
	userAgent      = "user_agent.original"
	errorType      = "error.type"
	serviceName    = "service.name"
	serviceVersion = "service.version"

	operationName    = "gen_ai.operation.name"
	providerName     = "gen_ai.provider.name"
	conversationID   = "gen_ai.conversation.id"
	outputType       = "gen_ai.output.type"
	requestModel     = "gen_ai.request.model"
	requestMaxTokens = "gen_ai.request.max_tokens"
	requestChoices   = "gen_ai.request.choice.count"
	requestTemp      = "gen_ai.request.temperature"
	requestTopP      = "gen_ai.request.top_p"
	requestTopK      = "gen_ai.request.top_k"
	requestFrequency = "gen_ai.request.frequency_penalty"
	requestPresence  = "gen_ai.request.presence_penalty"
	requestSeed      = "gen_ai.request.seed"
	requestStops     = "gen_ai.request.stop_sequences"
	requestStream    = "gen_ai.request.stream"
	responseID       = "gen_ai.response.id"
	responseModel    = "gen_ai.response.model"
	finishReasons    = "gen_ai.response.finish_reasons"
	firstChunk       = "gen_ai.response.time_to_first_chunk" // seconds
	inputTokens      = "gen_ai.usage.input_tokens"
	cachedTokens     = "gen_ai.usage.cache_read.input_tokens"
	outputTokens     = "gen_ai.usage.output_tokens"
	reasoningTokens  = "gen_ai.usage.reasoning.output_tokens"

	requestID = "sampo.request.id"

	// Events of the INTERNAL span.
	eventDispatched = "dispatched" // the first step that works on the request
	eventFirstToken = "first_token"
)

// provider is what the conventions call whoever generates; they have no name for engines like this one.
const provider = "sampo"
