"""A bag being written: a folder of MCAP files, one after the other, and metadata.yaml once all is done."""

from pathlib import Path

from rbt_ros.bags.mcap_write import Channel, McapWriter, check_compression
from rbt_ros.bags.metadata import Part, profile, write_metadata, yaml_text
from rbt_ros.bags.types import Types
from rbt_ros.errors import ScenarioError
from rbt_ros.paths import as_path

SECOND_NS = 1_000_000_000


def _definition(types: Types, kind: str) -> tuple[str, str, str]:
    text, digest = types.definition(kind)
    return text, "ros2msg", digest


def new_folder(folder: str | Path, compression: str) -> Path:
    """The folder of a new bag, made. ScenarioError where it cannot be, or the compression is unknown."""
    path = as_path(folder, "the folder of a bag", ScenarioError)
    check_compression(compression)
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        raise ScenarioError(f"the bag {path} is there already; give another name, or remove it.") from None
    except (OSError, ValueError) as err:  # ValueError: a name that no file can have
        why = getattr(err, "strerror", err)
        raise ScenarioError(f"the bag {path!s:.200} cannot be made ({why}); give a folder of yours.") from err
    return path


class BagWriter:
    """Messages as bytes into a new bag. One thread may use it."""

    def __init__(
        self,
        folder: str | Path,
        *,
        compression: str = "zstd",
        split_bytes: int = 0,
        split_s: float = 0.0,
        made: bool = False,
    ) -> None:
        """A new file begins when one holds messages of more than split_bytes [bytes] or split_s [s]; 0: never.

        made: whether `new_folder` was asked for the folder already.
        """
        self.folder = Path(folder) if made else new_folder(folder, compression)
        self.types = Types()
        self._compression, self._split_bytes, self._split_ns = compression, split_bytes, round(split_s * SECOND_NS)
        self._parts: list[Part] = []
        self._channels: list[Channel] = []
        self._hashes: list[str] = []
        self._counts: list[int] = []
        self._file = self._next_file()

    def _next_file(self) -> McapWriter:
        file = McapWriter(self.folder / f"{self.folder.name}_{len(self._parts)}.mcap", self._compression)
        for channel in self._channels:
            file.add_channel(*channel[1:])
        return file

    def add_channel(
        self,
        topic: str,
        kind: str,
        qos: str = "stream",
        *,
        known: tuple[str, str, str] | None = None,
        profiles: str = "",
    ) -> int:
        """A topic that messages may be written to; its number.

        qos: as in `topics`, or "log". known: definition, its encoding and RIHS01 hash of a type that need not be one of
        Jazzy's; profiles: YAML in place of qos.
        """
        text, encoding, digest = known or _definition(self.types, kind)
        profiles = profiles or yaml_text(profile(qos))
        number = self._file.add_channel(topic, kind, text, profiles, encoding)
        self._channels.append(Channel(number, topic, kind, text, profiles, encoding))
        self._hashes.append(digest)
        self._counts.append(0)
        return number

    def write(self, channel: int, time_ns: int, data: bytes) -> None:
        """Add one message."""
        file = self._file
        too_long = self._split_ns and file.since_ns < time_ns - self._split_ns
        if too_long or (self._split_bytes and file.content > self._split_bytes):
            self._end_file()
            self._file = self._next_file()
        self._file.write(channel, time_ns, data)
        self._counts[channel - 1] += 1

    def flush(self) -> None:
        """Hand everything to the system."""
        self._file.flush()

    def add_metadata(self, name: str, values: dict[str, str]) -> None:
        """A named map of strings, in the file under way."""
        self._file.add_metadata(name, values)

    @property
    def messages(self) -> int:
        """How many have been written."""
        return sum(self._counts)

    @property
    def size(self) -> int:
        """Bytes in all files."""
        return sum(file.stat().st_size for file in self.folder.glob("*.mcap"))

    def _end_file(self) -> None:
        file = self._file
        file.close()
        self._parts.append(Part(file.path.name, file.first_ns, file.last_ns, sum(file.counts)))

    def close(self, custom: dict[str, str] | None = None) -> None:
        """End the last file and write metadata.yaml; custom: what rosbag2 keeps as custom_data."""
        self._end_file()
        channels = list(zip(self._channels, self._hashes, self._counts, strict=True))
        write_metadata(self.folder, self._parts, channels, custom or {})

    def abandon(self) -> None:
        """Leave everything as it is."""
        self._file.abandon()
