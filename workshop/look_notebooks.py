"""Two notebooks that show what `look` draws: of weights that one has, and of models."""

FIND = """import sys
from pathlib import Path

above = [Path.cwd(), *Path.cwd().parents]
root = next(folder for folder in above if (folder / "explainers").is_dir())
sys.path.insert(0, str(root))"""

WEIGHTS = [
    """# Look at weights that you have

Any weights (layers, heads, q_len, kv_len), of any origin: numpy is enough. This notebook finds the
folder that it lies in; where the package is installed, write `attention_step_by_step` for
`explainers`.""",
    FIND,
    """import numpy as np

from explainers import look

tokens = ["The", "CEO", "announced", "record", "earnings", "on", "Friday"]
scores = np.random.default_rng(0).normal(size=(2, 4, 7, 7)) * 2
scores[:, :, np.triu(np.ones((7, 7), dtype=bool), 1)] = -np.inf
weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
look(weights=weights, tokens=tokens, title="A layer of numpy")""",
    """A file will do, and so will weights of fewer queries than keys, as with a cache: they are the
last tokens of the text.""",
    """from tempfile import mkdtemp

folder = Path(mkdtemp())
np.save(folder / "weights.npy", weights[:, :, 4:])
look(weights=folder / "weights.npy", tokens=tokens)""",
    """## Two texts

Where a decoder looks in its source, the map is no square. These weights are a translator's, which
was trained for this course.""",
    """from explainers.translation.translator import load_translator

told = load_translator().translate("the company announced record profits on Monday".split())
begun = ["<begin>", *told.syllables]
words = [*told.words, "<eos>"]
cross = look(weights=told.cross, tokens=begun, key_tokens=words, title="English to Vietnamese")
cross""",
    """## Several rows, several heads, a layer's mean, rollout

In the picture: mark words, or click on them with Ctrl, and their rows are averaged; a button adds
them up, and the sentence says which. *Keep this head beside others* puts heads side by side.""",
    """look(weights=weights, tokens=tokens, show="mean", title="Means")""",
    """look(weights=weights, tokens=tokens, show="rollout", title="Rollout")""",
    """## Out of the picture

As an SVG whose text is text, as PDF and PNG, and as numbers.""",
    """cross.save(folder / "cross.svg", heads=[cross.opening, (0, 0)])
cross.save(folder / "cross.png")
cross.save(folder / "cross.csv")
cross.save(folder / "cross.npz")
print((folder / "cross.csv").read_text().splitlines()[0])
print(cross.weights[cross.opening].shape, np.load(folder / "cross.npz").files[:2])""",
]

MODELS = [
    """# Look at a model, and at what it wrote

A pair of texts, a chat in the tokenizer's template, and what the model writes to it. This notebook
finds the folder that it lies in; where the package is installed, write `attention_step_by_step` for
`explainers`.""",
    FIND,
    """from explainers import look, report
from explainers.models.load import load_model
from explainers.models.registry import WHEEL_MODELS

chat, sentences = (load_model(model.id) for model in WHEEL_MODELS[:2])""",
    """## A pair

Buttons show how A looks at A and at B, and B at both.""",
    """look(
    sentences.model,
    sentences.tokenizer,
    "The bank raised the rate.",
    pair="The river rose to its bank.",
    names=False,
)""",
    """## What the model wrote

Prompt and answer in one picture, with the border drawn. The model writes 12 tokens, and reads all
of them once more: that is what a growing cache computes, as one square.""",
    """messages = [{"role": "user", "content": "Name a city in Japan."}]
written = look(chat.model, chat.tokenizer, messages, answer=12, names=False)
print(written.parts, "".join(written.tokens[1][written.parts[1][1] :]))
written""",
    """A chat that ends with an answer is drawn as it is.""",
    """messages += [{"role": "assistant", "content": "Kyoto is a city in Japan."}]
look(chat.model, chat.tokenizer, messages, names=False)""",
    """## Step by step

What `generate` returns is taken as it is.""",
    """encoded = chat.tokenizer("Kyoto is a city in", return_tensors="pt")
options = {"output_attentions": True, "return_dict_in_generate": True, "do_sample": False}
chat.model.set_attn_implementation("eager")
steps = chat.model.generate(**encoded, max_new_tokens=6, **options)
tokens = [chat.tokenizer.decode(one) for one in steps.sequences[0]]
look(weights=steps.attentions, tokens=tokens, title="Step by step")""",
    """## A longer text, whole words, a file to send

Above 256 tokens all heads are an overview, and what is named comes in full. `by_word` merges the
pieces of a word.""",
    """longer = "The CEO announced record earnings on Friday. " * 40
look(chat.model, chat.tokenizer, longer, layers=[(5, 1)], names=False)""",
    """from tempfile import mkdtemp

options = {"by_word": True, "names": False}
file = Path(mkdtemp()) / "heads.html"
report(sentences.model, sentences.tokenizer, "Unbelievably good earnings.", file, **options)""",
]
LOOKS = {"look_weights": WEIGHTS, "look_models": MODELS}
