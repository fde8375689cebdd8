// An execution whose end is told after the data of its subject was erased: the row holds whose and how much it was, and no more.
import { describe, expect, it } from '@jest/globals';
import { contractDigest, forwardDigest, readPayload } from '@recourse/contract';
import type { Decided } from '@recourse/event-log';
import type { Execution, Money, Payload, ToolExecuted, ToolPlanned } from '@recourse/messages';
import { fact, WAYS } from '@recourse/testing';
import {
  command,
  contractText,
  envelope,
  executed,
  intent,
  ledger,
  MUTATION,
  NOW,
  planned,
  refund,
  reported,
  request,
  RUN,
  seen,
} from './ledger.testing.js';

const HOLD_MS = 60_000;
const ENDS = NOW + HOLD_MS;
const DAY = 86_400_000;
const VALUE = { amount_minor: 4_200, currency: 'INR' };
const UNKNOWN_END: Partial<ToolExecuted> = { outcome: 'uncertain', external_transaction_ref: null };
const FOUND = {
  outcome: 'verified',
  external_transaction_ref: 're_9',
  observations: [seen('execute', { refund_id: 're_9', status: 'issued' }, 'payments.issue_refund')],
} as const;

const counting = (consequence: Readonly<Record<string, string>>) => contractText({ consequence });
/** What a contract says of a call, and what is known of it once its data was erased: what is missing counts as what was reserved. */
const COUNTED: readonly [string, Readonly<Record<string, string>>, readonly Money[]][] = [
  [
    'what its arguments or its answer told is missing',
    { comms: 'args.to.size()', exposure: 'result.all.size()' },
    [VALUE],
  ],
  ['money that its arguments told otherwise is not its value', { money: 'args.amount_minor * args.parcels' }, []],
  [
    'what its contract says of every call stays',
    { money: '9900', comms: '2', exposure: '1' },
    [
      { amount_minor: 9_900, currency: 'INR' },
      { amount_minor: 2_000, currency: 'comms' },
      { amount_minor: 1, currency: 'exposure' },
    ],
  ],
];
const COUNTING = COUNTED.map(([, dimensions]) => counting(dimensions));

const gone = <T extends Payload | null>(payload: T) =>
  payload === null ? null : { ...payload, encoding: 'sealed', key_id: 'key_gone.1' };
/** What whoever asks people before the effect names, while all of it can be read. */
const digestOf = (event: ToolPlanned | ToolExecuted) => {
  const { tenant, run_id: runId, effect_key: effectKey, capability, subject_ref: subjectRef, args } = event;
  const contractDigest = event.contract_digest?.toString('hex') ?? null;
  const of = { tenant, runId, effectKey, capability, contractDigest, subjectRef };
  return Buffer.from(forwardDigest({ ...of, args: readPayload(args) }), 'hex');
};
const settle = (settled_as: string) =>
  command('SettleMutation', envelope('olga', ['approver']), {
    run_id: RUN,
    mutation_id: MUTATION,
    settled_as,
    reason: 'called the bank',
  });

