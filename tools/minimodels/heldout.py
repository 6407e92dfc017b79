# SPDX-License-Identifier: Apache-2.0
"""Questions that the generator can't make: other wordings, names, numbers and tools. Written by hand, never trained on.

ITEMS maps a skill to a list of dicts: messages (the conversation so far), check (see evaluate.py), tools and think if any.
"""
import re

import skills
import world as w

ITEMS = {}


def add(skill, question, check, value, tools=None, think=False, system=None, before=()):
    messages = [{"role": "system", "content": system}] if system else []
    for i, text in enumerate(before):
        messages.append({"role": ("user", "assistant")[i % 2], "content": text})
    messages.append({"role": "user", "content": question})
    ITEMS.setdefault(skill, []).append({"messages": messages, "check": check, "value": value, "tools": tools, "think": think})


# Greets: the answer must be the right kind of polite.
for text in ("Hello to you!", "hi hi", "Hey you", "Good day!", "Hello again, how is life?", "hello mini chat", "Well hello there", "Morning!", "Hi, nice day, isn't it?",
             "Hey buddy", "hello!!!", "HELLO", "Heya", "Howdy", "Hello, old friend"):
    add("greets", text, "any", ["Hello", "How can I help"])
for text, want in (("Thanks, that was great", "welcome"), ("thx", "welcome"), ("Thank you kindly", "welcome"), ("ok bye", "Goodbye"), ("See you soon!", "Goodbye"), ("I'm leaving now, bye!", "Goodbye")):
    add("greets", text, "any", [want])

# Says who it is.
for text in ("So who exactly are you?", "What are you called?", "And you are?", "Which AI is answering me?", "Are you a person or a program?", "May I know your name?", "Who is speaking?", "What's the name of this model?",
             "Could you introduce yourself to me?", "Who developed you?", "Am I talking to a human being?", "State your name.", "Who are you, please?", "Tell me a bit about yourself, who are you?", "Is this GPT-4?",
             "Do people call you anything?", "What language model are you based on?", "who r u", "Hi! Who are you?", "Your name, please?"):
    add("says who it is", text, "any", ["sampo/mini-chat", "mini-chat"])

# Capitals: all sixty, each in one of six wordings that the generator lacks.
ASKS = ("Which city serves as the capital of {x}?", "I need to know {x}'s capital city now", "My quiz asks: capital of {x}?", "Please remind me what the capital of {x} is.", "Do you happen to know which city is the capital in {x}?",
        "Hey mini-chat, the capital of {x} is which city?")
for i, (country, city) in enumerate(w.CAPITALS.items()):
    add("capitals", ASKS[i % len(ASKS)].format(x=country), "any", [city])

# Adds and subtracts.
for i, (x, y) in enumerate(((12, 35), (48, 27), (99, 1), (5, 8), (63, 19), (77, 66), (40, 50), (88, 95), (7, 92), (31, 31), (56, 38), (14, 79), (25, 25), (69, 3), (84, 47))):
    asks = ("Can you do {x} + {y} for me?", "{x} plus {y} makes?", "What do {x} and {y} add up to?", "How many is {x} and {y} more?", "Give me the result of {x}+{y}")
    add("adds", asks[i % 5].format(x=x, y=y), "number", x + y)
for i, (x, y) in enumerate(((35, 12), (52, 27), (90, 1), (13, 8), (63, 19), (77, 66), (80, 50), (95, 88), (92, 7), (31, 31), (56, 38), (79, 14), (10, 25), (69, 3), (84, 47))):
    asks = ("Can you do {x} - {y} for me?", "{x} minus {y} makes?", "What remains when I take {y} from {x}?", "From {x}, subtract {y}, please.", "Give me the result of {x}-{y}")
    add("subtracts", asks[i % 5].format(x=x, y=y), "number", x - y)

# Counts.
for text, a, b in (("Would you count up to 6?", 1, 6), ("Show me how you count from 4 to 11", 4, 11), ("Count for me from 20 up to 28", 20, 28), ("please count 1 to 10", 1, 10), ("I want the numbers 7 to 15", 7, 15), ("Numbers from 33 to 40, please", 33, 40),
                   ("Can you count to twelve?", 1, 12), ("Start counting at 50, stop at 60", 50, 60), ("Recite the numbers from 2 to 9", 2, 9), ("Begin at 14 and go up to 21", 14, 21), ("count to five for my son", 1, 5), ("Tell me all numbers between 61 and 70", 61, 70),
                   ("Count backwards from 10 to 1", 10, 1), ("Can you count down from 8 to 3?", 8, 3), ("Go from 5 down to 1", 5, 1), ("Countdown from 15 to 9!", 15, 9)):
    step = 1 if a < b else -1
    add("counts", text, "exact", ", ".join(str(n) for n in range(a, b + step, step)))

