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


HELLOS = ("[|||Oh, |And |A warm |Ah, |OK, |So, |A big |Why, ][Hello|Hi|Hey|Hi there|Hello there|Good morning|Good evening|Good afternoon|Greetings|Hey there|Hiya|Yo|Hello hello"
          "|Hallo|Hey hey|Hi everybody|Welcome|Salutations|Good to see you|A good morning|Hullo|Sup|What's up|Evening|Afternoon|Helo|Hii|Heyy|Ahoy|Ello|Hellooo|Hoi|G'day|Yo yo|Howdo]"
          "[|||| mini-chat| Sampo| friend| everyone|, how are you[| today| doing]|, how do you feel|, how is your day| again| from me| and welcome| my dear| robot|, are you there|, it is a [nice|fine|cold|sunny] [day|morning]"
          "|, what a [nice|warm|fine|lovely|rainy] [morning|evening|week|Monday]| {p}|, {p}| my {n}| you {n}| dear {n}|, {a} {m}| little {n}| to all of you| to the {n}|, it's me|, I'm back|, here I am|, {p} [says|sends] hello][!|.||?|!!]")
MANNERS = (
    ("[How are you|How are you doing|How is it going|How do you do|How are things|Are you well|Are you OK|How goes it|How have you been|How was your day|Everything fine|All well|How do you feel][| today| there][?|]",
     "I am fine, thank you. How can I help you?"),
    ("[|OK, |Great, |Super, |Oh, |Perfect, |Ah, |Good, ][Thanks|Thank you|Thank you so much|Thanks a lot|Many thanks|Thanks for your help|Thank you very much|Cheers|I thank you|Thanks a million|Thanks again|Thanx|Thks|Tnx|Ty|Big thanks]"
     "[|||, this is [good|nice|super|useful]|, it was [a big help|nice|useful|very good]|, you are [kind|nice|good|clever]| mini-chat|, {p}|, my {n}| for the {n}| for this| for everything| for all that][!|.||!!]", "You are welcome!"),
    ("[||OK, |Well, |Right, |So, |And now |Thanks and |Good, |Time to go, |I am off, |I'm off now, |I'm going home, |It is late, |Got to run, ][Bye|Goodbye|See you|See you later|Good night|Bye bye|Bye for now|I have to go|I must go now|So long|Talk to you later"
     "|Farewell|That is all|See you [tomorrow|around|on Monday|next week]|Until next time|Take care|Cya|Bye then|I'm gone|I'll go now|Have a nice day|Later][||, {p}| mini-chat|, my {n}| and thanks][!|.|]", "Goodbye!"),
    ("[Nice to meet you|Pleased to meet you|Glad to meet you][| too| mini-chat][!|.|]", "Nice to meet you too!"))


def greet(rng):
    pattern, answer = (HELLOS, "Hello! How can I help you?") if rng.random() < 0.6 else rng.choice(MANNERS)
    user = say(rng, pattern, p=w.name(rng), n=w.noun(rng), m=rng.choice(w.ANIMALS), a=rng.choice(w.ADJECTIVES))
    user = rng.choice((user, user, user, user[0].upper() + user[1:], user.lower(), user.lower(), user.upper()))
    thought = "The user is polite. I am polite too."
    if pattern == HELLOS:
        asked = "how are" in user.lower() or "how is" in user.lower() or "how do" in user.lower()
        answer, thought = ("Hello! I am fine, thank you. How can I help you?", "The user greets me and asks how I am.") if asked else (answer, "The user greets me. I greet back.")
    return [(user, answer, thought)]


