"""Pieces of the wire format of Protocol Buffers."""


def varint(number):
    number &= 2**64 - 1
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def key(field, wire_type):
    return varint(field << 3 | wire_type)


def delimited(field, content):
    return key(field, 2) + varint(len(content)) + content
