# SPDX-License-Identifier: Apache-2.0
"""Tool use: which tools a conversation offers, what is asked of them, what they return and how the answer uses it.

A task is a dict: tool (its JSON definition), user (the question), arguments, result (what the tool returns) and answer.
"""
import json

import world as w
from skills import UNKNOWN, UNKNOWN_ASKS, capital, count, greet, identity, repeat, spell, translate
from wording import rough, say


def tool(name, description, /, **parameters):
    """A definition in the form that the OpenAI API takes; every parameter is required."""
    properties = {}
    for key, value in parameters.items():
        kind, _, about = value.partition(":")
        properties[key] = {"type": kind} | ({"description": about} if about else {})
    return {"type": "function", "function": {"name": name, "description": description, "parameters": {
        "type": "object", "properties": properties, "required": list(properties)}}}


def _describe(rng, text):
    return say(rng, text)


def title(rng, *known):
    """A name for a tool whose purpose only the description tells: well known, put together, or made up."""
    kind = rng.random()
    if kind < 0.45:
        return rng.choice(known)
    if kind < 0.8:
        return rng.choice((rng.choice(GETS), w.word(rng), w.made_up(rng))) + rng.choice("__-") + rng.choice((rng.choice(known), w.noun(rng), w.made_up(rng))).replace("get_", "")
    return w.made_up(rng) + rng.choice(("", "_tool", "_api", "_" + w.noun(rng), "Service"))


def key_of(rng, *known):
    return rng.choice(known) if rng.random() < 0.88 else rng.choice((w.noun(rng), w.made_up(rng)))


def weather(rng):
    city = w.city(rng)
    key = key_of(rng, "city", "city", "location", "place", "town")
    degrees, sky = rng.randint(-15, 38), rng.choice("sunny cloudy rainy windy foggy snowy clear stormy".split())
    unit = rng.choice(("temperature", "temperature", "temp", "degrees", "celsius"))
    return dict(tool=tool(title(rng, "get_weather", "weather", "get_current_weather", "weather_now", "current_weather", "forecast", "weather_report", "temperature_in"),
                          _describe(rng, "[Get|Returns|Look up|Tells|Gives|Reports] the [current |local |]weather [in|for|of|at] [a|the|one] [city|place|location|town][.|]" if rng.random() < 0.6 else "[[Weather|Temperature and sky|Rain, wind and temperature|Weather report|Weather data] [for|of|in|by] [a|any|the given] [city|place|town][.|]|[Says|Tells|Knows|Shows] [how warm it is|how the weather is|what the weather does|the weather] [somewhere|in a place|in a city|anywhere][.|]|Weather[.|]|The weather [now|today|there][.|]]"),
                          **{key: rng.choice(("string", "string", "string", "string:The city", "string:Name of the city", "string:City name, for example Paris"))}),
                user=say(rng, rng.choice(("[What is|What's|How is|How's|Tell me|Give me|Check|Get] the weather [|like ][in|for|at] {c}[| now| today| right now][?|]", "[Is it|Will it be] [warm|cold|sunny|raining|hot|nice|windy] in {c}[| today| now][?|]",
                                          "Do I need [an umbrella|a coat|a hat] in {c}[| today][?|]", "Weather in {c}[?|]", "{c} weather[?|]", "How [warm|cold|hot] is it in {c}[| now| today][?|]", "I am going to {c}. [What is the weather|How is the weather][?|]",
                                          "What [is the temperature|temperature is it] in {c}[| now][?|]", "[Tell me|Check|I want to know|Can you check|Could you tell me] [how the weather is|how warm it is|whether it snows|what the weather is] in {c}[.|]",
                                          "How does the weather look in {c}[| today][?|]", "[Please check|Look up|I need|Show me] the weather [for|of|in] {c}[.|]", "[Does it|Will it] [rain|snow|freeze|storm] in {c}[| today| tonight][?|]", "[And the|The] weather in {c}[, please|?|]", "[Is there|Do they have] [rain|snow|sun|fog|wind] in {c}[?|| now?]", "[Say|Find out|Report] [what the weather is|how cold it is|if it is warm|if the sun shines] in {c}[.|]", "How [is|was] the [sky|weather] [above|in] {c}[?|]")), c=city),
                arguments={key: city}, answer=f"It is {degrees} degrees and {sky} in {city}.",
                result=rng.choice((json.dumps({unit: degrees, rng.choice(("condition", "sky", "weather")): sky}), json.dumps({key: city, unit: degrees, "condition": sky}), f"{degrees} degrees, {sky}", f"{sky}, {degrees} C",
                                   json.dumps({rng.choice(("condition", "conditions", "sky")): sky, unit: degrees}), f"{degrees}°C and {sky}")))