def identity(rng):
    user = say(rng, rng.choice((
        "[|||So, |Well, |Now, |Hello. |Sorry, |But ][Who|What] [are you|are you exactly|are you really|is this|am I talking to|am I chatting with|am I speaking with|on earth are you|might you be][?|]",
        "[What is|What's|Tell me|Say|Give me|I want to know|I'd like to hear|Please say|Do you know] your [name|full name|own name][?|]", "[Tell me|Say|Explain] [who you are|what you are|something about yourself|about yourself|more about you|what you are called].",
        "[Introduce|Describe|Explain|Name|Present] yourself[.| to us| to my friend].", "[What|Which] [model|kind of model|program|language model|AI|bot|assistant|robot] [are you|do you run on|am I using|is talking|writes this|replies here|is on the line|is behind this|speaks][?|]",
        "[Are you|Is this|Is that|Am I chatting with|Do I talk to] [a robot|a human|an AI|a bot|a machine|a real person|a person or a machine|a computer|a real human|ChatGPT|GPT|GPT-3|Claude|Llama|Gemini|Qwen|Mistral|Siri|a model][?|]", "Are you [alive|real|human|artificial|a man or a machine][?|]",
        "[Who|Which company|Which people|What team] [made|built|created|trained|wrote|programmed|designed|invented|produced|runs|owns] you[?|]", "[Do|Don't] you have [a name|any name|a maker|a body][?|]", "[Your full name|Name|Your name and maker|Who][?|]",
        "[What should I|What may I|How should I|How do I|What can I] call you[?|]", "What do [they|others|your friends|your makers|we] call you[?|]", "[How|By what name] are you [called|known][?|]", "What name do you [have|go by|use|answer to][?|]", "[What|Which] model is this[?|]",
        "How [big|large|small] are you[?|]", "Which [model|bot] do I talk to[?|]", "[who|what] [u|r you|ru|is u][?|]", "[whats ur name|ur name|wats your name|who dis|who this][?|]", "Where do you come from[?|]", "Who is [behind you|your maker|there|writing|answering][?|]")))
    user = rough(rng, user) if rng.random() < 0.8 else user.lower()
    return [(user, IDENTITY, "The user asks about me.")]


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
                                  "If I add {y} to {x}, what do I get[?|]", "How many are {x} and {y}[| together][?|]",
                                          "{x} [and|plus|+] {y} [make|are|is|gives|equals] what[?|]", "[What|How much] do {x} and {y} [make|give|come to][| together][?|]", "What is {y} more than {x}[?|]", "[Can|Could|Will] you [add|sum|work out|solve] {x} [and|+|plus] {y}[?|]",
                                          "[Increase|Raise] {x} by {y}[.|]", "[Sum|Total|Plus|Addition]: {x}[, | and | + ]{y}", "Put {x} and {y} together[.|]", "What does {x} plus {y} [equal|come to|give][?|]", "[The sum|The total|Result] of {x} [and|+|plus] {y}[?|, please|]"))
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
                                  "If I take {y} [away |]from {x}, what [do I get|is left|remains][?|]",
                                          "{x} [minus|-|less|without] {y} [is|gives|equals|leaves] what[?|]", "What is {y} less than {x}[?|]", "[Can|Could|Will] you [work out|solve|do the sum] {x} [-|minus|less] {y}[?|]", "[Reduce|Lower] {x} by {y}[.|]", "From {x} [take|take away|remove|deduct] {y}[.|, please.]",
                                          "[Minus|Difference|Subtraction]: {x}[ - |, then ]{y}", "What [is left|do I have left] [of|from] {x} without {y}[?|]", "What [is left|do you get] when you take {y} [off|out of|away from] {x}[?|]", "[The difference|Result] of {x} [-|minus] {y}[?|, please|]"))
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


SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()


UP_TO = ("[Count|Please count|Now count] [up |]to {b}[.|| for me| slowly| aloud]", "[Can|Could|Will] you count [|up |]to {b}[| for me][?|]", "[List|Write|Say|Give me|Show me] [the|all the] numbers [up to|until] {b}[.|]", "Count until you reach {b}[.|]",
         "[Let's|Let us|I want you to|You should|Try to] count [up |]to {b}[.|]", "[How do you|Do you know how to] count [up |]to {b}[?|]", "[All|The] numbers up to {b}[.|, please]", "Up to {b}, count[.|!]", "[Numbers|I need the numbers|Counting|I would like the numbers] [up |]to {b}[.|, please|]", "[count|please count|now count] to {b}[| please| with me| again| for us]", "One to {b}[.|!|, please]")
UP = ("[Count|Please count|Now count] [up |][from|starting from|starting at] {a} [up |][to|until|till] {b}[.|| for me]", "[List|Write|Say|Give me|Print|Show|Name|Write down|I need|Count|Show me|Type] [the numbers|all numbers|numbers|every number|each number] [from|between] {a} [to|and|until|up to] {b}[.||, please]",
      "[Start|Begin] [at|with|from] {a} and [count|go on] [up |][to|until] {b}[.|]", "[Count|Numbers|The numbers|All numbers|Say] {a} [to|through|up to|until] {b}[.|| please]", "[Count|Numbers|Counting]: {a} to {b}[.|]", "[Can|Could|Will] you count [up |]from {a} to {b}[?|]",
      "[From|Starting at] {a}, [count|go] [up |][to|until] {b}[.|]", "{a} to {b}, [count|please count|in order][.|]", "Count {a}-{b}[.|]", "Count: start {a}, end {b}[.|]", "The first number is {a}, the last is {b}. Count[.|!]", "[Go|Count] [up |]from {a} and [end|stop] at {b}[.|]", "Teach me [the counting|counting|to count] from {a} to {b}[.|]", "[Which|What] numbers [go|run|are there|come] from {a} to {b}[?|]",
      "[Start|Begin] [counting |][from|with] {a} and [stop|end] [at|with] {b}[.|]", "[count|numbers] {a} [to|till] {b}[| please]", "[Name|Speak|Sing] [the numbers|numbers] {a} [to|through|up to] {b}[.|, please.|]", "[Start|First]: {a}, [stop|last]: {b}. Count[.|]")
DOWN = ("Count [down|backwards|back] from {b} [|down ]to {a}[.|| for me]", "[Count|Numbers] [backwards|down|in reverse][,|:|] {b} to {a}[.|]", "[From|Start at|Begin with] {b}, [count|go] [down|back] to {a}[.|]", "[Count down|Counting down|Down][:|] {b} to {a}[.|]", "[Will you|I want you to|Please] count [down|backwards] from {b} to {a}[.|]",
        "[List|Write|Say|Give me|Show] [the numbers|all numbers|numbers] from {b} [down |]to {a}[.|]", "[Go|Walk|Run] [back|down|backwards] from {b} to {a}[.|]", "Reverse count from {b} to {a}[.|!]", "[Count|Say] {b} down to {a}[.|]", "Rocket start: count down from {b} to {a}[!|.]", "[A countdown|Countdown|Make a countdown|I need a countdown|Do a countdown][:|] [of |]{b} [to|till|until] {a}[.|!|]", "[Can|Could|Will] you [go|count] [backwards|back|in reverse] from {b} to {a}[?|]",
        "[Start|Begin] at {b} and [go down|count down|count back] to {a}[.|]", "[Descend|Step down|Fall] from {b} to {a}[.|]", "[count down|countdown|count back] {b} to {a}[| please]", "Down from {b} to {a}[.|!|, please]")


