# SPDX-License-Identifier: Apache-2.0
"""What the training data talks about: facts, names and words. No logic beyond made-up words."""

CAPITALS = dict(pair.split(":") for pair in """
France:Paris|Germany:Berlin|Italy:Rome|Spain:Madrid|Portugal:Lisbon|Finland:Helsinki|Sweden:Stockholm|Norway:Oslo
Denmark:Copenhagen|Iceland:Reykjavik|Ireland:Dublin|England:London|Scotland:Edinburgh|Belgium:Brussels
the Netherlands:Amsterdam|Switzerland:Bern|Austria:Vienna|Poland:Warsaw|Hungary:Budapest|Greece:Athens
Romania:Bucharest|Bulgaria:Sofia|Croatia:Zagreb|Serbia:Belgrade|Slovakia:Bratislava|Slovenia:Ljubljana
Estonia:Tallinn|Latvia:Riga|Lithuania:Vilnius|Ukraine:Kyiv|Russia:Moscow|Turkey:Ankara|Egypt:Cairo|Morocco:Rabat
Kenya:Nairobi|Ethiopia:Addis Ababa|Ghana:Accra|Nigeria:Abuja|Senegal:Dakar|Tunisia:Tunis|India:New Delhi
China:Beijing|Japan:Tokyo|South Korea:Seoul|Thailand:Bangkok|Vietnam:Hanoi|Indonesia:Jakarta|Nepal:Kathmandu
Iran:Tehran|Iraq:Baghdad|Canada:Ottawa|Mexico:Mexico City|Cuba:Havana|Brazil:Brasilia|Argentina:Buenos Aires
Chile:Santiago|Peru:Lima|Colombia:Bogota|Australia:Canberra|New Zealand:Wellington
""".strip().replace("\n", "|").split("|"))

# Places that are real and not among the sixty: the right answer is "I don't know".
OTHER_COUNTRIES = """Zambia Mali Laos Oman Qatar Yemen Jordan Panama Bolivia Uruguay Paraguay Haiti Jamaica Malta
Cyprus Albania Moldova Georgia Armenia Mongolia Bhutan Chad Niger Sudan Angola Namibia Botswana Rwanda Uganda Fiji
Texas Bavaria Ohio Andorra Monaco Syria Kuwait Libya Togo Gabon""".split()

FIRST_NAMES = """Anna Ben Clara David Emma Felix Grace Henry Ida Jack Kate Leo Maria Noah Olga Paul Rosa Sam Tina Uma
Victor Wendy Yara Zoe Alice Bruno Carla Dora Erik Fiona Gustav Helen Ivan Julia Karl Laura Martin Nina Oscar Petra
Quinn Robert Sara Thomas Ulla Vera Walter Amir Bella Cecil Diana Elias Frida George Hugo Irene Jonas Kira Lukas Mona
Nora Otto Pavel Rita Simon Tara Viktor Anton Berta Chloe Daniel Eva Frank Gina Hanna Isaac Jenny Kevin Lily Max Nick
Olive Peter Rachel Steve Tom Vince Will Adam Amy Andy Angela Arthur Ashley Barbara Bob Brian Carol Charles Chris Dan
Dennis Donna Ed Ellen Eric Frances Fred Gary Gloria Greg Harry Jane Janet Jason Jeff Jim Joan Joe John Joyce Judy Ken
Larry Linda Lisa Louis Luke Lynn Mark Mary Matt Mike Nancy Neil Pam Pat Phil Ralph Ray Rick Roger Ron Rose Roy Ruth
Sally Sandra Scott Sean Sharon Sophie Stella Sue Susan Ted Terry Tim Tony Wayne Mehmet Ayse Yuki Hiro Ravi Priya Li
Chen Omar Layla Kofi Ama Juan Pedro Luis Carmen Jose Ines Joao Aino Matti Elina Ville Sven Astrid Lars Ingrid Piotr""".split()

CITIES = sorted(set(CAPITALS.values())) + """Munich Hamburg Cologne Lyon Nice Milan Turin Naples Porto Seville Valencia
Turku Oulu Bergen Aarhus Cork Leeds Bristol Boston Chicago Dallas Denver Seattle Austin Miami Phoenix Toronto Montreal
Osaka Kyoto Mumbai Shanghai Sydney Perth Lagos Casablanca Geneva Zurich Basel Graz Krakow Gdansk Odessa""".replace("\n", " ").split()

