"""``mcp-gateway sample-tool-service``: start the service, say where it is, end on SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from . import manifest
from .documents import DocumentIndex, files
from .notes import Notes
from .server import SampleServer, write_to_stderr
from .tools import toolbox

PACKAGE = Path(__file__).resolve().parent
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 9100
_POLL_S = 0.1


class CannotStart(Exception):
    """Raised when the service cannot start; the message is for the person at the terminal."""


def default_documents(package: Path = PACKAGE) -> Path:
    """Return the project's ``docs`` in a checkout, and the handbook that is part of the package elsewhere."""
    project = package.parent.parent
    docs = project / "docs"
    # setup.cfg tells a checkout from site-packages, where a folder named docs would be somebody else's.
    in_checkout = (project / "setup.cfg").is_file() and any(files(docs))
    return docs if in_checkout else package / "handbook"


def default_data(temporary: Path) -> Path:
    """
    Return the notes file in a folder of the user's own below *temporary*.

    Raises:

        CannotStart: The folder cannot be made, or somebody else made it.
    """
    folder = temporary / f"mcp-gateway-sample-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        mine = not folder.is_symlink() and folder.stat().st_uid == os.getuid()
    except OSError as fault:
        raise CannotStart(f"cannot make a folder for the notes: {fault}; name a file with --data") from None
    if not mine:
        raise CannotStart(f"{folder} belongs to somebody else; name a file with --data")
    return folder / "notes.sqlite3"


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535")
    return int(text)


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is no folder")
    return Path(text)


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mcp-gateway sample-tool-service",
        description="Run a Tool Service to try the gateway with: document search, notes, the time, errors, a chart.",
    )
    parser.add_argument("--host", default=DEFAULT_HOST, help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help="port; 0 takes a free one (default: %(default)s)"
    )
    parser.add_argument(
        "--documents",
        type=_folder,
        metavar="DIR",
        help="folder of .md and .txt files (default: the project's docs in a checkout, else a small handbook)",
    )
    parser.add_argument(
        "--data", type=Path, metavar="FILE", help="SQLite file for notes (default: one in the temporary folder)"
    )
    return parser.parse_args(argv)


@contextmanager
def started(
    host: str, port: int, documents: Path, data: Path, log: Callable[[str], None] = write_to_stderr
) -> Iterator[SampleServer]:
    """
    Open the service and close it in the end; the body of the ``with`` serves.

    Args:

        host: The address to listen on.

        port: The port; 0 takes a free one.

        documents: The folder of documents.

        data: The SQLite file for notes.

        log: Takes one line for each request.

    Raises:

        CannotStart: The file, SQLite itself or the address is not usable.
    """
    try:
        notes = Notes(data)
        index = DocumentIndex(documents)
    except sqlite3.Error as fault:
        raise CannotStart(f"SQLite cannot be used (notes: {data}): {fault}") from None
    try:
        server = SampleServer((host, port), manifest.load(), toolbox(index, notes), log)
    except OSError as fault:
        index.close()
        raise CannotStart(f"cannot listen on {host} port {port}: {fault}") from None
    try:
        yield server
    finally:
        server.close()
        index.close()


@contextmanager
def _on_signal(stop: Callable[[], None]) -> Iterator[None]:
    def handle(*_: object) -> None:
        # shutdown() waits for the loop that this very thread runs, so it needs a thread of its own.
        threading.Thread(target=stop).start()

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _serve(host: str, port: int, documents: Path, data: Path) -> None:
    with started(host, port, documents, data) as server, _on_signal(server.shutdown):
        print(f"sample Tool Service: {server.url} (manifest: {server.url}/manifest)")
        print(f"documents: {documents}")
        print(f"notes: {data}", flush=True)
        server.serve_forever(_POLL_S)


def main(argv: list[str]) -> int:
    """
    Run the service until SIGTERM or SIGINT.

    Args:

        argv: The options, without the program's and the command's name.

    Returns:

        The exit status: 0 after a signal, 1 when the service cannot start.
    """
    options = _options(argv)
    try:
        data = options.data or default_data(Path(tempfile.gettempdir()))
        _serve(options.host, options.port, options.documents or default_documents(), data)
    except CannotStart as fault:
        print(f"sample-tool-service: {fault}", file=sys.stderr)
        return 1
    return 0