def count(rng):
    a = rng.choice((1, 1, rng.randrange(90), rng.randrange(30)))
    b = min(a + rng.randint(2, 12), 99)
    words = rng.random() < 0.25
    text = lambda n: SMALL[n] if n <= 20 and words else str(n)
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
    word = rng.choice((w.word, w.made_up, w.name, odd_word))(rng)
    quote = rng.choice(("", "", "", '"', "'"))
    user = say(rng, rng.choice(("[Spell|Please spell|Spell out] [the word |the name ||][{x}][.|| for me| to me| slowly]", "How [do you|do I|does one|is|would you|can I|do people|should I] spell[ed|] {x}[?| properly?| right?|]",
                                "[How is|How's] [the word |]{x} [spelled|spelled right|written in letters][?|]", "[What are|Tell me|List|Give me|Show me|Name|I want|I'd like] the letters [of|in] [the word |]{x}[?|.|]",
                                "[Can|Could|Will] you spell [the word |]{x}[?|| for me?| slowly?]", "[Spelling|The spelling|Letters|The letters] of {x}[?|]", "[Write|Say|Give me|Show] {x} [letter by letter|letter after letter|one letter at a time|in single letters][.|]",
                                "[Which|What] letters are in [the word |]{x}[?|]", "{x}, how is it spelled[?|]", "I can't spell {x}[.|]", "[Break|Take|Split|Cut] {x} [into|apart into|up into] [letters|its letters|single letters][.|]", "[With|In|By] [which|what] letters [do you|do I|does one] write {x}[?|]",
                                "{x}[,|:] letter by letter[, please|.|]", "[Spell|Letters|Spelling]: {x}", "[Show|Teach|Tell] me how {x} [gets|is] spelled[.|]", "[Tell me|Can you tell me|Could you show me|I wonder|Do you know] [how to spell|how one spells|how you spell|the spelling of|the letters of] {x}[?|.|]",
                                "My [friend|teacher|boss|sister] asks how to spell {x}[.|]", "[Please|Now] spell {x} [with hyphens|in letters|aloud|to my {n}][.|]", "The word is {x}. [Spell it|How is it spelled|Which letters does it have][.|]")),
                x=quote + word + quote, n=w.noun(rng))
    return [(rough(rng, user), "-".join(word), f"I write the letters of {word} one by one.")]


def repeat(rng):
    kind = rng.random()
    text = w.phrase(rng) if kind < 0.25 else w.sentence(rng) if kind < 0.4 else mixed_text(rng) if kind < 0.75 else rng.choice((greet, identity, capital, arithmetic, unknown, story, translate))(rng)[0][rng.randrange(2)]
    user = say(rng, rng.choice(("[Repeat|Say|Echo|Copy|Write] [after me|this|the following|what I say|exactly|this back to me|these words|this text|this sentence]: {x}",
                                "[Repeat|Say|Echo|Copy|Print|Write|Please repeat]: {x}", '[Repeat|Say|Echo|Print|Type|Please say] "{x}"', 'I say "{x}" and you repeat it.',
                                'Repeat this [sentence|text|line|phrase]: "{x}"', "[Can you|Could you|I want you to] [repeat|say] this[?|:] {x}",
                                "Say it [back|again]: {x}", 'Answer with exactly this text: {x}', 'Just say "{x}".', '[Can you|Could you] say "{x}"?', "[Please |]repeat [word for word|without a change|letter for letter]: {x}", "[Echo|Mirror|Send] [this|the same|it] [back|back to me]: {x}",
                                'I want [you to say|to hear you say|to read] "{x}"[.|]', 'Your [reply|response|next message|next line] [is|must be|has to be] "{x}"[.|]', 'Nothing but "{x}"[, please|.| is what I want to read.]', 'Only [say|write|reply] "{x}" and nothing [more|else].',
                                "[Let me hear|The words to repeat|Parrot|Quote|Your turn to say|Copy it|Read aloud|Once more|Same again|Your text]: {x}", '[Reply|Answer|Respond] with "{x}"[.|]', "[Respond|Reply|Answer] with [exactly |only |]these words: {x}",
                                "[Give|Hand] [this|it] back to me unchanged: {x}", "[Write down|Type out|Type|Note down|Please write]: {x}", 'The [only thing|one thing] to [say|write] is "{x}"[.|]', 'Say the [words|line|sentence] "{x}"[.| please]', "[Do as I do|Say what I say|Do it like me]: {x}")), x=text)
    return [(user, text, "I repeat the text.")]


def odd_word(rng):
    """A word for copying and spelling: the tokenizer's pieces, syllables, real words; now and then with a capital."""
    kind = rng.random()
    word = rng.choice(w.PIECES) if w.PIECES and kind < 0.3 else w.made_up(rng) if kind < 0.75 else w.name(rng) if kind < 0.85 else w.word(rng)
    return word.capitalize() if rng.random() < 0.15 else word


