"""The choices of who sizes a cache; `controls` counts them among all choices."""

from explainers.phrase import phrase
from explainers.ui.controls.counter import Counter
from explainers.ui.controls.kinds import Choice, Listed
from explainers.ui.controls.links import Control
from explainers.ui.controls.several import Listing
from explainers.ui.controls.typed import Typed

OWN, CONFIG = phrase("my own numbers"), phrase("a config.json")
LENGTHS = (
    *(1, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 128_000, 131_072),
    *(200_000, 262_144, 524_288, 1_000_000, 1_048_576),
)

model = Listed(
    "model",
    "Model (type to search)",
    "gemma-3-27b",
    width=220,
    help="69 published models, any numbers of your own, or any model's config.json.",
)
tokens = Typed(
    "tokens",
    "Tokens",
    "131,072",
    LENGTHS,
    10**9,
    help="Of each text, prompt and answer together. Choose or type any number. “128K” means "
    "128,000 to some and 131,072 to others.",
)
texts = Typed(
    "texts",
    "Texts at once",
    "1",
    tuple(2**n for n in range(11)),
    10**6,
    help="The batch: each text has a cache of its own.",
)
cache_dtype = Listed("cache_dtype", "Cache in", "bfloat16", width=150)
counting = Listed(
    "counting",
    "Counted",
    "ideal minimum",
    width=175,
    help="Ideal minimum: what must be kept. Headline: one rate times the tokens. The others: what "
    "an engine takes from the GPU.",
)
source = Counter("source", "Tokens the encoder read", 1_500)
beams = Counter("beams", "Beams", 1)
own_kind = Choice("own_kind", "Its layers keep", "heads", ("heads", "a latent (MLA)"))
own_layers = Counter("own_layers", "Layers", 32)
own_local = Counter("own_local", "… with a window", 0)
own_window = Counter("own_window", "Window (tokens)", 4_096)
own_heads = Counter("own_heads", "Query heads", 32)
own_kv_heads = Counter("own_kv_heads", "KV heads", 8)
own_head_dim = Counter("own_head_dim", "head_dim (d_k)", 128)
own_latent = Counter("own_latent", "Latent dim", 512)
own_rope = Counter("own_rope", "Rotary dim", 64)
parameters = Counter(
    "parameters",
    "Million parameters",
    0,
    help="The published number of parameters, in millions; 0 while it is not known.",
)
gpu = Listed("gpu", "GPU", "h100", width=150)
gpus = Choice("gpus", "How many GPUs", "1", ("1", "2", "4", "8", "16"))
weight_dtype = Listed(
    "weight_dtype",
    "Weights in",
    phrase("as published"),
    width=170,
    help="Of all parameters, all experts.",
)
page_size = Listed(
    "page_size", "Tokens in a page", "16", help="Caches are handed out in whole pages."
)
percent = Counter("percent", "% of memory usable", 90)
overhead = Counter("overhead", "Overhead, GiB", 1)
compared = Listing(
    "compared",
    "Up to six models",
    ["llama-2-7b", "llama-3.1-8b", "gemma-3-27b", "gpt-oss-20b", "deepseek-v3"],
    6,
)
figures = Choice(
    "figures",
    "Show",
    "wrong, unclear or unlike",
    ("wrong, unclear or unlike", "all that differ", "all"),
)

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control))
