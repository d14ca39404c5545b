"""Who may see what: links that work once, cookies, and which requests are ours."""

import hashlib
import hmac
import ipaddress
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

ROOM, TEACHER = "room", "teacher"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Access:
    """The keys of one session.

    A link is good for one browser and dead afterwards; what it leaves there is a cookie. Cookies
    are signed with ``secret``, so they outlive a restart of the server on the same log.
    """

    def __init__(self, secret: bytes, *, lan: bool, used: Callable[[str], None]) -> None:
        """Take the secret, whether others reach us, and whom to tell the role of a used link."""
        self.lan = lan
        self._secret = secret
        self._used = used
        self._links: dict[str, str] = {}

    @property
    def clock_key(self) -> str:
        """Give the key of the clock alone, for notebooks on other machines."""
        return self._sign("clock")[:24]

    def link(self, role: str) -> str:
        """Make a path that lets one browser in."""
        token = secrets.token_urlsafe(18)
        self._links[token] = role
        return f"/enter/{token}"

    def enter(self, token: str) -> str | None:
        """Use up a link; give the role that it is for, or None where it is none or was used."""
        role = self._links.pop(token, None)
        if role is not None:
            self._used(role)
        return role

    def cookie(self, role: str) -> str:
        """Make the value of a cookie for a role."""
        number = secrets.token_urlsafe(9)
        return f"{number}.{self._sign(f'{role}.{number}')}"

    def opens(self, role: str, cookie: str) -> bool:
        """Tell whether a cookie is for that role; one of another role is not."""
        number, _, signed = cookie.partition(".")
        expected = self._sign(f"{role}.{number}")
        return hmac.compare_digest(signed.encode(errors="replace"), expected.encode())

    def is_clock_key(self, key: str) -> bool:
        """Tell whether this is the key of the clock."""
        return hmac.compare_digest(key.encode(errors="replace"), self.clock_key.encode())

    def knows_host(self, host: str) -> bool:
        """Tell whether a Host header names this machine as we gave it out, and not by a stranger.

        A name that somebody else's server resolves to this machine would let their page read ours.
        """
        name = _name_of(host)
        if name in LOOPBACK:
            return True
        return self.lan and _is_address(name)

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(errors="replace"), hashlib.sha256).hexdigest()


def same_origin(origin: str | None, host: str) -> bool:
    """Tell whether a request comes from a page of this very server."""
    return origin is not None and origin == f"http://{host}"


def read_secret(log: Path) -> bytes:
    """Read the secret beside a log, or make one that only its owner can read."""
    path = log.with_name(f".{log.name}.key")
    try:
        return path.read_bytes() or _new_secret(path)
    except FileNotFoundError:
        return _new_secret(path)


def _new_secret(path: Path) -> bytes:
    secret = secrets.token_bytes(32)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secret)
    return secret


def _name_of(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
