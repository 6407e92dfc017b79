# SPDX-License-Identifier: Apache-2.0
"""Compares Sampo's token IDs for a tekken.json with those of Mistral's own package mistral-common (PyPI), on the text of compare.py, as data.

    python3 mistral.py IDSOF tekken-NAME.json
"""

import base64
import json
import subprocess
import sys

from corpus import texts
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

corpus = list(texts(2_500_000))
strings = [t.decode("utf-8", errors="replace") for t in corpus]
reference = Tekkenizer.from_file(sys.argv[2])
want = [reference.encode(s, bos=False, eos=False) for s in strings]
coded = b"\n".join(base64.b64encode(t) for t in corpus) + b"\n"
got = [json.loads(l) for l in subprocess.run([sys.argv[1], sys.argv[2]], input=coded, stdout=subprocess.PIPE, check=True).stdout.splitlines()]
different = [(s, w, g) for s, w, g in zip(strings, want, got, strict=True) if w != g]
for s, w, g in different[:3]:
    at = next(i for i, (a, b) in enumerate(zip(w, g)) if a != b)
    print("  want", [reference.id_to_piece(i) for i in w[at - 2 : at + 5]], "got", [reference.id_to_piece(i) for i in g[at - 2 : at + 5]])
print(f"mistral-common: {len(corpus)} texts, {sum(map(len, want))} tokens: {len(different)} texts encoded otherwise")
sys.exit(1 if different else 0)
