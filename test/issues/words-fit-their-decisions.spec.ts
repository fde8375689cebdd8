// A statement of a few kilobytes about a fact that hundreds of commits rely on led to a decision that fitted no batch, since each of them may be
// told of by itself, with the whole statement: the partition of the ledger halted at a spread, and a smaller number was set aside with nothing fallen.
import { describe, expect, it } from '@jest/globals';
import { contractDigest, contractView, entryView, plainPayload } from '@recourse/contract';
import type { Decided, ServiceCore } from '@recourse/event-log';
import { createCodecs } from '@recourse/messages';
import { MemoryRegistry } from '@recourse/kafka';
import { harness, memoryView } from '@recourse/testing';
import { NO_LIMITS } from '../../apps/mutation-ledger/src/rules/admission/admission.messages.js';
import { assumptionView, fallenView, mutationsCore } from '../../apps/mutation-ledger/src/core.js';
import {
  contractText,
  executed,
  NOW,
  refund,
  registered,
  state,
  statement,
} from '../../apps/mutation-ledger/src/core/ledger.testing.js';

/** What a batch takes (L4). */
const BYTES_MAX = 900_000;
const RECORDS_MAX = 1_000;
const CHAIN = { seq: 1, prev_hash: Buffer.alloc(32), decided_at: NOW };

interface Word {
  readonly what: string;
  readonly effects: number;
  readonly runs: number;
  /** Bytes of what is stated. */
  readonly stated: number;
  /** Of the result of each effect. */
  readonly result?: number;
  /** Its source is trusted; else each is held. */
  readonly isTrusted?: boolean;
  /** It is said to hold again afterwards. */
  readonly isTakenBack?: boolean;
}

const WORDS: readonly Word[] = [
  { what: 'of a stranger, about many', effects: 420, runs: 1, stated: 3_000 },
  { what: 'of a stranger, about no more than fit one decision', effects: 200, runs: 1, stated: 5_000 },
  { what: 'as long as a record, about many', effects: 210, runs: 1, stated: 60_000, isTrusted: true },
  { what: 'about effects of as many runs', effects: 200, runs: 200, stated: 4_500, isTrusted: true },
  { what: 'about effects of many runs', effects: 450, runs: 450, stated: 3_000, isTrusted: true },
  { what: 'about effects with long results', effects: 200, runs: 1, stated: 5_000, result: 10_000, isTrusted: true },
  { what: 'that is taken back', effects: 250, runs: 1, stated: 4_000, isTrusted: true, isTakenBack: true },
];

/** Each decision that a word leads to. */
function decisions({
  effects,
  runs,
  stated,
  result = 10,
  isTrusted = false,
  isTakenBack = false,
}: Word): readonly (readonly Decided[])[] {
  const body = contractText();
  const admission = isTrusted ? NO_LIMITS : { ...NO_LIMITS, trustThresholdPermille: 600 };
  const made: (readonly Decided[])[] = [];
  const core = mutationsCore({ admission });
  const watched: ServiceCore = {
    ...core,
    decide: (context, input) => {
      const decision = core.decide(context, input);
      made.push(decision.records);
      return decision;
    },
  };
  const [assumptions, contracts] = [memoryView(assumptionView), memoryView(contractView)];
  contracts.append('payments.issue_refund', registered(body));
  const views = { assumptions, contracts, fallen: memoryView(fallenView), entries: memoryView(entryView) };
  const run = harness(watched, { views });
  for (let at = 0; at < effects; at += 1) {
    const named = { event_id: `ev-${String(at)}`, call_id: `call-${String(at)}`, effect_key: `e-${String(at)}` };
    const outcome = {
      run_id: `run-${String(at % runs)}`,
      result: plainPayload({ refund_id: 're_1', status: 'x'.repeat(result) }),
    };
    run.when(executed(refund({ ...named, ...outcome, contract_digest: contractDigest(body) })), NOW);
  }
  made.length = 0;
  const long = plainPayload({ shipped: 'x'.repeat(stated) });
  run.when(state(assumptions, statement('invalidated', 'ev-false', { statement: long })), NOW + 1);
  run.whenDue(NOW + 1);
  if (isTakenBack) {
    run.when(state(assumptions, statement('holds', 'ev-holds', { statement: long })), NOW + 2);
    run.whenDue(NOW + 2);
  }
  return made;
}

describe('a word', () => {
  it.each(WORDS)('fits the decisions that it leads to, and reaches all: $what', async (word) => {
    const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
    await codecs.prepareWriter('recourse.mutations', { register: true });
    const reached = new Set<string>();
    for (const records of decisions(word)) {
      const bytes = records.map(
        ({ type, body }) =>
          codecs.encode('recourse.mutations', type as 'MutationsFell', { ...body, ...CHAIN }).length + 100,
      );
      expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(BYTES_MAX);
      expect(records.length).toBeLessThan(RECORDS_MAX);
      for (const { type, body } of records) {
        const members = (body['members'] ?? [body]) as readonly { readonly mutation_id?: string }[];
        const wanted =
          word.isTakenBack === true ? 'MutationReaffirmed' : word.isTrusted === true ? 'MutationsFell' : 'TriggerHeld';
        if (type === wanted) for (const one of members) reached.add(one.mutation_id ?? '');
      }
    }
    expect(reached.size).toBe(word.effects);
  });
});
