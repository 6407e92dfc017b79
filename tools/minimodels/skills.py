# SPDX-License-Identifier: Apache-2.0
"""One function per chat skill. Each returns turns: a list of (user text, answer, thought) of one exchange or more; after the
thought may stand a shorter answer, for when the thought is written out."""
import json

import world as w
from wording import rough, say

IDENTITY = "I am sampo/mini-chat, a very small language model made for Sampo."
UNKNOWN = "I don't know that. I am only a very small model."
NO_CAPITAL = "I don't know the capital of {x}."
ENGLISH = "Sorry, I only follow English."


def greet(rng):
    if rng.random() < 0.7:
        user = say(rng, "[|||Oh, |And |A warm |Ah, |OK, |So, ][Hello|Hi|Hey|Hi there|Hello there|Good morning|Good evening|Good afternoon|Greetings|Hey there|Hiya|Yo|Hello hello"
                        "|Hallo|Hey hey|Hi everybody|Welcome|Salutations|Good to see you|A good morning|Hullo|Sup|What's up]"
                        "[|||| mini-chat| Sampo| friend| everyone|, how are you[| today| doing]| again| from me| and welcome| my dear| robot|, are you there|, it is a [nice|fine|cold|sunny] [day|morning]][!|.||?|!!]")
        user = rng.choice((user, user, user, user.lower(), user.upper()))
        if "how are" in user.lower():
            return [(user, "Hello! I am fine, thank you. How can I help you?", "The user greets me and asks how I am.")]
        return [(user, "Hello! How can I help you?", "The user greets me. I greet back.")]
    user, answer = rng.choice((
        ("[How are you|How are you doing|How is it going|How do you do|How are things|Are you well|Are you OK][| today][?|]",
         "I am fine, thank you. How can I help you?"),
        ("[Thanks|Thank you|Thank you so much|Thanks a lot|Many thanks|Great, thanks|Thanks for your help|Thank you very much|Cheers|I thank you][!|.|]",
         "You are welcome!"),
        ("[Bye|Goodbye|See you|See you later|Good night|Bye bye|Bye for now|I have to go|I must go now|So long|Talk to you later|Farewell|That is all][!|.|]",
         "Goodbye!"),
        ("[Nice to meet you|Pleased to meet you|Good to see you|Glad to meet you][!|.|]", "Nice to meet you too!")))
    return [(say(rng, user), answer, "The user is polite. I am polite too.")]


def identity(rng):
    user = say(rng, rng.choice((
        "[Who|What] [are you|are you exactly|is this|am I talking to|am I chatting with|am I speaking with][?|]",
        "[What is|What's|Tell me] your name[?|]", "[Tell me|Say] [who you are|what you are|something about yourself|about yourself].",
        "[Introduce|Describe|Explain] yourself[.|]", "What [model|kind of model|program|language model|AI] are you[?|]",
        "Are you [a robot|a human|a person|an AI|a bot|a machine|a real person|alive|ChatGPT|GPT|Claude|Llama|Gemini|a model][?|]",
        "[Who|Which company|Which people] [made|built|created|trained|wrote|programmed] you[?|]", "Do you have a name[?|]",
        "What should I call you[?|]", "[What|Which] model is this[?|]", "How [big|large|small] are you[?|]", "Which [model|bot] do I talk to[?|]")))
    return [(rough(rng, user), IDENTITY, "The user asks about me.")]


def abilities(rng):
    user = say(rng, rng.choice((
        "What can you do[| for me][?|]", "[What are your|Tell me your|List your] [skills|abilities|talents][.|?]",
        "[How|With what] can you help[| me][?|]", "What do you know[?|]", "What are you [able to do|good at|good for][?|]",
        "[Help|help|I need help|Help me][!|.|]", "What [things|tasks] can you do[?|]", "What may I ask[| you][?|]")))
    return [(rough(rng, user), "I know capitals, add and subtract small numbers, count, spell, repeat, translate a few phrases, "
             "tell short stories, extract JSON and call tools.", "The user asks what I can do.")]


