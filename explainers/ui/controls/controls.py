"""Every choice that a reader can make, in the order of the pages; each key is its name in the URL.

`assets/text/en/controls.md` has the words that explain a choice, by its key."""

import streamlit as st

from explainers.messages import N_
from explainers.toys.sentence import MAX_TOKENS, SENTENCE
from explainers.ui.controls.control import Control
from explainers.ui.controls.name_controls import (
    FULL,
    Choice,
    MaskDrawing,
    ModelName,
    MultiChoice,
    NameList,
    SentenceText,
    TextLine,
)
from explainers.ui.controls.number_controls import (
    BrowserSlider,
    Counter,
    RestrictedSlider,
    StepSlider,
    Switch,
    TourMode,
    TypedNumber,
    WholeNumber,
)
from explainers.ui.session import EXERCISES_COUNTED, GUESS, PRESET, SIZE, TYPED, visitor

# On every page
sentence = SentenceText("text", N_("Sentence"), SENTENCE)
_WEIGHTS = N_("trained"), N_("untrained")
weights = Choice(
    "weights", N_("Weights"), "trained", _WEIGHTS, old_names=(("random", "untrained"),)
)
_READERS = N_("small head"), N_("real model")
reader = Choice("reader", N_("Read by"), "small head", _READERS)
_MARKS = N_("shown"), N_("hidden")
model_marks = Choice("marks", N_("[CLS] and [SEP]"), "shown", _MARKS)
seed = WholeNumber("seed", N_("Seed of the random numbers"), 0, 0, 99)
queries = Choice("queries", N_("Queries run"), N_("down"), (N_("down"), N_("across")))
predict_first = Switch("predict", N_("Study mode"), True)
lecture_mode = Switch("lecture", N_("Lecture mode"), False)
tour_mode = TourMode("tour", N_("10-minute tour"), False)

# A number of a picture, and what is shown of the computation

# Attention in one picture
batches = Control("batches", N_("Batches learned"), 3000)

# Tokens and positions
_POWERS, _BASES = (4, 8, 16, 32, 64, 128), (10, 100, 1000, 10_000, 100_000)
token_unit = Control("unit", N_("Cut into"), N_("byte pairs"))
tokenizer = Control("tokenizer", N_("Model"), None)
merges = Control("merges", N_("Merges learned"), 250)
positions_added = Switch("positions", N_("Add the positions"), False)
d_model = StepSlider("d_model", N_("d_model: numbers per token"), 8, _POWERS)
wave_base = BrowserSlider("longest", N_("Base of the waves"), 10_000, _BASES)
clock_position = BrowserSlider("clock", N_("Position"), 5, tuple(range(64)))

# Query, key, value
head_dim = RestrictedSlider("d_k", N_("d_k: numbers per query and key"), 4, 2, 128)
value_dim = WholeNumber("d_v", N_("d_v: numbers per value"), 4, 2, 128)
projection = Choice("projection", N_("Show how to compute"), "Q", ("Q", "K", "V"))

# Scores, softmax, output
_STEPS = N_("products"), N_("scores"), N_("weights"), N_("output")
step = Choice("step", N_("Step"), "products", _STEPS)
divided_by = Control("divided_by", N_("Temperature"), 2)
root_head_dim = BrowserSlider("root_d_k", "d_k", 1024, tuple(2**power for power in range(2, 11)))

# Masks; the table of masks adds the numbers that some of them have
mask = Choice("mask", N_("Mask"), N_("full"))
mask_of_picture = Control("rule", N_("Mask"), N_("causal"))
drawn_cells = MaskDrawing("cells", N_("Your mask"), FULL)
reach_window = Choice("reach_window", N_("Window of every layer"), "3", ("1", "2", "3", "4", "5"))
layers = BrowserSlider("layers", N_("Layers stacked"), 3, tuple(range(1, 9)))

# Many heads
num_heads = Choice("heads", N_("Query heads"), "4", ("1", "2", "4", "8"))
followed_word = Counter("word", N_("Word to follow"), 2)
switched_off_heads = MultiChoice("off", N_("Heads switched off"), ())

# Relative positions
shift = Control("shift", N_("Move both words by"), 0)
apart = Control("apart", N_("Move one word by"), 0)
asked_word = Control("asked", N_("Word whose key is used, from 0"), None)
_SPEEDS = N_("as trained"), N_("position interpolation"), N_("NTK-aware"), N_("YaRN")
pair_speeds = Choice("speeds", N_("Speeds of the pairs"), "as trained", _SPEEDS)