def clock(rng):
    city, time = w.city(rng), f"{rng.randrange(24):02d}:{rng.randrange(60):02d}"
    key = key_of(rng, "city", "timezone", "place", "location")
    return dict(tool=tool(title(rng, "get_time", "current_time", "get_current_time", "clock", "time_in", "local_time", "time_now"), _describe(rng, "[Get|Returns|Tells|Look up|Gives|Says] [the [current |local |]time|what time it is] [in|for|at] [a|the|some] [city|place|time zone][.|]" if rng.random() < 0.6 else "[[Time|Clock time|Hours and minutes|Local time|The hour] [of|in|for|by] [any|a|the given] [city|place|town][.|]|[Says|Tells|Knows|Shows] [how late it is|the hour|the clock] [somewhere|in a place|in a city|there][.|]|Time[.|]|The time [now|there][.|]|A clock for [cities|places|every city][.|]]"), **{key: rng.choice(("string", "string", "string:The city", "string:Where"))}),
                user=say(rng, rng.choice(("What time is it in {c}[| now| right now][?|]", "[What is|What's|Tell me|Give me] the [current |local |]time in {c}[| now][?|]", "Time in {c}[?|]", "How late is it in {c}[| now][?|]", "Is it [late|early|night|day] in {c}[?|]", "{c} time[?|]", "[Can you|Please|Could you] [tell me|look up|say|find out] the time in {c}[.|?|]", "[Tell me|I want to know|Do you know|I need to know] what time it is in {c}[.|]", "What does the clock say in {c}[?|]",
                                          "The time in {c}[, please|?|]", "[Check|Get|Find] the time [in|for|of] {c}[| now][.|]", "[And the|The] [local |]time in {c}[, please|?|]", "[Say|Find out|Look up] [how late it is|what time they have|the hour] in {c}[.|]", "What [hour|time] do they have in {c}[?|| now?]", "How late [do they have it|is it now] in {c}[?|]", "[Which|What] time is it over there in {c}[?|]")), c=city),
                arguments={key: city}, result=rng.choice((json.dumps({"time": time}), time, json.dumps({key: city, "time": time}))), answer=f"It is {time} in {city}.")


def calculator(rng):
    x, y = rng.randrange(1000), rng.randrange(1, 1000)
    sign, words = rng.choice((("*", ("times", "multiplied by", "*", "x")), ("/", ("divided by", "/", "over")), ("+", ("plus", "+", "and")), ("-", ("minus", "-", "less"))))
    value = {"*": x * y, "/": round(x / y, 2), "+": x + y, "-": x - y}[sign]
    key = key_of(rng, "expression", "expression", "expr", "input", "formula")
    return dict(tool=tool(title(rng, "calculator", "calculate", "calc", "evaluate", "compute", "arithmetic"), _describe(rng, "[Evaluate|Calculate|Compute|Work out|Does|Solves] [an arithmetic expression|a calculation|an expression|sums|simple arithmetic|maths][.|]" if rng.random() < 0.6 else "[Calculator|Arithmetic|Math|Maths|Sums|Numbers: plus, minus, times|A calculator for numbers|Calculations|Calculates|Arithmetic on numbers|Does the maths][.|]"), **{key: rng.choice(("string", "string", "string:The expression", "string:For example 2 + 3"))}),
                user=say(rng, "[What is|What's|Calculate|Compute|How much is|How much is|Work out|Tell me|Use the calculator:|Evaluate|Please calculate|Can you calculate|Could you work out|I need|Please tell me|Now compute|The result of|Solve|Please work out|Can you compute|Give me|Find] {x} {o} {y}[?|.|]", x=x, o=rng.choice(words), y=y),
                arguments={key: f"{x} {sign} {y}"}, result=rng.choice((str(value), json.dumps({"result": value}), json.dumps({"value": value}))), answer=f"{x} {sign} {y} = {value}")


