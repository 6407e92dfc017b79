# SPDX-License-Identifier: Apache-2.0
"""Turns tiny checkpoints of every family, as transformers saves them, into GGUF with "sampo quantize" and compares what
transformers, Sampo and llama.cpp say.

    python folders.py SAMPO LLAMA_SERVER TOKENIZERS OUT.md [NAME ...]

TOKENIZERS is internal/tokenizer/testdata. For each checkpoint: the IDs of a text that transformers' tokenizer, Sampo with the
folder, Sampo with the GGUF file and llama.cpp with the GGUF file give, and 24 greedy tokens after a prompt. The exit status is 1
if any differ, unless the difference is llama.cpp's own: see KNOWN.
"""

import base64
import copy
import gzip
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unicodedata
import urllib.error
import urllib.request

import torch
import transformers

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

N = 24
TEXT = "Hello, world! It's 1234 o'clock; they'll pay $5.00.\n\n  def f(x):\n\treturn x+1\n naïve café, привет мир, 你好，世界 🎉"
PROMPT = "The capital of France is Paris, and the capital of Finland is"
COMMON = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=96,
              max_position_embeddings=512)
ROPE = dict(rope_type="default", rope_theta=10000.0)
RMS = dict(rms_norm_eps=1e-6, head_dim=16)
WINDOWS = dict(sliding_window=8)

