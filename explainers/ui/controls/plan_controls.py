"""Choices of the cards that plan a deployment: an engine, and prompts that begin alike."""

from explainers.messages import N_
from explainers.ui.controls.controls import register
from explainers.ui.controls.name_controls import Choice
from explainers.ui.controls.number_controls import Counter

flags_engine = Choice(
    "flags_for", N_("Flags for"), "vLLM", ("vLLM", "SGLang", "llama.cpp", "transformers")
)
prefix_texts = Counter("sharers", N_("Texts that begin alike"), 40)
prefix_tokens = Counter("common_tokens", N_("Common tokens"), 5_000)
own_tokens = Counter("own_tokens", N_("Own tokens of each"), 1_000)
changed_place = Counter("changed_at", N_("Changed token"), 100)

register(flags_engine, prefix_texts, prefix_tokens, own_tokens, changed_place)