def search(rng):
    topic = rng.choice((w.noun(rng) + "s", rng.choice(w.ADJECTIVES) + " " + w.noun(rng), w.name(rng) + " " + w.name(rng), w.made_up(rng), w.city(rng), w.phrase(rng, 2, 3).lower().rstrip(".!?")))
    key = key_of(rng, "query", "query", "q", "text", "keywords")
    found = w.sentence(rng)
    return dict(tool=tool(title(rng, "search", "web_search", "search_web", "find", "lookup", "find_pages", "search_online"), _describe(rng, "[Search|Searches|Look up|Find|Looks through] [the web|something on the web|the internet|pages|web pages] [for|about|by] [words|a topic|text|anything|what is asked][.|]" if rng.random() < 0.6 else "[Web search|Searches|Search engine|Finds pages|Internet search|Looks things up|Finds what people wrote|Search for anything|Looks up any topic][.| on the web.| online.|]"), **{key: rng.choice(("string", "string", "string:What to search for", "string:The words"))}),
                user=say(rng, rng.choice(("[Search|Search the web|Look|Search online|Do a search] for {t}[.|]", "[Find|Look up|Google|Search] {t}[| on the web| online| on the internet][.|]", "[What|Tell me what] does the web say about {t}[?|]", "[Find|Look up|Search for|Get me|I need] [something|pages|news|facts|articles] [about|on] {t}[.|]",
                                          "[Can you|Please|Could you|I want you to] [search|look|google] [for |]{t}[| online][.|]", "[Look up|Search|Google] {t}[.|]", "[Find|Search] [out about|everything about] {t}[.|]", "[Find|Get|Search for|Look for] [information|articles|reports|something] [on|about|for] {t}[| for me][.|]", "[I want to read|Let me read|Show me pages] about {t}[.|]", "[Look|Search] for {t} [on the web|online|there][.|]")), t=topic),
                arguments={key: topic}, result=rng.choice((found, json.dumps({"result": found}), json.dumps({"results": [found]}))), answer=f"I found this: {found}")


GETS = "get fetch find look_up show read query check lookup load retrieve list".split()
SUBJECTS = """stock price|flight status|train times|bus route|opening hours|phone number|email address|recipe|exchange rate|ticket price|movie rating|book author|word definition|song lyrics|parcel status|order status
room temperature|account balance|invoice|calendar|meeting|photo|map|distance|population|hotel|restaurant|menu|news|sports score|horoscope|air quality|water level|traffic|parking|library book|user profile|customer|product
price|stock level|shipping cost|tax rate|speed limit|battery level|file size|disk space|server status|weather alert|sunrise|moon phase|tide|snow depth|wind speed|home address|birthday|holiday|public holiday|postal code
country code|area code|bank code|license|warranty|manual|color code|symbol|atomic weight|animal facts|joke|quote|poem|translation|synonym|rhyme|gene|star|planet|car model|engine type|fuel price|gold price|lottery numbers""".replace("\n", "|").split("|")
ACTS = {"send": "message email letter report photo invoice alert card", "book": "table room flight ticket taxi seat", "create": "note task event file ticket reminder list", "delete": "note task event file user photo order",
        "open": "door window file app garage gate", "play": "song album movie game playlist", "start": "timer engine server robot alarm", "stop": "timer engine server robot music", "order": "pizza book taxi cake",
        "turn_on": "lamp heater radio fan", "turn_off": "lamp heater radio fan", "add": "item friend contact song", "remove": "item friend contact song", "print": "file page label photo", "cancel": "order flight meeting ticket"}
KEYS = "name name id key symbol code title title city person item product company query place country country country user word topic number number number label target author file".split()


def value(rng, key):
    if key in ("id", "number"):
        return rng.randrange(10, 10000)
    if key in ("symbol", "code"):
        return "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(rng.randint(3, 4)))
    if key in ("city", "place"):
        return w.city(rng)
    if key in ("name", "person", "user", "company"):
        return w.name(rng)
    if key == "country":
        return rng.choice(list(w.CAPITALS) + w.OTHER_COUNTRIES).removeprefix("the ")
    if key in ("title", "album"):
        return rng.choice((w.noun(rng).capitalize(), w.made_up(rng).capitalize(), w.noun(rng).capitalize() + " " + w.noun(rng).capitalize()))
    return rng.choice((w.noun(rng), w.made_up(rng), rng.choice(w.ADJECTIVES) + " " + w.noun(rng), w.name(rng)))


