"""The fields of an HDF5 file, and changes of them, for mutated_inputs.py.

A map of a file is made from its bytes alone, with the tables of HDF5's format specification (3.0).
"""
import ctypes

LIBRARY = "libhdf5_serial.so.103"
SIGNATURES = [b"OHDR", b"OCHK", b"TREE", b"SNOD", b"HEAP", b"GCOL", b"BTHD", b"BTIN", b"BTLF", b"FRHP", b"FHDB",
              b"FHIB", b"FSHD", b"FSSE", b"SMTB", b"SMLI", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB"]

# Of each structure the widths of its fields from the signature on.
TABLES = {
    b"TREE": [1, 1, 2, 8, 8] + [4, 4, 8, 8, 8, 8] * 3,
    b"SNOD": [1, 1, 2] + [8, 8, 4, 4, 8, 8] * 3,
    b"HEAP": [1, 3, 8, 8, 8],
    b"GCOL": [1, 3, 8] + [2, 2, 4, 8] * 2,
    b"BTHD": [1, 1, 4, 2, 2, 1, 1, 8, 2, 8],
    b"BTIN": [1, 1] + [8, 8, 2] * 3,
    b"BTLF": [1, 1] + [8, 8, 8, 8] * 2,
    b"FRHP": [1, 2, 2, 1, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 2, 8, 8, 2, 2, 8, 2],
    b"FHDB": [1, 8, 4, 4, 4],
    b"FHIB": [1, 8, 4, 8, 8],
    b"FSHD": [1, 1, 8, 8, 8, 8, 2, 2, 2, 2, 8, 8, 8, 8],
    b"FAHD": [1, 1, 1, 1, 8, 8],
    b"FADB": [1, 1, 8, 8, 8, 8],
    b"EAHD": [1, 1, 1, 1, 1, 1, 1, 1, 8, 8, 8, 8, 8, 8, 8],
    b"EAIB": [1, 1, 8, 8, 8, 8],
    b"EASB": [1, 1, 8, 8, 8],
    b"EADB": [1, 1, 8, 8, 8],
}
SUPERBLOCKS = {0: [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 4, 8, 8, 8, 8, 8, 8, 4, 4, 8, 8],
               1: [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 4, 2, 2, 8, 8, 8, 8, 8, 8, 4, 4, 8, 8],
               2: [1, 1, 1, 1, 8, 8, 8, 8], 3: [1, 1, 1, 1, 8, 8, 8, 8]}
MESSAGES = {0: "nil", 1: "dataspace", 2: "link info", 3: "datatype", 4: "old fill value", 5: "fill value",
            6: "link", 7: "external files", 8: "layout", 10: "group info", 11: "filters", 12: "attribute",
            15: "shared table", 16: "continuation", 17: "symbol table", 18: "time", 19: "tree K", 21: "attributes"}
MOST_CHECKED = 8192  # bytes under one checksum


def places(data, mark):
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


def number(data, at, width):
    return int.from_bytes(data[at:at + width], "little")


class Checksums:
    """HDF5's own function for those of metadata."""

    function = None

    @classmethod
    def of(cls, data):
        if cls.function is None:
            cls.function = ctypes.CDLL(LIBRARY).H5_checksum_metadata
            cls.function.restype = ctypes.c_uint32
            cls.function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint32]
        return cls.function(bytes(data), len(data), 0)


class FieldMap:
    """Fields as (place, width, name) in groups of one kind, addresses that the file has, and ranges that a
    checksum behind them covers."""

    def __init__(self, data):
        self.groups = {}
        self.checked = []
        self.starts = [at for mark in SIGNATURES for at in places(data, mark)]
        self.superblock(data)
        for at in self.starts:
            self.structure(data, at)
        for at in range(0, len(data) - 16, 4):
            self.old_header(data, at)
        self.addresses = sorted({0, len(data), *self.starts, *(at for at in range(0, len(data), 8)
                                                               if self.is_pointed_at(data, at))})
        self.pointers(data)

    def add(self, group, at, width, name):
        self.groups.setdefault(group, []).append((at, width, name))

    def fields(self, group, name, data, at, widths):
        for i, width in enumerate(widths):
            if at + width <= len(data):
                self.add(group, at, width, f"{name}[{i}]")
            at += width

    def find_checksum(self, data, start, least):
        """Where the checksum stands that covers the bytes from the start on."""
        for end in range(start + least, min(len(data) - 3, start + MOST_CHECKED)):
            if number(data, end, 4) == Checksums.of(data[start:end]) and any(data[end:end + 4]):
                self.checked.append((start, end))
                return end
        return None

    def superblock(self, data):
        version = data[8]
        self.fields("superblock", "superblock", data, 8, SUPERBLOCKS[version])
        if version >= 2:
            self.find_checksum(data, 0, 40)

    def structure(self, data, at):
        mark = data[at:at + 4]
        name = mark.decode()
        end = None
        if mark not in (b"TREE", b"SNOD", b"HEAP", b"GCOL"):
            end = self.find_checksum(data, at, 6)
        if mark in TABLES:
            self.fields(name, name, data, at + 4, TABLES[mark])
        if mark == b"OHDR" and end:
            flags = data[at + 5]
            self.fields("header", "OHDR", data, at + 4, [1, 1])
            first = at + 6 + (16 if flags & 32 else 0) + (4 if flags & 16 else 0)
            self.add("header", first, 1 << (flags & 3), "OHDR size")
            self.messages(data, first + (1 << (flags & 3)), end, 1, 4 + (2 if flags & 4 else 0))
        if mark == b"OCHK" and end:
            self.messages(data, at + 4, end, 1, 4)

    def messages(self, data, at, end, width, head):
        """Those of an object header: `width` bytes of type, `head` before the message itself."""
        while at + head <= end:
            kind, size = number(data, at, width), number(data, at + width, 2)
            if at + head + size > end or kind > 23:
                return
            name = MESSAGES.get(kind, f"message {kind}")
            self.add("message heads", at, width, f"{name}, type")
            self.add("message heads", at + width, 2, f"{name}, size")
            self.add("message heads", at + width + 2, 1, f"{name}, flags")
            for i in range(min(size, 96 if kind else 8)):
                # What lies where depends on versions: each byte may begin a field.
                self.add(name, at + head + i, 1, f"{name}+{i}")
                for wide in (2, 4, 8):
                    if i % wide == 0 and i + wide <= size:
                        self.add(name, at + head + i, wide, f"{name}+{i}")
            at += head + size

    def old_header(self, data, at):
        """An object header of version 1, which has no signature: it looks like one."""
        count, references, size = number(data, at + 2, 2), number(data, at + 4, 4), number(data, at + 8, 4)
        if data[at:at + 2] != b"\1\0" or not 0 < count < 64 or not 0 < references < 9 or not 8 <= size < 4096 \
                or at + 16 + size > len(data) or number(data, at + 16, 2) > 23:
            return
        self.starts.append(at)
        self.fields("header", "header v1", data, at, [1, 1, 2, 4, 4])
        self.messages(data, at + 16, at + 16 + size, 2, 8)

    def is_pointed_at(self, data, at):
        """Whether something in the file has this address."""
        return at >= 48 and data.count(at.to_bytes(8, "little")) > 0

    def pointers(self, data):
        """Eight bytes, anywhere, that are an address of a structure."""
        known = set(self.starts)
        for at in range(0, len(data) - 8):
            if number(data, at, 8) in known:
                self.add("addresses", at, 8, f"address at {at}")


