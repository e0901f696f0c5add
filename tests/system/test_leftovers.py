"""What a killed server leaves on the machine."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from support.processes import Gateway, configuration, gateway
from support.toolservice import ToolService
from support.waiting import wait_until


def scratch_of(here: Gateway) -> Path:
    """Return the folder that the processes of a server share: the one in which its master holds a lock."""
    opened = [os.readlink(handle) for handle in Path(f"/proc/{here.pid}/fd").iterdir()]
    (folder,) = {Path(path).parent for path in opened if path.endswith("/lock")}
    return folder


def test_the_next_server_takes_it_away_and_touches_no_folder_that_is_in_use(tmp_path: Path) -> None:
    with ToolService() as service, gateway(tmp_path, configuration(service)) as lives:
        with gateway(tmp_path, configuration(service)) as killed:
            left = scratch_of(killed)
            assert left.is_dir()
            killed.signal(signal.SIGKILL)
            killed.exit_code()
            wait_until(lambda: not killed.group_is_left(), "end of the workers", 60)
        with gateway(tmp_path, configuration(service)):  # or one of another test, a moment earlier
            wait_until(lambda: not left.exists(), "sweep")
            assert scratch_of(lives).is_dir()