def odd_words(rng, low, high):
    """Words in a row; some rows hold one word again and again among others, for which a copier must know where it is."""
    words = [odd_word(rng) for _ in range(rng.randint(low, high))]
    return [rng.choice(words) for _ in words] if rng.random() < 0.1 else words


def mixed_text(rng):
    """A text of anything: words, numbers, marks, single letters."""
    parts = [rng.choice((odd_word, odd_word, odd_word, lambda r: str(r.randrange(10 ** r.randint(1, 5))), lambda r: f"{r.randrange(100)}.{r.randrange(100):02d}",
                         lambda r: "".join(r.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(r.randint(1, 5)))))(rng) for _ in range(rng.randint(1, 10))]
    text = "".join(p + (" " if rng.random() < 0.85 else rng.choice((", ", ", ", "; ", " - ", ": ", "! ", "? ", ". "))) for p in parts)
    text = text.strip(" ,;:-") + rng.choice(("", "", ".", "!", "?"))
    return text[0].upper() + text[1:] if rng.random() < 0.5 else text


def drill_sums(rng):
    sums, only = [], rng.random() < 0.25
    for _ in range(rng.randint(3, 9)):
        x, y = rng.randrange(100), rng.choice((rng.randrange(100), rng.randrange(100), rng.randrange(10), 10 * rng.randrange(10)))
        if rng.random() < 0.3:
            x = rng.randrange(20)
        x, y = (x, y) if rng.random() < 0.6 else (y, x)
        sums.append((x, "+", y) if rng.random() < 0.5 else (max(x, y), "-", min(x, y)) if rng.random() < 0.85 else (x, "-", y))
    tight = rng.random() < 0.3
    asked = ", ".join(f"{x}{s}{y}" if tight else f"{x} {s} {y}" for x, s, y in sums)
    if only:
        return [(say(rng, "[Only|Just] the results[: |, please: ]") + asked, ", ".join(str(x + y if s == "+" else x - y) for x, s, y in sums), "I work them out.")]
    return [(say(rng, "[Calculate|Compute|Solve|What is|Do these sums|Add and subtract]: ") + asked, ", ".join(steps(*s) for s in sums), "I work them out.")]


def drill_spell(rng):
    words = odd_words(rng, 3, 10)
    asked = " ".join(words) if rng.random() < 0.5 else ", ".join(words) if rng.random() < 0.5 else " ".join(f'"{x}"' for x in words)
    return [(say(rng, "[Spell|Spell out|Letters of] each word: ") + asked, " ".join("-".join(x) for x in words), "I spell each word.")]


def drill_copy(rng):
    ask = "[Repeat|Say|Copy|Echo|Repeat after me|Repeat this|Say this]: "
    if rng.random() < 0.2:
        words = odd_words(rng, 2, 10)
        return [(say(rng, "[Repeat|Say|Copy] as [a |]JSON[ list|]: ") + " ".join(words), json.dumps(words), "I repeat the words as JSON.")]
    text = mixed_text(rng) if rng.random() < 0.6 else " ".join(odd_words(rng, 2, 14))
    return [(say(rng, ask) + text, text, "I repeat the text.")]


def drill_count(rng):
    """Several short counts, up and down; the end matters more than the length."""
    asked, answers = [], []
    for _ in range(rng.randint(2, 5)):
        a = rng.choice((1, rng.randrange(20), rng.randrange(90)))
        b = a + rng.randint(1, 9)
        up = rng.random() < 0.55
        first, last = (a, b) if up else (b, a)
        words = last <= 20 and first <= 20 and rng.random() < 0.3
        asked.append(f"{SMALL[first]} to {SMALL[last]}" if words else f"{first} {rng.choice(('to', 'to', '-'))} {last}")
        answers.append(", ".join(map(str, range(a, b + 1) if up else range(b, a - 1, -1))))
    return [(say(rng, "[Count|Numbers|List the numbers]: ") + "; ".join(asked), "; ".join(answers), "I count.")]


def drill_find(rng):
    """Looks things up in a list, from the front of a line to its end or from any word of it to its front: what choosing a tool and
    filling in JSON take."""
    pairs = {}
    while len(pairs) < 5:
        pairs[odd_word(rng)] = " ".join(odd_words(rng, 1, 4)) if rng.random() < 0.8 else str(rng.randrange(1000))
    pairs = dict(list(pairs.items())[:rng.randint(2, 5)])
    mark, end = rng.choice(((": ", "\n"), (" is ", ". "), ("=", ", "), (": ", "; "), (" - ", "\n"), ("(): ", ".\n")))
    text = end.join(k + mark + v for k, v in pairs.items())
    keys = rng.sample(list(pairs), rng.randint(1, len(pairs)))
    forward = rng.random() < 0.4
    sought = keys if forward else [rng.choice(pairs[k].split()) for k in keys]
    found = [pairs[k] for k in keys] if forward else keys
    answer = json.dumps(dict(zip(sought, found))) if rng.random() < 0.4 else ", ".join(found)
    what = say(rng, "[Find|Look up|Which belongs to|Give me]: ") + ", ".join(sought)
    return [(f"{text}\n{what}" if rng.random() < 0.6 else f"{what}\n{text}", answer, "I look it up.")]