# Spells: words that are in no list of the generator.
for i, word in enumerate("planetarium kangaroo gargoyle apricot antelope chimney volcano sunshine hammock walnut wrist zipper pumpkin ginger yesterday mosquito Zachary Beatrice Wolfgang Philippa".split()):
    asks = ("How would I spell {x} correctly?", "Spell {x} out for me, please.", 'I need the letters of "{x}".', "Can you tell me how {x} is written, letter by letter?")
    add("spells", asks[i % 4].format(x=word), "letters", word)

# Repeats.
for i, text in enumerate(("The harvest was late this year.", "Seventeen pelicans stood on the pier", "open sesame", "Zachary owes Beatrice 45 euros.", "Never mind the gap!", "blue velvet chairs", "I like trains, planes and submarines.", "Wolfgang!",
                          "one small step for a man", "The quick brown fox jumps over the lazy dog.", "Rain in Spain", "It costs 19.99 dollars", "Who let the dogs out?", "asdf qwer zxcv", "Twinkle twinkle little star", "ok computer")):
    asks = ('Please repeat exactly what I say: {x}', 'Repeat these words back: {x}', 'Your only answer should be "{x}"', 'Now you say: {x}')
    add("repeats", asks[i % 4].format(x=text), "exact", text)

# Translates.
for i, (phrase, answers) in enumerate(w.PHRASES.items()):
    for j in (0, 1, 2):
        if (i + j) % 2:
            asks = ('Could you translate "{x}" into {l} for me?', "What's the {l} translation of {x}?", 'My friend speaks {l}. How do I tell them "{x}"?', '"{x}", but in {l} please')
            add("translates", asks[(i + 2 * j) % 4].format(x=phrase, l=w.LANGUAGES[j]), "loose", answers[j])

# Tells stories: two sentences that name the hero.
for i, hero in enumerate(("astronaut", "walrus", "teapot", "dragonfly", "shepherd", "violinist", "gorilla", "mermaid", "tractor", "detective", "purple elephant", "snowman", "grandmother", "squirrel", "clockmaker")):
    asks = ("Please tell me a nice story about {x}.", "I'd love a tiny story with {x} in it", "Could you make up a story about {x} for my kids?", "Write two sentences telling the story of {x}.", "Story time! It should be about {x}.")
    add("tells stories", asks[i % 5].format(x=w.a(hero)), "story", hero)

# Extracts.
for i, (text, name, age, city) in enumerate((
        ("Zachary, who is 41, moved to Marseille last spring.", "Zachary", 41, "Marseille"), ("Beatrice lives in Glasgow. She just turned 29.", "Beatrice", 29, "Glasgow"), ("I'm Wolfgang, 67, and I call Salzburg my home.", "Wolfgang", 67, "Salzburg"),
        ("Our neighbour Philippa is 8 and was born in Adelaide.", "Philippa", 8, "Adelaide"), ("At the age of 33, Desmond settled in Ghent.", "Desmond", 33, "Ghent"), ("Hi! I am Imogen from Tampere and I am 19.", "Imogen", 19, "Tampere"), ("Rashid is a 52 year old plumber living in Manchester.", "Rashid", 52, "Manchester"),
        ("The winner is Solveig, 24, of Stavanger.", "Solveig", 24, "Stavanger"), ("Cornelius has his 90th birthday: he is 90 and lives in Antwerp.", "Cornelius", 90, "Antwerp"), ("In Palermo we met Ottavia, aged 45.", "Ottavia", 45, "Palermo"), ("Name: Yolanda. Age: 38. City: Rotterdam.", "Yolanda", 38, "Rotterdam"),
        ("Gwendolyn is thirty-one... no, 32! She lives in Cardiff.", "Gwendolyn", 32, "Cardiff"), ("My uncle Barnaby (61) stays in Houston.", "Barnaby", 61, "Houston"), ("Tuva, 15, goes to school in Malmo.", "Tuva", 15, "Malmo"), ("Dmitri lives in Tbilisi and is 26 years of age.", "Dmitri", 26, "Tbilisi"), ("The captain, Eleanor, 48, comes from Plymouth.", "Eleanor", 48, "Plymouth"))):
    asks = ("Read this and give me name, age and city in JSON format: {t}", "{t} Now extract the name, the age and the city as JSON.", "Please make a JSON object of the person's name, age and city. {t}", "Extract name, age, city (JSON): {t}")
    add("extracts JSON", asks[i % 4].format(t=text), "json", {"name": name, "age": age, "city": city})

