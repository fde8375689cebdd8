// Shipped contracts through the orchestrator: what class, recovery mode and adapter make of a mark, and what the world is like afterwards.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { bindReversal, contractDigest, parseContract, plainPayload, readPayload, termsOf } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import type { Json } from '@recourse/kernel';
import type { LegRequested, MutationRef } from '@recourse/messages';
import { fact, harness, WAYS, eachMember } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import fc from 'fast-check';
import {
  answered,
  approval,
  CLOSED_COMPENSATED,
  CLOSED_MANUAL,
  core,
  digest,
  dispatched as dispatchedFrom,
  execution,
  markedInput,
  observed,
  ref,
  requestIn,
  REVIEW,
  views,
  WINDOW_END,
  settled,
  planned,
} from '../recoveries.testing.js';
import { CLEAN, Services } from '../services.testing.js';

/** What is known of an execution when it is accepted. */
interface Facts {
  readonly args: Json;
  readonly result?: Json;
  readonly prior?: Json;
  readonly handle?: string;
}

const MARKED_AT = 10_000;
const CHARGE: Facts = {
  args: { order_id: '4711', amount_minor: 900, currency: 'EUR' },
  result: { charge_id: 'ch_1', status: 'captured' },
  handle: 'ch_1',
};
const WIRE: Facts = {
  args: { iban: 'DE1', amount_minor: 900, currency: 'EUR' },
  result: { wire: 'w_1', status: 'accepted' },
};
const LABEL: Facts = { args: { issue: '7', label: 'bug' }, result: { issue: '7', labels: ['bug'], version: 2 } };

function shipped(name: string, changes: object = {}): { readonly contract: Contract; readonly digest: Buffer } {
  const json = { ...(JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as object), ...changes };
  const parsed = parseContract(JSON.stringify(json));
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('\n'));
  return { contract: parsed.contract, digest: contractDigest(JSON.stringify(json)) };
}

/** The mark of an execution under a shipped contract, as the ledger writes it. */
function under(
  name: string,
  facts: Facts,
  changes: object = {},
): { readonly input: RecordInput; readonly digest: Buffer } {
  const { contract, digest: of } = shipped(name, changes);
  const terms = termsOf(contract, of);
  const bound = bindReversal(contract, {
    args: facts.args,
    result: facts.result ?? null,
    priorValue: facts.prior ?? null,
    externalRef: facts.handle ?? null,
  });
  const pointer: MutationRef = ref({
    capability: contract.name,
    reversal_class: contract.reversal_class ?? 'irreversible',
    reversal_capability: terms.reversal_capability,
    verification_ref: terms.verify_capability,
    reversal_args: bound.kind === 'bound' ? plainPayload(bound.args) : null,
    reversal_expires_at: bound.kind === 'bound' ? WINDOW_END : null,
    external_transaction_ref: facts.handle ?? null,
  });
  const input = markedInput({
    terms,
    ref: pointer,
    recoverability: bound.kind === 'bound' ? 'reversal_available' : 'committed',
    execution: execution({ capability: contract.name, args: plainPayload(facts.args) }),
  });
  return { input, digest: digest({ terms, ref: pointer }) };
}

/** More than a look was asked of a worker. */
function isCalled(run: CoreHarness): boolean {
  return run.outgoing().some(({ body }) => body['kind'] !== 'observe');
}

