import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { canonicalJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { contractDigest, forwardDigest, plainPayload, readPayload } from '@recourse/contract';
import type { MutationRecorded } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import {
  contractText,
  executed,
  HOUR_MS,
  intent,
  ledger,
  MUTATION,
  NOW,
  planned,
  refund,
  REF,
  REFUND_DIGEST,
  registered,
  RUN,
  TENANT,
} from './ledger.testing.js';

describe.each(WAYS)('an execution, $way', ({ isRebuilt }) => {
  const start = () => ledger({ isRebuilt }).run;

  it('is recorded with its reversal bound by the ledger', () => {
    const run = start().when(executed(refund()), NOW);
    run.then(
      fact('MutationRecorded', {
        mutation_id: MUTATION,
        execution_state: 'succeeded',
        recoverability: 'reversal_available',
        reason: null,
      }),
    );
    const { ref, terms, execution } = run.records()[0]?.body as unknown as MutationRecorded;
    expect(ref).toMatchObject({
      original_call_id: 'call-1',
      reversal_class: 'compensable',
      reversal_capability: 'payments.reverse_refund',
      assumption_refs: [REF],
      idempotency_key: 'key-1',
      committed_at: NOW - 1_000,
      reversal_expires_at: NOW - 1_000 + HOUR_MS,
      external_transaction_ref: 're_1',
      verification_ref: 'payments.get_refund',
    });
    expect(ref.reversal_args === null ? null : readPayload(ref.reversal_args)).toEqual({
      refund_id: 're_1',
      amount_minor: 4_200,
      currency: 'INR',
      reason: 'agent_effect_compensation',
    });
    expect(terms).toMatchObject({ contract_digest: REFUND_DIGEST, adapter: 'payments' });
    expect(execution).toMatchObject({ subject_ref: '4711', value: { amount_minor: 4_200, currency: 'INR' } });
  });

  it('carries what it moved in every unit, read under its contract before anything is sealed (D11)', () => {
    const counting = contractText({
      consequence: { money: 'args.amount_minor', comms: '2', commitments: 'result.nothing' },
    });
    const run = ledger({ isRebuilt, contracts: [counting] }).run.when(
      executed(refund({ contract_digest: contractDigest(counting) })),
      NOW,
    );
    const { consequence } = run.records()[0]?.body as unknown as MutationRecorded;
    expect(consequence).toEqual([
      { amount_minor: 4_200, currency: 'INR' },
      { amount_minor: 2_000, currency: 'comms' },
      // Nobody can read it: one, and never nothing.
      { amount_minor: 1_000, currency: 'commitments' },
    ]);
  });

  it('costs one record and one row, and one row more per ref and per event that closes its window', () => {
    const plain = contractText({ window_closed_by: undefined });
    const open = (changes = {}) =>
      ledger({ isRebuilt, contracts: [plain] }).run.when(
        executed(refund({ contract_digest: contractDigest(plain), ...changes })),
        NOW,
      );
    const [alone, relying] = [open({ assumption_refs: [] }), open({ assumption_refs: [REF, 'a', 'b', REF] })];
    expect([alone.records().length, alone.rows().length]).toEqual([1, 1]);
    expect([relying.records().length, relying.rows().length]).toEqual([1, 4]);
    const closable = start().when(executed(refund({ assumption_refs: [] })), NOW);
    expect([closable.records().length, closable.rows().length]).toEqual([1, 2]);
  });

  it('has what was there before from its intent, where the execution does not say it (C26)', () => {
    const text = contractText({
      requires_prior_value_capture: true,
      reversal_args: { amount_minor: { from: 'prior_value', path: '/limit' } },
    });
    const { run } = ledger({ isRebuilt, contracts: [text] });
    const prior = plainPayload({ limit: 7 });
    run
      .when(planned(intent({ contract_digest: contractDigest(text), prior_value: prior })), NOW)
      .when(executed(refund({ contract_digest: contractDigest(text) })), NOW + 1);
    run.then(
      fact('MutationRecorded', {
        recoverability: 'reversal_available',
        ref: { prior_value_hash: prior.sha256, reversal_args: plainPayload({ amount_minor: 7 }) },
        execution: { prior_value: prior },
      }),
    );
    const alone = ledger({ isRebuilt, contracts: [text] }).run.when(
      executed(refund({ contract_digest: contractDigest(text) })),
      NOW,
    );
    alone.then(
      fact('MutationRecorded', { recoverability: 'manual_resolution_required', reason: 'PRIOR_VALUE_MISSING' }),
    );
  });

  it('says what was done as an approval before it covers it: by the digest that its guard computes', () => {
    const event = refund();
    const { tenant, run_id: runId, effect_key: effectKey, capability, subject_ref: subjectRef } = event;
    const contractDigest = event.contract_digest?.toString('hex') ?? null;
    const of = { tenant, runId, effectKey, capability, contractDigest, subjectRef };
    const digest = forwardDigest({ ...of, args: readPayload(event.args) });
    start()
      .when(executed(event), NOW)
      .then(fact('MutationRecorded', { action_digest: Buffer.from(digest, 'hex') }));
    const { contract_digest, subject_ref, args } = event;
    start()
      .when(planned(intent({ contract_digest, subject_ref, args })), NOW)
      .then(fact('MutationPlanned', { action_digest: Buffer.from(digest, 'hex') }));
    start()
      .when(executed(refund({ outcome: 'failed', result: null })), NOW)
      .then(fact('MutationRecorded', { execution_state: 'failed', action_digest: null }));
  });

  it('keeps the hash of the record that bound it', () => {
    const run = start().when(executed(refund()), NOW);
    expect(run.rows('mutation')[0]?.doc.recorded_hash).toEqual(run.records()[0]?.hash);
  });

  it("never has its window lengthened by a producer's clock", () => {
    start()
      .when(executed(refund({ committed_at: NOW + HOUR_MS })), NOW)
      .then(fact('MutationRecorded', { ref: { committed_at: NOW, reversal_expires_at: NOW + HOUR_MS } }));
  });

  it('has expired when its window was over at acceptance', () => {
    start()
      .when(executed(refund({ committed_at: NOW - HOUR_MS })), NOW)
      .then(fact('MutationRecorded', { recoverability: 'reversal_expired', reason: 'WINDOW_CLOSED' }));
    start()
      .when(executed(refund({ committed_at: 0 })), NOW)
      .then(fact('MutationRecorded', { recoverability: 'reversal_expired' }));
    start()
      .when(executed(refund({ committed_at: NOW - HOUR_MS + 1 })), NOW)
      .then(fact('MutationRecorded', { recoverability: 'reversal_available' }));
  });

  it('goes to a person when it names no contract', () => {
    start()
      .when(executed(refund({ contract_digest: null })), NOW)
      .then(
        fact('MutationRecorded', {
          recoverability: 'manual_resolution_required',
          reason: 'UNCONTRACTED',
          terms: null,
          ref: {
            reversal_class: 'irreversible',
            reversal_capability: null,
            reversal_args: null,
            reversal_expires_at: null,
          },
        }),
      );
  });

  it('goes to a person when it lacks what its reversal needs', () => {
    start()
      .when(executed(refund({ external_transaction_ref: null })), NOW)
      .then(fact('MutationRecorded', { recoverability: 'manual_resolution_required', reason: 'HANDLE_MISSING' }));
    start()
      .when(executed(refund({ args: plainPayload({ order_id: '4711' }) })), NOW)
      .then(
        fact('MutationRecorded', {
          recoverability: 'manual_resolution_required',
          reason: 'REVERSAL_ARGS_INCOMPLETE:args/amount_minor,args/currency',
        }),
      );
  });

  it('goes to a person when its undoing would be called with what the tool does not take (A32)', () => {
    const reverse = readFileSync('examples/contracts/payments.reverse_refund.json', 'utf8');
    const under = (told: Json, changes: Readonly<Record<string, unknown>> = {}, tool = reverse) => {
      const body = contractText(changes);
      const event = refund({ contract_digest: contractDigest(body), args: plainPayload(told) });
      return ledger({ isRebuilt, contracts: [body, tool] }).run.when(executed(event), NOW);
    };
    const unfit = (args: string, ...told: Parameters<typeof under>) =>
      under(...told).then(
        fact('MutationRecorded', {
          recoverability: 'manual_resolution_required',
          reason: `REVERSAL_ARGS_UNFIT:${args}`,
          ref: { reversal_args: null, reversal_then: [], reversal_expires_at: null },
        }),
      );
    const asked = { order_id: '4711', amount_minor: 4_200, currency: 'INR' };
    under(asked).then(fact('MutationRecorded', { recoverability: 'reversal_available', reason: null }));
    unfit('reversal_args/amount_minor', { ...asked, amount_minor: -4_200 });
    unfit('reversal_args/amount_minor,reversal_args/currency', { ...asked, amount_minor: '1', currency: null });
    // What a tool of the tenant's own takes counts, where there is one.
    const own = { ...(JSON.parse(reverse) as object), args_schema: { type: 'object', maxProperties: 2 } };
    unfit('reversal_args', asked, {}, canonicalJson(own));
    // An argument that another compensation gives later does not excuse those that are there.
    const later = { note: { from: 'step', capability: 'payments.take_deposit', path: '/note' } };
    const reversal_args = { ...(JSON.parse(contractText()) as { reversal_args: object }).reversal_args, ...later };
    unfit('reversal_args/amount_minor', { ...asked, amount_minor: -1 }, { reversal_args });
    // Nor does that it is the second call.
    const { verification } = JSON.parse(contractText()) as { readonly verification: Json };
    const then = [
      {
        capability: 'payments.reverse_refund',
        args: { refund_id: { from: 'args', path: '/order_id' }, amount_minor: { from: 'args', path: '/amount_minor' } },
        verification,
      },
    ];
    unfit(
      'reversal_then/0/args,reversal_then/0/args/amount_minor',
      { ...asked, amount_minor: 0.5 },
      { compensation_capability: 'payments.void_refund', reversal_then: then },
    );
  });

  it('keeps its window when all it lacks is the result of another compensation (B6)', () => {
    const text = (args: object) =>
      contractText({
        reversal_args: { note: { from: 'step', capability: 'payments.take_deposit', path: '/note' }, ...args },
      });
    const done = (body: string) =>
      ledger({ isRebuilt, contracts: [body] }).run.when(
        executed(refund({ contract_digest: contractDigest(body) })),
        NOW,
      );
    done(text({})).then(
      fact('MutationRecorded', {
        recoverability: 'reversal_available',
        reason: null,
        ref: { reversal_args: null, reversal_expires_at: NOW - 1_000 + HOUR_MS },
      }),
    );
    done(text({ when: { from: 'args', path: '/never_there' } })).then(
      fact('MutationRecorded', {
        recoverability: 'manual_resolution_required',
        reason: 'REVERSAL_ARGS_INCOMPLETE:steps.payments.take_deposit.result/note,args/never_there',
        ref: { reversal_expires_at: null },
      }),
    );
  });

  it('goes to a person when the overwritten value was not captured', () => {
    const body = contractText({ requires_prior_value_capture: true });
    ledger({ isRebuilt, contracts: [body] })
      .run.when(executed(refund({ contract_digest: contractDigest(body) })), NOW)
      .then(fact('MutationRecorded', { recoverability: 'manual_resolution_required', reason: 'PRIOR_VALUE_MISSING' }));
  });

  it('goes to a person when the overwritten value was erased between intent and outcome, and keeps what stands of it', () => {
    const body = contractText({ requires_prior_value_capture: true });
    const sealed = { ...plainPayload({ was: 1 }), encoding: 'sealed', key_id: 'key_gone.1' } as const;
    const { run } = ledger({ isRebuilt, contracts: [body] });
    run.when(planned(intent({ contract_digest: contractDigest(body), prior_value: plainPayload({ was: 1 }) })), NOW);
    const [intended] = run.records();
    const erased = {
      type: 'MutationPlanned',
      body: { ...intended?.body, execution: { ...(intended?.body.execution as object), prior_value: sealed } },
    };
    ledger({ isRebuilt, contracts: [body] })
      .run.given(erased)
      .when(executed(refund({ contract_digest: contractDigest(body) })), NOW + 1)
      .then(
        fact('MutationRecorded', {
          recoverability: 'manual_resolution_required',
          reason: 'PRIOR_VALUE_MISSING',
          execution: { prior_value: sealed },
        }),
      );
  });

  it('stays committed under a contract without a reversal', () => {
    const body = contractText({ reversal_class: 'irreversible' });
    ledger({ isRebuilt, contracts: [body] })
      .run.when(executed(refund({ contract_digest: contractDigest(body) })), NOW)
      .then(
        fact('MutationRecorded', {
          recoverability: 'committed',
          reason: 'NO_REVERSAL',
          ref: { reversal_expires_at: null },
        }),
      );
  });

  it('has nothing to undo when it failed, and relies on nothing', () => {
    const run = start().when(
      executed(refund({ outcome: 'failed', result: null, external_transaction_ref: null })),
      NOW,
    );
    run.then(
      fact('MutationRecorded', {
        execution_state: 'failed',
        recoverability: 'planned',
        reason: 'EXECUTION_FAILED',
        judged: [],
      }),
    );
    expect(run.rows('binding')).toEqual([]);
  });

  it('is pending while its outcome is not known, and is bound once it is', () => {
    start()
      .when(executed(refund({ outcome: 'uncertain', result: null, external_transaction_ref: null })), NOW)
      .then(
        fact('MutationRecorded', {
          execution_state: 'uncertain',
          recoverability: 'pending_commit',
          reason: 'EXECUTION_UNCERTAIN',
        }),
      )
      .when(executed(refund({ event_id: 'ev-2' })), NOW + 1)
      .then(
        fact('MutationRecorded', {
          mutation_id: MUTATION,
          execution_state: 'succeeded',
          recoverability: 'reversal_available',
          reason: null,
        }),
      );
  });

  it('may succeed after it failed under the same effect key', () => {
    start()
      .when(executed(refund({ outcome: 'failed', result: null })), NOW)
      .when(executed(refund({ call_id: 'call-2' })), NOW + 1)
      .then(
        fact('MutationRecorded', {
          execution_state: 'succeeded',
          recoverability: 'reversal_available',
          ref: { original_call_id: 'call-2' },
        }),
      );
  });

  it('is one mutation however often it is reported', () => {
    start()
      .when(executed(refund()), NOW)
      .when(executed(refund()), NOW + 1)
      .thenNothing()
      .when(executed(refund({ event_id: 'ev-again', produced_by: 'toolu_2' })), NOW + 2)
      .thenNothing();
  });

  it('stands against a second report with other content, which is on record once', () => {
    const other = refund({
      event_id: 'ev-2',
      args: plainPayload({ order_id: '4711', amount_minor: 9, currency: 'INR' }),
    });
    const run = start()
      .when(executed(refund()), NOW)
      .when(executed(other), NOW + 1)
      .then(fact('ExecutionConflicted', { mutation_id: MUTATION, event_id: 'ev-2', run_id: RUN, tenant: TENANT }));
    run.when(executed(other), NOW + 2).thenNothing();
    const release = { prompt: 'p4', model: 'm2', policy: 'b', tools: 't', context: 'c', eval: 'e', memory: 'm' };
    const [one, two] = [refund({ release }), refund({ release: { ...release, prompt: 'p5' } })];
    start()
      .when(executed(one), NOW)
      .when(executed(one), NOW + 1)
      .thenNothing()
      .when(executed(two), NOW + 2)
      .then(fact('ExecutionConflicted'));
    expect(run.rows('mutation')[0]?.doc.execution).toMatchObject({ value: { amount_minor: 4_200 } });
  });

  it('is another mutation in another run or of another tenant', () => {
    const run = start()
      .when(executed(refund()), NOW)
      .when(executed(refund({ run_id: 'run-2' })), NOW + 1)
      .when(executed(refund({ tenant: 'other' })), NOW + 2);
    expect(new Set(run.rows('mutation').map((row) => row.key)).size).toBe(3);
  });
});

describe.each(WAYS)('an intent, $way', ({ isRebuilt }) => {
  const start = () => ledger({ isRebuilt }).run;

  it('is recorded before its execution, which then completes it', () => {
    const run = start()
      .when(planned(intent()), NOW)
      .then(fact('MutationPlanned', { mutation_id: MUTATION, execution: { result: null }, planned_at: NOW - 2_000 }));
    expect(run.rows('mutation')[0]?.doc).toMatchObject({
      execution_state: 'planned',
      recoverability: 'planned',
      ref: null,
    });
    run
      .when(executed(refund()), NOW + 5)
      .then(fact('MutationRecorded', { execution_state: 'succeeded', recoverability: 'reversal_available' }));
    expect(run.rows('mutation')[0]?.doc).toMatchObject({ created_at: NOW, updated_at: NOW + 5 });
  });

  it('tells nothing when repeated, or when its execution came first', () => {
    start()
      .when(planned(intent()), NOW)
      .when(planned(intent()), NOW + 1)
      .thenNothing();
    start()
      .when(executed(refund()), NOW)
      .when(planned(intent()), NOW + 1)
      .thenNothing();
  });

  it('with other content is a conflict on record', () => {
    start()
      .when(planned(intent()), NOW)
      .when(planned(intent({ args: plainPayload({ order_id: '1' }) })), NOW + 1)
      .then(fact('ExecutionConflicted', { mutation_id: MUTATION }));
  });
});

describe.each(WAYS)('what the ledger cannot take, $way', ({ isRebuilt }) => {
  it('waits for an unknown contract, then takes or parks the execution', () => {
    const { run, contracts } = ledger({ isRebuilt, contracts: [] });
    run.whenBehind(executed(refund()), NOW).when(executed(refund()), NOW).thenParked('CONTRACT_UNKNOWN');
    contracts.append('payments.issue_refund', registered(contractText()));
    run.when(executed(refund()), NOW + 1).then(fact('MutationRecorded', { recoverability: 'reversal_available' }));
  });

  it("parks an execution under another capability's or another tenant's contract", () => {
    ledger({ isRebuilt })
      .run.when(executed(refund({ capability: 'payments.issue_payout' })), NOW)
      .thenParked('CONTRACT_MISMATCH');
    const owned = contractText({ tenant: 'other' });
    ledger({ isRebuilt, contracts: [owned] })
      .run.when(executed(refund({ contract_digest: contractDigest(owned) })), NOW)
      .thenParked('CONTRACT_MISMATCH');
  });

  it('parks a prior value that does not hash to its digest, of an execution and of an intent', () => {
    const prior_value = { ...plainPayload({ limit: 3 }), sha256: Buffer.alloc(32, 1) };
    const { run } = ledger({ isRebuilt });
    run.when(executed(refund({ prior_value })), NOW).thenParked('PAYLOAD_HASH_MISMATCH');
    run.when(planned(intent({ prior_value })), NOW).thenParked('PAYLOAD_HASH_MISMATCH');
    expect(run.rows('mutation')).toEqual([]);
  });

  it('parks payloads it cannot read, and keys that are not the run', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(executed(refund({ args: { ...plainPayload({}), encoding: 'sealed', key_id: 'k' } })), NOW)
      .thenParked('PAYLOAD_SEALED');
    run
      .when(executed(refund({ args: { ...plainPayload({}), sha256: Buffer.alloc(32) } })), NOW)
      .thenParked('PAYLOAD_HASH_MISMATCH');
    run.when({ ...executed(refund()), key: 'elsewhere' }, NOW).thenParked('KEY_MISMATCH');
    run
      .when(executed(refund({ assumption_refs: Array.from({ length: 101 }, (_, at) => `r${at}`) })), NOW)
      .thenParked('TOO_MANY_REFS');
    expect(run.records()).toEqual([]);
  });
});
