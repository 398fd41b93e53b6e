"""Ways from one process to another that can be cut and stalled: proxies, in a thread of this process."""

import asyncio
import contextlib
import threading
from dataclasses import dataclass, field
from pathlib import Path

PIECE_BYTES = 1 << 16


@dataclass
class Road:
    """A port of this machine, and the port, or the path of a socket, that it leads to."""

    port: int
    to: int | Path
    is_cut: bool = False
    flowing: asyncio.Event = field(default_factory=asyncio.Event)
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection and make the one that it leads to."""
        if self.is_cut:
            writer.transport.abort()
            return
        try:
            there, away = await self._open()
        except OSError:
            writer.transport.abort()
            return
        both = {writer, away}
        self.writers |= both
        try:
            await asyncio.gather(self._pump(reader, away), self._pump(there, writer))
        finally:
            self.writers -= both
            for one in both:
                one.transport.abort()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.to, Path):
            return await asyncio.open_unix_connection(self.to)
        return await asyncio.open_connection("127.0.0.1", self.to)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while content := await reader.read(PIECE_BYTES):
                await self.flowing.wait()
                writer.write(content)
                await writer.drain()
        # The other direction ends with this one: none of these programs goes on with half a connection.
        writer.close()


class Roads:
    """All roads; its methods are called from another thread than the one that they work in."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._servers: list[asyncio.Server] = []

    def lay(self, to: int | Path) -> Road:
        """Make a road to a port or the path of a socket."""
        return asyncio.run_coroutine_threadsafe(self._lay(to), self._loop).result()

    def cut(self, road: Road) -> None:
        """End all connections and take no others."""
        self._loop.call_soon_threadsafe(self._cut, road)

    def stall(self, road: Road) -> None:
        """Keep connections, and let nothing through."""
        self._loop.call_soon_threadsafe(road.flowing.clear)

    def open(self, road: Road) -> None:
        """Let everything through again."""
        self._loop.call_soon_threadsafe(self._open, road)

    async def _lay(self, to: int | Path) -> Road:
        road = Road(0, to)
        road.flowing.set()
        server = await asyncio.start_server(road.pass_on, "127.0.0.1", 0)
        road.port = server.sockets[0].getsockname()[1]
        self._servers.append(server)
        return road

    def _cut(self, road: Road) -> None:
        road.is_cut = True
        for writer in list(road.writers):
            writer.transport.abort()

    def _open(self, road: Road) -> None:
        road.is_cut = False
        road.flowing.set()