# Shared keys and values
num_kv_heads = Choice("kv_heads", N_("KV heads"), "2", ("1", "2", "4", "8"))
latent_dim = BrowserSlider("latent", N_("r: numbers in a word's latent"), 16, (4, 8, 16, 32, 64))
row_width = StepSlider("row_width", N_("m: words in a row"), 3, (2, 3, 4))

# KV cache
COUNTS = tuple(range(1, MAX_TOKENS + 1))
word_count = BrowserSlider("words_read", N_("Words read"), MAX_TOKENS, COUNTS)
cache_layer = Control("cache_layer", N_("Layer"), "1")
cache_mask = Control("cache_mask", N_("Mask"), "causal")
sinks = Choice("sinks", N_("Sinks"), "1", ("0", "1", "2", "4"))

# Cache memory
OWN, CONFIG = N_("my own numbers"), N_("a config.json")
LENGTHS = (
    *(1, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 128_000, 131_072),
    *(200_000, 262_144, 524_288, 1_000_000, 1_048_576),
)
model = NameList("model", N_("Model (type to search)"), "llama-3.1-8b", width=220)
tokens = TypedNumber("tokens", N_("Tokens"), "131,072", LENGTHS, 10**9)
texts = TypedNumber("texts", N_("Texts at once"), "1", tuple(2**n for n in range(11)), 10**6)
cache_dtype = NameList("cache_dtype", N_("Cache in"), "bfloat16", width=150)
encoder_tokens = Counter("source", N_("Tokens the encoder read"), 1500)
own_kind = Choice(
    "own_kind", N_("Its layers keep"), N_("heads"), (N_("heads"), N_("a latent (MLA)"))
)
own_layers = Counter("own_layers", N_("Layers"), 32)
own_local = Counter("own_local", N_("… with a window"), 0)
own_window = Counter("own_window", N_("Window (tokens)"), 4096)
own_heads = Counter("own_heads", N_("Query heads"), 32)
own_kv_heads = Counter("own_kv_heads", N_("KV heads"), 8)
own_head_dim = Counter("own_head_dim", N_("head_dim (d_k)"), 128)
own_latent = Counter("own_latent", N_("Latent dim"), 512)
own_rope = Counter("own_rope", N_("Rotary dim"), 64)
parameters = Counter("parameters", N_("Million parameters"), 0)
gpu = NameList("gpu", N_("GPU"), "h100", width=150)
gpus = Choice("gpus", N_("How many GPUs"), "1", ("1", "2", "4", "8", "16"))
weight_dtype = NameList("weight_dtype", N_("Weights in"), N_("as published"), width=170)
usable_percent = Counter("percent", N_("% of memory usable"), 90)
overhead_gib = Counter("overhead", N_("Overhead, GiB; 0: estimate"), 0)
gpu_split = NameList("split", N_("GPUs divide"), N_("heads"), width=130)
compared_models = MultiChoice(
    "compared",
    N_("Up to six models"),
    ["llama-2-7b", "llama-3.1-8b", "gemma-3-27b", "gpt-oss-20b", "deepseek-v3"],
    6,
)

flags_engine = Choice(
    "flags_for", N_("Flags for"), "vLLM", ("vLLM", "SGLang", "llama.cpp", "transformers")
)

# Long sequences
reading_word = Counter("row_word", N_("Word whose row is read"), 6)
kv_block = Choice("kv_block", N_("Keys per block"), "2", ("1", "2", "3", "4"))
block_count = BrowserSlider("read", N_("Blocks read"), 3, COUNTS)
sequence_length = Control("length", N_("Tokens n"), 131_072)
tile_mask = Choice("tile_mask", N_("Mask of the tiles"), N_("full"))
tile_rows = Choice("tile_rows", N_("Queries per tile"), "2", ("2", "3", "4", "6"))
tile_columns = Choice("tile_columns", N_("Keys per tile"), "3", ("2", "3", "4", "6"))
tile_count = BrowserSlider("tile", N_("Tiles read"), 4, tuple(range(1, 37)))

