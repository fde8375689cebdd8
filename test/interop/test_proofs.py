"""The checker of proofs, over the proof that the command line gives of a record: it holds, and no altered one does."""

import copy
import json
from pathlib import Path

import check_proof
import pytest

VECTOR = json.loads((Path(__file__).parent / "proofs" / "record.json").read_text(encoding="utf-8"))
KEY, PROOF = VECTOR["key"], VECTOR["proof"]


def paths(value, at=()):
    """Places of every text and number in a JSON value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths(inner, (*at, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*at, index))
    elif value is not None:
        yield at


def test_the_proof_of_a_record_holds():
    check_proof.check(PROOF, KEY)


# The offset says where to look; nothing is claimed of it.
@pytest.mark.parametrize("place", [at for at in paths(PROOF) if at != ("record", "offset")], ids=str)
def test_a_proof_with_anything_altered_does_not_hold(place):
    proof = copy.deepcopy(PROOF)
    holder = proof
    for step in place[:-1]:
        holder = holder[step]
    old = holder[place[-1]]
    holder[place[-1]] = old + 1 if isinstance(old, int) else old[:-3] + ("AB=" if old[-3:] != "AB=" else "CD=")
    with pytest.raises((check_proof.Wrong, ValueError)):
        check_proof.check(proof, KEY)


def test_the_key_of_somebody_else_proves_nothing():
    name, _, encoded = KEY.split("+", 2)
    with pytest.raises(check_proof.Wrong):
        check_proof.check(PROOF, f"{name}+00000000+{encoded}")
