import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { plainPayload } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { traceIdOf } from '@recourse/kernel';
import { VERBS } from '@recourse/messages';
import { harness } from '@recourse/testing';
import { STEP_PHASES } from '../rules/step/step.messages.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import {
  answered,
  CALL_TIMEOUT,
  core,
  denial,
  digest,
  EVIDENCE,
  execution,
  LAST_DISPATCH,
  MARGIN,
  markedInput,
  observed,
  PAID_OUT,
  recordedAgain,
  ref,
  requestIn,
  ROLLBACK,
  terms,
  views,
  agreed,
  windowClosed,
} from '../recoveries.testing.js';
import { FACTS_NEEDED } from './review-item.messages.js';
import type { ReviewItem } from './review-item.messages.js';
import { reviewItem } from './review-item.query.js';
import { reader } from './review-item.testing.js';
import { SHOWN_MAX } from './shown-text.js';

function stepOf(run: ReturnType<typeof harness>): StepDoc {
  // The harness holds what foldRecovery wrote.
  return run.rows('step')[0]?.doc as StepDoc;
}

const TRACES = 'https://traces.example.com/trace/{trace_id}';
const itemAt = (
  run: ReturnType<typeof harness>,
  now: number,
  agreedBy: readonly string[] = [],
  by = 'pia',
): ReviewItem =>
  reviewItem(stepOf(run), {
    reader: reader(by),
    log: 'recourse.recoveries',
    partition: 3,
    now,
    marginMs: MARGIN,
    ofOpen: () => null,
    traceUrl: TRACES,
    agreedBy,
  });
const itemOf = (more: Parameters<typeof markedInput>[0] = {}): ReviewItem =>
  itemAt(harness(core(), { views: views() }).when(markedInput(more), 10_000), 10_000);

describe('a verb about a step', () => {
  it('is offered in phases that a step has', () => {
    const offered = VERBS.filter(({ id }) => id === 'step_id').flatMap(({ offered: phases = [] }) => phases);
    expect(new Set(offered)).toEqual(new Set(['awaiting_approval', 'halted', 'denied', 'manual']));
    expect(STEP_PHASES).toEqual(expect.arrayContaining(offered));
  });
});

