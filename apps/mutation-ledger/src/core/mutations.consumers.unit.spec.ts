import { describe, expect, it } from '@jest/globals';
import type { RecordInput } from '@recourse/event-log';
import type { CheckpointRolledBack, CommandEnvelope, RollbackAcknowledged } from '@recourse/messages';
import { fact, WAYS, wire, eachMember } from '@recourse/testing';
import {
  command,
  envelope,
  EVIDENCE,
  executed,
  ledger,
  MUTATION,
  NOW,
  refund,
  ROLLBACK,
  TRIGGERED,
  RUN,
  TENANT,
  fell,
} from './ledger.testing.js';
import type { Ledger } from './ledger.testing.js';
import { deliveryIdOf } from '../rules/consumer/consumer.messages.js';
import type { Body } from '../rules/record.messages.js';

const MARKED = NOW + 10;
const ASYNC_MS = 60_000;
const DAY = 86_400_000;

/** A subscription as the registry recorded it. */
function subscribed(name: string, more: Readonly<Record<string, unknown>> = {}, tenant = TENANT) {
  const body = JSON.stringify({
    owner: 'platform',
    doc: 'd',
    consumer: name,
    scope: tenant,
    mode: 'async',
    commit_to_user_ms: 5_000,
    ...more,
  });
  return fact('EntryRegistered', { kind: 'subscription', tenant, name, version: 1, body });
}

const ACK: RollbackAcknowledged = {
  event_id: 'ack-1',
  tenant: TENANT,
  run_id: RUN,
  mutation_id: MUTATION,
  rollback_id: ROLLBACK,
  consumer: 'mailer',
  applied_at: MARKED + 5,
  derived: [],
  emissions: [],
};
function acked(more: Partial<RollbackAcknowledged> = {}, key = RUN): RecordInput {
  return wire('recourse.consumer-acks', 'RollbackAcknowledged', { ...ACK, ...more }, { key });
}

describe.each(WAYS)('a mark, $way', ({ isRebuilt }) => {
  function started(...names: readonly string[]): Ledger {
    const all = ledger({ isRebuilt });
    for (const name of names) all.entries.append(name, subscribed(name));
    all.run.when(executed(refund()), NOW);
    return all;
  }
  const due = ({ run }: Ledger) => eachMember(run.when(TRIGGERED, MARKED).recorded())[0]?.body['consumers'];

  it('names whoever had subscribed over the commit, and by when each is heard from', () => {
    const all = started('mailer');
    all.entries.append('report', subscribed('report', { mode: 'poll', scope: 'acme/agent-1' }));
    all.entries.append('elsewhere', subscribed('elsewhere', { scope: 'acme/agent-9' }));
    all.entries.append('audit', subscribed('audit', { mode: 'sync', scope: '*', commit_to_user_ms: 0 }, '*'));
    all.entries.append('foreign', subscribed('foreign', {}, 'globex'));
    expect(due(all)).toEqual([
      { subscription: 'audit', consumer: 'audit', mode: 'sync', ack_by: MARKED + 5_000, commit_to_user_ms: 0 },
      {
        subscription: 'mailer',
        consumer: 'mailer',
        mode: 'async',
        ack_by: MARKED + ASYNC_MS,
        commit_to_user_ms: 5_000,
      },
      { subscription: 'report', consumer: 'report', mode: 'poll', ack_by: MARKED + DAY, commit_to_user_ms: 5_000 },
    ]);
    expect(eachMember(all.run.derived()).find(({ type }) => type === 'RollbackAnnounced')?.body['consumers']).toEqual([
      'audit',
      'mailer',
      'report',
    ]);
  });

  it('waits for a consumer once, by its strictest subscription', () => {
    const all = started('mailer');
    all.entries.append('again', subscribed('again', { consumer: 'mailer', mode: 'sync' }));
    expect(due(all)).toMatchObject([{ subscription: 'again', consumer: 'mailer', mode: 'sync' }]);
  });

  it('reads the subscriptions to their end first: whoever subscribed before hears', () => {
    const all = started();
    all.run.whenBehind(TRIGGERED, MARKED);
    all.entries.append('mailer', subscribed('mailer'));
    expect(due(all)).toMatchObject([{ consumer: 'mailer' }]);
  });

  it('leaves out who has left', () => {
    const all = started('mailer');
    all.entries.append(
      'mailer',
      fact('EntryRetired', { kind: 'subscription', tenant: TENANT, name: 'mailer', version: 1 }),
    );
    expect(due(all)).toEqual([]);
  });

  it('of a commit that came after its trigger names them too', () => {
    const all = ledger({ isRebuilt });
    all.entries.append('mailer', subscribed('mailer'));
    all.run.when(TRIGGERED, NOW - 1).then(fact('TriggerUnmatched'));
    all.run
      .when(executed(refund()), NOW)
      .whenDue(NOW)
      .then(
        fell({
          consumers: [
            {
              subscription: 'mailer',
              consumer: 'mailer',
              mode: 'async',
              ack_by: NOW + ASYNC_MS,
              commit_to_user_ms: 5_000,
            },
          ],
        }),
      );
  });
});

