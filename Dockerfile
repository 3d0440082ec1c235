# One image for a Hugging Face Space and for any other container host.
FROM python:3.11-slim

# A Space runs its container as user 1000.
RUN useradd --create-home --uid 1000 user
USER user
ENV HOME=/home/user PYTHONUNBUFFERED=1 PORT=8501
WORKDIR /home/user/app

# First what changes least. Torch without CUDA is 10 times smaller: give the index of CPU builds.
ARG PIP_EXTRA_INDEX_URL=
# Everything is known by its hash but torch: pip takes it, and what its build needs, from that index.
COPY --chown=user requirements.txt requirements.lock ./
RUN python -m pip install --no-cache-dir --user --no-deps --require-hashes -r requirements.lock && \
    python -m pip install --no-cache-dir --user -r requirements.txt

COPY --chown=user . .

# The real models; without them their pages say so. Each is loaded once, so that the first visitor
# can be told how long it takes.
RUN python -m explainers.models fetch --load || true

EXPOSE 8501
HEALTHCHECK CMD ["python", "-c", "import os, urllib.request as ask; assert ask.urlopen(f'http://localhost:{os.environ[\"PORT\"]}/_stcore/health', timeout=5).read() == b'ok'"]
CMD ["python", "-m", "explainers.ui.server"]
