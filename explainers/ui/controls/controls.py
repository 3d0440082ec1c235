"""The reader's choices. Each control is defined once; its key is its name in the URL."""

import streamlit as st

from explainers.toys.sentence import MAX_CHARACTERS, MAX_TOKENS, SENTENCE, Sentence, read_sentence
from explainers.ui.controls import page_controls, presets
from explainers.ui.controls.claim_controls import SIZE
from explainers.ui.controls.counter import BEYOND, Counter
from explainers.ui.controls.drawn_mask import FULL, Drawing
from explainers.ui.controls.kinds import Choice, Ladder, Listed, Switch, Whole
from explainers.ui.controls.links import KEPT, NOTICES, Control
from explainers.ui.controls.live import Live
from explainers.ui.controls.offered import Size
from explainers.ui.controls.several import Several
from explainers.ui.controls.worded import URL
from explainers.ui.text.language import translated

GUESS = "guess_"
"""Keys of the answers to questions begin with this."""
_POWERS = (4, 8, 16, 32, 64, 128)

text = Control("text", "Sentence", SENTENCE)
d_model = Ladder("d_model", "d_model: numbers per token", 8, _POWERS)
head_dim = Size("d_k", "d_k: numbers per query and key", 4, 2, 128)
value_dim = Whole("d_v", "d_v: numbers per value", 4, 2, 128)
seed = Whole("seed", "Seed of the random numbers", 0, 0, 99)
mask = Choice(
    "mask",
    "Mask",
    "full",
    help="Who may look at whom. Full: everybody at everybody. Causal: only back, and at oneself. "
    "Window of 3: at oneself and the two words before. Prefix of 3: causal, but everybody may "
    "look at the first three words.",
)
weights = Choice(
    "weights",
    "Weights",
    "random",
    ("random", "trained"),
    help="Random: drawn from the seed. Trained: learned by a small task, finding the words that a "
    "word is related to.",
)
num_heads = Choice("heads", "Query heads", "4", ("1", "2", "4", "8"))
num_kv_heads = Choice(
    "kv_heads",
    "KV heads",
    "2",
    ("1", "2", "4", "8"),
    help="Heads of keys and values. As many as query heads: each has its own. Fewer: groups of "
    "query heads share them, so only numbers that divide the query heads are offered.",
)
latent_dim = Ladder("latent", "r: numbers in a word's latent", 16, (4, 8, 16, 32, 64))
shift = Live("shift", "Move all words by", 64, (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64))
predict_first = Switch("predict", "Predict first", True, help="Ask before a picture is shown.")
queries = Choice(
    "queries",
    "Queries run",
    "down",
    ("down", "across"),
    help="Most code has queries down the side; some lectures draw them along the top.",
)
matrix = Listed("matrix", "Matrix", None)
row = Counter("row", "Row, from 0", 2)
column = Counter("column", "Column, from 0", 1)
unit = Choice(
    "unit", "Cut the text into", "words", ("words", "characters", "byte pairs", "model tokens")
)
tokenizer = Listed("tokenizer", "Model", None, width=280)
merges = Whole("merges", "Merges learned so far", 60, 0, 250)
longest = Ladder("longest", "Base of the waves", 10_000, (10, 100, 1_000, 10_000, 100_000))
projection = Choice("projection", "Show how this one is made", "Q", ("Q", "K", "V"))
step = Choice(
    "step", "Which of the four steps", "products", ("products", "scores", "weights", "output")
)
temperature = Live(
    "temperature", "Temperature", 1, tuple(round(2 ** (n / 2), 4) for n in range(-6, 15))
)
root_head_dim = Live("root_d_k", "d_k", 64, tuple(2**power for power in range(2, 11)))
window = Live("window", "Width of the window", 3, tuple(range(1, MAX_TOKENS + 1)))
prefix = Counter("prefix", "Length of the prefix", 3)
cells = Drawing("cells", "Your mask", FULL)
reach_window = Choice("reach_window", "Window of every layer", "3", ("1", "2", "3", "4", "5"))
layers = Live("layers", "Layers stacked", 3, tuple(range(1, 9)))
head = Counter("head", "Head to enlarge, from 0", 0)
word = Counter("word", "Word to follow, from 0", 2)
off = Several(
    "off", "Heads switched off", (), help="What they would have added to the output is left out."
)
words_read = Live("words_read", "Words read", 4, tuple(range(1, MAX_TOKENS + 1)))
sinks = Choice("sinks", "Sinks", "1", ("0", "1", "2", "4"), help="First words that always stay.")
dropout = Live("dropout", "Probability", 0.5, tuple(n / 10 for n in range(10)))

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control) and one is not text)
ALL += page_controls.ALL
"""Every choice but the text."""


def sentence() -> Sentence:
    """The text that all pages look at: typed, chosen or from a link."""
    asked = text.asked()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(
            value=text.default, max_chars=MAX_CHARACTERS, key=text.key, bind=URL, **text.words
        )
        text.keep(typed)
        presets.offer_presets(text.key)
    notices = st.session_state.setdefault(NOTICES, {})
    if asked and len(asked) > MAX_CHARACTERS:
        notices[text.key] = (asked[: MAX_CHARACTERS + 1], typed)
    linked, cut = notices.get(text.key, (None, None))
    read = read_sentence(linked if linked and cut == typed else typed or "")
    for note in read.notes:
        st.info(translated(note), icon=":material/info:")
    return read


def reset() -> None:
    """Every choice back to its default; a callback, so that it runs before the page does."""
    for control in ALL:
        default = control.default  # a list of the visitor's own, where Streamlit wants a list
        st.session_state[control.key] = list(default) if isinstance(default, tuple) else default
    st.session_state[text.key] = text.default
    for key in list(st.session_state):
        if str(key).startswith((GUESS, SIZE)):
            st.session_state[key] = None
    st.session_state[NOTICES] = {}
    st.session_state[KEPT] = {}
    st.session_state[BEYOND] = {}
    st.session_state[presets.CHOSEN] = None