def without_times(data):
    """The file with fixed times in its object headers, so that each run makes the same."""
    made = bytearray(data)
    for start, end in FieldMap(data).checked:
        if made[start:start + 4] == b"OHDR" and made[start + 5] & 32:
            made[start + 6:start + 22] = b"\0\0\0\x60" * 4
            made[end:end + 4] = Checksums.of(made[start:end]).to_bytes(4, "little")
    return bytes(made)


def new_value(old, width, data, fields, addresses, rng):
    """Another value of a field."""
    most = (1 << 8 * width) - 1
    choice = rng.randrange(10)
    if choice < 3:
        new = rng.choice([0, 1, 2, most, most - 1, most // 2, most // 2 + 1, 1 << rng.randrange(8 * width)])
    elif choice < 5:
        new = old + rng.choice([-8, -2, -1, 1, 2, 8])
    elif choice == 5:
        new = old ^ 1 << rng.randrange(8 * width)
    elif choice == 6:
        new = old * rng.choice([2, 3, 256]) if rng.randrange(2) else old // 2
    elif choice == 7:
        at, wide, _ = rng.choice(fields)
        new = number(data, at, wide)
    elif choice == 8 and width >= 2:
        new = rng.choice(addresses) + rng.choice([0, 0, 0, 1, 8, -8])
    else:
        new = rng.randrange(most + 1)
    return new % (most + 1)


def change_field(data, map_, rng):
    fields = map_.groups[rng.choice(list(map_.groups))]
    at, width, name = rng.choice(fields)
    if at + width > len(data):
        return f"{name} is cut off"
    old = number(data, at, width)
    if rng.randrange(12) == 0:
        there, wide, other = rng.choice([field for field in fields if field[1] == width])
        if there + wide <= len(data):
            data[at:at + width], data[there:there + wide] = data[there:there + wide], data[at:at + width]
            return f"{name} and {other}, at {at} and {there}, change places"
    new = new_value(old, width, data, fields, map_.addresses, rng)
    data[at:at + width] = new.to_bytes(width, "little")
    return f"{name} at {at}, {width} bytes, from {old:#x} to {new:#x}"


def change_anything(data, rng):
    """Bytes of data or of structures that the map does not know, or the file's length."""
    choice = rng.randrange(8)
    if choice == 0:
        size = rng.randrange(len(data))
        del data[size:]
        return f"cut to {size} bytes"
    at = rng.randrange(len(data))
    if choice == 1:
        size = rng.randrange(1, 64)
        there = rng.randrange(len(data))
        piece = bytes(data[there:there + size])[:len(data) - at]
        data[at:at + len(piece)] = piece
        return f"{len(piece)} bytes at {at} are those at {there}"
    old = data[at]
    data[at] = rng.choice([0, 255, old ^ 1 << rng.randrange(8), rng.randrange(256)])
    return f"byte {at} from {old:#x} to {data[at]:#x}"


def changed(data, map_, rng):
    """The file with one to three changes, and what they are."""
    made, changes = bytearray(data), []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        changes.append(change_field(made, map_, rng) if rng.randrange(10) else change_anything(made, rng))
    if map_.checked and rng.randrange(8):
        changes.append("checksums fit")
        for start, end in map_.checked:
            if end + 4 <= len(made):
                made[end:end + 4] = Checksums.of(made[start:end]).to_bytes(4, "little")
    return bytes(made), changes
