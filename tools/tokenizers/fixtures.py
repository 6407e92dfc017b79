# SPDX-License-Identifier: Apache-2.0
"""Trains the small tokenizers in internal/tokenizer/testdata with the package tokenizers (PyPI), and notes the IDs that it gives.

    python3 tools/tokenizers/fixtures.py internal/tokenizer/testdata [NAME ...]

NAME.json is a tokenizer.json; NAME.ids.jsonl has the IDs of each text in texts.jsonl (base64), and what they decode to where that is not
the text. The tokenizers are of the kinds that models use, but learnt from the sentences of tests/tokenizers/corpus.py, so that they are
small and ours.
"""

import base64
import gzip
import io
import json
import pathlib
import sys
import tempfile

import sentencepiece as spm
from sentencepiece import sentencepiece_model_pb2

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests" / "tokenizers"))

from corpus import CODE, SENTENCES, texts  # noqa: E402
from tekken import alphabet, convert  # noqa: E402
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN35 = QWEN2.replace(r"\p{L}+", r"[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]+", r"[^\s\p{L}\p{M}\p{N}]+")
UPPER, LOWER, SUFFIX = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
NONE, SPACES = r"[^\r\n\p{L}\p{N}]?", r"|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT4O = f"{NONE}{UPPER}*{LOWER}+{SUFFIX}|{NONE}{UPPER}+{LOWER}*{SUFFIX}" + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + SPACES
TEKKEN = GPT4O.replace(SUFFIX, "").replace(r"\p{N}{1,3}", r"\p{N}")
KIMI = r"[\p{Han}]+|" + GPT4O.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]").replace("/]*", "]*")
DEEPSEEK = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^""" + "\r\n" + r"""\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[""" + "\r\n" + r"]*|\s*[" + "\r\n" + r"]+|\s+(?!\S)|\s+"
DEEPSEEK_LLM = [r"[\r\n]", r"\s?[A-Za-zäöåа-я]+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", r"[一-龥ࠀ-一가-퟿]+"]
TRAINING = [t.decode("utf-8", errors="replace") for t in texts(200_000, seed=1)] + SENTENCES * 3 + CODE * 3


def byte_level(pre, normalizer=None, size=1200, special=(), added=()):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre
    if normalizer:
        t.normalizer = normalizer
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(TRAINING, trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in special])
    t.add_tokens(list(added))
    return t


def splits(*patterns):
    stages = [pre_tokenizers.Split(Regex(p), "isolated") for p in patterns]
    return pre_tokenizers.Sequence([*stages, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def split(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def sentencepiece(normalizer, pre, decoder, runs_are_added=False, size=1500):
    """A BPE with byte fallback over text whose spaces are marks, as converted from SentencePiece: the score of a piece is minus its ID,
    and every way to make a piece of two is a merge, ordered by score, then by the length of the left and the right part."""
    learner = Tokenizer(models.BPE())
    learner.normalizer = normalizers.Replace(" ", "▁")
    learner.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    common = "".join(map(chr, range(0x20, 0x7F))) + "▁äöåéабвгдежз的了是"
    learner.train_from_iterator(SENTENCES + CODE, trainers.BpeTrainer(vocab_size=size, limit_alphabet=160, initial_alphabet=list(common), show_progress=False))
    trained = json.loads(learner.to_str())["model"]["vocab"]
    runs = ["▁" * n for n in range(2, 9)] + ["\n" * n for n in range(1, 5)]
    pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    pieces += [p for p in runs + sorted(trained, key=trained.get) + ["aa", "aaa", "==", "===", "=====", "aaaaa"] if p not in pieces]
    pieces = list(dict.fromkeys(pieces))
    vocab = {p: i for i, p in enumerate(pieces)}
    ranked = []
    for p in pieces[259:]:
        score = 0 if runs_are_added and p in runs else -vocab[p]
        ranked += [(-score, -n, n - len(p), p[:n], p[n:]) for n in range(1, len(p)) if p[:n] in vocab and p[n:] in vocab]
    merges = [m[3:] for m in sorted(ranked, key=lambda m: m[:3])]
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer, t.decoder = normalizer, decoder
    if pre:
        t.pre_tokenizer = pre
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in ("<unk>", "<s>", "</s>")])
    if runs_are_added:
        t.add_tokens([AddedToken(p, normalized=False) for p in runs])
    return t


def joined(strip=0):
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence(steps + ([decoders.Strip(" ", strip, 0)] if strip else []))


# A small character map, with rules of several characters, for clusters, and for single ones.
RULES = [("e\u0301", "é"), ("a\u0308", "ä"), ("o\u0328\u0304", "ō"), ("\u00a0", " "), ("\u3000", " "), ("\t", " "), ("\r\n", "\n"), ("\u200b", ""), ("ﬁ", "fi"),
         ("½", "1⁄2"), ("Ⅻ", "XII"), ("ſ", "s"), ("\u00ad", ""), ("\ufeff", ""), ("…", "..."), ("A\u030a", "Å"), ("ｶﾞ", "ガ"), ("©", "(c)"), ("क", "k")]  # fmt: skip


def rule_file(rules):
    f = tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8", delete=False)
    for old, new in rules:
        if old != new:
            f.write(" ".join(f"{ord(c):X}" for c in old) + "\t" + " ".join(f"{ord(c):X}" for c in new) + "\n")
    f.close()
    return f.name


def unigram(normalizer, pre, special, size=900, byte_fallback=False, **rules):
    """A Unigram trained by SentencePiece, whose character map the normalizer is made from, as T5's converted tokenizer has it."""
    model = io.BytesIO()
    lines = [s for t in SENTENCES + CODE for s in t.replace("\0", "").splitlines() if s]
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 4), model_writer=model, vocab_size=size, model_type="unigram", character_coverage=0.98, hard_vocab_limit=False,
        byte_fallback=byte_fallback, minloglevel=2, num_threads=1, **rules,
    )  # fmt: skip
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    pieces = [(p.piece, p.score) for p in proto.pieces if p.piece not in ("<s>", "</s>", "<unk>")]
    vocab = [(s, 0.0) for s in special] + pieces
    t = Tokenizer(models.Unigram(vocab, special.index("<unk>"), byte_fallback))
    t.normalizer = normalizer(normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap))
    if pre:
        t.pre_tokenizer = pre
    t.decoder = decoders.Metaspace()
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in special])
    return t


