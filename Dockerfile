FROM python:3.13-slim

# A container's root file system may be read-only: nothing is written beside the code, nor into a home folder.
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOST=0.0.0.0 \
    PORT=8080 \
    MCP_GATEWAY_PROFILE=production

WORKDIR /app

COPY requirements/runtime.lock requirements/build.lock requirements/
RUN pip install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r requirements/runtime.lock

COPY setup.cfg pyproject.toml wsgi.py gunicorn.conf.py ./
COPY config/ config/
COPY mcp_gateway/ mcp_gateway/
# Installed where it lies, so that it knows its version and its command, with the same layout as in a clone.
RUN pip install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r requirements/build.lock \
    && pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --editable . \
    && pip uninstall --yes setuptools \
    && python -m compileall -q mcp_gateway

# A number, so that "runAsNonRoot" can be checked without looking a name up; nothing in the image belongs to it.
USER 10001:10001

EXPOSE 8080

HEALTHCHECK --interval=10s --timeout=3s --start-period=15s \
    CMD ["python", "-c", "import http.client, os; c = http.client.HTTPConnection('127.0.0.1', int(os.environ['PORT']), timeout=2); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]

# gunicorn finishes the calls under way on SIGTERM: let the container have graceful_timeout and a little more to stop.
CMD ["gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