COLORS = "red blue green yellow purple orange black white pink brown grey silver gold".split()
ANIMALS = """cat dog fox bear wolf horse cow sheep goat pig duck hen owl crow mouse rat frog snake fish whale shark seal
bee ant spider lion tiger zebra camel monkey rabbit hare deer moose beaver badger otter hedgehog turtle parrot penguin
eagle swan donkey lizard snail butterfly dragon kitten puppy""".split()
FOODS = """bread butter cheese apple pear plum cherry grape lemon melon banana carrot potato tomato onion soup rice pasta
pizza cake pie cookie honey sugar salt pepper egg milk tea coffee juice water sandwich salad bean corn nut""".split()
THINGS = """house door window table chair bed lamp clock book pen paper letter key box bag cup plate spoon knife bottle
car bus train boat ship plane bike wheel engine road bridge river lake sea island mountain hill forest tree leaf flower
garden field farm stone rock sand snow rain wind cloud star moon sun sky fire ice music song drum guitar piano game ball
doll kite toy school teacher student doctor nurse baker farmer king queen robot computer phone camera screen button map
coat hat shoe shirt glove ring coin money market shop street town castle tower church museum library hospital kitchen
mirror rope ladder hammer nail saw brush paint picture story poem dream idea friend child mother father brother sister
baby wizard pirate ghost knight princess giant sailor painter singer rocket planet lighthouse treasure basket blanket
candle umbrella pencil violin trumpet bakery village harbour valley desert cave beach wave storm shadow""".split()
ADJECTIVES = """small big old young new happy sad brave shy quick slow warm cold bright dark quiet loud kind clever funny
strange soft hard heavy light tall short long round empty full clean wet dry sweet lazy busy gentle hungry tired proud
lonely curious golden tiny""".split()
VERBS = """find open close build break fix paint read write sing dance run walk jump swim fly climb eat drink cook bake
buy sell give take bring carry push pull hold throw catch kick wash clean cut draw count measure plant grow teach learn
help ask answer call meet visit follow lead win lose start stop wait watch hear smell taste touch sleep wake dream
laugh cry smile remember forget choose change move turn travel send receive print copy install delete repair""".split()
ADVERBS = "today tomorrow now later slowly quickly together alone again always never often outside inside".split()

PHRASES = {  # English: French, German, Spanish
    "good morning": ("bonjour", "guten Morgen", "buenos días"),
    "good night": ("bonne nuit", "gute Nacht", "buenas noches"),
    "goodbye": ("au revoir", "auf Wiedersehen", "adiós"),
    "thank you": ("merci", "danke", "gracias"),
    "please": ("s'il vous plaît", "bitte", "por favor"),
    "yes": ("oui", "ja", "sí"),
    "no": ("non", "nein", "no"),
    "how are you": ("comment allez-vous", "wie geht es Ihnen", "cómo está usted"),
    "I love you": ("je t'aime", "ich liebe dich", "te quiero"),
    "see you tomorrow": ("à demain", "bis morgen", "hasta mañana"),
    "I am hungry": ("j'ai faim", "ich habe Hunger", "tengo hambre"),
    "where is the station": ("où est la gare", "wo ist der Bahnhof", "dónde está la estación"),
    "a coffee, please": ("un café, s'il vous plaît", "einen Kaffee, bitte", "un café, por favor"),
    "excuse me": ("excusez-moi", "Entschuldigung", "disculpe"),
}
LANGUAGES = ("French", "German", "Spanish")