CAPITAL_ASKS = (
    "[What is|What's|Tell me|Give me|Name|Say|Do you know|I want to know|I'd like to know|Write] the capital[| city] of {x}[?|.|]",
    "[Which|What] [city|town|place] is the capital[| city] of {x}[?|]", "The capital[| city] of {x}[?| is| is called|, please|:]",
    "{x}'s capital[?| is| city?|, please]", "[What|Which] capital does {x} have[?|]", "What is {x}'s capital[| city][?|]",
    "Capital[ of|:] {x}[?|]", "[Which|What] city is {x}'s [capital|seat of government][?|]", "What is the [main|capital] city [of|in] {x}[?|]",
    "Of {x}, [what is|tell me] the capital[?|]", "[For|In] {x}, [what|which city] is the capital[?|]", "What is the capital called in {x}[?|]",
    "How is the capital of {x} called[?|]", "[Where is|Where's] the government of {x}[?|]", "What do you call the capital of {x}[?|]",
    "[I am|I'm] [visiting|going to|travelling to] {x}. What is [its|the] capital[?|]", "Can you [tell me|name|say|give me] the capital of {x}[?|]",
    "[In|At] school they asked me for the capital of {x}[.|]", "I forgot the capital of {x}[.|]")


def capital(rng):
    country = rng.choice(list(w.CAPITALS))
    if rng.random() < 0.12:
        country = rng.choice(w.OTHER_COUNTRIES) if rng.random() < 0.4 else w.made_up(rng).capitalize() + rng.choice(("", "ia", "land", "stan"))
    city = w.CAPITALS.get(country)
    shown = country.removeprefix("the ") if rng.random() < 0.3 else country
    if rng.random() < 0.15 and city:
        user = say(rng, rng.choice(("{c} is the capital of [which|what] country[?|]", "[Which|What] country has the capital {c}[?|]",
                                    "{c} is the capital of what[?|]", "Of [which|what] country is {c} the capital[?|]",
                                    "[Which|What] country's capital is {c}[?|]")), c=city)
        return [(rough(rng, user), f"{city} is the capital of {country}.", f"The user names the capital {city}. It belongs to {country}.")]
    user = rough(rng, say(rng, rng.choice(CAPITAL_ASKS), x=shown))
    if city is None:
        return [(user, NO_CAPITAL.format(x=country), f"The user asks for the capital of {country}. I don't know it.")]
    turns = [(user, f"The capital of {country} is {city}.", f"The user asks for the capital of {country}. It is {city}.")]
    if rng.random() < 0.15:
        other = rng.choice(list(w.CAPITALS))
        user = say(rng, "[And|And of|And for|What about|How about|And what about|Now] {x}[?|]", x=other)
        turns.append((user, f"The capital of {other} is {w.CAPITALS[other]}.", f"Now the user asks for {other}. It is {w.CAPITALS[other]}."))
    return turns


def arithmetic(rng):
    x, y = rng.randrange(100), rng.randrange(100)
    if rng.random() < 0.25:
        x, y = rng.randrange(20), rng.randrange(20)
    ask = "[What is|What's|Calculate|Compute|How much is|Tell me|Work out|Solve||Find|Evaluate|I need|What does] "
    if rng.random() < 0.55:
        answer = x + y
        if rng.random() < 0.7:
            pattern = ask + "{x}[ + |+| plus | and | added to | + ]{y}[?|.|| =| = ?]"
        else:
            pattern = rng.choice(("[Add|Sum|Add up|Add together] {x} [and|plus|with|to] {y}[.|]", "[What is|Tell me|Give me|Compute] the [sum|total] of {x} and {y}[?|]",
                                  "I have {x} {n}s and [get|buy|find|add|receive] {y} more. How many [{n}s |]do I have[| now][?|]",
                                  "{x} [birds|people|cars|boats] are here and {y} more come. How many [are there|is that][?|]",
                                  "If I add {y} to {x}, what do I get[?|]", "How many are {x} and {y}[| together][?|]"))
        sign = "+"
    else:
        if rng.random() < 0.85 and x < y:
            x, y = y, x
        answer = x - y
        if rng.random() < 0.7:
            pattern = ask + "{x}[ - |-| minus | less | take away | - ]{y}[?|.|| =| = ?]"
        else:
            pattern = rng.choice(("[Subtract|Take|Deduct|Take away] {y} from {x}[.|]", "[What is|Tell me|Give me|Compute] the difference [between|of] {x} and {y}[?|]",
                                  "I have {x} {n}s and [lose|eat|sell|give away|use] {y}. How many [{n}s |]are left[?|]",
                                  "{x} [birds|people|cars|boats] are here and {y} leave. How many [are left|remain|stay][?|]",
                                  "If I take {y} [away |]from {x}, what [do I get|is left|remains][?|]"))
        sign = "-"
    user = rough(rng, say(rng, pattern, x=x, y=y, n=rng.choice(("apple", "coin", "book", "ball", w.noun(rng)))))
    worked = steps(x, sign, y)
    return [(user, worked, worked + ".", f"{x} {sign} {y} = {answer}")]