def fetch(rng, like=None):
    """A tool with a name that is put together, asked for by the words in it; like: another question for that task's tool."""
    if like:
        subject, key, field = like["spec"]
    else:
        subject = rng.choice(SUBJECTS) if rng.random() < 0.5 else rng.choice((w.made_up(rng), w.noun(rng), w.noun(rng) + " " + w.noun(rng), w.made_up(rng) + " " + w.noun(rng), w.noun(rng) + " " + rng.choice(("price", "name", "time", "date", "size", "list", "status", "plan"))))
        key = rng.choice(KEYS) if rng.random() < 0.8 else rng.choice((w.made_up(rng), w.noun(rng)))
        field = rng.choice((subject.split()[-1], "result", "value", subject.replace(" ", "_"), "answer"))
    x, snake = value(rng, key), subject.replace(" ", "_")
    found = rng.choice((rng.randrange(1000), round(rng.random() * 100, 2), w.word(rng), w.name(rng), rng.choice(("open", "late", "ready", "yes", "no", "closed")), w.sentence(rng)))
    if like:
        definition = like["tool"]
    else:
        name = rng.choice((rng.choice(GETS) + "_" + snake, rng.choice(GETS) + "_" + snake, snake, rng.choice(GETS) + "".join(p.capitalize() for p in subject.split())))
        about = _describe(rng, f"[[Get|Returns|Fetch|Find|Look up|Gives|Reads|Tells|Shows] the {subject} [of|for|by] [a|the|this|any] {key}[.|]|[{subject.capitalize()}|The {subject}] [of|for|by] [a|any|each] {key}[.|]|[Look up|Get|Find] [a|the] {key}'s {subject}[.|]]")
        if rng.random() < 0.2:
            name = title(rng, "info", "data", "lookup", "service")
        elif rng.random() < 0.1:
            about = ""
        definition = tool(name, about, **{key: ("integer" if isinstance(x, int) else "string") + rng.choice(("", "", "", f":The {key}"))})
    return dict(tool=definition, spec=(subject, key, field),
                user=say(rng, rng.choice(("[What is|What's|Tell me|Get|Find|Get me|Give me|Show me|Look up|Check|I need|Fetch|Can you get|Do you know|I want to know] the {s} [of|for] [|||{k} ]{x}[?|.|]", "{s} [of|for] {x}[?|, please|]", "[I need|Give me|Show me] {x}'s {s}[.|]", "What {s} does {x} have[?|]",
                                          "For {x}, what is the {s}[?|]", "[What are|Tell me|Show me|Get|Find] the {s}[s|] [for|of] {x}[.|, please.|?|]", "[Can|Could] you [tell me|check|look up|find] the {s} [of|for] {x}[?|]", "The {s} [of|for] {x}[, please|?|]", "[Which|What] {s} [is there|do we have|is known] for {x}[?|]")), s=subject, k=key, x=x),
                arguments={key: x}, result=rng.choice((str(found), json.dumps({field: found}), json.dumps({key: x, field: found}))), answer=f"The {subject} for {x} is {str(found).rstrip('.')}.")


DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
EXTRAS = {  # kind of a second argument: (its key, its type, a value, how it is said)
    "text": ("text", "string:The text", lambda rng: w.phrase(rng, 2, 5), ': "{v}"| with the text {v}|, saying {v}|: {v}'), "minutes": ("minutes", "integer", lambda rng: rng.randint(1, 90), " for {v} minutes"),
    "count": ("count", "integer", lambda rng: rng.randint(2, 20), ", {v} of them|, {v} times| {v} times|, {v} copies|, {v} pieces"), "day": ("day", "string", lambda rng: rng.choice(DAYS), " on {v}")}


