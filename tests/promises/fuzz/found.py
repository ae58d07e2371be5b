"""What fuzzing found, kept: each broke its target once."""

FOUND: dict[str, list[bytes]] = {
    "csv": [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n\n"],
    "hierarchy in TOML": [b"a = " + b"[" * 5_000 + b"]" * 5_000],
    "key": [
        b'{"format": "crypsis key 1", "seed": 5, "row_map": [0, 2], "pseudonullnyms": {}}',
        b'{"format": "crypsis key 1", "seed": 5, "row_map": 7, "pseudonyms": {}}',
        b'{"format": "crypsis key 1", "seed": 5, "row_map": null, "pseudonyms": [1]}',
    ],
    "plan in JSON": [b"[" * 100_000],
    "policy": [b"a = " + b"[" * 5_000 + b"]" * 5_000],
    "roles": [b"a = " + b"[" * 5_000 + b"]" * 5_000],
}