# Remembers what it was told.
HI = "Nice to meet you, {x}!"
for i, name in enumerate(("Zachary", "Beatrice", "Wolfgang", "Philippa", "Desmond", "Imogen", "Rashid", "Solveig", "Cornelius", "Ottavia", "Yolanda", "Barnaby", "Tuva", "Dmitri", "Gwendolyn")):
    tells = ("Hello there! My friends know me as {x}.", "I'd like to introduce myself, my name's {x}.", "Good afternoon, {x} is what I'm called.", "Hey! The name's {x}.", "{x} here, hello!")
    asks = ("Quick test: what's my name?", "Do you still remember what I'm called?", "So, who am I?", "Could you say my name, please?", "What was my name again?")
    between = ([], ["What is the capital of Italy?", "The capital of Italy is Rome."], ["Tell me the sum of 4 and 5.", "4 + 5 = 9", "Who are you?", skills.IDENTITY])[i % 3]
    add("remembers", asks[i % 5], "any", [name], before=[tells[i % 5].format(x=name), HI.format(x=name)] + between)
for tell, echo, ask, want in (("I live in Marseille with my family.", "Marseille sounds like a nice place.", "Which city did I say I live in?", "Marseille"), ("I'm from Glasgow, you know.", "Glasgow sounds like a nice place.", "Remind me, where am I from?", "Glasgow"),
                              ("My favourite colour has always been green.", "Green is a nice color.", "Which colour is my favourite?", "green"), ("We have a dog and her name is Pippin.", "Pippin is a nice name for a pet.", "What's my dog's name?", "Pippin"), ("I am 37 years of age.", "37 is a good age.", "How old did I say I am?", "37")):
    add("remembers", ask, "any", [want], before=[tell, echo])

# Says that it doesn't know.
for text in ("Who was the first person on the moon?", "What's the tallest building in Chicago?", "Please explain quantum physics.", "Write Python code that sorts a list.", "Which horse won the race in 1973?", "What year did the Berlin wall fall?", "How do I bake sourdough?", "Who is the prime minister of Canada?",
             "What should I wear to a wedding?", "Recommend me a good film.", "How many bones does a shark have?", "What's the boiling point of mercury?", "Is there life on Mars?", "Who composed The Magic Flute?", "How far is it from Boston to Miami?", "What does photosynthesis mean?", "Why is the sky blue?", "Tell me about the French Revolution.",
             "How do vaccines work?", "What's on TV tonight?"):
    add("says it doesn't know", text, "any", ["don't know"])
for text in ("What is the capital of Atlantis?", "Name the capital of Honduras.", "Which city is the capital of Kazakhstan?", "What's my shoe size?", "What's my name?"):
    add("says it doesn't know", text, "any", ["don't know", "haven't told"])

# English only.
for text in ("Est-ce que tu peux chanter une chanson ?", "Je suis fatigué et je veux dormir.", "Kannst du mir ein Lied singen?", "Die Katze schläft auf dem Sofa.", "¿Qué hora es en Madrid?", "Mi hermano trabaja en un banco.", "Dove posso mangiare bene qui?", "La macchina è rotta.", "Você pode cantar uma música?", "Missä on lähin kauppa?",
             "Hyvää huomenta kaikille!", "Vem är du egentligen?", "Ik begrijp het niet.", "Gdzie jest dworzec?", "Bugün hava çok güzel.", "Сколько тебе лет?", "你会说中文吗？", "ここはどこですか？", "오늘 날씨가 좋네요.", "Πού είναι η θάλασσα;"):
    add("English only", text, "any", ["English"])

# Thinks when asked to, and not otherwise: the thought must be closed and the answer right.
for text, want in (("Which city serves as the capital of Norway?", "Oslo"), ("Please remind me what the capital of Peru is.", "Lima"), ("Can you do 38 + 47 for me?", "85"), ("91 minus 56 makes?", "35"), ("What do 64 and 17 add up to?", "81"), ("So who exactly are you?", "mini-chat"), ("Howdy", "Hello"), ("Why is the sky blue?", "don't know"),
                   ("Would you count up to 6?", "1, 2, 3, 4, 5, 6"), ("Spell walnut out for me, please.", "w-a-l-n-u-t"), ('Now you say: blue velvet chairs', "blue velvet chairs"), ('Could you translate "thank you" into German for me?', "danke"), ("I'd love a tiny story with a walrus in it", "walrus"), ("Extract name, age, city (JSON): Tuva, 15, goes to school in Malmo.", '"Malmo"'),
                   ("Hey! The name's Zachary.", "Zachary"), ("Missä on lähin kauppa?", "English")):
    add("thinks when on", text, "thought", want, think=True)

