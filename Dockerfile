# Two stages: what installs stays in the first. To renew the base, look its digest up and change both lines of it:
#
#   docker buildx imagetools inspect python:3.13-slim-trixie
#
# Python 3.13.16 on Debian 13, the index of all platforms, as the tags 3.13-slim and 3.13-slim-trixie were on 9 October 2026.
ARG BASE=docker.io/library/python:3.13.16-slim-trixie@sha256:70729b46c69b4f1e97c4822c1af3df53a1476cf5ddc6c087c0c10bc3a5678c2f

FROM ${BASE} AS build

# runtime, or otel for an image that can send traces: docker build --build-arg LOCK=otel
ARG LOCK=runtime

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_NO_DEPS=1 \
    PIP_ONLY_BINARY=:all:

WORKDIR /app

# An environment without pip, filled from outside, and nothing that is not in the lock by its hash.
RUN python -m venv --without-pip .venv

COPY requirements/runtime.lock requirements/otel.lock requirements/build.lock requirements/
RUN pip --python .venv install --require-hashes -r requirements/${LOCK}.lock

COPY setup.cfg pyproject.toml wsgi.py gunicorn.conf.py ./
COPY config/ config/
COPY mcp_gateway/ mcp_gateway/
# Installed where it lies, so that it knows its version and its command, with the same layout as in a clone.
RUN pip --python .venv install --require-hashes -r requirements/build.lock \
    && pip --python .venv install --no-build-isolation --editable . \
    && pip --python .venv uninstall --yes -r requirements/build.lock \
    && .venv/bin/python -m compileall -q mcp_gateway \
    && rm -r requirements


FROM ${BASE}

# The base has a pip, and one to make others from; nothing is installed in a container that runs.
RUN pip uninstall --yes --no-input pip \
    && rm -r /usr/local/lib/python3.13/ensurepip

COPY --from=build /app /app

ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="mcp-gateway" \
      org.opencontainers.image.description="Plain HTTP Tool Services in, MCP servers out" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="docker.io/library/python:3.13.16-slim-trixie"

# A container's root file system may be read-only: nothing is written beside the code, nor into a home folder.
ENV PATH=/app/.venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOST=0.0.0.0 \
    PORT=8080 \
    MCP_GATEWAY_PROFILE=production

WORKDIR /app

# A number, so that "runAsNonRoot" can be checked without looking a name up; nothing in the image belongs to it.
USER 10001:10001

EXPOSE 8080

HEALTHCHECK --interval=10s --timeout=3s --start-period=15s \
    CMD ["python", "-c", "import http.client, os; c = http.client.HTTPConnection('127.0.0.1', int(os.environ['PORT']), timeout=2); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]

# SIGTERM drains: let the container have the 330 s of docs/operations.md before it is killed.
CMD ["gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
