// The witnesses of an auditor: asks each for its signature under a head, and knows which of them do not give it.
//
// Boundary: waits for answers; writes and keeps no heads.
//
// Invariants
//   C1. A witness that is silent is not asked again in a round, and holds up no other.
//   C2. What a witness refuses is one finding of a log, where it began, until it signs again.
//   C3. Since when a witness signs nothing is known from the first time that it was asked in vain until it signs.
import { isCosigned, noteText, parseNote, treeName } from '@recourse/audit';
import type { HashTree, NoteKey, NoteSignature, SignedHead } from '@recourse/audit';
import { Failure } from '@recourse/kernel';
import type { Clock } from '@recourse/kernel';
import type { Found } from '../rules/alarm/alarm.messages.js';

/** What shows a witness that it may sign a head. */
export interface Grounds {
  /** Proves that the head extends one of a size; null where there is none of it. */
  readonly proofFrom: (size: number) => readonly Buffer[] | null;
  /** Notes by which a person gave up the heads of the generation before; null where there are none. */
  readonly givenUp: string | null;
}

/** Who signs with the auditor, having seen that the head extends the one before. */
export interface Witness {
  readonly key: NoteKey;
  /**
   * Asks for a cosignature.
   *
   * Errors: Failure(WITNESS_REFUSED) when it has signed another head; any other when it does not answer.
   */
  cosign(head: SignedHead, grounds: Grounds): Promise<NoteSignature>;
}

/** Heads that a witness is asked to sign at a time. */
const ASKED_AT_ONCE = 8;

/** A head that the auditor signed, and the tree that it is of. */
export interface Unwitnessed {
  readonly head: SignedHead;
  readonly tree: HashTree;
  /** Notes by which a person gave up the heads of the generation before; null where there are none. */
  readonly givenUp: string | null;
}

/** Witnesses that did not sign in a round: whoever was silent is not asked again in it. */
type Failing = Map<string, 'silent' | 'wrong'>;

export class Cosigners {
  #failing: Failing = new Map();
  /** Since when each has been asked in vain, by the clock that nobody sets. */
  readonly #vainSince = new Map<string, number>();
  readonly #differing = new Map<string, Found>();

  constructor(
    private readonly options: {
      readonly witnesses: readonly Witness[];
      readonly clock: Pick<Clock, 'monotonic'>;
      readonly onTrouble: (what: string, cause: unknown) => void;
    },
  ) {}

  /** Names of those that did not sign when they were asked last, with the code for it. */
  get trouble(): readonly (readonly [string, string])[] {
    return [...this.#failing.keys()].map((name) => [name, 'WITNESS_UNAVAILABLE']);
  }

  /** For how many seconds each has been asked in vain; 0 for one that signs what it is asked for. */
  waits(): Readonly<Record<string, number>> {
    const { witnesses, clock } = this.options;
    const now = clock.monotonic();
    return Object.fromEntries(
      witnesses.map(({ key: { name } }) => [name, (now - (this.#vainSince.get(name) ?? now)) / 1_000]),
    );
  }

  /** Logs of which a witness has signed another head. */
  get differing(): readonly Found[] {
    return [...this.#differing.values()];
  }

  /** Did one of them not sign this head? */
  lacks(head: SignedHead): boolean {
    return this.options.witnesses.some(({ key }) => !isCosigned(head, [key]));
  }

  /** The heads with the signatures of those that gave theirs; who has signed one is not asked for it. */
  async sign(heads: readonly Unwitnessed[]): Promise<readonly SignedHead[]> {
    const failing: Failing = new Map();
    const before = new Map(this.#vainSince);
    const signed: SignedHead[] = [];
    for (let from = 0; from < heads.length; from += ASKED_AT_ONCE) {
      const some = heads.slice(from, from + ASKED_AT_ONCE);
      signed.push(...(await Promise.all(some.map((one) => this.#signed(one, failing)))));
    }
    this.#failing = failing;
    const now = this.options.clock.monotonic();
    for (const name of failing.keys()) this.#vainSince.set(name, before.get(name) ?? now);
    return signed;
  }

  async #signed({ head, tree, givenUp }: Unwitnessed, failing: Failing): Promise<SignedHead> {
    const proofFrom = (size: number): readonly Buffer[] | null =>
      size > head.size ? null : size === 0 ? [] : tree.consistency(size, head.size);
    const asked = this.options.witnesses.filter(
      ({ key }) => failing.get(key.name) !== 'silent' && !isCosigned(head, [key]),
    );
    const answers = await Promise.all(
      asked.map((witness) =>
        witness.cosign(head, { proofFrom, givenUp }).then(
          (signature) => this.#agreed(witness, head, signature),
          (cause: unknown) => this.#declined(witness, { head, cause, failing }),
        ),
      ),
    );
    return withSignatures(
      head,
      answers.filter((one) => one !== null),
    );
  }

  #agreed({ key }: Witness, head: SignedHead, signature: NoteSignature): NoteSignature {
    this.#differing.delete(`${key.name} ${treeName(head)}`);
    this.#vainSince.delete(key.name);
    return signature;
  }

  #declined(
    { key }: Witness,
    { head, cause, failing }: { readonly head: SignedHead; readonly cause: unknown; readonly failing: Failing },
  ): null {
    const { topic, partition, size } = head;
    const name = `${key.name} ${treeName(head)}`;
    const isRefused = cause instanceof Failure && cause.code === 'WITNESS_REFUSED';
    // It refuses every head from the first on: what it differs at does not move with each.
    if (isRefused && !this.#differing.has(name))
      this.#differing.set(name, { kind: 'witness_differs', topic, partition, seq: size, offset: null });
    if (!isRefused) failing.set(key.name, cause instanceof Failure ? 'wrong' : 'silent');
    this.options.onTrouble(key.name, cause);
    return null;
  }
}

function withSignatures(head: SignedHead, more: readonly NoteSignature[]): SignedHead {
  const note = parseNote(head.note);
  return note === null ? head : { ...head, note: noteText({ ...note, signatures: [...note.signatures, ...more] }) };
}
