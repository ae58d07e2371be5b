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
    "web forms": [
        # The top code of a column of dates; of text it compared texts.
        b'POST /api/v1/tables/{release}/plan\n{"options": {"k": 3, "top_code": {"born": 3}}, "levels": {"age": 1}}',
        b'POST /api/v1/tables/{release}/anonymize\n{"options": {"k": 2, "suppression": 0.5, "top_code": {"zip": 3}}}',
        # Fewer people than redraws of the sample had.
        b'POST /api/v1/tables/{release}/assess\n{"population": 60}',
        b'POST /api/v1/tables/{release}/anonymize\n{"options": {"k": 2, "suppression": 0.5, "population": 60}, "recoding": "full-domain"}',
        # A codec that says of no byte that it is the wrong one.
        b'PUT /api/v1/tables/{release}/reading\n{"encoding": "utf-16"}',
    ],
}