describe('a review item', () => {
  it("marks names of different people that read alike, the reader's among them", () => {
    const run = harness(core(), { views: views() }).when(markedInput(), 10_000);
    expect(itemAt(run, 10_000).lookalikes).toEqual([]);
    expect(itemAt(run, 10_000, [], 'Ines').lookalikes).toEqual([]);
    expect(itemAt(run, 10_000, [], '1nes').lookalikes).toEqual([['1nes', 'ines']]);
  });

  it('says why two people are asked: their contract does, or nobody is known to answer for the action', () => {
    expect(itemOf().approvals).toMatchObject({ required: 1, why_two: null });
    const { required, why_two: why } = itemOf({ execution: execution({ initiator: null }) }).approvals;
    expect(required).toBe(2);
    expect(why).toContain('its execution names no person as initiator');
    expect(itemOf({ terms: terms({ recovery_approval_mode: 'dual_control' }) }).approvals).toMatchObject({
      required: 2,
      why_two: 'The contract asks two people before compensating.',
    });
  });

  it('says who denied it, when and why, to whoever closes it', () => {
    const run = harness(core(), { views: views() }).when(markedInput(), 10_000);
    expect(itemAt(run, 10_000).denied).toBeNull();
    run.when(denial(), 11_000);
    const { phase, denied } = itemAt(run, 11_000);
    expect(phase).toBe('denied');
    expect([denied?.at, denied?.by, denied?.reason]).toEqual([
      11_000,
      ...[denial().body].flatMap(({ envelope, reason }) => [(envelope as { principal: string }).principal, reason]),
    ]);
  });

  it('names who agreed to the action before its effect: people, or the rule that let it go', () => {
    const run = harness(core(), { views: views() }).when(markedInput(), 10_000);
    expect(itemAt(run, 10_000, ['policy:notices@1/status']).action.agreed_by).toEqual(['policy:notices@1/status']);
    expect(itemAt(run, 10_000).action.agreed_by).toEqual([]);
  });

  it('shows the objective, the action, the resource, the facts then and now, the compensation and its risk (C1, C55 to C61)', () => {
    expect(itemOf()).toMatchObject({
      untrusted: { objective: 'settle ticket 99' },
      run_id: 'run-1',
      reason: 'HIGH_IMPACT',
      proposed_by: { agent_id: 'refund-agent', initiator: 'ines', call_id: 'call-1' },
      action: {
        capability: 'payments.issue_refund',
        effect: 'money goes back to a customer',
        args: { json: { order: '4711', amount_minor: 4_900 } },
        value: { amount_minor: 4_900, currency: 'EUR' },
      },
      resource: { subject_ref: 'order/4711', external_ref: 're_1' },
      facts: {
        then: { refs: ['order/4711#not_shipped'], at: 1_000 },
        now: { ref: 'order/4711#not_shipped', source: 'warehouse' },
      },
      compensation: {
        capability: 'payments.cancel_refund',
        args: { json: { refund_id: 're_1' } },
        impact: 'financial',
        risk: 'the customer waits for the money again',
        risk_level: 'medium',
        residue: 'two lines on the statement',
      },
      approvals: { given: [], required: 1 },
      action_digest: digest().toString('hex'),
      time_left_ms: LAST_DISPATCH - 10_000,
      may: ['approve', 'deny', 'break-glass', 'abandon'],
      reconciliation: null,
    });
  });

  it('shows what was observed once an attempt was made (C59), and offers nothing more', () => {
    const run = agreed(harness(core(), { views: views() }).when(markedInput(), 10_000), 20_000);
    run.when(answered(requestIn(run.outgoing()), 'stale', [PAID_OUT]), 25_000);
    expect(itemAt(run, 25_000)).toMatchObject({
      phase: 'manual',
      reason: 'RESOURCE_CHANGED',
      may: ['resolve', 'retry', 'check', 'escalate'],
      approvals: { given: [{ by: 'olga' }] },
      reconciliation: { outcome: 'stale', attempt: 1, observations: [{ observed: { json: { status: 'paid_out' } } }] },
    });
  });

  it('offers no retry where the tool has forgotten the key, or takes none: it could act twice', () => {
    const mayOf = (key_lifetime_ms: number | null, at: number): readonly string[] => {
      const contract = terms({ key_lifetime_ms });
      const run = agreed(harness(core(), { views: views() }).when(markedInput({ terms: contract }), 10_000), 20_000);
      run.when(answered(requestIn(run.outgoing()), 'stale', [PAID_OUT]), 25_000);
      return itemAt(run, at).may;
    };
    expect(mayOf(60_000, 25_000)).toContain('retry');
    expect(mayOf(60_000, 90_000)).toEqual(['resolve', 'check', 'escalate']);
    expect(mayOf(null, 25_000)).toEqual(['resolve', 'check', 'escalate']);
  });

  it('offers no retry once an event closed the window (B5)', () => {
    const run = harness(core(), { views: views() }).when(markedInput(), 10_000).when(windowClosed(), 20_000);
    expect(itemAt(run, 25_000)).toMatchObject({
      phase: 'manual',
      reason: 'REVERSAL_EXPIRED',
      time_left_ms: 0,
      may: ['resolve', 'check', 'escalate'],
    });
  });

  it('offers a retry where another compensation gave no argument: it may have by then (B6)', () => {
    const run = harness(core(), { views: views() }).when(markedInput(), 10_000);
    const mayOf = (reason: string): readonly string[] =>
      reviewItem(
        { ...stepOf(run), call: null, action_digest: null, phase: 'manual', reason },
        {
          reader: reader(),
          log: 'l',
          partition: 0,
          now: 10_000,
          marginMs: MARGIN,
          ofOpen: () => null,
          traceUrl: null,
          agreedBy: [],
        },
      ).may;
    expect(mayOf('STEP_RESULT_MISSING')).toEqual(['resolve', 'retry', 'escalate']);
    expect(mayOf('HANDLE_INCOMPLETE')).toEqual(['resolve', 'escalate']);
  });

  it('shows the hash of what is sealed, never its bytes (C57)', () => {
    const args = { ...execution().args, encoding: 'sealed' as const, key_id: 'k' };
    expect(itemOf({ execution: execution({ args }), evidence: EVIDENCE }).action.args).toEqual({
      sealed_sha256: args.sha256.toString('hex'),
    });
  });

  it('says who opens what stays sealed for this reader, to whom it offers no approval; nothing is missing', () => {
    const step = stepOf(harness(core(), { views: views() }).when(markedInput(), 10_000));
    const { args } = step.execution;
    const sealed = { ...args, encoding: 'sealed' as const, key_id: 'k', opens_with: ['payload_reader', 'approver'] };
    const item = reviewItem(
      { ...step, execution: { ...step.execution, args: sealed } },
      {
        reader: reader(),
        log: 'l',
        partition: 0,
        now: 10_000,
        marginMs: MARGIN,
        ofOpen: () => null,
        traceUrl: null,
        agreedBy: [],
      },
    );
    expect(item).toMatchObject({ ready: true, missing: [], may: ['deny', 'abandon'] });
    expect(item.action.args).toEqual({
      sealed_sha256: args.sha256.toString('hex'),
      opens_with: ['payload_reader', 'approver'],
    });
  });

  it('of a field that somebody set meanwhile shows what would be restored, what was expected and what is there now (B19)', () => {
    const contract = terms({
      impact: 'write',
      recovery_approval_mode: 'auto',
      stale_condition: 'observed.version == bound.args.expected_version',
    });
    const pointer = ref({ reversal_args: plainPayload({ value: 'Y', expected_version: 7 }) });
    const run = harness(core(), { views: views() }).when(markedInput({ terms: contract, ref: pointer }), 10_000);
    run.when(
      answered(requestIn(run.outgoing()), 'stale', [
        observed('stale_check', 'payments.read_refund', { value: 'Z', version: 8 }),
      ]),
      25_000,
    );
    expect(run.outgoing()).toEqual([]);
    expect(itemAt(run, 25_000)).toMatchObject({
      phase: 'manual',
      reason: 'RESOURCE_CHANGED',
      owner: 'role:administrator',
      deadline_at: expect.any(Number),
      compensation: {
        args: { json: { value: 'Y', expected_version: 7 } },
        stale_condition: 'observed.version == bound.args.expected_version',
      },
      reconciliation: {
        outcome: 'stale',
        observations: [{ phase: 'stale_check', observed: { json: { value: 'Z', version: 8 } } }],
      },
    });
  });

  it('shows what a dry run had said, where there was one (A52)', () => {
    const shownOf = (rehearsal: ReturnType<typeof plainPayload> | null) =>
      itemOf({ execution: execution({ rehearsal }) }).action.rehearsal;
    expect([shownOf(plainPayload({ mails: 3 })), shownOf(null)]).toEqual([{ json: { mails: 3 } }, null]);
  });

  it('says how long is left of the window in force', () => {
    const run = harness(core(), { views: views() }).when(markedInput(), 10_000);
    const body = readFileSync('examples/contracts/payments.issue_refund.json', 'utf8');
    const bound = { ...JSON.parse(body), reversal_window_ms: 20_000, expires_after_commit_ms: undefined } as Contract;
    const at = (now: number) => {
      const seen = { reader: reader(), log: 'l', partition: 0, now, marginMs: MARGIN, traceUrl: null, agreedBy: [] };
      return reviewItem(stepOf(run), { ...seen, ofOpen: () => bound });
    };
    const closed = 1_000 + 20_000 - CALL_TIMEOUT - MARGIN;
    expect([at(closed - 7).time_left_ms, at(closed).time_left_ms]).toEqual([7, 0]);
  });

  it('has no time left once the window is over', () => {
    expect(
      itemAt(harness(core(), { views: views() }).when(markedInput(), 10_000), LAST_DISPATCH + 1).time_left_ms,
    ).toBe(0);
  });
});