FOREIGN = """Bonjour, comment ça va aujourd'hui ?|Quelle est la capitale de la France ?|Je voudrais un verre d'eau.
Peux-tu m'aider avec mes devoirs ?|Il fait très beau ce matin.|Je ne comprends pas cette phrase.|Raconte-moi une histoire.
Guten Tag, wie heißt du?|Was ist die Hauptstadt von Deutschland?|Ich möchte ein Brot kaufen.|Kannst du mir helfen?
Das Wetter ist heute schön.|Wie viel kostet das?|Erzähl mir bitte etwas über dich.|Wo wohnst du?|Ich habe eine Frage.
Hola, ¿cómo estás?|¿Cuál es la capital de España?|Quiero comprar una manzana.|¿Puedes ayudarme, por favor?|No entiendo nada.
Hoy hace mucho calor.|¿Dónde está la biblioteca?|Cuéntame algo interesante.|Me llamo Pedro y vivo en Sevilla.
Ciao, come stai?|Qual è la capitale d'Italia?|Vorrei un gelato al limone.|Mi puoi aiutare?|Che ore sono adesso?
Olá, tudo bem?|Qual é a capital de Portugal?|Eu gosto de música.|Onde fica a praia?|Você fala português?
Hei, mitä kuuluu?|Mikä on Suomen pääkaupunki?|Haluaisin kupin kahvia.|Missä on rautatieasema?|En ymmärrä sinua.|Puhutko suomea?
Hej, hur mår du?|Vad är klockan?|Jag vill köpa ett äpple.|Kan du hjälpa mig?|Hvor bor du?|Jeg forstår ikke.
Hallo, hoe gaat het met je?|Wat is de hoofdstad van Nederland?|Ik wil graag een kopje thee.|Dzień dobry, jak się masz?
Nie rozumiem tego pytania.|Merhaba, nasılsın?|Türkiye'nin başkenti neresi?|Привет, как дела?|Какая столица России?
Я хочу пить.|你好，你是谁？|今天天气怎么样？|こんにちは、元気ですか？|あなたの名前は何ですか？|안녕하세요, 반갑습니다.|مرحبا كيف حالك
Où est-ce que tu habites ?|J'aime les pommes et le fromage.|Nous allons au marché demain.|Qui es-tu ?|Mon chat est noir.|Combien coûte ce livre ?|C'est une bonne idée.|Donne-moi la réponse.|Elle travaille à Lyon.
Wer bist du?|Mein Bruder hat einen Hund.|Wir fahren morgen nach Berlin.|Der Kaffee ist zu heiß.|Was machst du gerne?|Das Buch liegt auf dem Tisch.|Sag mir die Uhrzeit.|Sie arbeitet in einer Schule.|Kannst du bis zehn zählen?
¿Quién eres?|Mi casa está cerca del río.|Vamos a la playa mañana.|El libro es muy interesante.|¿Cuánto cuesta el pan?|Tengo dos hijos y un gato.|Necesito tu ayuda.|Ella vive en Valencia.|¿Qué tiempo hace?
Chi sei?|Mio fratello ha un cane nero.|Domani andiamo al mare.|Il treno è in ritardo.|Quanto costa questo?|Mi piace il caffè.|Non capisco la domanda.|Abito vicino alla stazione.|Che tempo fa oggi?|Vorrei mangiare una pizza.
Quem é você?|Meu irmão tem um carro.|Eu moro em Lisboa.|Quanto custa o livro?|Não entendo a pergunta.|Preciso de ajuda.|Kuka sinä olet?|Minulla on koira ja kissa.|Mitä kello on?|Huomenna sataa lunta.|Haluan oppia laulamaan.|Se on hyvä ajatus.
Vem är du?|Jag bor i Stockholm.|Det regnar i dag.|Var ligger stationen?|Hva heter du?|Jeg liker kaffe og brød.|Hvad koster det?|Min bror har en hund.|Wie ben je?|Ik woon in Utrecht.|Het regent vandaag.|Mijn fiets is kapot.|Wat kost dit boek?|Waar is het station?|Dat is een goed idee.
Kim jesteś?|Mam dwa koty i psa.|Ile to kosztuje?|Jutro jedziemy do Krakowa.|Sen kimsin?|Benim bir kedim var.|Bu kitap ne kadar?|Yarın denize gidiyoruz.|Кто ты?|У меня есть кошка.|Где находится вокзал?|Сегодня холодно.|Сколько это стоит?
我不明白。|我想喝咖啡。|这本书多少钱？|我住在上海。|これはいくらですか？|わかりません。|私は猫が好きです。|駅はどこですか？|저는 학생입니다.|이것은 얼마예요?|이름이 뭐예요?|Ποιος είσαι;|Δεν καταλαβαίνω.|Τι κάνεις σήμερα;|Jak se jmenuješ?|Kde je nádraží?|Hol van az állomás?|Nem értem.|Unde este gara?|Nu înțeleg.|أين المحطة؟""".replace("\n", "|").split("|")

_ON = "b br c ch d dr f fl g gr h j k kl l m n p pl qu r s sh sk st t th tr v w z".split()
_MID = "a e i o u ai ea ee oo ou ia".split()
_END = "n m r s t l k d x ck nd rt st ng".split() + [""] * 6


PIECES = []  # the tokenizer's own letter pieces, set once it exists: every piece must be copied and spelled now and then


def made_up(rng, syllables=None):
    """A word that nobody has seen, so that copying can't be replaced by remembering."""
    if PIECES and rng.random() < 0.4:
        return "".join(rng.choice(PIECES) for _ in range(rng.choice((1, 2, 2, 3)))).lower()
    n = syllables or rng.choice((1, 2, 2, 2, 3))
    return "".join(rng.choice(_ON) + rng.choice(_MID) + (rng.choice(_END) if i == n - 1 or rng.random() < 0.25 else "")
                   for i in range(n))


def name(rng):
    if rng.random() < 0.5:
        return rng.choice(FIRST_NAMES)
    return made_up(rng).capitalize()


def city(rng):
    if rng.random() < 0.6:
        return rng.choice(CITIES)
    return made_up(rng).capitalize() + rng.choice(("", "", "", "ville", "burg", "ton", " City"))


def noun(rng):
    return rng.choice(rng.choice((ANIMALS, FOODS, THINGS, THINGS)))


def word(rng):
    pool = rng.choice((ANIMALS, FOODS, THINGS, ADJECTIVES, VERBS, COLORS, None, None))
    return made_up(rng) if pool is None else rng.choice(pool)


def a(thing):
    return ("an " if thing[0].lower() in "aeiou" else "a ") + thing


def phrase(rng, low=2, high=8):
    """Words that make no sense together, now and then with capitals, numbers and marks: food for copying."""
    words = [word(rng) if rng.random() < 0.8 else rng.choice((name(rng), str(rng.randrange(1000)), rng.choice(ADVERBS)))
             for _ in range(rng.randint(low, high))]
    text = " ".join(words)
    return text[0].upper() + text[1:] + rng.choice((".", "!", "?")) if rng.random() < 0.5 else text


def sentence(rng):
    subject = rng.choice((f"the {rng.choice(ADJECTIVES)} {noun(rng)}", f"my {noun(rng)}", name(rng), f"a {noun(rng)}"))
    text = f"{subject} {rng.choice(('likes', 'sees', 'has', 'wants', 'needs', 'finds'))} {a(noun(rng))} {rng.choice(ADVERBS)}"
    return text[0].upper() + text[1:] + "."
