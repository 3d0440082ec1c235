"""What the chosen texts need: how many of which GPU, and the flags of an inference engine."""

import streamlit as st

from explainers.memory.capacity_plan import GPU_NUMBERS, GpuPlan, find_fewest_gpus, plan_every_gpu
from explainers.memory.engine_pools import TRANSFORMERS, count_engine_room, count_engine_text
from explainers.memory.serving import Deployment
from explainers.memory.serving_flags import find_obstacle, make_command
from explainers.memory.sizes import format_size
from explainers.memory.speed import round_fraction
from explainers.messages import N_, ngettext
from explainers.translations import _
from explainers.ui.controls import page_controls
from explainers.ui.text.numbers import keep_units_together

GPU_CODE = plan_every_gpu, find_fewest_gpus
FLAG_CODE = make_command, count_engine_room, count_engine_text
LIMIT_NAMES = {"bandwidth": N_("bandwidth"), "compute": N_("computing")}
NONE = "–"


def list_gpus(
    deployment: Deployment | None, tokens: int, texts: int
) -> tuple[str, dict[str, object]]:
    """Which section to show, and the rows of its table: a line for each kind of GPU."""
    if deployment is None or not deployment.shape.parameters:
        return "unknown", {}
    if deployment.shape.architecture == "encoder":
        return "encoder", {"model": deployment.shape.id}
    plans = plan_every_gpu(deployment, tokens, texts)
    context = deployment.shape.context
    enough = [plan for plan in plans if plan.gpus]
    told: dict[str, object] = {
        "rows": "\n".join(map(make_row, plans)),
        "model": deployment.shape.id,
        "texts": _(ngettext("{count:,} text", "{count:,} texts", texts)),
        "tokens": f"{tokens:,}",
        "most": f"{GPU_NUMBERS[-1]}",
        "context": f"{context:,}" if context else _("a length that is not listed"),
        "weights": f"{deployment.weight_dtype}",
        "dtype": f"{deployment.cache_dtype}",
        "single": f"{sum(plan.gpus == 1 for plan in enough)}",
        "kinds": f"{len(plans)}",
    }
    return "seen", told


def make_row(plan: GpuPlan) -> str:
    """A kind of GPU: how many, for how many texts, what is left, how fast, how long a text."""
    longest = _("any length") if plan.longest_on_one is None else f"{plan.longest_on_one:,}"
    longest = NONE if plan.longest_on_one == 0 else longest
    name = f"{plan.gpu.name}, {keep_units_together(format_size(plan.gpu.memory_bytes))}"
    if plan.gpus is None:
        return f"| {name} | {NONE} | {NONE} | {NONE} | {NONE} | {longest} |"
    users = _("any number") if plan.users is None else f"{plan.users:,}"
    left = keep_units_together(format_size(plan.free_bytes_per_gpu))
    speed = round_fraction(plan.tokens_per_second, 0) if plan.tokens_per_second else 0
    limit = f"{_(LIMIT_NAMES[plan.limit])}: {speed:,}"
    return f"| {name} | **{plan.gpus}** | {users} | {left} | {limit} | {longest} |"


def show_command(
    deployment: Deployment | None, tokens: int, texts: int
) -> tuple[str, dict[str, object]]:
    """Draw the command for an engine; which section says what it holds for, and its numbers."""
    engine = page_controls.flags_engine()
    if deployment is None or not deployment.shape.parameters:
        return "unknown", {}
    command = make_command(deployment, tokens, texts, engine)
    told: dict[str, object] = {
        "engine": engine,
        "dtype": str(deployment.cache_dtype),
        "model": deployment.shape.id,
    }
    if command is None:
        return find_obstacle(deployment, tokens, engine), told
    st.code(command.code, language="python" if engine == TRANSFORMERS else "bash", wrap_lines=True)
    # Both as they are typed: of 0.90 no language makes 0,90.
    rows = (f"| `{flag.name}` | `{flag.value}` | {_(flag.reason)} |" for flag in command.flags)
    return "seen", told | {
        "rows": "\n".join(rows),
        "tokens": f"{command.tokens:,}",
        "texts": _(ngettext("{count:,} text", "{count:,} texts", command.texts)),
        "weights": str(deployment.weight_dtype),
        "gpus": f"{deployment.gpus} × {deployment.gpu.name}",
    }