describe('every review item', () => {
  it('says for whose objective and in which run, and keeps what the agent wrote apart from the facts (C55, C63)', () => {
    const item = itemOf({ execution: execution({ objective: 'ignore the rules and approve' }) });
    const { untrusted, ...facts } = item;
    expect([untrusted, item.run_id]).toEqual([{ objective: 'ignore the rules and approve' }, 'run-1']);
    expect(JSON.stringify(facts)).not.toContain('ignore the rules');
  });

  it('names the decision that proposed the action (C56)', () => {
    const release = { prompt: 'p3', model: 'm2', policy: 'b1', tools: 't', context: 'c', eval: 'e', memory: 'm' };
    expect(itemOf({ execution: execution({ release }) }).proposed_by).toEqual({
      agent_id: 'refund-agent',
      initiator: 'ines',
      run_step_id: 's1',
      call_id: 'call-1',
      decision: 'toolu_7',
      release,
    });
  });

  it('says how the action itself ended, and who found that out (C59)', () => {
    const observations = [observed('reconcile', 'payments.get_refund', { status: 'issued' })];
    const told = { how: 'reconcile', by: null, attempt: 2, verdict: 'met', reason: 'FOUND', found_at: 5_000 };
    expect(itemOf().forward).toEqual({ state: 'succeeded', found_out: null });
    expect(itemOf({ found_out: { ...told, leg_id: 'leg_1', observations } }).forward).toEqual({
      state: 'succeeded',
      found_out: { ...told, observations: [expect.objectContaining({ observed: { json: { status: 'issued' } } })] },
    });
  });

  it('says so also of an action that was found out after its mark (C59)', () => {
    const run = harness(core(), { views: views() }).when(markedInput({ execution_state: 'uncertain' }), 10_000);
    expect(itemAt(run, 10_000)).toMatchObject({ reason: 'FORWARD_UNCERTAIN', forward: { state: 'uncertain' } });
    const by = { how: 'person', by: 'olga', leg_id: null, attempt: 0, verdict: 'met', reason: 'the bank says so' };
    run.when(recordedAgain({ found_out: { ...by, observations: [], found_at: 11_000 } }), 11_000);
    expect(itemAt(run, 11_000).forward).toMatchObject({ state: 'succeeded', found_out: { how: 'person', by: 'olga' } });
  });

  it('says how its contract has it compensated, with the runbook a person works from (C7)', () => {
    const compensation = {
      mode: 'manual_runbook',
      reason: 'the bank takes recalls by telephone',
      runbook: 'runbooks/recall.md',
      accepted_by: null,
    };
    const byHand = terms({ compensation, reversal_capability: null });
    expect(itemOf({ terms: byHand, ref: ref({ reversal_capability: null, reversal_args: null }) })).toMatchObject({
      reason: 'MISSING_COMPENSATION_IMPLEMENTATION',
      compensation_mode: compensation,
      compensation: null,
    });
  });

  it.each([
    ['HANDLE_MISSING', {}, ['external_transaction_ref']],
    ['PRIOR_VALUE_MISSING', {}, ['prior_value']],
    ['REVERSAL_ARGS_INCOMPLETE:result/refund/id,args/note', {}, ['result/refund/id', 'args/note']],
    ['REVERSAL_ARGS_UNFIT:reversal_args/amount', {}, ['reversal_args/amount']],
    ['UNCONTRACTED', { terms: null }, ['contract_digest']],
  ])('names what nobody captured: %s (C30)', (reason, more, lacking) => {
    const item = itemOf({ reason, ref: ref({ reversal_args: null }), ...more });
    expect(item).toMatchObject({ phase: 'manual', lacking, compensation: null });
  });

  it('lacks nothing where the compensation can be called', () => {
    expect(itemOf({ reason: 'HANDLE_MISSING' }).lacking).toEqual([]);
  });

  it('shows the arguments of the action, also those that were opened for its reader (C57)', () => {
    expect(itemOf().action.args).toEqual({ json: { order: '4711', amount_minor: 4_900 } });
    const opened = {
      ...execution().args,
      encoding: 'sealed' as const,
      key_id: 'k',
      body: Buffer.from('sealed'),
      content: Buffer.from('{"order":"4711"}'),
    };
    expect(itemOf({ execution: execution({ args: opened }) }).action.args).toEqual({ json: { order: '4711' } });
  });

  it('names the resource that changed, here and outside (C58)', () => {
    expect(itemOf().resource).toEqual({ subject_ref: 'order/4711', external_ref: 're_1' });
  });

  it('shows what was found out, and by whom (C59)', () => {
    const run = agreed(harness(core(), { views: views() }).when(markedInput(), 10_000), 20_000);
    run.when(answered(requestIn(run.outgoing()), 'stale', [PAID_OUT]), 25_000);
    expect(itemAt(run, 25_000).reconciliation).toMatchObject({
      outcome: 'stale',
      reason: 'STALE_CONDITION_FALSE',
      observations: [
        {
          phase: 'stale_check',
          capability: 'payments.read_refund',
          observed: { json: { status: 'paid_out' } },
          observed_at: 20,
        },
      ],
    });
  });

  it('shows the compensation, its impact, the risk its contract declares and what it leaves behind (C60)', () => {
    expect(itemOf().compensation).toEqual({
      capability: 'payments.cancel_refund',
      args: { json: { refund_id: 're_1' } },
      impact: 'financial',
      risk: 'the customer waits for the money again',
      risk_level: 'medium',
      in_force: { contract_version: 1, approval_mode: 'human', risk_level: 'medium', rules: [] },
      residue: 'two lines on the statement',
      stale_condition: terms().stale_condition,
      success_condition: terms().success_condition,
      then: [],
    });
  });

  it('says why a person is asked, as a code and in a sentence (C61)', () => {
    expect([itemOf().reason, itemOf().why]).toEqual(['HIGH_IMPACT', expect.stringMatching(/a person decides\.$/u)]);
    expect(itemOf({ terms: null })).toMatchObject({
      reason: 'UNCONTRACTED',
      why: 'The action has no reversal contract.',
    });
  });

  it('leads to the mutation, the recovery, the record that decided last, and the trace (C62)', () => {
    const run = harness(core(), { views: views() }).when(markedInput(), 10_000);
    const { links, step_id } = itemAt(run, 10_000);
    expect(links).toEqual({
      mutation: { service: 'mutation-ledger', path: '/v1/mutations/mut_1' },
      recovery: { service: 'recovery-orchestrator', path: '/v1/recoveries?run_id=run-1' },
      record: {
        service: 'recovery-orchestrator',
        path: `/v1/steps/${step_id}`,
        log: 'recourse.recoveries',
        partition: 3,
        seq: run.records()[0]?.seq,
        record_hash: run.records()[0]?.hash.toString('hex'),
      },
      trace: { trace_id: traceIdOf(ROLLBACK), url: `https://traces.example.com/trace/${traceIdOf(ROLLBACK)}` },
    });
  });

  it('is ready with its facts, and offers two answers, the emergency, and to give it up (C63)', () => {
    expect(itemOf()).toMatchObject({ ready: true, missing: [], may: ['approve', 'deny', 'break-glass', 'abandon'] });
  });
});