describe.each(WAYS)('a consumer that is waited for, $way', ({ isRebuilt }) => {
  function marked() {
    const all = ledger({ isRebuilt });
    for (const name of ['mailer', 'report']) all.entries.append(name, subscribed(name));
    return all.run.when(executed(refund()), NOW).when(TRIGGERED, MARKED);
  }
  const phaseOf = (run: ReturnType<typeof marked>, consumer = 'mailer') =>
    run.rows('delivery').find(({ doc }) => doc['consumer'] === consumer)?.doc['phase'];

  it('answers: how long it took, what it had derived, and what went out after the mark', () => {
    const emissions = [
      { kind: 'email', ref: 'm-1', emitted_at: MARKED },
      { kind: 'email', ref: 'm-2', emitted_at: MARKED + 1 },
    ];
    const derived = [{ run_id: 'own', commit_id: 'report-1' }];
    const run = marked().when(acked({ emissions, derived }), MARKED + 40);
    run.then(
      fact('ConsumerAcknowledged', {
        consumer: 'mailer',
        after_ms: 40,
        is_late: false,
        late_emissions: 1,
        emissions,
        derived,
        event_id: 'ack-1',
      }),
    );
    expect(run.rows('delivery')).toMatchObject([
      {
        dueAt: null,
        doc: {
          consumer: 'mailer',
          phase: 'acknowledged',
          answer: { late_emissions: 1, latest_ms: 1, trigger_ms: MARKED + 40 - 10 },
        },
      },
      { dueAt: MARKED + ASYNC_MS, doc: { consumer: 'report', phase: 'waiting', owner: 'report' } },
    ]);
  });

  it('is heard once: the same again is nothing, something else is refused', () => {
    const run = marked()
      .when(acked(), MARKED + 40)
      .when(acked(), MARKED + 41)
      .thenNothing();
    run.when(acked({ event_id: 'ack-2' }), MARKED + 42).thenNothing();
    run.when(acked({ applied_at: 7 }), MARKED + 42).thenNothing();
    run
      .when(acked({ derived: [{ run_id: 'run-2', commit_id: 'm-9' }] }), MARKED + 43)
      .then(fact('AckRefused', { code: 'ACK_CONFLICT', consumer: 'mailer' }));
    expect(run.rows('delivery')[0]?.doc).toMatchObject({
      phase: 'acknowledged',
      answer: { applied_at: MARKED + 5 },
      refused: { code: 'ACK_CONFLICT', at: MARKED + 43 },
    });
  });

  it('that stays silent is told to a person once, and still heard', () => {
    const run = marked()
      .when(acked({ consumer: 'report' }), MARKED + 1)
      .whenDue(MARKED + ASYNC_MS - 1)
      .thenNothing();
    run.whenDue(MARKED + ASYNC_MS).then(
      fact('DeliveryOverdue', {
        consumer: 'mailer',
        mode: 'async',
        owner: 'role:administrator',
        deadline_at: MARKED + ASYNC_MS + DAY,
      }),
    );
    expect(run.rows('delivery')[0]).toMatchObject({
      dueAt: null,
      doc: { phase: 'overdue', owner: 'role:administrator', deadline_at: MARKED + ASYNC_MS + DAY },
    });
    run.whenDue(MARKED + 2 * ASYNC_MS).thenNothing();
    run
      .when(acked(), MARKED + 2 * ASYNC_MS)
      .then(fact('ConsumerAcknowledged', { is_late: true, after_ms: 2 * ASYNC_MS }));
    expect(phaseOf(run)).toBe('acknowledged');
  });

  const review = (by: string, more: Readonly<Record<string, unknown>> = {}, asking: Partial<CommandEnvelope> = {}) =>
    command('ReviewDelivery', envelope(by, ['operator'], { command_id: `cmd-${by}-${RUN}`, ...asking }), {
      run_id: RUN,
      delivery_id: deliveryIdOf({ rollback_id: ROLLBACK, consumer: 'mailer' }),
      mutation_id: MUTATION,
      consumer: 'mailer',
      reason: 'its team has drained the queue by hand',
      ...more,
    });
  const silent = () => marked().whenDue(MARKED + ASYNC_MS);

  it('that stays silent is closed by what a person says was done, once, and is still heard', () => {
    const run = silent()
      .when(review('olga'), MARKED + ASYNC_MS + 1)
      .then(fact('DeliveryReviewed', { consumer: 'mailer', by: 'olga', rollback_id: ROLLBACK }))
      .thenAnswer({ httpStatus: 200 });
    expect(phaseOf(run)).toBe('reviewed');
    run.when(review('quinn'), MARKED + ASYNC_MS + 2).thenAnswer({ httpStatus: 404, code: 'NOT_SILENT' });
    run.when(acked(), MARKED + ASYNC_MS + 3).then(fact('ConsumerAcknowledged', { is_late: true }));
    expect(phaseOf(run)).toBe('acknowledged');
  });

  it.each([
    ['of another tenant', 404, 'NOT_SILENT', 'olga', {}, { tenant: 'globex' }],
    ['of another delivery', 404, 'NOT_SILENT', 'olga', { delivery_id: 'dlv_other' }, {}],
    ['without a reason', 422, 'COMMAND_INVALID', 'olga', { reason: ' ' }, {}],
    ['of a program', 403, 'JUDGE_NOT_A_PERSON', 'svc:desk', {}, {}],
    ['of whom it was done for', 403, 'SELF_APPROVAL', 'ada', {}, {}],
    ['of who made the contract', 403, 'EDITOR_APPROVAL', 'owner', {}, {}],
  ] as const)('that stays silent is not closed by the word %s', (_whose, httpStatus, code, by, more, asking) => {
    const run = silent().when(review(by, more, asking), MARKED + ASYNC_MS + 1);
    run.thenAnswer({ httpStatus, code });
    expect(phaseOf(run)).toBe('overdue');
  });

  it("is nobody else's to close before it is overdue", () => {
    marked()
      .when(review('olga'), MARKED + 1)
      .thenAnswer({ httpStatus: 404, code: 'NOT_SILENT' });
  });

  it.each([
    ['ACK_UNKNOWN_ROLLBACK', { mutation_id: 'mut_none' }],
    ['ACK_UNKNOWN_ROLLBACK', { rollback_id: 'rb_other' }],
    ['ACK_NOT_DUE', { consumer: 'nobody' }],
    ['ACK_FOREIGN', { tenant: 'globex' }],
    ['ACK_FOREIGN', { tenant: 'globex', consumer: 'nobody' }],
    ['ACK_MALFORMED', { consumer: '' }],
    ['ACK_MALFORMED', { event_id: 'x'.repeat(513) }],
    ['ACK_MALFORMED', { applied_at: -1 }],
    ['ACK_MALFORMED', { emissions: [{ kind: 'email', ref: null, emitted_at: -5 }] }],
    ['ACK_MALFORMED', { derived: [{ run_id: '', commit_id: 'c' }] }],
    ['ACK_MALFORMED', { derived: Array.from({ length: 1_001 }, () => ({ run_id: 'r', commit_id: 'c' })) }],
  ] as const)('is not closed by a forged answer: %s', (code, forged) => {
    const run = marked()
      .when(acked(forged), MARKED + 1)
      .then(fact('AckRefused', { code, run_id: RUN }));
    expect([phaseOf(run), phaseOf(run, 'report')]).toEqual(['waiting', 'waiting']);
  });

  it('says beside what is due why what was said in its name is no answer, and nothing of another tenant', () => {
    const docOf = (run: ReturnType<typeof marked>) => run.rows('delivery').map(({ doc }) => doc['refused']);
    const run = marked()
      .when(acked({ tenant: 'globex' }), MARKED + 1)
      .when(acked({ consumer: 'nobody' }), MARKED + 1);
    expect(docOf(run)).toEqual([undefined, undefined]);
    run.when(acked({ applied_at: -1 }), MARKED + 2).when(acked({ rollback_id: 'rb_other' }), MARKED + 3);
    expect(docOf(run)).toEqual([
      { code: 'ACK_UNKNOWN_ROLLBACK', detail: expect.stringContaining('another rollback'), at: MARKED + 3 },
      undefined,
    ]);
    run.when(acked(), MARKED + ASYNC_MS - 1);
    expect(run.rows('delivery')[0]?.doc).toMatchObject({ phase: 'acknowledged', refused: { at: MARKED + 3 } });
  });

  it('answers under its run, or not at all', () => {
    marked()
      .when(acked({}, 'elsewhere'), MARKED + 1)
      .thenParked('KEY_MISMATCH');
  });
});

