// SPDX-License-Identifier: Apache-2.0

// Package families is the table of model families that this build can run. To add one, write its package and name it here.
package families

import (
	"slices"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/arcee"
	"github.com/sampo-ai/sampo/internal/model/cohere"
	"github.com/sampo-ai/sampo/internal/model/ernie45"
	"github.com/sampo-ai/sampo/internal/model/exaone4"
	"github.com/sampo-ai/sampo/internal/model/gemma"
	"github.com/sampo-ai/sampo/internal/model/gemma2"
	"github.com/sampo-ai/sampo/internal/model/gemma3"
	"github.com/sampo-ai/sampo/internal/model/glm"
	"github.com/sampo-ai/sampo/internal/model/glm4"
	"github.com/sampo-ai/sampo/internal/model/granite"
	"github.com/sampo-ai/sampo/internal/model/hunyuan"
	"github.com/sampo-ai/sampo/internal/model/llama"
	"github.com/sampo-ai/sampo/internal/model/mistral3"
	"github.com/sampo-ai/sampo/internal/model/nemotron"
	"github.com/sampo-ai/sampo/internal/model/olmo2"
	"github.com/sampo-ai/sampo/internal/model/phi2"
	"github.com/sampo-ai/sampo/internal/model/phi3"
	"github.com/sampo-ai/sampo/internal/model/qwen2"
	"github.com/sampo-ai/sampo/internal/model/qwen3"
	"github.com/sampo-ai/sampo/internal/model/seedoss"
	"github.com/sampo-ai/sampo/internal/model/smollm3"
	"github.com/sampo-ai/sampo/internal/model/stablelm"
	"github.com/sampo-ai/sampo/internal/model/starcoder2"
)

// All lists the families.
func All() []*model.Family {
	return []*model.Family{
		llama.Family(),
		mistral3.Family(),
		qwen2.Family(),
		qwen3.Family(),
		gemma.Family(),
		gemma2.Family(),
		gemma3.Family(),
		smollm3.Family(),
		granite.Family(),
		olmo2.Family(),
		phi2.Family(),
		phi3.Family(),
		glm.Family(),
		glm4.Family(),
		exaone4.Family(),
		ernie45.Family(),
		seedoss.Family(),
		arcee.Family(),
		cohere.Family(),
		hunyuan.Family(),
		nemotron.Family(),
		stablelm.Family(),
		starcoder2.Family(),
	}
}

// ByGGUF finds the family of a value of general.architecture.
func ByGGUF(architecture string) (*model.Family, bool) {
	return find(func(f *model.Family) bool { return slices.Contains(f.GGUF, architecture) })
}

// ByHF finds the family of an entry of "architectures" in config.json.
func ByHF(architecture string) (*model.Family, bool) {
	return find(func(f *model.Family) bool { return slices.Contains(f.HF, architecture) })
}

func find(match func(*model.Family) bool) (*model.Family, bool) {
	for _, f := range All() {
		if match(f) {
			return f, true
		}
	}
	return nil, false
}
