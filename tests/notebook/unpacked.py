"""What a browser unpacks of a picture of all heads, unpacked here."""

import zlib
from base64 import b64decode

import torch


def read_bytes(packed):
    return torch.frombuffer(bytearray(zlib.decompress(b64decode(packed))), dtype=torch.uint8)


def unpack(packed, masks, heads):
    """The bytes (heads, side, side) of a layer, 0 where its mask forbids."""
    mask = masks[packed["mask"]]
    side = mask["side"]
    is_allowed = read_bytes(mask["allowed"]).reshape(side, side).bool()
    codes = torch.zeros(heads, side, side)
    keys, queries = is_allowed.T.nonzero(as_tuple=True)
    codes[:, queries, keys] = read_bytes(packed["codes"]).reshape(heads, -1).float()
    return codes
