"""Compares the code in a core file with the files it was mapped from: core_text.py CORE

Prints how many bytes of code the core has, and how many of them differ: a changed segment is in the
core as a whole.
"""
import struct
import sys

core = open(sys.argv[1], "rb").read()
phoff, = struct.unpack_from("<Q", core, 32)
phentsize, phnum = struct.unpack_from("<HH", core, 54)
loads, notes = [], []
for i in range(phnum):
    kind, flags, offset, address, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", core, phoff + i * phentsize)
    if kind == 1 and flags & 1 and size > 0:
        loads.append((address, offset, size))
    elif kind == 4:
        notes.append((offset, size))

files = []  # begin, end, offset in the file, path
for at, size in notes:
    end = at + size
    while at < end:
        namesz, descsz, kind = struct.unpack_from("<III", core, at)
        at += 12 + (namesz + 3 & ~3)
        if kind == 0x46494C45:  # NT_FILE
            count, page = struct.unpack_from("<QQ", core, at)
            names = core[at + 16 + 24 * count : at + descsz].split(b"\0")
            for i in range(count):
                begin, stop, offset = struct.unpack_from("<QQQ", core, at + 16 + 24 * i)
                files.append((begin, stop, offset * page, names[i].decode()))
        at += descsz + 3 & ~3

checked = different = 0
for address, offset, size in loads:
    for begin, stop, in_file, path in files:
        if begin <= address < stop:
            with open(path, "rb") as file:
                file.seek(in_file + address - begin)
                code = file.read(size)
            there = core[offset : offset + len(code)]
            if len(there) > 4096:  # else only the page with the ELF header
                checked += len(code)
                different += sum(a != b for a, b in zip(code, there))
print(checked, different)
