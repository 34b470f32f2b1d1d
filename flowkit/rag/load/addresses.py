"""Which addresses of the network a loader may connect to: by default those of the public internet alone.

addresses = await allowed_addresses("shop.test", 443, allow_private=False)     # connect to these, and to no others

A name is looked up once, what it stands for is checked, and the connection goes to what was checked: a name that gives
another address when it is asked again (DNS rebinding) gains nothing.
"""

import asyncio
import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from flowkit.errors import InvalidInputError, NotFoundError

__all__ = ["allowed_addresses", "is_public"]

# These carry an IPv4 address, to which a gateway may hand the connection on.
_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_COMPATIBLE = IPv6Network("::/96")
# For protocols and relays; not every Python says so.
_SPECIAL = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet: not private, loopback, link-local, multicast, reserved."""
    return _is_public(ip_address(address.partition("%")[0]))


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        if any(not _is_public(inner) for inner in _carried(address)):
            return False
        if address.ipv4_mapped is not None:
            return True
        if address in _NAT64_LOCAL or address in _COMPATIBLE or address.is_site_local:
            return False
        if address in _NAT64:
            return True
    elif any(address in network for network in _SPECIAL):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_private or address.is_reserved or address.is_unspecified
    )


def _carried(address: IPv6Address) -> list[IPv4Address]:
    carried = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        carried.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in carried if each is not None]


async def allowed_addresses(host: str, port: int, *, allow_private: bool) -> list[str]:
    """The IP addresses of a host, all of which may be connected to; at least one.

    Raises:
        NotFoundError: the name is unknown.
        InvalidInputError: one of them is not of the public internet.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        reason = error.strerror if isinstance(error, socket.gaierror) else "it is no name"
        raise NotFoundError(f"no host {host!r}: {reason}", hint="check the address") from error
    addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
    if not addresses:
        raise NotFoundError(f"no host {host!r}", hint="check the address")
    for address in addresses:
        if not allow_private and not is_public(address):
            told = repr(host) if host.strip("[]") == address else f"{host!r} ({address})"
            raise InvalidInputError(
                f"{told} is not on the public internet",
                hint="pass allow_private=True (--allow-private) when it is meant, and nobody else chooses the address",
                status="PERMISSION_DENIED",
            )
    return addresses