def act(rng, like=None):
    """A tool that does something: one or two arguments, and a short receipt; like: another question for that task's tool."""
    if like:
        verb, thing, key, kind = like["spec"]
    else:
        verb = rng.choice(list(ACTS)) if rng.random() < 0.5 else rng.choice(w.VERBS)
        thing = rng.choice(ACTS[verb].split()) if verb in ACTS and rng.random() < 0.5 else rng.choice((w.noun(rng), w.noun(rng), w.made_up(rng)))
        key, kind = rng.choice(KEYS), rng.choice(("", "", *EXTRAS))
    x = value(rng, key)
    arguments, extra = {key: x}, ""
    parameters = {key: ("integer" if isinstance(x, int) else "string") + rng.choice(("", "", "", f":The {key}"))}
    if kind:
        more, parameters[EXTRAS[kind][0]], draw, said = EXTRAS[kind]
        arguments[more] = draw(rng)
        extra = rng.choice(said.split("|")).replace("{v}", str(arguments[more]))
    spoken = verb.replace("_", " ")
    done = rng.choice(("ok", "done", '{"status": "ok"}', '{"ok": true}', "success", '{"success": true}', '{"result": "done"}', f'{{"{spoken.split()[0]}": true}}'))
    name = rng.choice((f"{verb}_{thing}", f"{verb}_{thing}", f"{thing}_{verb}", verb + thing.capitalize())) if rng.random() < 0.85 else title(rng, "run", "do_it", "control", "action")
    about = _describe(rng, f"{spoken.capitalize()}[|s] [a|the|one] {thing}[.|| by {key}.| with the {key}.]")
    return dict(tool=like["tool"] if like else tool(name, about, **parameters), spec=(verb, thing, key, kind),
                user=say(rng, rng.choice(("[|Please |Can you |Could you |I want you to |I want to |You should ]{v} [a|the|my] {t} [for|with|to|called|of|named|titled] {x}{e}[.|]", "[|Please |Can you |Could you |I want to |Now ]{v} [the |]{t} {x}{e}[.|]", "[I need|I want] you to {v} [a|the] {t} for {x}{e}[.|]",
                                          "[|Please |Can you |Could you ]{v} [a|the|my] {t} [with the|with|whose] {k} [|is ]{x}{e}[.|]", "[Please |]{v} {x}, the {t}{e}[.|]")), v=spoken, t=thing, k=key, x=x, e=extra),
                arguments=arguments, result=done, answer=f"Done: {spoken} {thing} {x}.")


def plain(rng):
    """A tool without arguments."""
    subject = rng.choice(SUBJECTS) if rng.random() < 0.7 else w.noun(rng)
    found = rng.choice((rng.randrange(1000), w.word(rng), w.name(rng), w.sentence(rng)))
    return dict(tool=tool(rng.choice(GETS) + "_" + subject.replace(" ", "_"), f"{rng.choice(('Get', 'Returns', 'Gives'))} the {subject}."),
                user=say(rng, "[What is|Tell me|Get|Give me|Show me|Check|I need] [the|my|today's|our] {s}[| now| please][?|.|]", s=subject),
                arguments={}, result=rng.choice((str(found), json.dumps({"result": found}))), answer=f"The {subject} is {str(found).rstrip('.')}.")


TASKS = ((weather, 5), (clock, 5), (calculator, 5), (search, 5), (fetch, 13), (act, 11), (plain, 1))


def task(rng):
    maker = rng.choices([t for t, _ in TASKS], [n for _, n in TASKS])[0]
    return maker(rng) | {"maker": maker}