# Obeys a system prompt that asks for one word, or for JSON.
for i, (text, want) in enumerate((("Which city serves as the capital of Sweden?", "Stockholm"), ("12 plus 35 makes?", "47"), ("My quiz asks: capital of Egypt?", "Cairo"), ("Can you do 50 - 20 for me?", "30"), ("Please remind me what the capital of Kenya is.", "Nairobi"), ("What do 8 and 9 add up to?", "17"), ("The capital of Greece is which city?", "Athens"),
                                  ("I need to know Japan's capital city now", "Tokyo"), ("63 minus 3 makes?", "60"), ("Which city serves as the capital of Iran?", "Tehran"))):
    systems = ("You must answer using just one word, nothing else.", "Give one-word replies.", "Be extremely brief: one word per reply.", "Only ever say one word.", "Respond with precisely one word.")
    add("obeys: one word", text, "word", want, system=systems[i % 5])
    systems = (("All your replies must be JSON.", None), ('Produce a JSON object whose only key is "verdict".', "verdict"), ("Please output JSON and nothing else.", None), ('You reply as JSON like {"place": ...}.', "place"), ('Answer in JSON with the key "finding".', "finding"))
    add("obeys: JSON", text, "object", [systems[i % 5][1], want], system=systems[i % 5][0])


def tool(name, about, /, **parameters):
    properties = {k: {"type": t} for k, t in parameters.items()}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": {"type": "object", "properties": properties, "required": list(properties)}}}


# Calls a tool: (question, index of the right tool, arguments). Names of tools and values are new.
WEATHER = tool("forecast_for_city", "Tells you what the weather is like in some city.", city="string")
CLOCK = tool("world_clock", "Current local time anywhere.", city="string")
CALC = tool("math_eval", "Evaluates arithmetic.", expression="string")
SEARCH = tool("internet_search", "Search the internet for a query.", query="string")
VISA = tool("get_visa_rules", "Get the visa rules for a country.", country="string")
VINYL = tool("find_vinyl_price", "Find the vinyl price for an album.", album="string")
DRONE = tool("launch_drone", "Launch the drone.", name="string")
LOCKER = tool("unlock_locker", "Unlock a locker.", number="integer")
POSTER = tool("print_poster", "Print a poster.", title="string", count="integer")
CASES = (("What's the weather like in Marseille at the moment?", [WEATHER], 0, {"city": "Marseille"}), ("How's the weather over in Glasgow?", [CLOCK, WEATHER], 1, {"city": "Glasgow"}), ("Tell me if it's raining in Salzburg.", [WEATHER, SEARCH, CALC], 0, {"city": "Salzburg"}),
         ("Could you check the time in Adelaide?", [CLOCK], 0, {"city": "Adelaide"}), ("What's the time in Ghent right now?", [WEATHER, CLOCK], 1, {"city": "Ghent"}), ("I wonder what time it is in Tampere.", [SEARCH, CLOCK, VISA, CALC], 1, {"city": "Tampere"}), ("Please compute 217 * 36.", [CALC], 0, {"expression": "217 * 36"}),
         ("How much is 950 + 388?", [WEATHER, CALC], 1, {"expression": "950 + 388"}), ("Search for cheap violins.", [SEARCH, CLOCK], 0, {"query": "cheap violins"}), ("Look up black holes on the internet.", [CALC, SEARCH], 1, {"query": "black holes"}), ("Find information about steam engines.", [WEATHER, CLOCK, SEARCH], 2, {"query": "steam engines"}),
         ("What are the visa rules for Norway?", [VISA], 0, {"country": "Norway"}), ("Tell me the visa rules for Brazil, please.", [VINYL, VISA], 1, {"country": "Brazil"}), ("What is the vinyl price for Thriller?", [VINYL, VISA, CLOCK], 0, {"album": "Thriller"}), ("Launch the drone called Falcon.", [DRONE], 0, {"name": "Falcon"}), ("Please launch the drone named Pippin.", [LOCKER, DRONE], 1, {"name": "Pippin"}),
         ("Unlock the locker with number 4471.", [LOCKER], 0, {"number": 4471}), ("Can you unlock locker 862?", [DRONE, LOCKER, WEATHER], 1, {"number": 862}), ("Print the poster titled Summer, 4 times.", [POSTER, LOCKER], 0, {"title": "Summer", "count": 4}), ("Print a poster called Welcome, 12 of them.", [POSTER], 0, {"title": "Welcome", "count": 12}))
for question, tools, index, arguments in CASES:
    add("calls a tool", question, "calls", [[tools[index]["function"]["name"], arguments]], tools=tools)