# A memory that does not grow
RULE_NAMES = N_("sum"), N_("overwrite"), N_("overwrite and fade"), N_("attention")
"""The rules by which a layer remembers, in the order in which models know them."""
_KEYS = N_("all different"), N_("come again")
memory_rule = Control("writing", N_("Written by"), "overwrite")
memory_keys = Control("keys", N_("Key directions"), "random")
pairs_written = Control("pairs", N_("Pairs written"), 12)
memory_question = Control("question", N_("Word that is asked for, from 0"), 2)
trained_rule = Choice("trained_rule", N_("Layer"), RULE_NAMES[1], RULE_NAMES)
trained_keys = Choice("trained_keys", N_("Keys of a text"), _KEYS[0], _KEYS)

# Cross-attention
MEAN = N_("mean")
PREDICTS, READS = N_("predicts"), N_("reads")
cross_layer = Choice("cross_layer", N_("Decoder layer"), "2", ("1", "2"))
cross_head = Choice("cross_head", N_("Head"), MEAN, (MEAN, "0", "1", "2", "3"))
cross_rows = Choice(
    "cross_rows", N_("A row belongs to the syllable that it"), PREDICTS, (PREDICTS, READS)
)
cross_view = Choice("cross_view", N_("Show as"), N_("lines"), (N_("lines"), N_("table")))
followed_syllable = Counter("syllable", N_("Syllable, from 0"), None)
gold_rings = Switch("gold", N_("Show the correct words"), True)
written_syllables = BrowserSlider("written", N_("Syllables written"), 48, tuple(range(1, 49)))
translator = TextLine("translator", N_("Model"), "Helsinki-NLP/opus-mt-en-vi", 300)
translator_layer = NameList("translator_layer", N_("Its decoder layer"), None)

# Real models
SMALLEST = "HuggingFaceTB/SmolLM2-135M-Instruct"
real_model = ModelName("real_model", N_("Real model"), SMALLEST)
model_layer = Counter("model_layer", N_("Layer, from 0"), 1)
model_head = Counter("model_head", N_("Head, from 0"), 2)
queried_token = Counter("token", N_("Token whose attention is shown, from 0"), None)
dim_first_token = Switch("dim_first", N_("Dim the first token"), False)
started = Control("started", N_("Experiment that was started"), None)
whole_words = Switch("as_words", N_("Merge tokens into words"), False)

# Head gallery
TWICE, PROSE = N_("random tokens, twice"), N_("prose")
probe_text = Choice("probe", N_("Probe text"), TWICE, (TWICE, PROSE))
head_score = NameList("head_score", N_("Score"), None, width=280)
head_name = Choice("head_name", N_("Heads with this name"), N_("all heads"))

# What if
UNSCALED, CHANGED_TEMPERATURE, NARROW_WINDOW = N_("no √d_k"), N_("temperature"), N_("window")
NOT_CAUSAL, FIRST_HIDDEN = N_("no causal mask"), N_("first token hidden")
HEADS_OFF, FEWER_KV_HEADS = N_("heads off"), N_("fewer KV heads")
UNIFORM_WEIGHTS, HARD, QUANTISED = N_("uniform"), N_("argmax"), N_("few bits")
CHANGES = (
    *(UNSCALED, CHANGED_TEMPERATURE, NARROW_WINDOW, NOT_CAUSAL, FIRST_HIDDEN),
    *(HEADS_OFF, FEWER_KV_HEADS, UNIFORM_WEIGHTS, HARD, QUANTISED),
)
ALL_LAYERS, FIRST_HALF = N_("all"), N_("first half")
SECOND_HALF, ONE_LAYER = N_("second half"), N_("one")
BY_NAME, BY_ROLE, AT_RANDOM = N_("named"), N_("by role"), N_("drawn at random")
CAPITALS = (
    "The capital of France is Paris. The capital of Italy is Rome. The capital of Spain is Madrid. "
    "The capital of Japan is"
)
prompt = TextLine("what_text", N_("Text for the model"), CAPITALS, 2000)
what_if = Choice("what_if", N_("Change"), NARROW_WINDOW)
changes = MultiChoice("changes", N_("Changes"), (FIRST_HIDDEN,))
changed_temperature = StepSlider(
    "what_temperature", N_("Temperature"), 4, (0.125, 0.25, 0.5, 1, 2, 4, 8, 16)
)
changed_window = WholeNumber(
    "what_window", N_("Tokens that each token sees, itself included"), 4, 1, 64
)
kept_sinks = Choice("what_sinks", N_("First tokens kept in sight"), "0", ("0", "1", "2", "4"))
heads_off_by = Choice("heads_by", N_("Heads that are off"), BY_NAME, (BY_NAME, BY_ROLE, AT_RANDOM))
heads_off = MultiChoice(
    "heads_off", N_("Their names: L for the layer, H for the head"), ("L0.H0",), 40
)
heads_off_role = NameList("heads_role", N_("Role"), None, width=200)
heads_off_count = Counter("heads_drawn", N_("How many"), 8)
kept_kv_heads = NameList("what_kv_heads", N_("KV heads left"), None)
cache_bits = Choice("what_bits", N_("Bits of each stored number"), "4", ("8", "4", "3", "2"))
changed_layers = Choice(
    "what_layers", N_("Layers"), ALL_LAYERS, (ALL_LAYERS, FIRST_HALF, SECOND_HALF, ONE_LAYER)
)
changed_layer = Counter("what_layer", N_("Layer, from 0"), 0)