describe.each(WAYS)('under a shipped contract, $way', ({ isRebuilt }) => {
  const scenario = (): CoreHarness => harness(core(), { isRebuilt, views: views() });
  /** The request of a mark that a person has agreed to. */
  const dispatched = (
    name: string,
    facts: Facts,
    changes: object = {},
  ): { readonly run: CoreHarness; readonly request: LegRequested } => {
    const mark = under(name, facts, changes);
    const run = scenario().when(mark.input, MARKED_AT);
    if (!isCalled(run)) run.when(approval({ digest: mark.digest }), MARKED_AT + 1);
    return { run, request: dispatchedFrom(run, MARKED_AT + 1) };
  };

  describe('one approval mode and three classes', () => {
    const same = { approval_mode: 'delegated', recovery_approval_mode: 'human', compensation_mode: undefined };

    it('are three strategies (A17): the inverse, the compensation that is verified, a person', () => {
      expect(dispatched('labels.add_label', LABEL, same).request.steps[0]).toMatchObject({
        call: { capability: 'labels.remove_label' },
        verify_capability: 'labels.get_labels',
      });
      expect(dispatched('payments.charge_card', CHARGE, same).request.steps[0]).toMatchObject({
        call: { capability: 'payments.refund_charge' },
        verify_capability: 'payments.get_charge',
      });
      const wire = scenario()
        .when(under('bank.send_wire', WIRE, same).input, MARKED_AT)
        .then(
          planned({ decision: 'manual_review', reason: 'TOOL_HAS_NO_AUTOMATIC_COMPENSATION' }),
          fact('StepEscalated', { owner: 'role:administrator', deadline_at: MARKED_AT + REVIEW }),
          fact('TasksOpened'),
          CLOSED_MANUAL,
        );
      expect(wire.outgoing()).toEqual([]);
    });
  });

  it.each([
    ['auto', 'network'],
    ['human', 'delegated'],
    ['dual_control', 'delegated'],
    [undefined, 'delegated'],
  ])('recovery mode %s is called as %s (A67)', (mode, called) => {
    const run = scenario().when(
      under('labels.add_label', LABEL, { recovery_approval_mode: mode, compensation_mode: undefined }).input,
      MARKED_AT,
    );
    expect(eachMember(run.records())[0]?.body).toMatchObject({ call: { approval_mode: called } });
    expect(isCalled(run)).toBe(mode === 'auto');
  });

  it('the adapter is that of the reversal in the registry, whoever made the call (A29)', () => {
    const { run, request } = dispatched('payments.charge_card', CHARGE, {
      compensation_capability: 'backoffice.refund_charge',
    });
    expect(run.outgoing()[0]).toMatchObject({ topic: 'recourse.tool-requests.backoffice' });
    expect(request.steps[0]?.call).toMatchObject({ adapter_id: 'backoffice', capability: 'backoffice.refund_charge' });
  });

  it('a charge is compensated once its refund was observed, not once it was answered (A14)', () => {
    const { run, request } = dispatched('payments.charge_card', CHARGE);
    const seen = (status: string) => observed('verify', 'payments.get_charge', { charge_id: 'ch_1', status });
    run
      .when(answered(request, 'verified', []), 20_000)
      .then(settled({ outcome: 'uncertain', reason: 'SUCCESS_NOT_OBSERVED' }));
    expect(run.rows('step')[0]?.doc['phase']).toBe('uncertain');
    const other = dispatched('payments.charge_card', CHARGE);
    other.run
      .when(answered(other.request, 'verified', [seen('captured'), seen('refunded')]), 20_000)
      .then(settled({ outcome: 'compensated' }), CLOSED_COMPENSATED);
  });

  it('a compensation that fails to the last attempt stands in the list, with owner and deadline (A46)', () => {
    const { run, request } = dispatched('payments.charge_card', CHARGE, { max_attempts: 2 });
    run.when(answered(request, 'failed', []), 20_000).whenDue(40_000);
    run.when(answered(requestIn(run.outgoing()), 'failed', []), 50_000).then(
      settled({ attempt: 2, outcome: 'failed' }),
      fact('StepEscalated', {
        reason: 'COMPENSATION_FAILED',
        owner: 'role:administrator',
        deadline_at: 50_000 + REVIEW,
      }),
      CLOSED_MANUAL,
    );
    expect(run.rows('step')[0]).toMatchObject({
      dueAt: null,
      doc: { phase: 'manual', owner: 'role:administrator', deadline_at: 50_000 + REVIEW },
    });
  });

  describe('what is cleanly reversible', () => {
    it.each(CLEAN)('%s: after %s everything is as before (A13, B8)', (_, name, args, before) => {
      const world = new Services(structuredClone(before));
      const prior = world.observe(args);
      const result = world.act(name, args);
      expect(world.state).not.toEqual(before);
      const { run, request } = dispatched(name, { args, result, prior });
      const [step] = request.steps;
      const undoing = readPayload(step?.call.args ?? plainPayload({})) as Readonly<Record<string, Json>>;
      const fresh = observed('stale_check', step?.stale_capability ?? '', world.observe(undoing));
      world.act(step?.call.capability ?? '', undoing);
      const after = observed('verify', step?.verify_capability ?? '', world.observe(undoing));
      run
        .when(answered(request, 'verified', [fresh, after]), 20_000)
        .then(settled({ outcome: 'compensated' }), CLOSED_COMPENSATED);
      expect(world.state).toEqual(before);
    });
  });

  it('nothing but what was bound at execution makes the call (B13)', () => {
    const bound = dispatched('payments.charge_card', CHARGE).request.steps;
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (told, said) => {
        const objective = `refund: ${said}`;
        const { contract, digest: of } = shipped('payments.charge_card');
        const terms = termsOf(contract, of);
        const pointer = ref({
          capability: contract.name,
          reversal_capability: terms.reversal_capability,
          verification_ref: terms.verify_capability,
          reversal_args: bound[0]?.call.args ?? null,
          external_transaction_ref: 'ch_1',
        });
        const payload = plainPayload(told as Json);
        const mark = markedInput({
          terms,
          ref: pointer,
          execution: execution({ args: payload, result: payload, prior_value: payload, objective }),
        });
        const run = scenario()
          .when(mark, MARKED_AT)
          .when(approval({ digest: digest({ terms, ref: pointer }) }), MARKED_AT + 1);
        expect(dispatchedFrom(run, MARKED_AT + 1).steps).toEqual(bound);
      }),
      { numRuns: 30 },
    );
  });
});