describe.each(WAYS)('an effect whose data was erased before its end was told, $way', ({ isRebuilt }) => {
  const HELD = contractText({ commit_hold_ms: HOLD_MS, cancel_capability: 'payments.cancel_refund' });
  const start = () => ledger({ isRebuilt, asks: true, contracts: [...COUNTING, HELD, contractText()] }).run;
  /** A log of the same records, without the keys of what they hold of the subject. */
  const erased = (records: readonly Decided[], parts: readonly (keyof Execution)[]) =>
    start().given(
      ...records.map(({ type, body }) => {
        const execution = body['execution'] as Execution | undefined; // an intent and an execution have one
        if (execution === undefined) return { type, body };
        const hidden = parts.map((part) => [part, gone(execution[part] as Payload | null)]); // payloads all
        return { type, body: { ...body, execution: { ...execution, ...Object.fromEntries(hidden) } } };
      }),
    );
  const held = () => {
    const event = intent({ is_held: true, contract_digest: contractDigest(HELD), subject_ref: 'customer/7' });
    return start().when(planned(event), NOW);
  };
  /** The hold is over and a worker was asked to let it go, before the erasure. */
  const released = () => {
    const run = held().whenDue(ENDS);
    return { run: erased(run.records(), ['args']), asked: request(run) };
  };
  const uncertain = (parts: readonly (keyof Execution)[], more: Partial<ToolExecuted> = {}) =>
    erased(
      start()
        .when(executed(refund({ ...UNKNOWN_END, subject_ref: 'customer/7', ...more })), NOW)
        .records(),
      parts,
    );
  const bindsNothing = {
    execution_state: 'succeeded',
    recoverability: 'manual_resolution_required',
    reason: 'PAYLOADS_ERASED',
    ref: { subject_ref: 'customer/7', reversal_args: null, reversal_expires_at: null },
    execution: { subject_ref: 'customer/7', value: VALUE },
    consequence: [VALUE],
    action_digest: digestOf(refund({ subject_ref: 'customer/7' })),
  };

  it("is a person's, and stays held, where its hold ends after the erasure: no worker can be asked", () => {
    const run = erased(held().records(), ['args']).whenDue(ENDS);
    run.then(
      fact('HoldElapsed'),
      fact('ExecutionOverdue', { execution_state: 'planned', owner: 'role:administrator' }),
    );
    expect(run.outgoing()).toEqual([]);
  });

  it("is a person's at once where nobody knows how it ended, and no worker is sent to look", () => {
    const run = uncertain(['args', 'result']);
    run.whenDue(run.rows('mutation')[0]?.dueAt ?? 0).then(fact('ExecutionOverdue', { execution_state: 'uncertain' }));
    const look = { run_id: RUN, mutation_id: MUTATION, reason: 'look again' };
    run
      .when(command('ReconcileMutation', envelope('olga', ['operator']), look), NOW + DAY)
      .thenAnswer({ httpStatus: 409, code: 'NO_RECONCILIATION' });
  });

  it('is uncertain where nobody answers that it went, and the log goes on', () => {
    const { run } = released();
    const { dueAt } = run.rows('mutation')[0] ?? {};
    run.whenDue(dueAt ?? 0).then(
      fact('WorkerAnswered', { reason: 'NO_ANSWER' }),
      fact('MutationRecorded', {
        execution_state: 'uncertain',
        reason: 'EXECUTION_UNCERTAIN',
        execution: { subject_ref: 'customer/7', value: VALUE },
      }),
    );
  });

  it("is a person's where its worker says that it went: there is nothing to undo it with", () => {
    const { run, asked } = released();
    run.when(reported(asked, FOUND), ENDS + 50);
    const action_digest = digestOf(intent({ contract_digest: contractDigest(HELD), subject_ref: 'customer/7' }));
    run.then(fact('WorkerAnswered', { verdict: 'met' }), fact('MutationRecorded', { ...bindsNothing, action_digest }));
    expect(run.rows('mutation')[0]?.doc).toMatchObject({ awaited: { is_overdue: true } });
  });

  it.each([
    ['what it was called with', ['args', 'result']],
    ['what its tool answered', ['result']],
  ] as const)("is a person's where one says that it took effect, without %s", (_what, parts) => {
    const run = uncertain(parts);
    while (!isAsked(run.rows('mutation')[0]?.doc)) run.whenDue(run.rows('mutation')[0]?.dueAt ?? 0);
    run
      .when(settle('took_effect'), NOW + DAY)
      .then(fact('MutationSettled', { settled_as: 'took_effect' }), fact('MutationRecorded', bindsNothing))
      .thenAnswer({ httpStatus: 200, body: { settled_as: 'took_effect' } });
  });

  it.each(['args', 'result'] as const)('keeps the digest of what people were to agree to: %s are gone', (part) => {
    const run = uncertain([part], { subject_ref: null });
    while (!isAsked(run.rows('mutation')[0]?.doc)) run.whenDue(run.rows('mutation')[0]?.dueAt ?? 0);
    run.when(settle('took_effect'), NOW + DAY);
    const action_digest = digestOf(refund({ subject_ref: null }));
    run.then(fact('MutationSettled'), fact('MutationRecorded', { execution_state: 'succeeded', action_digest }));
    expect(run.rows('mutation')[0]?.doc).not.toHaveProperty('action_digest');
  });

  it.each(COUNTED)('moved no less than it did: %s', (_what, dimensions, consequence) => {
    const contract_digest = contractDigest(counting(dimensions));
    const run = uncertain(['args', 'result'], { contract_digest });
    while (!isAsked(run.rows('mutation')[0]?.doc)) run.whenDue(run.rows('mutation')[0]?.dueAt ?? 0);
    run.when(settle('took_effect'), NOW + DAY);
    expect(run.decision().records.find(({ type }) => type === 'MutationRecorded')?.body['consequence']).toEqual(
      consequence,
    );
  });

  it('failed where a person says so', () => {
    const run = uncertain(['args', 'result']);
    while (!isAsked(run.rows('mutation')[0]?.doc)) run.whenDue(run.rows('mutation')[0]?.dueAt ?? 0);
    run
      .when(settle('not_done'), NOW + DAY)
      .then(
        fact('MutationSettled', { settled_as: 'not_done' }),
        fact('MutationRecorded', { execution_state: 'failed', reason: 'EXECUTION_FAILED', action_digest: null }),
      );
  });

  it('can be undone where its producer tells its end with all that it takes', () => {
    uncertain(['args', 'result'])
      .when(executed(refund({ subject_ref: 'customer/7' })), NOW + 1)
      .then(fact('MutationRecorded', { recoverability: 'reversal_available', reason: null }));
  });
});

function isAsked(doc: Readonly<Record<string, unknown>> | undefined): boolean {
  return (doc?.['awaited'] as { readonly is_overdue?: boolean } | null | undefined)?.is_overdue === true; // a row of a mutation
}
