import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { KnownContract } from '@recourse/contract';
import type { Payload } from '@recourse/messages';
import { callFor, MUTATION, RUN, TENANT } from '../../core/ledger.testing.js';
import { executedBy } from './compensation.decider.js';
import type { Judged } from './compensation.decider.js';

/** A payload that counts how often it is opened: to open one costs more than all else that is told of a compensation. */
function counted(): { readonly payload: Payload; readonly opened: () => number } {
  const { body, ...told } = plainPayload({ amount_minor: 4_200 });
  let count = 0;
  const payload = {
    ...told,
    get body() {
      count += 1;
      return body;
    },
  };
  return { payload, opened: () => count };
}

function judged(args: Payload, contract: KnownContract | null): Judged {
  const call = { ...callFor(MUTATION), args };
  // What is read of them alone.
  const mutation = { mutation_id: MUTATION, recorded_hash: Buffer.alloc(32), execution: {}, ref: {} };
  const verdict = { step_id: 'step-1', call, outcome: 'compensated', reason: 'SEEN', observations: [], calls_done: 1 };
  const called = { position: 1, call, state: 'succeeded' };
  return { verdict, called, mutation, standing: undefined, contract } as unknown as Judged;
}

const LEG = { tenant: TENANT, run_id: RUN, recovery_id: 'rec-1', attempt: 1 };
const KNOWN = { digest: Buffer.alloc(32), contract: { value: { amount: '/amount_minor', currency: 'EUR' } } };

describe('what a compensation called', () => {
  it('is not opened where no contract says what to read there', () => {
    const { payload, opened } = counted();
    const [told] = executedBy(LEG, [judged(payload, null)]);
    expect(opened()).toBe(0);
    expect(told?.body.members).toMatchObject([{ value: null, consequence: [], contract_digest: null }]);
    expect(told?.body.members[0]?.args).toBe(payload);
  });

  it('is read where one does', () => {
    const { payload } = counted();
    const [told] = executedBy(LEG, [judged(payload, KNOWN as unknown as KnownContract)]);
    expect(told?.body.members).toMatchObject([{ value: { amount_minor: 4_200, currency: 'EUR' } }]);
  });
});