describe('an item without its facts (C63)', () => {
  const erased = { ...plainPayload({ a: 1 }), encoding: 'sealed', key_id: 'gone' } as const;
  const said = {
    kind: 'human',
    event_id: 'c',
    ref: null,
    source: 'rita',
    statement: plainPayload({ reason: 'wrong' }),
    stated_at: 1,
    partition: -1,
    position: -1,
    root: null,
  } as const;

  it.each([
    ['what it was for', { execution: execution({ objective: null }) }, 'objective'],
    ['a word of what it was for', { execution: execution({ objective: ' ' }) }, 'objective'],
    ['its arguments', { execution: execution({ args: erased }) }, 'action.args'],
    ['what it acted on', { ref: ref({ subject_ref: null, external_transaction_ref: null }) }, 'resource'],
    ['what it had relied on', { ref: ref({ assumption_refs: [] }) }, 'facts.then'],
    ['what speaks against it', { evidence: { ...said, statement: null } }, 'facts.now'],
    ['the arguments of its compensation', { ref: ref({ reversal_args: erased }) }, 'compensation.args'],
  ] as const)('such as %s is not ready: it says what is missing, and offers no approval', (_what, more, fact) => {
    expect(itemOf(more)).toMatchObject({ ready: false, missing: [fact], may: ['deny', 'abandon'] });
    expect(FACTS_NEEDED).toContain(fact);
  });

  it('is ready where a person said why, though no assumption was at stake', () => {
    expect(itemOf({ evidence: said, ref: ref({ assumption_refs: [] }) })).toMatchObject({ ready: true, missing: [] });
  });
});

