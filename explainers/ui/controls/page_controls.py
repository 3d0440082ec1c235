"""Choices of single pages and cards, by page, that stand in no other file."""

from explainers.messages import N_
from explainers.ui.controls.control import Control
from explainers.ui.controls.controls import register
from explainers.ui.controls.name_controls import Choice

# Cache calculator: the card of an engine's flags
flags_engine = Choice(
    "flags_for", N_("Flags for"), "vLLM", ("vLLM", "SGLang", "llama.cpp", "transformers")
)
register(flags_engine)

# A memory that does not grow: its picture's choices, and what is trained there
RULE_NAMES = N_("sum"), N_("overwrite"), N_("overwrite and fade"), N_("attention")
"""The rules by which a layer remembers, in the order in which models know them."""
memory_rule = Control("writing", N_("Written by"), "overwrite")
memory_keys = Control("keys", N_("Key directions"), "random")
pairs_written = Control("pairs", N_("Pairs written"), 12)
memory_question = Control("question", N_("Word that is asked for, from 0"), 2)
trained_rule = Choice("trained_rule", N_("Layer"), RULE_NAMES[1], RULE_NAMES)
trained_keys = Choice(
    "trained_keys",
    N_("Keys of a text"),
    N_("all different"),
    (N_("all different"), N_("come again")),
)
register(memory_rule, memory_keys, pairs_written, memory_question, trained_rule, trained_keys)
