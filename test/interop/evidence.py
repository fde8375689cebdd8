"""What void records of a log show: a rival leaves some, and so does a log that somebody altered.

A void record is explained where it follows a record that was accepted before it, or another void one before it (the rest of a
rival's batch), or a head that a CutAccepted gives up as lost. Every other one is evidence: what it followed is gone, altered or
elsewhere, as `recourse audit verify` finds it, too.
"""


class Trail:
    """What may be followed, and what follows nothing of it. Heads are (seq, hash)."""

    def __init__(self, genesis):
        self.there, self.lost, self.strangers = {genesis}, set(), {}

    def accept(self, head, body):
        self.there.add(head)
        if isinstance(body, dict) and "lost_head_hash" in body:
            self.lost.add((body["lost_to_seq"], body["lost_head_hash"]))

    def take_void(self, offset, follows, own):
        """`follows` is None where the record cannot be read, `own` where its schema is not known."""
        if follows not in self.there:
            self.strangers[offset] = follows
        if own is not None:
            self.there.add(own)

    @property
    def evidence(self):
        """Offsets, in their order."""
        return [offset for offset, follows in self.strangers.items() if follows not in self.lost]