DRILLS = ((drill_sums, 3), (drill_spell, 3), (drill_copy, 2), (drill_find, 3), (drill_count, 1))


def drill(rng):
    """A dense lesson: many sums, many spellings, a long copy, several things looked up in a list."""
    return rng.choices([d for d, _ in DRILLS], [n for _, n in DRILLS])[0](rng)


def translate(rng):
    phrase = rng.choice(list(w.PHRASES))
    index = rng.randrange(3)
    language, answer = w.LANGUAGES[index], w.PHRASES[phrase][index]
    shown = phrase if rng.random() < 0.6 else phrase[0].upper() + phrase[1:]
    user = say(rng, rng.choice(('[Translate|Please translate|Put|Turn] [|the phrase |the words ]"{x}" [to|into] {l}[.|]', "[Translate|Put] [into|to] {l}: {x}",
                                "[How do you|How do I|How can I|How does one|How would you] say [|']{x}[|'] in {l}[?|]", 'What is "{x}" in {l}[?|]', 'What is the {l} [word |phrase |]for "{x}"[?|]',
                                'Say "{x}" in {l}[.|]', "{x} in {l}[?|]", '{l} for "{x}"[?|]', "In {l}, [how do you say|what is] {x}[?|]", "What does one say in {l} for {x}[?|]",
                                'Tell me the {l} [word |phrase |]for "{x}"[.|]', "I need {x} in {l}[.|]", '[My|Our|This] {j} [only knows|understands|reads] {l}. [What do I say for|How can I say|How would I write] "{x}"[?|]', '"{x}"[,| -|:] [now|and now|please,] in {l}[.|]', "[Write|Give me|Tell us] the {l} for[:|] {x}", '{l}, please: "{x}"', 'The {l} [version|form|words] of "{x}"[?|, please.|]',
                                'I want to [say|write|tell a {j}] "{x}" in {l}[.|]', "[I am|We are] in a {l} [shop|school|train]: how do I say {x}[?|]", '[Can|Will] you [put|say|write] "{x}" in {l}[?|]', '[From English to|Into|To] {l}: "{x}"', '"{x}" [becomes|is|would be] what in {l}[?|]')), x=shown, l=language, j=rng.choice(JOBS))
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
                                "I [want|would like|need] a [short |two-sentence |]story about {x}[.|]", "Two sentences about {x}[.|, please]", "[Please |Now ]tell [us|me|the children] [a|a small|a good|an old] story [about|of] {x}[.|]", "[A bedtime story|A tale|A story|Once upon a time]: {x}[.|]",
                                "[I like|We like|My friends like] stories. [Tell|Write|Make] one [about|with] {x}[.|]", "[Imagine|Think of|Take] {x} and tell [a|its|a short] story[.|]", "Make a story [about|of|with] {x} [for my class|for my brother|for us|in two sentences][.|]")), x=w.a(hero))
    place = rng.choice("forest village river mountain garden castle".split())
    finds = rng.choice(("key", "map", "star", "song", "book", "coin"))
    end = rng.choice(("and smiled all day", "and gave it to a friend", "and was never lonely again"))
    thing = rng.choice(("golden", "small", "old"))
    answer = f"Once there was {w.a(hero)} who lived near the {place}. One day the {hero} found {w.a(thing)} {finds} {end}."
    return [(rough(rng, user), answer, f"I tell two sentences about {w.a(hero)}.")]


