"""The config.json of a model on the hub, for a reader who asks for it: one small file, no code."""

from explainers.messages import N_
from explainers.models import hub
from explainers.models.hub import HubUnreachableError
from explainers.models.registry import ModelError, is_hub_id, refuse_name

MAX_BYTES = 1_000_000
"""The longest published config.json has a tenth of this."""
FILE = "config.json"


def fetch_config(model_id: str) -> str:
    """The text of a model's config.json, asked for without any name or key of ours.

    ModelError if there is none to be had, HubUnreachableError if nobody answers.
    """
    if not is_hub_id(model_id):
        raise refuse_name(model_id)
    import huggingface_hub

    try:
        status, content = _read_bounded(huggingface_hub.hf_hub_url(model_id, FILE))
    except Exception as error:  # its clients raise errors of several libraries
        raise HubUnreachableError(
            N_("the hub is out of reach ({error})", error=type(error).__name__)
        ) from error
    if status in (401, 403):
        raise ModelError(
            N_(
                "{model} is not on the hub, or is given out only to those who asked its owners.",
                model=model_id,
            )
        )
    if status == 404:
        raise ModelError(N_("{model} has no config.json on the hub.", model=model_id))
    if status != 200:
        raise HubUnreachableError(N_("the hub answers with error {status}", status=status))
    if len(content) > MAX_BYTES:
        raise ModelError(
            N_(
                "config.json of {model} has more than {most:,} bytes.",
                model=model_id,
                most=MAX_BYTES,
            )
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(N_("config.json of {model} is not text.", model=model_id)) from None


def _read_bounded(url: str) -> tuple[int, bytes]:
    """The status and at most one byte more than is allowed; the rest is never read."""
    from huggingface_hub.utils import build_hf_headers, get_session

    headers, content = build_hf_headers(token=False), b""
    with get_session().stream(
        "GET", url, headers=headers, timeout=hub.TIMEOUT, follow_redirects=True
    ) as response:
        if response.status_code == 200:
            for part in response.iter_bytes(2**16):
                content += part
                if len(content) > MAX_BYTES:
                    break
        return response.status_code, content