def bert(lowercase=True):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece(cleanup=lowercase)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.train_from_iterator(TRAINING, trainers.WordPieceTrainer(vocab_size=1100, limit_alphabet=350, special_tokens=special, show_progress=False))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t


def word_level():
    t = Tokenizer(models.WordLevel(unk_token="<unk>"))
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip(), normalizers.Replace(Regex(r"(?i)[xyz]+\b"), "q")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.CharDelimiterSplit("e")])
    t.train_from_iterator(TRAINING, trainers.WordLevelTrainer(vocab_size=600, special_tokens=["<unk>"], show_progress=False))
    return t


def behaviors():
    """Splits of every behaviour, with and without invert, over patterns that have no scanner."""
    def stage(pattern, behavior, invert=False):
        return pre_tokenizers.Split(Regex(pattern), behavior, invert)
    yield pre_tokenizers.Sequence([stage(r"[aeiou]{1,2}?", "merged_with_previous"), stage(r"(?:\d\d)+(?=\D)", "isolated"), pre_tokenizers.Digits(), pre_tokenizers.ByteLevel(use_regex=False)])
    yield pre_tokenizers.Sequence([stage(r"\s+", "merged_with_next"), stage(r"\p{Greek}+|[\p{Ll}&&[^a-m]]", "contiguous"), stage("(?i:[k-z]+)", "removed", True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    yield pre_tokenizers.Sequence([stage(r"\W", "merged_with_next", True), stage(r"(?>[^\s.]+)\.?+", "merged_with_previous", True), stage("e", "contiguous", True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def fixtures():
    yield "gpt2", lambda: byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), special=["<|endoftext|>"])
    digits = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    yield "smollm", lambda: byte_level(digits, special=["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    word = AddedToken("lock", single_word=True, normalized=False)
    llama3 = byte_level(split(LLAMA3), special=["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"], added=[word])
    llama3.model.ignore_merges = True
    llama3.post_processor = processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A $B", special_tokens=[("<|begin_of_text|>", llama3.token_to_id("<|begin_of_text|>"))])
    yield "llama3", lambda: llama3
    markers = [AddedToken(s, normalized=False, special=False) for s in ("<think>", "</think>", "<tool_call>", "</tool_call>")]
    yield "qwen2", lambda: byte_level(split(QWEN2), normalizers.NFC(), special=["<|endoftext|>", "<|im_start|>", "<|im_end|>"], added=markers)
    flags = [
        AddedToken("<lstrip>", lstrip=True, normalized=False), AddedToken("<rstrip>", rstrip=True, normalized=False),
        AddedToken("<both>", lstrip=True, rstrip=True, normalized=False), AddedToken("lock", single_word=True, normalized=False),
        AddedToken("quotes", normalized=True), AddedToken("e\u0301", normalized=True), AddedToken("<think", normalized=False), AddedToken("<thinker>", normalized=False),
    ]  # fmt: skip
    yield "flags", lambda: byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True), normalizers.NFC(), size=600, special=["<|endoftext|>"], added=flags)
    yield "llama2", lambda: sentencepiece(normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), None, joined(1))
    gemma = sentencepiece(normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous"), joined(), runs_are_added=True)
    yield "gemma", lambda: gemma
    yield "metaspace", lambda: sentencepiece(normalizers.Sequence([]), pre_tokenizers.Metaspace("▁", "first", True), decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]))
    yield "gpt4o", lambda: byte_level(split(GPT4O), special=["<|endoftext|>", "<|start|>"])
    yield "tekken", lambda: byte_level(split(TEKKEN), special=["<unk>", "<s>", "</s>", "[INST]"])
    yield "kimi", lambda: byte_level(split(KIMI), special=["[BOS]", "<|im_end|>"])
    yield "qwen35", lambda: byte_level(split(QWEN35), normalizers.NFC(), special=["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    yield "deepseek3", lambda: byte_level(splits(r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", DEEPSEEK), normalizers.Sequence([]), special=["<｜begin▁of▁sentence｜>"])
    yield "deepseek", lambda: byte_level(splits(*DEEPSEEK_LLM, r"\p{N}"), size=900)
    for i, pre in enumerate(behaviors()):
        yield f"splits{i + 1}", lambda pre=pre: byte_level(pre, size=700)
    yield "bert", bert
    yield "bertcased", lambda: bert(lowercase=False)
    yield "words", word_level
    t5 = lambda m: normalizers.Sequence([m, normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")])
    yield "t5", lambda: around(unigram(t5, pre_tokenizers.Metaspace("▁", "always"), ["<pad>", "</s>", "<unk>"]), "$A </s>", ["</s>"])
    spaces = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("▁", "always")])
    yield "xlmr", lambda: around(unigram(lambda m: m, spaces, ["<s>", "<pad>", "</s>", "<unk>"], normalization_rule_tsv=rule_file(RULES)), "<s> $A </s>", ["<s>", "</s>"])
    first = lambda m: normalizers.Sequence([normalizers.Replace(" ", "▁"), m])
    yield "unibytes", lambda: unigram(first, pre_tokenizers.Metaspace("▁", "first", split=False), ["<unk>"], 1100, True, normalization_rule_tsv=rule_file(RULES))


def tekken():
    """A file of the kind of Mistral's tekken.json, with more pieces than its size lets in."""
    vocab = json.loads(byte_level(split(TEKKEN), size=1300).to_str())["model"]["vocab"]
    byte = {c: b for b, c in alphabet().items()}
    pieces = [bytes([b]) for b in range(256)] + [bytes(map(byte.get, p)) for p in sorted(vocab, key=vocab.get) if len(p) > 1]
    return {
        "config": {"pattern": TEKKEN, "num_vocab_tokens": len(pieces), "default_vocab_size": 1200, "default_num_special_tokens": 30, "version": "v11"},
        "vocab": [{"rank": i, "token_bytes": base64.b64encode(p).decode(), "token_str": None} for i, p in enumerate(pieces)],
        "special_tokens": [{"rank": i, "token_str": s, "is_control": True} for i, s in enumerate(["<unk>", "<s>", "</s>", "[INST]", "[/INST]"])],
        "version": 1,
    }


def around(t, single, special):
    t.post_processor = processors.TemplateProcessing(single=single, special_tokens=[(s, t.token_to_id(s)) for s in special])
    return t


NASTY = [b"", b" ", b"  ", b"a", b"\n", "▁".encode(), b" a", b"a ", b"\xff", b"\xf0\x9f\x98", "😀".encode(), b"<lstrip>", b"a  <lstrip>  b <rstrip>  c  <both>  d  <both><lstrip>",
         b"lock o'clock lock. unlock _lock lock_ -lock-", b"<thinker><think><thinke> <think>x</think>", "quotes cafe\u0301 caf\u00e9 e\u0301\u0323".encode(),
         b"<|im_start|>user\nhi<|im_end|>\n", b"<s>a</s> b<s> c", b"<unk>a", b"a" * 500, b"=" * 333, b"xaaaay aaaaaaa ======= ====", b" " * 100 + b"x", b"\n" * 9 + b" \n", b"1234567890" * 7, ("a" + "\u0301\u0323" * 40).encode(), "\u1100\u1161\u11a8 \u212b \u0958".encode()]  # fmt: skip


def write(path, lines):
    with gzip.GzipFile(path, "wb", mtime=0) as f:
        f.writelines(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines)


def case(t, text):
    s = text.decode("utf-8", errors="replace")
    ids = t.encode(s, add_special_tokens=False).ids
    out = {"ids": ids, "around": t.encode(s).ids[:2]}
    for key, skip in (("decoded", False), ("skipped", True)):
        if (decoded := t.decode(ids, skip_special_tokens=skip)) != s:
            out[key] = decoded
    return out


def main():
    folder = pathlib.Path(sys.argv[1])
    corpus = NASTY + [s.encode() for s in SENTENCES + CODE] + list(texts(30_000, seed=2))
    write(folder / "texts.jsonl.gz", (base64.b64encode(text).decode() for text in corpus))
    if not sys.argv[2:] or "ranked" in sys.argv[2:]:
        file = tekken()
        write(folder / "ranked.tekken.json.gz", [file])
        t = around(Tokenizer.from_str(json.dumps(convert(file))), "<s> $A", ["<s>"])
        write(folder / "ranked.ids.jsonl.gz", (case(t, text) for text in corpus))
    for name, make in fixtures():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        t = make()
        write(folder / f"{name}.json.gz", [json.loads(t.to_str())])
        write(folder / f"{name}.ids.jsonl.gz", (case(t, text) for text in corpus))


main()
