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


EDGES = json.loads((Path(__file__).parent / "proofs" / "edges.json").read_text(encoding="utf-8"))["edges"]


def altered(edge):
    proof = copy.deepcopy(PROOF)
    *steps, last = edge["at"] or ["format"]
    holder = proof
    for step in steps:
        holder = holder[step]
    if "remove" in edge:
        del holder[last]
    elif "replace" in edge:
        holder[last] = holder[last].replace(*edge["replace"], 1)
    elif "set" in edge:
        holder[last] = edge["set"]
    return proof


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: edge["name"])
def test_a_proof_at_the_edges_of_its_format_is_judged_as_in_every_language(edge, tmp_path):
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(altered(edge)), encoding="utf-8")
    assert (check_proof.main(str(file), KEY) == 0) == edge["holds"]


def test_it_says_whose_record_it_is_and_takes_the_deployment_it_has_to_be_of(tmp_path, capsys):
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(PROOF), encoding="utf-8")
    assert [check_proof.main(str(file), KEY), check_proof.main(str(file), KEY, "log-1"), check_proof.main(str(file), KEY, "log-2")] == [0, 0, 1]
    holds, again, other = capsys.readouterr().out.splitlines()
    assert holds == again == "ok: log-1/recourse.budgets/0/3"
    assert "another deployment" in other


def test_a_witness_that_is_named_has_to_have_signed_both_heads(tmp_path):
    signed = json.loads((Path(__file__).parent / "proofs" / "witnessed.json").read_text(encoding="utf-8"))
    key, witness, proof = signed["key"], signed["witness"], signed["proof"]
    check_proof.check(proof, key, None, (witness,))
    with pytest.raises(check_proof.Wrong, match="witness.example did not sign"):
        check_proof.check(PROOF, key, None, (witness,))
    for holder, name in ((proof, "head"), (proof["consistency"], "from")):
        altered = copy.deepcopy(proof)
        part = altered if holder is proof else altered["consistency"]
        part[name] = "".join(line for line in holder[name].splitlines(keepends=True) if not line.startswith("\u2014 witness"))
        check_proof.check(altered, key)
        with pytest.raises(check_proof.Wrong, match="witness.example did not sign"):
            check_proof.check(altered, key, None, (witness,))
    for wrong in ((key, (key,)), (witness, ())):
        with pytest.raises(check_proof.Wrong, match="no verifier key"):
            check_proof.check(proof, wrong[0], None, wrong[1])


def test_the_key_of_somebody_else_proves_nothing():
    name, _, encoded = KEY.split("+", 2)
    with pytest.raises(check_proof.Wrong):
        check_proof.check(PROOF, f"{name}+00000000+{encoded}")
