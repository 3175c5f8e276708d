"""Server-Sent Events (HTML Living Standard, section 9.2.6)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class StreamMessage:
    """A message of a stream."""

    id: str | None
    data: str


class EventReader:
    """Reads messages with data from bytes that come in parts. Comments keep the connection alive, and give nothing."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._after_cr = False
        self._id: str | None = None
        self._data: list[str] = []

    def feed(self, part: bytes) -> Iterator[StreamMessage]:
        """Takes the next part. Yields the messages that end in it."""
        for line in self._lines(self._decoder.decode(part)):
            if line == "":
                if self._data:
                    yield StreamMessage(self._id, "\n".join(self._data))
                self._data = []
                continue
            name, _, text = line.partition(":")
            text = text.removeprefix(" ")
            if name == "data":
                self._data.append(text)
            # What no header carries could not be sent back.
            elif name == "id" and re.fullmatch("[ -~]*", text):
                self._id = text

    def _lines(self, part: str) -> list[str]:
        """Lines end with CRLF, LF or CR."""
        # The LF of a CRLF that came in two parts.
        text = part.removeprefix("\n") if self._after_cr else part
        if part:
            self._after_cr = part.endswith("\r")
        *lines, self._rest = re.split(r"\r\n|\n|\r", self._rest + text)
        return lines
