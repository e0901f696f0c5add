"""How a connection to a service comes about: where it is, a socket to it, and TLS on that."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Sequence

from .exchange import Exchange, Phase
from .names import AddressInfo, HostAddresses
from .sockets import dial, secure


class Approach:
    """
    One way to a service, in three steps that share one time; each notes in the exchange how far it has come.

    Args:

        addresses: Where the service is.

        host: Its name, which its certificate must bear.

        tls: Secures the connection; ``None``: it is plain.

        exchange: What the connection is for; its deadline bounds each step too.

        connect_timeout_s: What the three may take together.
    """

    def __init__(
        self,
        addresses: HostAddresses,
        *,
        host: str,
        tls: ssl.SSLContext | None,
        exchange: Exchange,
        connect_timeout_s: float,
    ) -> None:
        self.host = host
        self.tls = tls
        self.exchange = exchange
        self.deadline = exchange.deadline.within(connect_timeout_s)
        self._addresses = addresses

    def look_up(self) -> Sequence[AddressInfo]:
        """
        Return the addresses of the service.

        Raises:

            OSError: The name has no address, or (``TimeoutError``) none was found in time.
            ValueError: It is no name that can be looked up.
        """
        self.exchange.phase = Phase.LOOKING_UP
        return self._addresses.get(self.deadline)

    def connect(self, addresses: Sequence[AddressInfo]) -> socket.socket:
        """
        Return a socket that is connected to the first of *addresses* that answers.

        Raises:

            OSError: None did, or (``TimeoutError``) not in time.
        """
        self.exchange.phase = Phase.CONNECTING
        return dial(addresses, self.deadline)

    def secure(self, sock: socket.socket, context: ssl.SSLContext) -> ssl.SSLSocket:
        """
        Put TLS on a connected socket, which belongs to the result from then on, or is closed.

        Raises:

            OSError: There is no TLS at the other end, none that is trusted, or (``TimeoutError``) none in time.
            ValueError: The host's name is none that a certificate could bear.
        """
        self.exchange.phase = Phase.SECURING
        return secure(sock, context, self.host, self.deadline)