# Why did it look there?
CENTRED, RAW = N_("compared"), N_("raw")
NO_SOURCE, FIRST_SOURCE, KEY_THREE, QUERY_THREE = "nothing", "first", "three", "query_three"
EXAMPLES, OWN_TEXT = "examples", "own"
WHOSE = {EXAMPLES: N_("examples"), OWN_TEXT: N_("your own")}
"""Whose text is read: one that was read beforehand, or the reader's, by a model that is loaded."""
JUDGES = "The young judge met Ann Lee. Ann Lee thanked the young judge."
looked_cell = Choice("why_cell", N_("Weight"), "17.3")
looked_parts = Choice("why_parts", N_("Bars"), CENTRED, (CENTRED, RAW))
looked_removed = Choice("why_removed", N_("Remove"), NO_SOURCE)
"""Besides these three, any bar of the picture: its side and its source."""
looked_text = TextLine("why_text", N_("Text for the model"), JUDGES, 400)
looked_layer = Counter("why_layer", N_("Layer, from 0"), 17)
looked_head = Counter("why_head", N_("Head, from 0"), 3)
looked_query = Counter("why_query", N_("Query, position from 0"), 7)
looked_key = Counter("why_key", N_("Key; −1 is the largest"), -1)
looked_whose = Choice("why_whose", N_("Text"), EXAMPLES, tuple(WHOSE))

# Exercises and claims
exercise_kind = Choice(
    "kind", N_("Kind"), N_("all"), (N_("all"), N_("predict"), N_("reach"), N_("write"))
)
exercise = Control("exercise", N_("Exercise"), None)
finished_exercises = MultiChoice("done", N_("Done"), [])
exercise_set = MultiChoice("only", N_("Only these"), [])
claim_topic = Control("about", N_("Claims about"), "scores")
claim = Control("claim", N_("What people write"), None)

CONTROLS_BY_KEY = {one.key: one for one in [*globals().values()] if isinstance(one, Control)}
"""Every choice by its name in the URL."""


def register(*controls: Control) -> None:
    """Add another table's choices, to be reset with all others; ValueError for a name in use."""
    for one in controls:
        if CONTROLS_BY_KEY.get(one.key, one) != one:
            raise ValueError(f"“{one.key}” in the link is {CONTROLS_BY_KEY[one.key].label} already")
    CONTROLS_BY_KEY.update({one.key: one for one in controls})


def is_tour() -> bool:
    """Are only heroes drawn, one page after the other?"""
    return bool(st.session_state.get(tour_mode.key))


def reset_choices() -> None:
    """Put every choice back to its default; a callback, so that it runs before the page does."""
    for control in CONTROLS_BY_KEY.values():
        default = control.default  # a list of the visitor's own, where Streamlit wants a list
        Control.put(control, list(default) if isinstance(default, tuple) else default)
    st.session_state[sentence.key] = None  # which one it is, is known when the language is
    for key in list(st.session_state):
        if str(key).startswith((GUESS, SIZE, TYPED)):
            st.session_state[key] = None
    for key in list(st.query_params):  # the page may not ask for it now, and would later
        if key in CONTROLS_BY_KEY or key.startswith((GUESS, SIZE)):
            del st.query_params[key]
    st.session_state.pop(EXERCISES_COUNTED, None)
    visitor().forget()
    st.session_state[PRESET] = None