describe.each(WAYS)('a commit without an effect that fell, $way', ({ isRebuilt }) => {
  const FALLEN: Body<CheckpointRolledBack> = {
    tenant: TENANT,
    run_id: RUN,
    commit_id: 'cp_1',
    rollback_id: 'rb_1',
    evidence: EVIDENCE,
    admission: {
      command_id: null,
      confirmed_by: null,
      storm_window_ms: 0,
      trend_window_ms: 0,
      closure_counted: false,
      triggered_at: NOW,
      was_remembered: false,
    },
    agent_id: 'agent-1',
    step_id: 's',
    produced_by: 'p',
    subject_ref: null,
    assumption_refs: [],
    derived_from: [],
    committed_at: NOW,
    recorded_hash: Buffer.alloc(32),
    recorded_seq: 1,
    resume: null,
    harden_at: null,
    consumers: [{ subscription: 'm', consumer: 'mailer', mode: 'sync', ack_by: 5_000, commit_to_user_ms: 0 }],
    others: [],
    initiator: null,
  };

  it('is acknowledged like an effect, and stands among what was rolled back', () => {
    const run = ledger({ isRebuilt }).run.given(fact('CheckpointRolledBack', FALLEN));
    expect(run.rows('rollback').map(({ doc }) => doc)).toMatchObject([
      { mutation_id: 'cp_1', agent_id: 'agent-1', mark: { has_effect: false, seq: 1, consumers: ['mailer'] } },
    ]);
    run
      .when(acked({ mutation_id: 'cp_1', rollback_id: 'rb_1' }), NOW)
      .then(fact('ConsumerAcknowledged', { mutation_id: 'cp_1' }));
  });
});