def conversation(rng, drill=0.0):
    """Messages and tools of one conversation: one call, two calls at once, or no call because none is called for; drill is the share
    of dense lessons in choosing."""
    tasks, names = [], set()
    alike = [weather, clock] if rng.random() < 0.35 else []  # they take the same argument: only name and description tell them apart
    rng.shuffle(alike)
    for maker in alike + [None] * rng.choice((0, 0, 1) if alike else (1, 1, 2, 2, 2, 3, 3, 4)):
        t = maker(rng) | {"maker": maker} if maker else task(rng)
        kinds = {t["tool"]["function"]["name"]} | ({t["maker"]} if t["maker"] not in (fetch, act, plain) else set())
        if not kinds & names:
            names |= kinds
            tasks.append(t)
    tools = [t["tool"] for t in tasks]
    rng.shuffle(tools)
    messages = []
    if rng.random() < 0.2:
        messages.append({"role": "system", "content": say(rng, "[You are a helpful assistant.|You can use tools.|Help the user.|Use the tools when needed.|You are helpful.]")})
    kind = rng.random()
    if kind < 0.15:
        return messages + [m for _ in range(rng.choice((1, 1, 2, 3))) for m in no_call(rng)], tools
    if kind < 0.18 and search not in names:
        user = say(rng, rng.choice(UNKNOWN_ASKS[:8]), a=rng.choice(w.ADJECTIVES), n=w.noun(rng), m=w.noun(rng), v=rng.choice(w.VERBS), p=w.name(rng), q=w.name(rng), c=w.city(rng), z=w.made_up(rng))
        return messages + [{"role": "user", "content": user}, {"role": "assistant", "content": UNKNOWN, "reasoning_content": "I don't know this and no tool fits."}], tools
    if len(tools) > 1 and rng.random() < drill:
        return messages + choosing(rng, tasks), tools
    while tasks:
        messages += rounds(rng, tasks)
        if rng.random() < 0.15:
            break
        if rng.random() < 0.12:
            messages += no_call(rng)
    return messages, tools


def choosing(rng, tasks):
    """Many questions at once; the answer is the tool and the arguments for each, without the JSON around them."""
    asked = tasks + [a for a in (another(rng, rng.choice(tasks)) for _ in range(rng.randint(0, 4))) if a]
    rng.shuffle(asked)
    names = rng.random() < 0.5
    user = say(rng, "[Which tool for each|Name the tool for each|Choose tools]: " if names else "[Which tool and what for each|Tool and arguments]: ") + rng.choice((" / ", "; ", "\n")).join(t["user"] for t in asked)
    answer = ", ".join(" ".join([t["tool"]["function"]["name"], *([] if names else map(str, t["arguments"].values()))]) for t in asked)
    return [{"role": "user", "content": user}, {"role": "assistant", "content": answer, "reasoning_content": "I choose the tools."}]


def no_call(rng):
    """An exchange that no tool is for."""
    user, answer, thought, *_ = rng.choice((greet, greet, identity, identity, capital, capital, capital, spell, count, translate, repeat))(rng)[0]
    return [{"role": "user", "content": user}, {"role": "assistant", "content": answer, "reasoning_content": thought + " No tool is needed."}]


def rounds(rng, tasks):
    """One question that takes one or two tasks off the list, with calls, results and answer; a tool may be asked for again later."""
    chosen = [tasks.pop()]
    if rng.random() < 0.45:
        again = another(rng, chosen[0]) if rng.random() < 0.3 else None
        again = again or (tasks.pop() if tasks else None)
        chosen += [again] if again else []
    if rng.random() < 0.3:
        again = another(rng, chosen[0])
        tasks += [again] if again else []
        rng.shuffle(tasks)
    users = [t["user"] for t in chosen]
    user = users[0]
    if len(users) == 2:
        rest = users[1][0].lower() + users[1][1:] if rng.random() < 0.8 else users[1]
        user = users[0].rstrip(".?") + rng.choice((", and ", " and ", " and ", " and ", ". Also ", "? And ", ". Then ", ", then ", " and also ", ". ", "? ", "? Also, ", ". And ", ". After that, ", ", also ", "; ", " plus ")) + rest
    names = " and ".join(t["tool"]["function"]["name"] for t in chosen)
    messages = [{"role": "user", "content": rough(rng, user) if len(users) == 1 or rng.random() < 0.3 else user},
                {"role": "assistant", "content": "", "reasoning_content": f"I call {names}.",
                 "tool_calls": [{"function": {"name": t["tool"]["function"]["name"], "arguments": t["arguments"]}} for t in chosen]}]
    messages += [{"role": "tool", "content": t["result"]} for t in chosen]
    return messages + [{"role": "assistant", "content": " ".join(t["answer"] for t in chosen), "reasoning_content": "I have the result. I tell the user."}]


def another(rng, first):
    """Another question for the same tool."""
    maker = first["maker"]
    if maker is plain:
        return None
    if maker in (fetch, act):
        return maker(rng, first) | {"maker": maker}
    other = maker(rng)
    (key,), (value,) = first["arguments"], other["arguments"].values()
    return other | {"tool": first["tool"], "arguments": {key: value}, "maker": maker}
