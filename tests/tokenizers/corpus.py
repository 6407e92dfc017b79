# SPDX-License-Identifier: Apache-2.0
"""Generates text that is hard on tokenizers: many scripts, code, odd spaces, broken bytes. The same seed gives the same text."""

import random

SENTENCES = [
    "The mill ground flour on one side, salt on the second and gold on the third; nobody's ever seen it since, they've said.",
    "I'd say we'll need 12,345.67 units by 2031-04-05T06:07:08Z, but you're free to disagree (don't).",
    "IT'S NOT WHAT YOU'VE BEEN TOLD, SHE'D SHOUTED; HE'LL KNOW. I'M SURE THEY'RE FINE.",
    "Vanha Väinämöinen otti airon käteensä ja souti hämärtyvälle järvelle, vaikka öljylamppu sammui jo aamuyöllä.",
    "Käyttöjärjestelmäriippumattomuus, epäjärjestelmällisyys ja kolmivaihekilowattituntimittari ovat pitkiä sanoja.",
    "Ääkkösiä: åäö ÅÄÖ – ja ajatusviivoja — sekä ”lainausmerkkejä”, ’puolilainauksia’ ja ellipsi…",
    "今天天气很好，我们去公园散步吧。小猫在窗台上睡觉，窗外下着小雨。",
    "機械學習模型把文字切成許多小塊，每一塊都有自己的編號。",
    "明日の朝、駅で会いましょう。カタカナとひらがなと漢字がまざった文です。ｶﾀｶﾅ半角も。",
    "우리는 내일 아침 일찍 산에 올라가서 해돋이를 볼 거예요. 한글 텍스트입니다.",
    "ذهب الولد إلى السوق ليشتري خبزًا طازجًا، ثم عاد إلى البيت قبل غروب الشمس.",
    "مُحَمَّد يَقْرَأُ كِتَابًا جَدِيدًا كُلَّ أُسْبُوعٍ؛ والأرقام ٠١٢٣٤٥٦٧٨٩ و۰۱۲۳۴۵۶۷۸۹.",
    "नदी के किनारे एक छोटा सा गाँव था, जहाँ बच्चे रोज़ शाम को खेलते थे। संख्याएँ १२३४५६।",
    "क्षत्रिय, ज्ञान, श्रृंगार और विद्यार्थी संयुक्ताक्षरों के उदाहरण हैं।",
    "வணக்கம், இது ஒரு சிறிய வாக்கியம். ఇది తెలుగు వాక్యం. นี่คือประโยคภาษาไทยที่ไม่มีช่องว่าง",
    "Быстрая лиса перепрыгнула через ленивую собаку, а потом убежала в лес. Ёжик ждал её.",
    "Η γρήγορη αλεπού πήδηξε πάνω από το τεμπέλικο σκυλί· ΆΈΉΊΌΎΏ ϊϋΐΰ.",
    "השועל המהיר קפץ מעל הכלב העצלן, וְאָז הָלַךְ לִישֹׁן.",
    "Trời hôm nay đẹp quá, chúng ta đi dạo nhé; tiếng Việt có nhiều dấu thanh.",
    "Family 👨‍👩‍👧‍👦, flags 🇫🇮🇪🇺, skin 👍🏽👩🏿‍🚀, keycap 1️⃣ #️⃣, heart ❤️ and ❤︎, 🏴‍☠️ 🏳️‍🌈.",
    "Combining: e\u0301 a\u0308 o\u0328\u0304 n\u0303 Z\u0351\u036b\u0343a\u0321\u031ah\u0315\u0358 \u1100\u1161\u11a8 \u0041\u030a \u212b \u2126 \ufb01 \u0958 \u0344.",
    "Maths: ∑_{i=1}^{n} x_i² ≤ √(π·r²) ⇒ ∀ε>0 ∃δ, ℝ⊂ℂ, ½ + ¾ = 1¼, x₁₂, Ⅻ, ①②③, ㊿, 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟘𝟙𝟚.",
    "Roman numerals ⅷ and ⅿ, Ethiopic ፩፪፫, Khmer ០១២, Bengali ১২৩, fractions ⅓⅔, superscripts ¹²³ and 10⁻⁹.",
    "Odd spaces: a\u00a0b\u2003c\u2009d\u200be\u2060f\ufeffg\u3000h\u1680i\u2028j\u2029k\u0085l\u180em\u202fn.",
    "Controls: \x00\x01\x02\x07\x08\x0b\x0c\x0e\x1b[31mred\x1b[0m\x7f\x80\x9f and soft\u00adhyphen, \u202eoverride\u202c, \ufffd, \ufffe, \uffff.",
    "Private \ue000\uf8ff\U000f0000 and unassigned \u0378\u05ff\u2fe0\U0001fbff\U000e01ef\U0010ffff code points; tags \U000e0041\U000e007f.",
    "Quotes 'ſ 'S 's' 'T 'll 'LL 'lL 've 'VE 're 'RE 'd 'M ''s '''re 'tis o'clock rock'n'roll ʼs ’s.",
    "<think>no</think> <|im_start|>user\n<|im_end|> </s><s> <bos><eos> [INST] <0x0A> <unk> <pad> ▁under▁score ▁▁▁ ▁",
    "<|begin_of_text|><|eot_id|><start_of_turn>model\n<end_of_turn><table><td> </td></table> <|endoftext|> <unused12> <tool_call>",
    "https://example.org/a/b?c=d&e=%20f#g user@example.org C:\\Users\\x\\y.txt ~/.config/foo-bar_baz.json v1.2.3-rc.4+build5",
    "AAAAaaaaBBBBbbbb====----____####****!!!!????....,,,,;;;;::::((((]]]]{{{{<<<<>>>>~~~~````^^^^||||\\\\\\\\////",
    "camelCaseWordsAndHTTPServerXMLParser, snake_case_words, SCREAMING_CASE, kebab-case, iPhone15ProMax, x86_64, utf8mb4",
    "base64 U2FtcG8gaXMgYSBtaWxsIHRoYXQgZ3JpbmRzIGJ5IGl0c2VsZg== hex deadBEEF0123 uuid 3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b",
]  # fmt: skip