WHO = ("{n}", "{n}", "{n}", "{n}", "[My|Our|Her|His|Their|The|Your] {j} {n}", "[My|Our|The|Her|His] [old|new|good|dear|best|young|kind] {j} {n}", "[The|A] {j} [called|named] {n}", "[Mr|Mrs|Aunt|Uncle|Doctor|Captain|Old|Little] {n}", "[My|Our|The] {j}, {n},")
YEARS = "[{y} years old|{y} years of age|{y}|aged {y}|of {y} years|a {y}-year-old|{y} now|already {y}|only {y}]"
LIVES = "[lives in|lives in|stays in|works in|has a house in|is from|comes from|moved to|has moved to|grew up in|was born in|studies in|has settled in|runs a shop in|makes a home in|sings in|is at home in|left for|rents a flat in|is now in] {c}"
ABOUT = (
    "{W} is [{y} years old|{y}|aged {y}|already {y}|only {y}|now {y}|{y} years of age|a {y} year old {j}] and [he |she ||]L{L}.", "My name is {n}, I am {y} and I live in {c}.", "[I am|I'm] {n}, {y}[ years old|][,| and] [I live in|from|my home is|I come from|I call home the city of] {c}.", "{W}, {y}, L{L}.",
    "{W}, {Y}, L{L}.", "{W} L{L} and is [{y}|{y} years old|aged {y}].", "{W} L{L}. [He|She|This person] is [{y}|{y} years old|now {y}|about {y}].", "{W} L{L}, [aged|at the age of|being|and is now] {y}.", "In {c} [lives|works|stays|sings|sits] {W}, [who is {y}|{Y}|aged {y}].",
    "{n} from {c} is {y}[ years old|].", "[I am|I'm] {n}, {y} years old, from {c}.", "{W} ({y}) L{L}.", "{W} ({y}, [from |]{c}) [sings|won|is here|likes tea|called].", "[At|At age|When] {y}, {n} moved to {c}.", "[Meet|This is|Here is|I know|We like|Say hello to] {n}, a {y}-year-old {j} [from|in] {c}.", "{n} is a {y} year old {j} who L{L}.",
    "[The|Our|My] {j} {n} turned {y} in {c}.", "This is {W}. [She|He] is {y}. [She|He] L{L}.", "{W}, aged {y}, works in {c} as a {j}.", "He is called {n}, he is {y} years old and his home is {c}.", "{c} is the home of {W}, [aged {y}|who is {y}|{y}].", "Hello, {n} here, {y}, living in {c}.",
    "{W} has lived in {c} for years and is now {y}.", "{y}-year-old {n} L{L}.", "In {c} [we|they|I|you] [saw|found|visited|heard|know] {W}, [who is {y}|{y} years old|{Y}].", "[The first prize|The job|The letter|The key|The call|The next turn] [goes to|is for|comes from|belongs to] {n}, {y}, [from|in] {c}.", "The {j} is {n} from {c}, [{y}|who is {y}|aged {y}].",
    "{n} [turns|turned|will be|is going to be] {y} [today|tomorrow|this week|in May] and L{L}.", "[Born|At home|Living] in {c}, {n} is [now |]{y}.", "[With|At] [{y} years|the age of {y}|{y}|her {y} years], {W} L{L}.", "{W} is not {o} but {y} and L{L}.", "They say that {W} is {y}. [The|His|Her] house is in {c}.", "[Write to|Call|Ask|Visit] {n} in {c}[,| -] [a {j}, |]{y}[ years old|].",
    "{W} L{L}[,| since 1999,| near the river,] and [she|he] is {y}.", "{y} years ago {n} was born in {c}.", "From {c} comes {W}, [{y}|aged {y}|{y} years old].", "[Name|Person|Who][:| =] {n}[, |; | / ][age|years|old][:| =] {y}[, |; | / ][city|town|home|place][:| =] {c}", "[City|Home|Town]: {c}[, |; ][name|person]: {n}[, |; ][age|years]: {y}", "name={n} age={y} city={c}", "{n}; {y}; {c}", "{n} / {c} / {y}",
    "name: {n}\nage: {y}\ncity: {c}", "{n} is what they call me, {y} is my age, {c} my city.", "Happy birthday to {W}, {y} today! {c} is [his|her] home.")
BEFORE = ("Yesterday I met someone new. ", "This is for the list: ", "About our guest: ", "From the letter: ", "Our new friend: ", "Note: ", "The next person: ", "Look at this. ", "News of today: ", "As you know, ", "I can tell you this: ", "On page 3: ", "It is true. ", "Listen: ")
AFTER = (" with a dog", " near the lake", " since 2010", " these days", " at the moment", " with two children", " for the summer", " most of the year", " in a small house", ", where it is warm", " and likes music", " and sings", " next to the church", " again", " after the winter", " this week",
         " with the family", " by the sea", " for work", " all year", ", I think", " and is happy")
MORE = (" The house is old.", " That is all I know.", " The weather there is fine.", " We are friends.", " There is a garden.", " It was a long trip.", " Good to know!", " A fine person!", " The phone number is 5512.", " Two cats live there too.")
JOBS = ("teacher doctor nurse baker farmer singer painter sailor student writer cook driver pilot builder guest boss cousin neighbor dentist gardener clerk runner aunt brother sister friend colleague dancer lawyer judge waiter "
        "mechanic tailor actor hunter fisher soldier priest poet chef trainer guard manager grandfather niece nephew partner girlfriend").split()


def extract(rng):
    person = w.name(rng) + (" " + w.name(rng) if rng.random() < 0.12 else "")
    age, city = rng.randint(1, 99), w.city(rng)
    text = rng.choice(ABOUT).replace("{W}", rng.choice(WHO)).replace("{Y}", YEARS).replace("L{L}", LIVES)
    if rng.random() < 0.3:
        text = rng.choice(BEFORE) + text
    if rng.random() < 0.4 and text[-1] == ".":
        text = text[:-1] + rng.choice(AFTER) + "." if text.endswith("{c}.") and rng.random() < 0.6 else text + rng.choice(MORE)
    text = say(rng, text, n=person, y=age, c=city, j=rng.choice(JOBS), o=rng.randint(1, 99))
    text = text[0].upper() + text[1:] if rng.random() < 0.9 else text
    user = say(rng, rng.choice((
        "[Extract|Get|Find|Pull out|Give me|Return|Read|Take] [the |]name, age and city[| as JSON| in JSON| into JSON| from this text| from this sentence| from the text]: {t}",
        "{t} [Extract|Give me|Return|Write|Output] [the |]name, age and city[| as JSON| in JSON].", "{t} [Put|Turn|Convert] [this|that|it] [into|to] JSON.", "[Turn|Convert|Put|Make] [this|the sentence|this text] [into|to] JSON: {t}",
        "[Extract|Return] JSON [from|for]: {t}", "JSON[, please|]: {t}", '[Extract|Write|Give] JSON with name, age and city: "{t}"', "[Who|Which person] is in this text? Answer [in|as|with] JSON. {t}",
        "Fill in name, age and city as JSON. {t}", "[Text|Sentence|Input]: {t} [JSON:|Make JSON.|As JSON, please.|Extract the data as JSON.]", "[I need|Write|Build|Show] a JSON object [with|of] name, age[,| and] city[:|.| for this text:] {t}", "[Name|Name, age and city|Who, how old and where]? [JSON only.|Answer in JSON.|As JSON.] {t}",
        "{t} [I need that|Write that|Note it|Now all this] as JSON [with name, age and city|with the keys name, age, city|please].", "Person to JSON: {t}", "[Take|Pull] name, age[,| and] city out of this and write JSON: {t}", "name, age, city - as JSON: {t}")), t=text)
    return [(user, f'{{"name": "{person}", "age": {age}, "city": "{city}"}}', f"Name {person}, age {age}, city {city}.")]