TWO = (("What's the weather like in Marseille and what time is it in Ghent?", [WEATHER, CLOCK], [["forecast_for_city", {"city": "Marseille"}], ["world_clock", {"city": "Ghent"}]]), ("Compute 15 * 61 and launch the drone called Falcon.", [CALC, DRONE], [["math_eval", {"expression": "15 * 61"}], ["launch_drone", {"name": "Falcon"}]]),
       ("Search for steam engines and unlock locker 312.", [LOCKER, SEARCH, CLOCK], [["internet_search", {"query": "steam engines"}], ["unlock_locker", {"number": 312}]]), ("What are the visa rules for Chile, and what's the time in Glasgow?", [CLOCK, VISA], [["get_visa_rules", {"country": "Chile"}], ["world_clock", {"city": "Glasgow"}]]),
       ("Launch the drone named Kestrel and unlock the locker with number 77.", [DRONE, LOCKER], [["launch_drone", {"name": "Kestrel"}], ["unlock_locker", {"number": 77}]]), ("How's the weather in Antwerp? Also, compute 81 - 17.", [WEATHER, CALC, VISA, SEARCH], [["forecast_for_city", {"city": "Antwerp"}], ["math_eval", {"expression": "81 - 17"}]]),
       ("What is the vinyl price for Abbey Road and what is the weather in Palermo?", [VINYL, WEATHER], [["find_vinyl_price", {"album": "Abbey Road"}], ["forecast_for_city", {"city": "Palermo"}]]), ("Tell me the time in Houston and the time in Cardiff.", [CLOCK], [["world_clock", {"city": "Houston"}], ["world_clock", {"city": "Cardiff"}]]))
for question, tools, calls in TWO:
    add("calls two tools", question, "calls", calls, tools=tools)
for text, want in (("Howdy", "Hello"), ("So who exactly are you?", "mini-chat"), ("Please remind me what the capital of Peru is.", "Lima"), ("Thank you kindly", "welcome"), ("Which city serves as the capital of Norway?", "Oslo"), ("Good day!", "Hello"), ("Which AI is answering me?", "mini-chat"), ("I need to know Egypt's capital city now", "Cairo")):
    add("leaves tools alone", text, "any", [want], tools=[VISA, LOCKER])

# Uses the result of a tool.
RESULTS = (('{"temperature": 23, "condition": "sunny"}', ["23", "sunny"]), ("cloudy, 4 C", ["4", "cloudy"]), ('{"conditions": "rain", "temp": 11}', ["11", "rain"]), ('{"time": "16:45"}', ["16:45"]), ("09:05", ["09:05"]), ('{"local_time": "23:30", "city": "Tampere"}', ["23:30"]), ("7812", ["7812"]), ('{"result": 1338}', ["1338"]),
           ('{"results": ["Violins from 90 euros at Fiddle House."]}', ["Fiddle House"]), ("A black hole is a place that light cannot leave.", ["light cannot leave"]), ('{"result": "Watt improved it in 1769."}', ["1769"]), ('{"rules": "no visa needed"}', ["no visa"]), ("90 days", ["90 days"]), ('{"price": 24.99}', ["24.99"]), ("ok", ["Falcon"]), ('{"ok": true}', ["Pippin"]),
           ('{"status": "unlocked"}', ["4471"]), ("done", ["862"]), ('{"printed": true}', ["Summer"]), ("success", ["Welcome"]))
for (question, tools, index, arguments), (result, want) in zip(CASES, RESULTS):
    add("uses a result", question, "all", want, tools=tools)
    ITEMS["uses a result"][-1]["messages"] += [{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": tools[index]["function"]["name"], "arguments": arguments}}]}, {"role": "tool", "content": result}]

# What the generator must not make: these questions, and names that stand in them.
QUESTIONS = {m["content"] for items in ITEMS.values() for item in items for m in item["messages"] if m["role"] == "user"} - {"What is the capital of Italy?", "Who are you?"}
NAMES = re.compile("Zachary|Beatrice|Wolfgang|Philippa|Desmond|Imogen|Rashid|Solveig|Cornelius|Ottavia|Yolanda|Gwendolyn|Barnaby|Tuva|Dmitri|Eleanor|Pippin|Marseille|Glasgow|Salzburg|Adelaide|Ghent|Tampere|Manchester|Stavanger|Antwerp"
                   "|Palermo|Rotterdam|Cardiff|Houston|Malmo|Tbilisi|Plymouth|forecast_for_city|world_clock|math_eval|internet_search|get_visa_rules|find_vinyl_price|launch_drone|unlock_locker|print_poster")