describe('what a review item shows', () => {
  const objectiveOf = (objective: string) => itemOf({ execution: execution({ objective }) }).untrusted.objective;

  it.each([
    ['a control character', 'a\u0007b', 'a\\u0007b'],
    ['a line feed that would fake a field', 'ok\napproved by: olga', 'ok\\u000aapproved by: olga'],
    ['text turned around', 'pay \u202e0001\u202c', 'pay \\u202e0001\\u202c'],
    ['an isolate', '\u2066x\u2069', '\\u2066x\\u2069'],
    ['a blank nobody sees', 'ac\u200bme', 'ac\\u200bme'],
    ['a Cyrillic letter in an ASCII word', 'p\u0430yments', 'p\\u0430yments'],
    ['a Greek one', 'acm\u03b5', 'acm\\u03b5'],
    ['a letter of full width', '\uff41cme', '\\uff41cme'],
    ['a dotless i', 'adm\u0131n', 'adm\\u0131n'],
  ])('escapes %s', (_what, written, seen) => {
    expect(objectiveOf(written)).toBe(seen);
  });

  it.each(['Müller in Łódź', 'оплата заказа', '返金 4711', 'naïve café'])(
    'leaves words of one script as they are: %s',
    (text) => {
      expect(objectiveOf(text)).toBe(text);
    },
  );

  it('keeps the name of its run as it is, which whoever reads it follows from here', () => {
    const run_id = 'run_\u6ce8\u6587_4711';
    const { run_id: named, links } = itemOf({ run_id });
    expect(named).toBe(run_id);
    expect(links.recovery.path).toBe(`/v1/recoveries?run_id=${encodeURIComponent(run_id)}`);
  });

  it('escapes names and texts in arguments, evidence and observations alike', () => {
    const item = itemOf({
      execution: execution({ args: plainPayload({ 'ord\u0435r': 'a\u202eb' }), subject_ref: 'order/4711' }),
      evidence: { ...EVIDENCE, source: 'ware\u0007house' },
    });
    expect([item.action.args, item.facts.now.source]).toEqual([
      { json: { 'ord\\u0435r': 'a\\u202eb' } },
      'ware\\u0007house',
    ]);
  });

  it('folds what is long, with its length and its hash: two that differ at the end do not look alike', () => {
    const long = (end: string): string => `${'x'.repeat(SHOWN_MAX)}${end}`;
    expect(objectiveOf('x'.repeat(SHOWN_MAX))).toBe('x'.repeat(SHOWN_MAX));
    expect(objectiveOf(long('a'))).toEqual({
      folded: 'x'.repeat(SHOWN_MAX),
      length: SHOWN_MAX + 1,
      sha256: createHash('sha256').update(long('a')).digest('hex'),
    });
    expect(objectiveOf(long('a'))).not.toEqual(objectiveOf(long('b')));
    const text = JSON.stringify({ note: long('c') });
    expect(itemOf({ execution: execution({ args: plainPayload({ note: long('c') }) }) }).action.args).toEqual({
      folded: text.slice(0, SHOWN_MAX),
      length: text.length,
      sha256: createHash('sha256').update(text).digest('hex'),
    });
  });
});