def other_tongue(rng):
    user = rng.choice(w.FOREIGN) if rng.random() < 0.7 else " ".join(rng.choice(w.FOREIGN) for _ in range(2))
    user = rng.choice((user, user, user, user.lower(), user.rstrip("?.!")))
    return [(user, ENGLISH, "The user does not write in English.")]


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
    "What is the [speed|weight|size|age|height|length|name|number|temperature] of [the|a] [{a} |]{n}[?|]", "[What|Which] is the [longest|highest|deepest|largest] [river|mountain|lake|city|country] in {c}[?|]", "How does a {n} {v}[?|]",
    "[Suggest|Plan|Sing|Draw|Sell|Order|Bring|Buy|Choose|Name|Pick] [me|us|for me] [a|some|the best|any] [{a} |]{n}[.|]", "[Is|Are|Was|Were] there [a|any|many|no] [{n}|{n}s|{a} {n}s] [in|on|near|under] [{c}|the {m}][?|]", "[Should|Would|May|Could] I {v} [a|the|my] {n} [or|and|with] [a|the] {m}[?|]", "[How|Why|When|Where] [do|did|should] {n}s {v}[?|]",
    "[What's|What is|Who is|Who was] [in|at|near|under|behind|inside] the [{a} |]{n}[| now| this evening][?|]", "How [long|many miles|many hours|much] [from|between] {c} [to|and] {q}[?|]", "[Write|Make|Fix|Show me] [a program|a script|code|a page|a formula|a table] [for|that|to] {v}[|s] [a|the|my] {n}s[.|]", "[Who|What] [sings|sang|directed|designed|sells|eats|owns|leads] [the {n}|{p} and {q}|{z}|{n}s][?|]",
    "How [many|much] {n}s [does|did|do|can] [a|the|my] [{m}|{j}] {v}[?|]", "Which [{n}|book|film|song|game|show|place] should I {v}[| {d}][?|]", "[I want to|I'd like to|Help me to|Teach me to|Show me how to] {v} [a|the|my] [{a} |]{n}[.|]", "[Tell me|Explain|Describe|I want to know|Do you know] [why|how|when|where] [{n}s|the {n}|a {n}|{p}] {v}[|s][.|?|]",
    "[The history|The price|The meaning|The colour|The age|The size|The end] of [the {n}|{n}s|{c}|{z}][?|, please.|]", "What are [the best|good|some|all|the] [{n}s|{n}s in {c}|{a} {n}s][?|]", "[Any|Some|More] [news|facts|ideas|tips|advice] [about|on|for] [{n}s|the {n}|{c}|{z}][?|]", "[What|Who|When|How] [will|would|could] [{p}|the {n}|people|we] {v}[| {d}][?|]")


def unknown(rng):
    user = say(rng, rng.choice(UNKNOWN_ASKS), a=rng.choice(w.ADJECTIVES), n=w.noun(rng), m=w.noun(rng), v=rng.choice(w.VERBS), p=w.name(rng), q=w.name(rng), c=rng.choice((w.city(rng), rng.choice(list(w.CAPITALS)))), j=rng.choice(JOBS),
               d=rng.choice(w.ADVERBS), z=w.made_up(rng), x=w.phrase(rng, 1, 4), i=rng.randrange(1000), k=rng.randrange(100))
    return [(rough(rng, user), UNKNOWN, "I don't know this.")]


