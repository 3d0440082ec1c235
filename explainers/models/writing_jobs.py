"""On a reader's wish, in another thread: a text written token by token."""

from typing import NamedTuple

import torch

from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models.load import load_model
from explainers.models.registry import ModelError
from explainers.models.token_text import find_words, tokenise_text
from explainers.models.told_steps import ToldStep, list_looks, merge_prompt, tell_step
from explainers.models.written_tokens import MOST_PROMPT, Sampling, write_tokens


class WritingRequest(NamedTuple):
    """A prompt, how many tokens to write behind it, and how they are drawn."""

    model: str
    prompt: str
    length: int
    sampling: Sampling
    seed: int


class Written(NamedTuple):
    """The prompt in tokens, and each token that was written; seconds of each without a cache.

    `words` are the prompt's, and `merged` the steps that look at them; both are empty where every
    word is one token.
    """

    prompt: list[str]
    steps: list[ToldStep]
    seconds_without: list[float]
    text: str
    words: list[str]
    merged: list[ToldStep]


WritingJob = Job[WritingRequest, str, Written]
"""It reports the text so far."""


def make_writing_job(request: WritingRequest) -> WritingJob:
    """Write with a cache, then read everything again for each token, without."""
    return Job(request, _write, readable_errors=(ModelError,))


def _write(job: WritingJob) -> Written:
    wanted = job.subject
    loaded = load_model(wanted.model)
    ids, prompt = tokenise_text(loaded, wanted.prompt, MOST_PROMPT)
    words = find_words(loaded, wanted.prompt, prompt)
    job.total = 2 * wanted.length
    steps: list[ToldStep] = []
    merged: list[ToldStep] = []
    written: list[int] = []
    given = loaded.model, ids, wanted.length, wanted.sampling
    for step in write_tokens(*given, torch.Generator().manual_seed(wanted.seed)):
        steps.append(tell_step(step, loaded.tokenizer))
        if words:
            looks = list_looks(merge_prompt(step.weights, words.numbers))
            merged.append(steps[-1]._replace(looks=looks))
        written.append(step.token_id)
        job.report(str(loaded.tokenizer.decode(written)))
    job.total = 2 * len(steps)
    without: list[float] = []
    again = write_tokens(*given, torch.Generator().manual_seed(wanted.seed), has_cache=False)
    for step, cached in zip(again, written, strict=False):
        if step.token_id != cached:
            break  # two tokens were as good as equal: from here on it is another text
        without.append(step.seconds)
        job.report(N_("{done} of {all} without the cache", done=len(without), all=len(steps)))
    text, spelled = str(loaded.tokenizer.decode(written)), words.spelled if words else ()
    return Written([*prompt], steps, without, text, [*spelled], merged)
