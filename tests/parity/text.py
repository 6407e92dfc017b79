# SPDX-License-Identifier: Apache-2.0
"""Twenty prompts of growing length, made from sentences written for this test."""

PARAGRAPHS = [
    "The harbour was quiet in the morning. Two boats came back with herring, and the gulls followed them to the pier.",
    "A list of what we need: flour, salt, yeast, two litres of milk, a dozen eggs and some butter. The shop closes at six.",
    "def area(width, height):\n    \"\"\"Return the area of a rectangle.\"\"\"\n    return width * height\n\nprint(area(3, 4))",
    "In 1952 the summer games were held in Helsinki. Athletes from sixty-nine countries took part, and the weather was cool.",
    "Question: If a train leaves at 9:40 and the trip takes 85 minutes, when does it arrive?\nAnswer: It arrives at 11:05.",
    "Water boils at a lower temperature in the mountains because the air pressure is lower there. Cooking takes longer.",
    "Dear neighbours, the stairs will be painted on Thursday. Please use the back door and keep the windows open. Thank you!",
    "{\"name\": \"Kaisa\", \"age\": 41, \"city\": \"Turku\", \"languages\": [\"Finnish\", \"Swedish\", \"English\"]}",
    "The old miller counted the sacks twice. There were forty in the evening and thirty-nine at dawn, and nobody had come.",
    "Light from the sun needs a little more than eight minutes to reach the earth. From the moon it takes about a second.",
    "Kalevala kertoo sammosta, joka jauhoi jauhoja, suolaa ja rahaa. Kukaan ei tiedä, miltä se näytti.",
    "To mend a puncture, take the wheel off, find the hole under water, dry the rubber, roughen it and press the patch on.",
]

WORDS = [4, 6, 10, 14, 20, 28, 36, 48, 60, 80, 100, 130, 160, 200, 250, 300, 380, 450, 520, 600]


def prompts():
    """Returns twenty texts; each starts at another paragraph."""
    out = []
    for i, count in enumerate(WORDS):
        rotated = PARAGRAPHS[i % len(PARAGRAPHS):] + PARAGRAPHS[:i % len(PARAGRAPHS)]
        words = "\n\n".join(rotated * 4).split(" ")
        out.append(" ".join(words[:count]))
    return out