CODE = [
    'def fib(n: int) -> int:\n    """Slow."""\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\n\n\n',
    'func (s *Server) serve(ctx context.Context) error {\n\tfor i := 0; i < 10; i++ {\n\t\tif err := s.step(ctx, i); err != nil {\n\t\t\treturn fmt.Errorf("step %d: %w", i, err)\n\t\t}\n\t}\n\treturn nil\n}\n',
    "#include <stdio.h>\r\nint main(void) {\r\n  /* CRLF */\r\n  printf(\"%d\\n\", 0x7fff'ffff);\r\n  return 0;\r\n}\r\n",
    "SELECT a.id, COUNT(*) AS n\n  FROM   things   AS a\n WHERE a.x >= 3.14e-10 AND b IS NOT NULL;\n-- done\n\n\n\n",
    '{"k": [1, 2.5e+3, null, true, "\\u00e4\\n"], "nested": {"deep": {"er": []}}}\n',
    "<ul>\n  <li class='a'>x &amp; y</li>\n\t<li>\t\ttabs\t</li>\n</ul>\n<!-- c -->\n",
    "| a | b |\n|---|:-:|\n| 1 | **2** |\n\n* item\n    * deeper\n\n```sh\n$ ls -la | grep -v '^d' && echo \"$HOME\"\n```\n",
    "for(let i=0;i<n;++i){x[i]=`${y}px`;if(!x[i])continue;}//eslint-disable-line\n",
]  # fmt: skip

SPACES = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n", "\n ", "\t \t", " \r\n ", "\u00a0", "\u3000", "\r", "\n\r", " " * 7, "\n" * 5, "\t" * 4]


def random_runes(r):
    pools = [(0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x400, 0x500), (0x590, 0x700), (0x900, 0xE00), (0x1100, 0x1200),
             (0x1E00, 0x2100), (0x2150, 0x2C00), (0x3000, 0x3100), (0x4E00, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7A4),
             (0xF900, 0xFFFF), (0x10000, 0x12000), (0x16000, 0x17000), (0x1D000, 0x1DA00), (0x1E000, 0x1FB00), (0x20000, 0x32000), (0, 0xD800), (0xE000, 0x110000)]  # fmt: skip
    lo, hi = r.choice(pools)
    return "".join(chr(r.randrange(lo, hi)) for _ in range(r.randrange(1, 40)))


def runs(r):
    c = r.choice(" \n\t0aA=-_#*.!▁é中e\u0301👍")
    return c * r.choice([1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 64, 100, 300])


def digits(r):
    return "".join(r.choice("0123456789") for _ in range(r.randrange(1, 30)))


def shuffled(r):
    words = r.choice(SENTENCES).split(" ")
    r.shuffle(words)
    return "".join(w + r.choice(SPACES[:8] if r.random() < 0.3 else [" "]) for w in words)


def chopped(r):
    s = r.choice(SENTENCES)
    a = r.randrange(len(s))
    return s[a : a + r.randrange(1, 30)]


def texts(size, seed=7):
    """Yields bytes, some of them not UTF-8, of about size bytes in all."""
    r = random.Random(seed)
    kinds = [lambda r: r.choice(SENTENCES), lambda r: r.choice(CODE), random_runes, runs, digits, shuffled, chopped, lambda r: r.choice(SPACES)]
    weights = [8, 6, 3, 1, 1, 8, 6, 5]
    while size > 0:
        parts = []
        for _ in range(r.choice([1, 1, 2, 5, 20, 80])):
            parts.append(r.choices(kinds, weights)[0](r))
            if r.random() < 0.6:
                parts.append(r.choice(SPACES))
        data = "".join(parts).encode("utf-8")
        if r.random() < 0.15:
            broken = bytearray(data)
            for _ in range(r.randrange(1, 6)):
                at = r.randrange(len(broken) + 1)
                broken[at:at] = r.choice([b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x80\x80", b"\xe0\x80"])
            data = bytes(broken)
        size -= len(data)
        yield data