# name -> (tokenizer, class of the configuration, what differs from the above)
MODELS = {
    "llama2": ("llama2", "LlamaConfig", RMS | dict(tie_word_embeddings=False)),
    "llama3": ("llama3", "LlamaConfig", RMS | dict(tie_word_embeddings=True, rope_parameters=dict(
        rope_type="llama3", rope_theta=1000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=64))),
    "mistral": ("tekken", "MistralConfig", RMS | dict(sliding_window=None)),
    "mistral-window": ("llama2", "MistralConfig", RMS | WINDOWS),
    "ministral3": ("tekken", "Ministral3Config", RMS | dict(sliding_window=None, tie_word_embeddings=True, rope_parameters=dict(
        rope_type="yarn", rope_theta=10000.0, factor=16.0, original_max_position_embeddings=32, beta_fast=32.0, beta_slow=1.0, mscale=1.0,
        mscale_all_dim=1.0, llama_4_scaling_beta=0.1))),
    "qwen2": ("qwen2", "Qwen2Config", dict(rms_norm_eps=1e-6, tie_word_embeddings=False)),
    "qwen3": ("qwen2", "Qwen3Config", RMS | dict(tie_word_embeddings=True)),
    "gemma": ("gemma", "GemmaConfig", RMS | dict(hidden_act="gelu_pytorch_tanh")),
    "gemma2": ("gemma", "Gemma2Config", RMS | WINDOWS | dict(query_pre_attn_scalar=16)),
    "gemma3": ("gemma", "Gemma3TextConfig", RMS | WINDOWS | dict(num_hidden_layers=7, query_pre_attn_scalar=16, rope_parameters=dict(
        full_attention=dict(rope_type="linear", rope_theta=1000000.0, factor=8.0), sliding_attention=ROPE))),
    "smollm3": ("llama3", "SmolLM3Config", RMS | dict(num_hidden_layers=4, tie_word_embeddings=True)),
    "granite": ("gpt2", "GraniteConfig", dict(rms_norm_eps=1e-6, tie_word_embeddings=True, embedding_multiplier=1.5,
                                              residual_multiplier=0.7, attention_multiplier=0.2, logits_scaling=3.0)),
    "olmo2": ("llama3", "Olmo2Config", dict(rms_norm_eps=1e-6, tie_word_embeddings=False)),
    "olmo3": ("llama3", "Olmo3Config", dict(rms_norm_eps=1e-6, num_hidden_layers=4, tie_word_embeddings=False) | WINDOWS),
    "exaone4": ("gpt2", "Exaone4Config", RMS | dict(num_hidden_layers=4, tie_word_embeddings=True, sliding_window=None, layer_types=["full_attention"] * 4)),
    "ernie4.5": ("llama2", "Ernie4_5Config", RMS | dict(tie_word_embeddings=True)),
    "seed-oss": ("gpt4o", "SeedOssConfig", RMS | dict(tie_word_embeddings=False, attention_bias=True)),
    "phi2": ("gpt2", "PhiConfig", dict(num_key_value_heads=4, intermediate_size=256, layer_norm_eps=1e-5, tie_word_embeddings=False,
                                       rope_parameters=ROPE | dict(partial_rotary_factor=0.5))),
    "phi3": ("llama2", "Phi3Config", dict(rms_norm_eps=1e-6, tie_word_embeddings=False, sliding_window=None, original_max_position_embeddings=512)),
    "phi4-mini": ("gpt4o", "Phi3Config", dict(
        rms_norm_eps=1e-6, tie_word_embeddings=True, sliding_window=None, original_max_position_embeddings=256, rope_parameters=dict(
            rope_type="longrope", rope_theta=10000.0, partial_rotary_factor=0.75, short_factor=[1.0, 1.1, 1.2, 1.3, 1.4, 1.5],
            long_factor=[1.0, 1.5, 3.0, 3.5, 4.0, 5.0]))),
    "arcee": ("llama3", "ArceeConfig", RMS | dict(tie_word_embeddings=False)),
    "nemotron": ("llama2", "NemotronConfig", dict(norm_eps=1e-5, tie_word_embeddings=False, head_dim=16,
                                                  rope_parameters=ROPE | dict(partial_rotary_factor=0.5))),
    "starcoder2": ("smollm", "Starcoder2Config", dict(norm_epsilon=1e-5, use_bias=True, tie_word_embeddings=True, sliding_window=None)),
    "stablelm": ("qwen2", "StableLmConfig", dict(layer_norm_eps=1e-5, use_qkv_bias=True, tie_word_embeddings=False,
                                                 rope_parameters=ROPE | dict(partial_rotary_factor=0.25))),
    "stablelm-parallel": ("gpt2", "StableLmConfig", dict(layer_norm_eps=1e-5, use_parallel_residual=True, tie_word_embeddings=True,
                                                         rope_parameters=ROPE | dict(partial_rotary_factor=0.25))),
    "command-r": ("smollm", "CohereConfig", dict(layer_norm_eps=1e-5, logit_scale=0.3, use_qk_norm=False)),
    "cohere2": ("smollm", "Cohere2Config", dict(num_hidden_layers=4, layer_norm_eps=1e-5, logit_scale=0.3, rotary_pct=1.0) | WINDOWS),
    "hunyuan": ("deepseek3", "HunYuanDenseV1Config", RMS | dict(tie_word_embeddings=True, rope_parameters=dict(
        rope_type="dynamic", rope_theta=10000.0, alpha=50.0, factor=1.0))),
    "glm": ("llama3", "GlmConfig", RMS | dict(tie_word_embeddings=False, attention_bias=True, rope_parameters=ROPE | dict(partial_rotary_factor=0.5))),
    "glm4": ("llama3", "Glm4Config", RMS | dict(tie_word_embeddings=False, attention_bias=True, rope_parameters=ROPE | dict(partial_rotary_factor=0.5))),
    "unigram": ("t5", "LlamaConfig", RMS | dict(tie_word_embeddings=False)),
    "wordpiece": ("bert", "LlamaConfig", RMS | dict(tie_word_embeddings=False)),
    # Folders without a tokenizer.json.
    "tokenizer.model": ("spbpe.model", "LlamaConfig", RMS | dict(tie_word_embeddings=False)),
    "tokenizer.model, Unigram": ("spunigram.model", "LlamaConfig", RMS | dict(tie_word_embeddings=False)),
    "qwen.tiktoken": ("ranked.tiktoken", "Qwen2Config", dict(rms_norm_eps=1e-6, tie_word_embeddings=False)),
    "vocab.json": ("qwen2+Qwen2Tokenizer", "Qwen2Config", dict(rms_norm_eps=1e-6, tie_word_embeddings=False)),
    "vocab.txt": ("bert+BertTokenizer", "LlamaConfig", RMS | dict(tie_word_embeddings=False)),
}
# Qwen 1's pattern, as its model card has it.
PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
# What llama.cpp does otherwise than the reference, and why.
KNOWN = {
    "mistral-window": "llama.cpp has no windows for this architecture",
}