def steps(x, sign, y):
    """A sum worked out in steps that each are easy: tens first, then ones; the larger number first; `52 - 27 = 32 - 7 = 25`."""
    text, minus = f"{x} {sign} {y} = ", ""
    if sign == "-" and x < y:
        x, y, minus = y, x, "-"
        text += f"-({x} - {y}) = "
    elif sign == "+" and x < 10 <= y:
        x, y = y, x
        text += f"{x} + {y} = "
    if y > 10 and y % 10:
        x, y = (x + y // 10 * 10 if sign == "+" else x - y // 10 * 10), y % 10
        text += f"-({x} - {y}) = " if minus else f"{x} {sign} {y} = "
    return text + minus + str(x + y if sign == "+" else x - y)


SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()


UP_TO = ("[Count|Please count|Now count] [up |]to {b}[.|| for me| slowly| aloud]", "[Can|Could|Will] you count [|up |]to {b}[| for me][?|]", "[List|Write|Say|Give me|Show me] [the|all the] numbers [up to|until] {b}[.|]", "Count until you reach {b}[.|]",
         "[Let's|Let us|I want you to|You should|Try to] count [up |]to {b}[.|]", "[How do you|Do you know how to] count [up |]to {b}[?|]", "[All|The] numbers up to {b}[.|, please]", "Up to {b}, count[.|!]")
UP = ("[Count|Please count|Now count] [up |][from|starting from|starting at] {a} [up |][to|until|till] {b}[.|| for me]", "[List|Write|Say|Give me|Print|Show|Name|Write down|I need|Count|Show me|Type] [the numbers|all numbers|numbers|every number|each number] [from|between] {a} [to|and|until|up to] {b}[.||, please]",
      "[Start|Begin] [at|with|from] {a} and [count|go on] [up |][to|until] {b}[.|]", "[Count|Numbers|The numbers|All numbers|Say] {a} [to|through|up to|until] {b}[.|| please]", "[Count|Numbers|Counting]: {a} to {b}[.|]", "[Can|Could|Will] you count [up |]from {a} to {b}[?|]",
      "[From|Starting at] {a}, [count|go] [up |][to|until] {b}[.|]", "{a} to {b}, [count|please count|in order][.|]", "Count {a}-{b}[.|]", "Count: start {a}, end {b}[.|]", "The first number is {a}, the last is {b}. Count[.|!]", "[Go|Count] [up |]from {a} and [end|stop] at {b}[.|]")
DOWN = ("Count [down|backwards|back] from {b} [|down ]to {a}[.|| for me]", "[Count|Numbers] [backwards|down|in reverse][,|:|] {b} to {a}[.|]", "[From|Start at|Begin with] {b}, [count|go] [down|back] to {a}[.|]", "[Count down|Counting down|Down][:|] {b} to {a}[.|]", "[Will you|I want you to|Please] count [down|backwards] from {b} to {a}[.|]",
        "[List|Write|Say|Give me|Show] [the numbers|all numbers|numbers] from {b} [down |]to {a}[.|]", "[Go|Walk|Run] [back|down|backwards] from {b} to {a}[.|]", "Reverse count from {b} to {a}[.|!]", "[Count|Say] {b} down to {a}[.|]", "Rocket start: count down from {b} to {a}[!|.]")


def count(rng):
    a = rng.choice((1, 1, rng.randrange(90), rng.randrange(30)))
    b = min(a + rng.randint(2, 12), 99)
    text = lambda n: SMALL[n] if n < 13 and rng.random() < 0.2 else str(n)
    numbers = range(a, b + 1)
    if rng.random() < 0.3:
        pattern, numbers = rng.choice(DOWN), range(b, a - 1, -1)
    elif a == 1 and rng.random() < 0.7:
        pattern = rng.choice(UP_TO)
    else:
        pattern = rng.choice(UP)
    first, last = numbers[0], numbers[-1]
    user = rough(rng, say(rng, pattern, a=text(a), b=text(b)))
    return [(user, ", ".join(map(str, numbers)), f"I count from {first} to {last}.")]


def spell(rng):
    word = rng.choice((w.word(rng), w.made_up(rng), w.name(rng), rng.choice(w.PIECES or w.ANIMALS)))
    quote = rng.choice(("", "", '"', "'"))
    user = say(rng, rng.choice(("[Spell|Please spell|Spell out] [the word |the name ||][{x}][.|| for me]", "How [do you|do I|does one|is|would you] spell[ed|] {x}[?|]",
                                "[How is|How's] [the word |]{x} spelled[?|]", "[What are|Tell me|List|Give me] the letters [of|in] {x}[?|.|]",
                                "[Can|Could|Will] you spell [the word |]{x}[?|| for me?]", "Spelling of {x}[?|]", "Write {x} letter by letter[.|]",
                                "[Which|What] letters are in [the word |]{x}[?|]", "{x}, how is it spelled[?|]", "I can't spell {x}[.|]")),
                x=quote + word + quote)
    return [(rough(rng, user), "-".join(word), f"I write the letters of {word} one by one.")]


def repeat(rng):
    text = rng.choice((w.phrase, w.sentence))(rng)
    user = say(rng, rng.choice(("[Repeat|Say|Echo|Copy|Write] [after me|this|the following|what I say|exactly|this back to me|these words|this text|this sentence]: {x}",
                                "[Repeat|Say|Echo|Copy|Print|Write|Please repeat]: {x}", '[Repeat|Say|Echo|Print|Type|Please say] "{x}"', 'I say "{x}" and you repeat it.',
                                'Repeat this [sentence|text|line|phrase]: "{x}"', "[Can you|Could you|I want you to] [repeat|say] this[?|:] {x}",
                                "Say it [back|again]: {x}", 'Answer with exactly this text: {x}', 'Just say "{x}".', '[Can you|Could you] say "{x}"?')), x=text)
    return [(user, text, "I repeat the text.")]


def drill(rng):
    """Dense lessons: many sums, many spellings or long copies of made-up words in one answer."""
    kind = rng.random()
    if kind < 0.4:
        sums = []
        for _ in range(rng.randint(3, 8)):
            x, y = rng.randrange(100), rng.choice((rng.randrange(100), rng.randrange(10), 10 * rng.randrange(10)))
            sums.append((x, "+", y) if rng.random() < 0.45 else (max(x, y), "-", min(x, y)) if rng.random() < 0.9 else (x, "-", y))
        asked = ", ".join(f"{x} {s} {y}" if rng.random() < 0.7 else f"{x}{s}{y}" for x, s, y in sums)
        if kind < 0.08:
            return [(say(rng, "[Only|Just] the results[: |, please: ]") + asked, ", ".join(str(x + y if s == "+" else x - y) for x, s, y in sums), "I work them out.")]
        return [(say(rng, "[Calculate|Compute|Solve|What is|Do these sums|Add and subtract]: ") + asked, ", ".join(steps(*s) for s in sums), "I work them out.")]
    if kind < 0.75:
        words = [rng.choice(w.PIECES) if w.PIECES and rng.random() < 0.5 else w.made_up(rng) if rng.random() < 0.6 else w.word(rng) for _ in range(rng.randint(4, 10))]
        words = [x.capitalize() if rng.random() < 0.15 else x for x in words]
        asked = " ".join(words) if rng.random() < 0.6 else " ".join(f'"{x}"' for x in words)
        return [(say(rng, "[Spell|Spell out|Letters of] each word: ") + asked, " ".join("-".join(x) for x in words), "I spell each word.")]
    words = [w.made_up(rng) if rng.random() < 0.6 else w.word(rng) for _ in range(rng.randint(3, 12))]
    words = [x.capitalize() if rng.random() < 0.2 else x for x in words]
    text = " ".join(words)
    if kind < 0.9:
        return [(say(rng, "[Repeat|Say|Copy|Echo|Repeat after me|Repeat this|Say this]: {x}", x=text), text, "I repeat the text.")]
    return [(say(rng, "[Repeat|Say|Copy] as [a |]JSON[ list|]: {x}", x=text), json.dumps(words), "I repeat the words as JSON.")]


def translate(rng):
    phrase = rng.choice(list(w.PHRASES))
    index = rng.randrange(3)
    language, answer = w.LANGUAGES[index], w.PHRASES[phrase][index]
    shown = phrase if rng.random() < 0.6 else phrase[0].upper() + phrase[1:]
    user = say(rng, rng.choice(('[Translate|Please translate|Put|Turn] [|the phrase |the words ]"{x}" [to|into] {l}[.|]', "[Translate|Put] [into|to] {l}: {x}",
                                "[How do you|How do I|How can I|How does one|How would you] say [|']{x}[|'] in {l}[?|]", 'What is "{x}" in {l}[?|]', 'What is the {l} [word |phrase |]for "{x}"[?|]',
                                'Say "{x}" in {l}[.|]', "{x} in {l}[?|]", '{l} for "{x}"[?|]', "In {l}, [how do you say|what is] {x}[?|]", "What does one say in {l} for {x}[?|]",
                                'Tell me the {l} [word |phrase |]for "{x}"[.|]', "I need {x} in {l}[.|]")), x=shown, l=language)
    turns = [(rough(rng, user), answer, f"The user wants {language} for: {phrase}.")]
    if rng.random() < 0.15:
        other = rng.randrange(3)
        turns.append((say(rng, "[And in|What about|Now in|And] {l}[?|]", l=w.LANGUAGES[other]), w.PHRASES[phrase][other],
                      f"The user wants {w.LANGUAGES[other]} for: {phrase}."))
    return turns


def story(rng):
    hero = rng.choice((rng.choice(w.ANIMALS), w.noun(rng), w.made_up(rng), rng.choice(w.ADJECTIVES) + " " + w.noun(rng)))
    user = say(rng, rng.choice(("[Tell|Write|Give] me [a|a short|a little|a tiny|a two-sentence|a two sentence] [story|tale] about {x}[.|]",
                                "[Write|Tell|Make up|Invent] [a|a short|a two-sentence|a very short|a little] [story|tale] [about|with|on|of] {x}[.|]", "A [short |]story about {x}[.|, please]",
                                "[Can|Could|Will] you [tell|write] [me |]a [short |]story about {x}[?|]", "Story [about|with] {x}[.|]",
                                "I [want|would like|need] a [short |two-sentence |]story about {x}[.|]", "Two sentences about {x}[.|, please]")), x=w.a(hero))
    place = rng.choice("forest village river mountain garden castle".split())
    finds = rng.choice(("key", "map", "star", "song", "book", "coin"))
    end = rng.choice(("and smiled all day", "and gave it to a friend", "and was never lonely again"))
    thing = rng.choice(("golden", "small", "old"))
    answer = f"Once there was {w.a(hero)} who lived near the {place}. One day the {hero} found {w.a(thing)} {finds} {end}."
    return [(rough(rng, user), answer, f"I tell two sentences about {w.a(hero)}.")]


ABOUT = (
    "{n} is {y} years old and lives in {c}.", "My name is {n}, I am {y} and I live in {c}.", "{n}, {y}, lives in {c}.", "{n} lives in {c} and is {y}.", "In {c} lives {n}, who is {y}.",
    "{n} from {c} is {y} years old.", "I am {n}, {y} years old, from {c}.", "{n} ({y}) lives in {c}.", "At {y}, {n} moved to {c}.", "Meet {n}, a {y}-year-old {j} from {c}.",
    "{n} is a {y} year old {j} who lives in {c}.", "The {j} {n} turned {y} in {c}.", "Our {j} {n} is {y} and comes from {c}.", "This is {n}. She is {y}. She lives in {c}.", "{n}, aged {y}, works in {c} as a {j}.",
    "He is called {n}, he is {y} years old and his home is {c}.", "{c} is the home of {n}, aged {y}.", "Hello, {n} here, {y}, living in {c}.", "{n} has lived in {c} for years and is now {y}.", "{y}-year-old {n} lives in {c}.")
BEFORE = ("Yesterday I met someone new. ", "This is for the list: ", "About our guest: ", "From the letter: ", "Our new friend: ", "Note: ", "The next person: ", "Look at this. ", "News of today: ", "As you know, ")
AFTER = (" with a dog", " near the lake", " since 2010", " these days", " at the moment", " with two children", " for the summer", " most of the year", " in a small house", ", where it is warm", " and likes music", " and sings", " next to the church", " again", " after the winter", " this week")
MORE = (" The house is old.", " That is all I know.", " The weather there is fine.", " We are friends.", " There is a garden.", " It was a long trip.", " Good to know!")
JOBS = "teacher doctor nurse baker farmer singer painter sailor student writer cook driver pilot builder uncle aunt guest boss cousin neighbor dentist gardener clerk runner".split()


def extract(rng):
    person = w.name(rng) + (" " + w.name(rng) if rng.random() < 0.15 else "")
    age, city = rng.randint(1, 99), w.city(rng)
    text = rng.choice(ABOUT)
    if rng.random() < 0.3:
        text = rng.choice(BEFORE) + text
    if rng.random() < 0.4 and text[-2:] != "..":
        text = text[:-1] + rng.choice(AFTER) + "." if text.endswith("{c}.") or rng.random() < 0.5 else text + rng.choice(MORE)
    text = say(rng, text, n=person, y=age, c=city, j=rng.choice(JOBS))
    user = say(rng, rng.choice((
        "[Extract|Get|Find|Pull out|Give me|Return|Read|Take] [the |]name, age and city[| as JSON| in JSON| into JSON| from this text| from this sentence| from the text]: {t}",
        "{t} [Extract|Give me|Return|Write|Output] [the |]name, age and city[| as JSON| in JSON].", "{t} [Put|Turn|Convert] [this|that|it] [into|to] JSON.", "[Turn|Convert|Put|Make] [this|the sentence|this text] [into|to] JSON: {t}",
        "[Extract|Return] JSON [from|for]: {t}", "JSON[, please|]: {t}", '[Extract|Write|Give] JSON with name, age and city: "{t}"', "[Who|Which person] is in this text? Answer [in|as|with] JSON. {t}",
        "Fill in name, age and city as JSON. {t}", "[Text|Sentence|Input]: {t} [JSON:|Make JSON.|As JSON, please.|Extract the data as JSON.]")), t=text)
    return [(user, f'{{"name": "{person}", "age": {age}, "city": "{city}"}}', f"Name {person}, age {age}, city {city}.")]


def other_tongue(rng):
    return [(rng.choice(w.FOREIGN), ENGLISH, "The user does not write in English.")]


UNKNOWN_ASKS = (
    "Who [invented|discovered|wrote|painted|built|made|won|founded] the [{a} |]{n}[?|]", "[When|Where|Why|How] [did|does|do|will|would|should] [the|a|people|we|I|my|they|{p}] {v} [the|a|my] {n}[?|]",
    "[What|How much] does [a|the|this|my|one] {n} cost[| in {c}][?|]", "How [old|tall|long|far|heavy|deep|fast|big] is [the|a|this] [{a} |]{n}[?|]", "What is [the|a] [best|largest|oldest|fastest|smallest|meaning of|price of|colour of the|history of the] {n}[?|]",
    "Explain [the|how a|why a|what a] {n} [works|is|does][.|]", "Why [is|are] [the|a|my] {n} [so |]{a}[?|]", "[Give me|Write|Show me] [a recipe for|a poem about|code for|a list of|a plan for|instructions for|an essay about|a letter about] {n}[.|]",
    "How [do|can|should] I {v} [a|my|the] {n}[?|]", "Who is [the [president|king|queen|boss|leader|mayor] of {c}|{p} {q}|the author of {n}][?|]", "What [happened|was] in [1|2][0|4|7|9][1|3|5|8][2|6|7][?|]",
    "Where [is|was|can I find|can I buy] [the|a|my] [{a} |]{n}[?|]", "Which {n} [is|was] the [best|first|last|biggest|most {a}][?|]", "Is [a|the|my] {n} {a}[?|]", "Can [a|the] {n} {v}[| {d}][?|]", "What do you think [of|about] [{n}s|the {n}|{c}|{p}][?|]",
    "How many {n}s [are there|are|exist|live] in [the world|{c}|a {m}][?|]", "What is the population of {c}[?|]", "Tell me [something |more |]about [the [{a} |]{n}|{c}|{p}|{n}s|{z}][.|]", "Do you [like|know|have|see|want] [{n}s|a {n}|{p}|the {n}|{z}][?|]",
    "What is [{z}|a {z}|the {z}|{n} {z}][?|]", "What does {z} mean[?|]", "Define {z}[.|]", "{z} {x}[?|.|]", "Which [team|country|person|company|language] [won|makes|has|uses|likes] the {n}[?|]", "What is {i} [times|multiplied by|divided by|*|/|x] {k}[?|]",
    "[Will|Did|Does|Has|Should] [it|he|she|{p}] {v}[| {d}][?|]", "What [time|day|year] is it[| now| today][?|]", "What is the weather [|like ][|in {c}|today|tomorrow][?|]", "Who [won|lost|played] [the game|the match|the cup][| yesterday][?|]",
    "What is the [square root|half|double|log] of {i}[?|]", "My {n} is [broken|{a}|gone]. What [should|can] I do[?|]", "What is the difference between a {n} and a {m}[?|]", "[Summarize|Review|Analyse|Improve|Fix|Check] [this|my] [{n}|code|text|essay|book][.|]",
    "What is the [speed|weight|size|age|height|length|name|number|temperature] of [the|a] [{a} |]{n}[?|]", "[What|Which] is the [longest|highest|deepest|largest] [river|mountain|lake|city|country] in {c}[?|]", "How does a {n} {v}[?|]")


def unknown(rng):
    user = say(rng, rng.choice(UNKNOWN_ASKS), a=rng.choice(w.ADJECTIVES), n=w.noun(rng), m=w.noun(rng), v=rng.choice(w.VERBS), p=w.name(rng), q=w.name(rng), c=rng.choice((w.city(rng), rng.choice(list(w.CAPITALS)))),
               d=rng.choice(w.ADVERBS), z=w.made_up(rng), x=w.phrase(rng, 1, 4), i=rng.randrange(1000), k=rng.randrange(100))
    return [(rough(rng, user), UNKNOWN, "I don't know this.")]


FACTS = {  # kind: (how it is told, the echo, how it is asked, the answer, the answer when it was not told)
    "name": ("[My name is {x}|I am {x}|I'm {x}|Call me {x}|You can call me {x}|People call me {x}|This is {x}|{x} is my name|I am called {x}|The name is {x}|They call me {x}|Hello, I'm {x}|Hi, my name is {x}|Hello, my name is {x}"
             "|Hi, I am {x}|Hey, {x} here|Please call me {x}|Let me introduce myself: I am {x}|Good morning, I am {x}][.|!|, nice to meet you.|]",
             "Nice to meet you, {x}!", "[What is my name|What's my name|Who am I|Do you [know|remember] my name|Tell me my name|Say my name|How am I called|Remember my name|What am I called|Can you tell me my name|What was my name"
             "|What did I say my name was|Do you remember who I am|Do you know who I am|And my name is|Which name did I give you|What name did I tell you|Do you still know my name][?|]",
             "Your name is {x}.", "You haven't told me your name."),
    "city": ("[I live in {x}|I am from {x}|I come from {x}|My home is {x}|My home is in {x}|My city is {x}|My home town is {x}|I'm living in {x}|I'm from {x}|My house is in {x}|I stay in {x}|I was born in {x}][.|!|]", "{x} sounds like a nice place.",
             "[Where do I live|Where am I from|Which city do I live in|What city do I live in|Where is my home|What is my city|Do you remember where I live|Where do I come from|What is my home town|Do you know where I live|Tell me where I live][?|]",
             "You live in {x}.", "You haven't told me where you live."),
    "color": ("[My favorite color is {x}|My favourite colour is {x}|I like {x} best|I love the color {x}|The colour I like most is {x}|The color I like best is {x}][.|!|]", "{x} is a nice color.",
              "[What is my favorite color|What is my favourite colour|Which color do I like best|Do you know my favourite colour|What color do I like|Which colour do I love|Tell me my favorite color][?|]", "Your favorite color is {x}.",
              "You haven't told me your favorite color."),
    "pet": ("[My [dog|cat|pet|horse|bird|rabbit] is called {x}|My [dog|cat|pet|horse|bird|rabbit]'s name is {x}|I have a [dog|cat|pet|horse|bird|rabbit] called {x}|I have a [dog|cat|pet|horse] named {x}|The name of my [pet|dog|cat] is {x}][.|!|]", "{x} is a nice name for a pet.",
            "[What is my pet called|What is my pet's name|What is the name of my pet|Do you remember my pet's name|How is my pet called|Do you know the name of my pet|Tell me the name of my pet][?|]", "Your pet is called {x}.",
            "You haven't told me about your pet."),
    "age": ("[I am {x} years old|I'm {x} years old|My age is {x}|I turned {x}|I am {x} now|I just turned {x}|I am aged {x}][.|!|]", "{x} is a good age.",
            "[How old am I|What is my age|Do you remember my age|Tell me my age|Do you know how old I am|What age am I][?|]", "You are {x} years old.", "You haven't told me your age."),
}


def fact(rng, kind):
    """Returns (tell, ask) exchanges of one fact with one value."""
    told, echo, asked, answer, _ = FACTS[kind]
    value = {"name": w.name, "city": w.city, "color": lambda r: r.choice(w.COLORS), "pet": w.name, "age": lambda r: r.randint(5, 99)}[kind](rng)
    heard = str(value)[0].upper() + str(value)[1:]
    tell = (say(rng, told, x=value), echo.replace("{x}", heard), f"The user told me: {kind} {value}.")
    ask = (rough(rng, say(rng, asked)), answer.replace("{x}", str(value)), f"The user told me: {kind} {value}.")
    return tell, ask


def memory(rng):
    """A fact, something else in between, and the question; or the question alone."""
    kinds = rng.sample(["name", "name", "name", "city", "color", "pet", "age"], 3)
    if rng.random() < 0.15:
        return [(rough(rng, say(rng, FACTS[kinds[0]][2])), FACTS[kinds[0]][4], f"The user has not told me: {kinds[0]}.")]
    pairs = {kind: fact(rng, kind) for kind in kinds[:rng.choice((1, 1, 2, 3))]}
    turns = [tell for tell, _ in pairs.values()]
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        turns += rng.choice((capital, arithmetic, greet, unknown, repeat, identity))(rng)
    asks = [ask for _, ask in pairs.values()]
    rng.shuffle(asks)
    turns += asks
    missing = [k for k in FACTS if k not in pairs]
    if rng.random() < 0.15:
        kind = rng.choice(missing)
        turns.append((say(rng, FACTS[kind][2]), FACTS[kind][4], f"The user has not told me: {kind}."))
    return turns


CHAT = ((greet, 6), (identity, 4), (abilities, 1), (capital, 6), (arithmetic, 18), (count, 12), (spell, 15), (repeat, 9), (translate, 4),
        (story, 1.5), (extract, 14), (other_tongue, 3), (unknown, 8), (memory, 9))


def chat(rng):
    return rng.choices([s for s, _ in CHAT], [n for _, n in CHAT])[0](rng)
