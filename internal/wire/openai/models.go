// SPDX-License-Identifier: Apache-2.0

package openai

// A ModelEntry describes a served model.
type ModelEntry struct {
	ID          string
	Created     int64 // unix seconds
	OwnedBy     string
	MaxModelLen int
	Sampo       ModelFacts
}

// ModelFacts is what we tell of a model beyond OpenAI's fields.
type ModelFacts struct {
	Kind     string `json:"kind"` // chat, completion, ...
	Tools    bool   `json:"tools"`
	Resident bool   `json:"resident"`
	Tier     string `json:"tier"`
}

type modelBody struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	Created     int64             `json:"created"`
	OwnedBy     string            `json:"owned_by"`
	Root        string            `json:"root"`
	Parent      *string           `json:"parent"`
	MaxModelLen int               `json:"max_model_len"`
	Sampo       ModelFacts        `json:"sampo"`
	Permission  []modelPermission `json:"permission"`
}

type modelPermission struct {
	ID                 string  `json:"id"`
	Object             string  `json:"object"`
	Created            int64   `json:"created"`
	AllowCreateEngine  bool    `json:"allow_create_engine"`
	AllowSampling      bool    `json:"allow_sampling"`
	AllowLogprobs      bool    `json:"allow_logprobs"`
	AllowSearchIndices bool    `json:"allow_search_indices"`
	AllowView          bool    `json:"allow_view"`
	AllowFineTuning    bool    `json:"allow_fine_tuning"`
	Organization       string  `json:"organization"`
	Group              *string `json:"group"`
	IsBlocking         bool    `json:"is_blocking"`
}

func (e ModelEntry) body() modelBody {
	return modelBody{
		ID: e.ID, Object: "model", Created: e.Created, OwnedBy: e.OwnedBy, Root: e.ID, MaxModelLen: e.MaxModelLen, Sampo: e.Sampo,
		Permission: []modelPermission{{
			ID: "modelperm-" + e.ID, Object: "model_permission", Created: e.Created,
			AllowSampling: true, AllowLogprobs: true, AllowView: true, Organization: "*",
		}},
	}
}

type modelListBody struct {
	Object string      `json:"object"`
	Data   []modelBody `json:"data"`
}

// Body returns the answer to GET /v1/models/{id}.
func (e ModelEntry) Body() []byte { return encode(e.body()) }

// ModelList returns the answer to GET /v1/models.
func ModelList(entries []ModelEntry) []byte {
	list := modelListBody{Object: "list", Data: []modelBody{}}
	for _, e := range entries {
		list.Data = append(list.Data, e.body())
	}
	return encode(list)
}