def save_tokenizer(vocabulary, folder, tokenizers):
    """Saves the files of a tokenizer; returns a function from a text to its IDs, and the number of tokens."""
    (folder / "tokenizer_config.json").write_text("{}")
    if vocabulary.endswith(".model"):
        import sentencepiece

        data = gzip.decompress((tokenizers / f"{vocabulary}.gz").read_bytes())
        (folder / "tokenizer.model").write_bytes(data)
        pieces = sentencepiece.SentencePieceProcessor(model_proto=data)
        unigram = vocabulary == "spunigram.model"  # T5's kind ends texts, Llama's begins them
        return lambda s: pieces.encode(s, add_bos=not unigram, add_eos=unigram), pieces.vocab_size()
    if vocabulary.endswith(".tiktoken"):
        import tiktoken

        data = gzip.decompress((tokenizers / f"{vocabulary}.gz").read_bytes())
        (folder / "qwen.tiktoken").write_bytes(data)
        (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "QWenTokenizer"}')
        ranks = {base64.b64decode(piece): int(rank) for piece, rank in (line.split() for line in data.splitlines())}
        encoding = tiktoken.Encoding("qwen", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
        return lambda s: encoding.encode_ordinary(unicodedata.normalize("NFC", s)), len(ranks) + 208
    vocabulary, _, older = vocabulary.partition("+")
    text = gzip.decompress((tokenizers / f"{vocabulary}.json.gz").read_bytes())
    # GGUF files cannot tell of tokens that must be whole words, or apart "▁" and "##▁▁".
    text = text.replace(b'"single_word":true', b'"single_word":false').replace('"##▁▁"'.encode(), '"##zq▁"'.encode())
    (folder / "tokenizer.json").write_bytes(text)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    size = max(tokenizer.get_vocab().values()) + 1
    if older:
        model = json.loads(text)["model"]
        (folder / "tokenizer.json").unlink()
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": older}))
        if "merges" in model:
            (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
            (folder / "merges.txt").write_text("".join((m if isinstance(m, str) else " ".join(m)) + "\n" for m in model["merges"]))
            (folder / "added_tokens.json").write_text(json.dumps({t["content"]: t["id"] for t in json.loads(text)["added_tokens"]}))
        else:
            (folder / "vocab.txt").write_text("\n".join(sorted(model["vocab"], key=model["vocab"].get)))
        tokenizer = getattr(transformers, older).from_pretrained(folder)
    return lambda s: tokenizer(s)["input_ids"], size


def make(name, folder, tokenizers):
    """Saves a checkpoint; gives its model, and a function from a text to its IDs."""
    vocabulary, kind, changes = MODELS[name]
    encode, size = save_tokenizer(vocabulary, folder, tokenizers)
    fields = dict(rope_parameters=ROPE, bos_token_id=1, eos_token_id=2, pad_token_id=0) | COMMON | changes | dict(vocab_size=size)
    config = getattr(transformers, kind)(**copy.deepcopy(fields))  # it changes what it gets
    config._attn_implementation = "eager"
    torch.manual_seed(sum(name.encode()))
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    for p_name, p in model.named_parameters():
        if p_name.endswith("bias"):
            p.data.normal_(0, 0.2)
        elif "norm" in p_name:
            p.data += torch.randn_like(p) * 0.2
        elif "embed_tokens" in p_name:
            p.data.normal_(0, 0.5)
        else:
            p.data.normal_(0, 1.2 / p.shape[1] ** 0.5)
    model.save_pretrained(folder)
    (folder / "generation_config.json").write_text("{}")
    return model, encode


def greedy(model, ids):
    """Returns the greedy tokens of the reference, and how much better each was than the next one."""
    ids, gaps = list(ids), []
    start = len(ids)
    with torch.no_grad():
        for _ in range(N):
            best = model(torch.tensor([ids]), use_cache=False).logits[0, -1].topk(2)
            ids.append(int(best.indices[0]))
            gaps.append(float(best.values[0] - best.values[1]))
    return ids[start:], gaps


class Server:
    """A server that runs within a with statement."""

    def __init__(self, command):
        self.command = command

    def __enter__(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*self.command, "--port", str(self.port)], stdout=self.log, stderr=self.log)
        for _ in range(600):
            try:
                if self.process.poll() is not None:
                    break
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5)
                return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.process.kill()
        self.process.wait()
        self.log.seek(0)
        raise RuntimeError(self.log.read().decode(errors="replace")[-3000:])

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def post(self, path, body):
        """Returns the answer to a JSON body."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)


def ask_sampo(sampo, path, ids):
    """Returns the IDs of TEXT and the greedy tokens."""
    with Server([sampo, "serve", str(path), "--threads", "1", "--log-level", "error", "--context", "256", "--model-id", "m"]) as s:
        text = s.post("/tokenize", {"model": "m", "prompt": TEXT, "add_special_tokens": True})["tokens"]
        out = s.post("/v1/completions", {"model": "m", "prompt": ids, "max_tokens": N, "temperature": 0, "ignore_eos": True, "return_token_ids": True})
        return text, out["choices"][0]["token_ids"], False


def ask_llama(server, path, ids):
    """Returns the same of llama.cpp."""
    with Server([server, "-m", str(path), "-t", "1", "-c", "256", "-ctk", "f32", "-ctv", "f32", "-fa", "off", "--no-warmup", "-np", "1"]) as s:
        text = s.post("/tokenize", {"content": TEXT, "add_special": True})["tokens"]
        out = s.post("/completion", {"prompt": ids, "n_predict": N, "temperature": 0, "return_tokens": True, "samplers": ["temperature"],
                                     "cache_prompt": False})
        return text, out["tokens"], out["stop_type"] == "eos"


def verdict(got, want, gaps=None, ended=False):
    """Says how many tokens are equal from the start on. Ended: an end of text stopped the program early."""
    if ended:
        want = want[: len(got)]
    same = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    if got == want:
        return "equal"
    return f"differs at {same} of {len(want)}" + (f", gap {gaps[same]:.2g}" if gaps and same < len(want) else "")


def compare(name, sampo, llama, tokenizers):
    """Returns the row of a checkpoint, and whether all is well."""
    with tempfile.TemporaryDirectory() as work:
        folder, file = pathlib.Path(work) / "tiny", pathlib.Path(work) / "model.gguf"  # llama.cpp looks at names
        folder.mkdir()
        model, encode = make(name, folder, tokenizers)
        ids, want_text = encode(PROMPT), encode(TEXT)
        want, gaps = greedy(model, ids)
        done = subprocess.run([sampo, "quantize", str(folder), str(file), "--type", "F32"], capture_output=True, text=True)
        if done.returncode:
            return [done.stderr.strip()], False
        cells = []
        for ask, program, path in ((ask_sampo, sampo, folder), (ask_sampo, sampo, file), (ask_llama, llama, file)):
            try:
                text, tokens, ended = ask(program, path, ids)
                cells += [verdict(text, want_text), verdict(tokens, want, gaps, ended)]
            except (RuntimeError, OSError, KeyError) as err:
                cells += [str(err)[-3000:].replace("\n", " "), ""]
        return cells, all(c == "equal" for c in cells) or name in KNOWN and cells[:4] == ["equal"] * 4


def main():
    sampo, llama, tokenizers, out = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    failed = 0
    with out.open("w") as f:
        print("| checkpoint | tokenizer | Sampo, folder: IDs, greedy | Sampo, GGUF | llama.cpp, GGUF |\n| --- | --- | --- | --- | --- |", file=f)
        for name in sys.argv[5:] or MODELS:
            cells, ok = compare(name, sampo, llama, tokenizers)
            failed += not ok
            pairs = [", ".join(cells[i : i + 2]) for i in range(0, len(cells), 2)]
            if name in KNOWN:
                pairs[-1] += f" ({KNOWN[name]})"
            print(f"| {name} | {MODELS[name][0]} | " + " | ".join(pairs) + " |", file=f, flush=True)
            print(name, "ok" if ok else "FAILED", cells, flush=True)
    sys.exit(failed > 0)


main()