FACTS = {  # kind: (how it is told, the echo, how it is asked, the answer, the answer when it was not told)
    "name": ("[My name is {x}|I am {x}|I'm {x}|Call me {x}|You can call me {x}|People call me {x}|This is {x}|{x} is my name|I am called {x}|The name is {x}|They call me {x}|Hello, I'm {x}|Hi, my name is {x}|Hello, my name is {x}"
             "|Hi, I am {x}|Hey, {x} here|Please call me {x}|[Hello|Hi|Hey][,|!] [they|friends|all|people] call me {x}|I go by {x}|You are talking to {x}|{x}, that is me|It's {x}|It is me, {x}|Everybody says {x} to me|{x} is the name|My parents named me {x}|I introduce myself as {x}|Remember me as {x}|For you I am {x}|So, I'm {x}|Good evening, {x} is my name|Let me introduce myself: I am {x}|Good morning, I am {x}][.|!|, nice to meet you.|]",
             "Nice to meet you, {x}!", "[What is my name|What's my name|Who am I|Do you [know|remember] my name|Tell me my name|Say my name|How am I called|Remember my name|What am I called|Can you tell me my name|What was my name"
             "|What did I say my name was|Do you remember who I am|Do you know who I am|And my name is|Which name did I give you|What name did I tell you|Do you still know my name|My name|My name, please|Can you name me|Have you kept my name|And who am I|Guess my name|Please tell me my name|Now say my name|Say who I am|Am I known to you|What do people call me|How should you call me|What is the name I told you][?|]",
             "Your name is {x}.", "You haven't told me your name."),
    "city": ("[I live in {x}|I am from {x}|I come from {x}|My home is {x}|My home is in {x}|My city is {x}|My home town is {x}|I'm living in {x}|I'm from {x}|My house is in {x}|I stay in {x}|I was born in {x}|We live in {x}|My flat is in {x}|You find me in {x}|I moved to {x}|{x} is my home|{x} is where I live|My family and I live in {x}|I am at home in {x}][||| now| with my {n}| since May][.|!|]", "{x} sounds like a nice place.",
             "[Where do I live|Where am I from|Which city do I live in|What city do I live in|Where is my home|What is my city|Do you remember where I live|Where do I come from|What is my home town|Do you know where I live|Tell me where I live|Where was I from|Where did I say I live|And my city|In which city am I at home|Which town is mine|What place do I come from|Say where I live|My city, please][?|]",
             "You live in {x}.", "You haven't told me where you live."),
    "color": ("[My favorite color is {x}|My favourite colour is {x}|I like {x} best|I love the color {x}|The colour I like most is {x}|The color I like best is {x}|I really like {x}|Nothing is nicer than {x}|{x} is my favorite color|{x} is the colour for me|The best colour is {x}|My color is {x}|As for colors, I like {x}][.|!|]", "{x} is a nice color.",
              "[What is my favorite color|What is my favourite colour|Which color do I like best|Do you know my favourite colour|What color do I like|Which colour do I love|Tell me my favorite color|My favorite color|What is the colour I like|Say my favorite colour|What was my favorite color|Which color is mine|Which color did I tell you|And my colour][?|]", "Your favorite color is {x}.",
              "You haven't told me your favorite color."),
    "pet": ("[My [dog|cat|pet|horse|bird|rabbit] is called {x}|My [dog|cat|pet|horse|bird|rabbit]'s name is {x}|I have a [dog|cat|pet|horse|bird|rabbit] called {x}|I have a [dog|cat|pet|horse] named {x}|The name of my [pet|dog|cat] is {x}|Our [dog|cat|horse|bird] is {x}|My [cat|dog|rabbit] has the name {x}|I call my [dog|cat|bird] {x}|There is my [dog|cat], {x}|We named our [dog|cat|horse] {x}|I own a [cat|dog] and call it {x}][.|!|]", "{x} is a nice name for a pet.",
            "[What is my pet called|What is my pet's name|What is the name of my pet|Do you remember my pet's name|How is my pet called|Do you know the name of my [pet|dog|cat]|Tell me the name of my [pet|dog|cat]|What is my [dog|cat|bird|horse] called|Do you remember my [dog|cat|horse]|And my [pet|dog|cat]|What did I call my [dog|cat|pet]|My [dog|cat|horse]'s name|What was the name of my [dog|cat|pet]|The name of my [bird|dog|cat]][?|]", "Your pet is called {x}.",
            "You haven't told me about your pet."),
    "age": ("[I am {x} years old|I'm {x} years old|My age is {x}|I turned {x}|I am {x} now|I just turned {x}|I am aged {x}|I will be {x} soon|I'm {x}|{x} is my age|I am {x} years young|I have lived {x} years|Since May I am {x}][.|!|]", "{x} is a good age.",
            "[How old am I|What is my age|Do you remember my age|Tell me my age|Do you know how old I am|What age am I|My age|How many years have I lived|And my age|What age did I tell you|Say my age|Which age do I have][?|]", "You are {x} years old.", "You haven't told me your age."),
}


def fact(rng, kind):
    """Returns (tell, ask) exchanges of one fact with one value."""
    told, echo, asked, answer, _ = FACTS[kind]
    value = {"name": w.name, "city": w.city, "color": lambda r: r.choice(w.COLORS), "pet": w.name, "age": lambda r: r.randint(5, 99)}[kind](rng)
    heard = str(value)[0].upper() + str(value)[1:]
    tell = (say(rng, told, x=value, n=w.noun(rng)), echo.replace("{x}", heard), f"The user told me: {kind} {value}.")
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
        turns += rng.choice((capital, arithmetic, greet, unknown, repeat, identity, count, spell))(rng)
    asks = [ask for _, ask in pairs.values()]
    rng.shuffle(asks)
    turns += asks
    missing = [k for k in FACTS if k not in pairs]
    if rng.random() < 0.15:
        kind = rng.choice(missing)
        turns.append((say(rng, FACTS[kind][2]), FACTS[kind][4], f"The user has not told me: {kind}."))
    return turns


CHAT = ((greet, 8), (identity, 6), (abilities, 1), (capital, 6), (arithmetic, 14), (count, 10), (spell, 12), (repeat, 12), (translate, 6),
        (story, 2.5), (extract, 14), (other_tongue, 4), (unknown, 11), (memory, 9))


def chat(rng):
    return rng.choices([s for s, _ in CHAT], [n for _, n in CHAT])[0](rng)
