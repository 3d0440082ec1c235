# One image for a Hugging Face Space and for any other container host.
# `make images` names the base by its digest.
ARG PYTHON_IMAGE=python:3.11-slim
FROM ${PYTHON_IMAGE}

# A Space runs its container as user 1000.
RUN useradd --create-home --uid 1000 user
USER user
ENV HOME=/home/user PYTHONUNBUFFERED=1 PORT=8501
WORKDIR /home/user/app

# First what changes least. Torch without CUDA is 10 times smaller: give the index of CPU builds.
ARG TORCH_INDEX=
# Everything is known by its hash. Only such an index has a torch of its own: pip takes that one
# package from there, and asks no other index for it.
COPY --chown=user requirements.txt requirements.lock requirements-torch.lock ./
RUN install="python -m pip install --no-cache-dir --user --no-deps" && \
    $install --require-hashes -r requirements.lock && \
    if [ -n "$TORCH_INDEX" ]; then \
        $install --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)"; \
    else \
        $install --require-hashes -r requirements-torch.lock; \
    fi && \
    python -m pip check

COPY --chown=user . .

# The real models, each loaded once, so that the first visitor can be told how long it takes. An
# image that lacks one is made only for who asks for it: its pages say what is not there.
ARG WITHOUT_MODELS=
RUN python -m explainers.models fetch --load || { \
    echo "A real model could not be fetched or loaded: the lines above say why." && \
    echo "To build the image without it: --build-arg WITHOUT_MODELS=1" && \
    [ -n "$WITHOUT_MODELS" ]; } >&2

EXPOSE 8501
HEALTHCHECK CMD ["python", "-c", "import os, urllib.request as ask; assert ask.urlopen(f'http://localhost:{os.environ[\"PORT\"]}/_stcore/health', timeout=5).read() == b'ok'"]
CMD ["python", "-m", "explainers.ui.server"]
