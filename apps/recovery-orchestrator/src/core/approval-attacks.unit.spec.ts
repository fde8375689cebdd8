// Attacks on approvals that reach the core with a good signature: each is refused with its code, records nothing and dispatches nothing.
// Those that end before it are in approval-attacks.wire (forgeries, copies, races on one wire) and in libs/service (tokens).
import { describe, expect, it } from '@jest/globals';
import { rollbackIdOf } from '@recourse/messages';
import { contractDigest, forwardApprovalId, forwardDigest, plainPayload } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import type { Json } from '@recourse/kernel';
import type { CommandEnvelope, ContractTerms, MutationRef } from '@recourse/messages';
import { entrySaid, fact, harness, logged, WAYS, wire } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { readFileSync } from 'node:fs';
import { stepIdOf } from '../rules/step/opening.decisions.js';
import {
  answered,
  approval,
  BALANCE_ZERO,
  core,
  denial,
  digest,
  envelope,
  execution,
  LAST_DISPATCH,
  markedInput,
  recordedAgain,
  ref,
  requestIn,
  REVIEW,
  resolution,
  RUN,
  STEP,
  STILL_PENDING,
  TENANT,
  terms,
  views,
  windowClosed,
  WINDOW_END,
  leg,
  planned,
  SHOWN,
  LOOKED_AGAIN,
  SEEN,
  looked,
  calls,
} from '../recoveries.testing.js';
import type { RecoveriesConfig } from '../core.js';

const COMMANDS = 'recourse.recovery-commands';
const example = (more: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({
    ...(JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as object),
    ...more,
  });
const BODY = example({ forward_approval: 'human' });
/** The version every mutation here executed under: rosa wrote it, remo confirmed it. */
const EXECUTED = contractDigest(BODY);
const SECOND = 'mut_2';
const SECOND_STEP = stepIdOf(rollbackIdOf('acme', SECOND), SECOND);

type World = ReturnType<typeof views>;
interface Edit {
  readonly by: string;
  readonly confirmedBy?: string | null;
  readonly body?: string;
  readonly version?: number;
}

function edited({ by, confirmedBy = null, body = BODY, version = 1 }: Edit) {
  return fact('ContractRegistered', {
    name: 'payments.issue_refund',
    version,
    tenant: '*',
    digest: contractDigest(body),
    body,
    registered_by: by,
    confirmed_by: confirmedBy,
  });
}
function registry(): World {
  const both = views();
  both.contracts.append('c', edited({ by: 'rosa', confirmedBy: 'remo' }));
  return both;
}
const under = (more: Partial<ContractTerms> = {}): ContractTerms => terms({ contract_digest: EXECUTED, ...more });
const shown = (more: Partial<ContractTerms> = {}, pointer: Partial<MutationRef> = {}): Buffer =>
  digest({ terms: under(more), ref: ref(pointer) });
const approve = (by = 'olga', more: Parameters<typeof approval>[0] = {}): RecordInput =>
  approval({ digest: shown(), by, ...more });
const deny = (by = 'olga'): RecordInput => denial({ digest: shown(), by });

describe.each(WAYS)('an attack on an approval, $way', ({ isRebuilt }) => {
  const waiting = (
    more: Parameters<typeof markedInput>[0] = {},
    config: Partial<RecoveriesConfig> = {},
    world = registry(),
  ): CoreHarness =>
    harness(core(config), { isRebuilt, views: world }).when(markedInput({ terms: under(), ...more }), 10_000);
  const forTwo = (): CoreHarness => waiting({ terms: under({ recovery_approval_mode: 'dual_control' }) });
  const legs = (run: CoreHarness): number => run.records().filter(({ type }) => type === 'LegDispatched').length;

  /** Refused with this code; nothing is recorded, nothing goes out, no row moves. */
  function foiled(run: CoreHarness, attack: RecordInput, code: string, now = 20_000): void {
    const [dispatched, rows] = [legs(run), JSON.stringify(run.rows())];
    run.when(attack, now).thenNothing().thenAnswer({ status: 'rejected', code });
    expect(run.outgoing()).toEqual([]);
    expect(legs(run)).toBe(dispatched);
    expect(JSON.stringify(run.rows())).toBe(rows);
  }

  describe('of the action that was shown, with', () => {
    it.each<[string, Buffer]>([
      ['another mutation', shown({}, { mutation_id: SECOND, idempotency_key: 'key-2' })],
      ['another tenant', digest({ tenant: 'globex', terms: under() })],
      ['a changed argument', shown({}, { reversal_args: plainPayload({ refund_id: 're_2' }) })],
      ['an argument more', shown({}, { reversal_args: plainPayload({ refund_id: 're_1', force: true }) })],
      ['an argument less', shown({}, { reversal_args: plainPayload({}) })],
      ['an argument of another type', shown({}, { reversal_args: plainPayload({ refund_id: ['re_1'] }) })],
      ['another capability', shown({}, { reversal_capability: 'payments.send_wire' })],
      ['another adapter', shown({ adapter: 'payments-eu' })],
      ['another subject', shown({}, { subject_ref: 'order/1' })],
      ['another thing outside', shown({}, { external_transaction_ref: 're_2' })],
      ['another idempotency key', shown({}, { mutation_id: 'mut_other' })],
      ['another contract version', shown({ contract_digest: contractDigest(example({ owner: 'nobody' })) })],
      ['a weaker stale check', shown({ stale_condition: 'true' })],
      ['another way to look', shown({ stale_capability: 'payments.look_away' })],
      ['another policy', shown({ recovery_policy_ref: 'policy/anything' })],
      ['the digest of nothing', Buffer.alloc(32)],
      ['an empty digest', Buffer.alloc(0)],
      ['a digest cut short', shown().subarray(0, 31)],
      ['a digest with a byte behind', Buffer.concat([shown(), Buffer.alloc(1)])],
    ])('%s', (_what, other) => {
      expect(other.equals(shown())).toBe(false);
      foiled(waiting(), approve('olga', { digest: other }), 'DIGEST_MISMATCH');
    });

    it('the name of the step beside it', () => {
      const run = waiting().when(
        markedInput({
          terms: under(),
          mutation_id: SECOND,
          rollback_id: rollbackIdOf('acme', SECOND),
          ref: ref({ mutation_id: SECOND, idempotency_key: 'key-2' }),
          execution: execution({ effect_key: 'e-2', call_id: 'c-2' }),
        }),
        11_000,
      );
      foiled(run, approve('olga', { stepId: SECOND_STEP }), 'DIGEST_MISMATCH');
    });

    it('the name of no step', () => {
      foiled(waiting(), approve('olga', { stepId: `${STEP} ` }), 'STEP_UNKNOWN');
    });

    it('the key of another run', () => {
      foiled(waiting(), approve('olga', { key: 'run-2' }), 'KEY_MISMATCH');
    });

    it('the name of another run, on the key of that run', () => {
      const attack = approve();
      foiled(waiting(), { ...attack, key: 'run-2', body: { ...attack.body, run_id: 'run-2' } }, 'STEP_UNKNOWN');
    });
  });

  describe("of a tenant or role that is not the approver's:", () => {
    it.each(['globex', 'ACME', 'acme ', '*', ''])('the tenant %j', (tenant) => {
      foiled(waiting(), approve('olga', { tenant }), 'STEP_UNKNOWN');
    });

    it.each([
      [[]],
      [['reporter', 'requester', 'operator', 'auditor', 'administrator', 'budget_owner', 'agent']],
      [['contract_editor']],
      [['Approver']],
      [['approver ']],
      [['approver,administrator']],
      [['role:approver']],
    ])('the roles %j', (roles) => {
      foiled(waiting(), approve('olga', { roles }), 'ROLE_REQUIRED');
    });
  });

  describe('by somebody concerned:', () => {
    it.each([
      ['the initiator', 'ines'],
      ['the initiator in capitals', 'INES'],
      ['the initiator as a user', 'user:ines'],
      ['the agent', 'refund-agent'],
      ['the agent as a user', 'user:refund-agent'],
      ['the agent by its prefix', 'Agent:Refund-Agent'],
    ])('%s', (_who, by) => {
      foiled(waiting(), approve(by), 'SELF_APPROVAL');
    });

    it.each([
      ['in full width', 'ｉｎｅｓ'],
      ['with blanks', ' ines\t'],
      ['with a letter of no width', 'i\u200bnes'],
      ['with a variation selector', 'ines\ufe0f'],
      ['with a filler', 'ines\u3164'],
      ['with a mark of direction', '\u202eines'],
    ])('the initiator %s, who is nobody then', (_who, by) => {
      foiled(waiting(), approve(by), 'APPROVER_NOT_A_PERSON');
    });

    it.each([
      ['handed it over', 'nora'],
      ['retired its charter', null],
    ])("the agent's owner, who %s meanwhile", (_how, next) => {
      const world = registry();
      const body = { owner: 'otto', doc: 'd', agent: 'refund-agent', purpose: 'p', allowed: [], denied: [] };
      const charter = { name: 'c', tenant: TENANT, body };
      world.entries.append('c', entrySaid('agent_charter', charter));
      const run = waiting({}, {}, world);
      world.entries.append(
        'c',
        next === null
          ? entrySaid('agent_charter', charter, 'EntryRetired')
          : entrySaid('agent_charter', { ...charter, body: { ...body, owner: next } }),
      );
      foiled(run, approve('otto'), 'SELF_APPROVAL');
    });

    it('the owner of another agent, for which this one acted', () => {
      const world = registry();
      const body = { owner: 'otto', doc: 'd', agent: 'planner', purpose: 'p', allowed: [], denied: [] };
      world.entries.append('c', entrySaid('agent_charter', { name: 'c', tenant: TENANT, body }));
      foiled(
        waiting({ execution: execution({ initiator: 'agent:Planner' }) }, {}, world),
        approve('otto'),
        'SELF_APPROVAL',
      );
    });

    it('the initiator under another account of theirs', () => {
      const accounts = ['ines@work', 'Ines'];
      const closing = { envelope: envelope('i-7', ['approver'], { accounts }) };
      foiled(waiting(), approve('i-7', { accounts }), 'SELF_APPROVAL');
      foiled(waiting().when(deny(), 19_000), resolution('accepted', 'i-7', ['approver'], closing), 'SELF_APPROVAL');
    });

    it('an editor, or whoever agreed before, under another account of theirs', () => {
      foiled(waiting(), approve('r-1', { accounts: ['ROSA'] }), 'EDITOR_APPROVAL');
      const once = forTwo().when(approve('olga@work'), 19_000).then(fact('StepApproved'));
      foiled(once, approve('o-2', { accounts: ['olga', 'olga@work'] }), 'SAME_APPROVER');
    });

    it("the agent's owner, where nobody began it", () => {
      foiled(
        waiting({ execution: execution({ initiator: null }) }, { ownerOf: () => 'otto' }),
        approve('Otto'),
        'SELF_APPROVAL',
      );
    });

    it("the agent's owner as the charter has it", () => {
      const world = registry();
      const body = { owner: 'otto', doc: 'd', agent: 'refund-agent', purpose: 'p', allowed: [], denied: [] };
      world.entries.append('c', entrySaid('agent_charter', { name: 'c', tenant: TENANT, body }));
      foiled(waiting({ execution: execution({ initiator: null }) }, {}, world), approve('otto'), 'SELF_APPROVAL');
    });

    it("the agent's owner, behind another charter of the agent", () => {
      const world = registry();
      const body = { owner: 'otto', doc: 'd', agent: 'refund-agent', purpose: 'p', allowed: [], denied: [] };
      for (const [name, tenant, owner] of [
        ['c', TENANT, 'otto'],
        ['a0', TENANT, 'mallory'],
        ['p', '*', 'petra'],
      ] as const)
        world.entries.append('c', entrySaid('agent_charter', { name, tenant, body: { ...body, owner } }));
      for (const by of ['otto', 'petra'])
        foiled(waiting({ execution: execution({ initiator: null }) }, {}, world), approve(by), 'SELF_APPROVAL');
    });

    it.each([
      'agent:other',
      ' AGENT:other',
      'a\u00adgent:other',
      'svc:refunds',
      'service:recovery-orchestrator',
      'Service : night-batch',
      'ｓｖｃ:refunds',
      'user:svc:refunds',
      'role:approver',
      '',
      ' \u200b',
    ])('%j, which is no person', (by) => {
      foiled(waiting(), approve(by), 'APPROVER_NOT_A_PERSON');
    });
  });

  describe('by an editor of the contract:', () => {
    it.each([
      ['who wrote the version it executed under', 'rosa'],
      ['who confirmed that version', 'remo'],
      ['the same in other letters', 'ROSA'],
      ['the same as a user', 'user:remo'],
    ])('%s', (_who, by) => {
      foiled(waiting(), approve(by), 'EDITOR_APPROVAL');
    });

    it.each([
      ['who wrote', 'nora'],
      ['who confirmed', 'nils'],
    ])('%s the newest version, which it did not execute under', (_who, by) => {
      const world = registry();
      world.contracts.append(
        'c',
        edited({ by: 'nora', confirmedBy: 'nils', body: example({ version: 2, owner: 'nora' }), version: 2 }),
      );
      foiled(waiting({}, {}, world), approve(by), 'EDITOR_APPROVAL');
    });

    it('who retired the newest version after writing it', () => {
      const world = registry();
      const body = example({ version: 2, owner: 'nora' });
      world.contracts.append('c', edited({ by: 'nora', body, version: 2 }));
      world.contracts.append(
        'c',
        fact('ContractRetired', {
          name: 'payments.issue_refund',
          version: 2,
          digest: contractDigest(body),
          retired_by: 'nora',
        }),
      );
      foiled(waiting({}, {}, world), approve('nora'), 'EDITOR_APPROVAL');
    });

    it('who wrote it a moment ago, which the view has not read yet', () => {
      const world = registry();
      const run = waiting({}, {}, world);
      world.contracts.appendUnread(
        'c',
        edited({ by: 'olga', body: example({ version: 2, owner: 'olga' }), version: 2 }),
      );
      run.whenBehind(approve(), 20_000);
      world.contracts.catchUp();
      foiled(run, approve(), 'EDITOR_APPROVAL');
    });

    it('as the second of two', () => {
      const run = forTwo().when(approve('olga'), 19_000).then(fact('StepApproved'));
      foiled(run, approve('rosa'), 'EDITOR_APPROVAL');
    });

    it('of another contract is none: they may', () => {
      const world = registry();
      world.contracts.append(
        'c',
        fact('ContractRegistered', {
          name: 'payments.send_wire',
          version: 1,
          tenant: '*',
          digest: Buffer.alloc(32, 4),
          body: '{}',
          registered_by: 'olga',
          confirmed_by: null,
        }),
      );
      waiting({}, {}, world)
        .when(approve(), 20_000)
        .then(fact('StepApproved', { by: 'olga' }), LOOKED_AGAIN);
    });
  });

  describe('of two people, who are one:', () => {
    it.each([
      ['the same', 'olga'],
      ['in capitals', 'OLGA'],
      ['as a user', 'user:olga'],
    ])('%s', (_what, by) => {
      foiled(forTwo().when(approve(), 19_000).then(fact('StepApproved')), approve(by), 'SAME_APPROVER');
    });

    it.each([
      ['in full width', 'ｏｌｇａ'],
      ['with blanks', ' olga '],
      ['with a letter of no width', 'ol\u200dga'],
      ['with a grapheme joiner', 'ol\u034fga'],
      ['with a braille blank', 'olga\u2800'],
      ['with a tag', 'olga\u{e0061}'],
      ['with a no-break space', 'olga\u00a0'],
    ])('%s, which names nobody', (_what, by) => {
      foiled(forTwo().when(approve(), 19_000).then(fact('StepApproved')), approve(by), 'APPROVER_NOT_A_PERSON');
    });

    it("asks for two where nobody answers for the action, and takes no initiator's word for one", () => {
      const run = waiting({ execution: execution({ initiator: null }) }).then(
        planned({ required_approvals: 2, answerable_to: null }),
        SHOWN,
      );
      run.when(approve(), 19_000).then(fact('StepApproved'));
      expect([calls(run), legs(run)]).toEqual([[], 0]);
      foiled(run, approve('OLGA'), 'SAME_APPROVER');
      foiled(run, approve('agent:olga-2'), 'APPROVER_NOT_A_PERSON');
    });

    it.each(['refund-agent', 'agent:Refund-Agent', 'svc:refunds', 'role:support'])(
      'asks for two where the agent says it acted for %s: a program answers for nothing',
      (initiator) => {
        const run = waiting({ execution: execution({ initiator }) }).then(
          planned({ required_approvals: 2, answerable_to: null }),
          SHOWN,
        );
        run.when(approve(), 19_000).then(fact('StepApproved'));
        expect([calls(run), legs(run)]).toEqual([[], 0]);
        waiting({ execution: execution({ initiator }) }, { ownerOf: () => 'otto' }).then(
          planned({ required_approvals: 1, answerable_to: 'otto' }),
          SHOWN,
        );
      },
    );

    it('the second after the first who was an editor: the first does not count', () => {
      const run = forTwo();
      foiled(run, approve('rosa'), 'EDITOR_APPROVAL', 19_000);
      run.when(approve('olga'), 20_000).then(fact('StepApproved'));
      expect([calls(run), legs(run)]).toEqual([[], 0]);
    });
  });

  describe('that race or come in another order:', () => {
    it.each([
      ['olga', 'pia', 'quinn'],
      ['quinn', 'pia', 'olga'],
    ])('the third of %s, %s, %s finds it used', (first, second, third) => {
      const run = forTwo().when(approve(first), 19_000).when(approve(second), 19_000);
      looked(run.then(fact('StepApproved'), LOOKED_AGAIN), 19_000).then(SEEN, leg());
      foiled(run, approve(third), 'APPROVAL_USED');
      expect(legs(run)).toBe(1);
    });

    it('an approval overtaken by a denial', () => {
      foiled(
        waiting().when(deny(), 19_000).then(fact('StepDenied'), fact('RecoveryClosed')),
        approve('pia'),
        'STEP_WRONG_PHASE',
      );
    });

    it('the second of two approvals overtaken by a denial', () => {
      foiled(forTwo().when(approve(), 18_000).when(deny('pia'), 19_000), approve('quinn'), 'STEP_WRONG_PHASE');
    });

    it('a denial overtaken by the approval, which has been sent', () => {
      foiled(looked(waiting().when(approve(), 19_000), 19_000), deny('pia'), 'APPROVAL_USED');
      // Nor while the resource is looked at once more.
      foiled(waiting().when(approve(), 19_000), deny('pia'), 'APPROVAL_USED');
    });

    it('a denial by who approved first takes the approval with it', () => {
      foiled(forTwo().when(approve(), 18_000).when(deny('olga'), 19_000), approve('pia'), 'STEP_WRONG_PHASE');
    });
  });

  describe('of what is over:', () => {
    it('used, by the same person', () => {
      foiled(waiting().when(approve(), 19_000), approve(), 'APPROVAL_USED');
    });

    it('used, by another', () => {
      foiled(waiting().when(approve(), 19_000), approve('pia'), 'APPROVAL_USED');
    });

    it('verified', () => {
      const run = looked(waiting().when(approve(), 18_000), 18_000);
      run.when(answered(requestIn(run.outgoing()), 'verified', [STILL_PENDING, BALANCE_ZERO]), 19_000);
      foiled(run, approve('pia'), 'APPROVAL_USED');
    });

    it('sent and not answered, before the next attempt', () => {
      foiled(
        waiting()
          .when(approve(), 18_000)
          .whenDue(18_000 + 35_000 + 2_000),
        approve('pia'),
        'APPROVAL_USED',
        60_000,
      );
    });

    it('not answered in time by anybody', () => {
      foiled(
        waiting()
          .whenDue(10_000 + REVIEW)
          .then(fact('StepEscalated', { reason: 'APPROVAL_TIMEOUT' }), fact('RecoveryClosed')),
        approve(),
        'STEP_WRONG_PHASE',
        11_000 + REVIEW,
      );
    });

    it('the window, by the clock, before any timer ran', () => {
      foiled(waiting({}, { reviewDeadlineMs: 10_000_000 }), approve(), 'WINDOW_CLOSED', LAST_DISPATCH);
    });

    it('the window, after its timer', () => {
      foiled(
        waiting({}, { reviewDeadlineMs: 10_000_000 }).whenDue(LAST_DISPATCH),
        approve(),
        'WINDOW_CLOSED',
        WINDOW_END,
      );
    });

    it('the window, by what the ledger says', () => {
      foiled(waiting().when(windowClosed(), 15_000), approve(), 'WINDOW_CLOSED');
    });

    it('closed by hand', () => {
      foiled(
        waiting().when(deny(), 18_000).when(resolution('accepted', 'pia'), 19_000),
        approve('quinn'),
        'STEP_WRONG_PHASE',
      );
    });

    it('never proposed: an item without a contract', () => {
      foiled(waiting({ terms: null }), approve(), 'STEP_WRONG_PHASE');
    });

    it('not proposed yet: the forward action is uncertain', () => {
      foiled(waiting({ execution_state: 'uncertain' }), approve(), 'STEP_WRONG_PHASE');
    });
  });

  describe('from a stale tab:', () => {
    it('what was shown before the facts of the commit came', () => {
      const run = waiting({
        execution_state: 'uncertain',
        ref: ref({ reversal_args: plainPayload({ refund_id: 're_0' }) }),
      });
      run
        .when(recordedAgain({ terms: under() }), 15_000)
        .then(fact('MutationAdvanced', { action_digest: shown() }), SHOWN);
      foiled(
        run,
        approve('olga', { digest: shown({}, { reversal_args: plainPayload({ refund_id: 're_0' }) }) }),
        'DIGEST_MISMATCH',
      );
      run.when(approve(), 21_000).then(fact('StepApproved'), LOOKED_AGAIN);
    });

    it('a denial of what was shown before', () => {
      foiled(
        waiting(),
        denial({ digest: shown({}, { reversal_args: plainPayload({ refund_id: 're_0' }) }) }),
        'DIGEST_MISMATCH',
      );
    });
  });

  describe('by an edit of the contract:', () => {
    it('dual control that a newer version gave up still asks for two', () => {
      const world = registry();
      const run = waiting({ terms: under({ recovery_approval_mode: 'dual_control' }) }, {}, world);
      world.contracts.append(
        'c',
        edited({
          by: 'nora',
          confirmedBy: 'nils',
          body: example({ version: 2, recovery_approval_mode: 'human' }),
          version: 2,
        }),
      );
      run
        .when(approve(), 20_000)
        .then(fact('StepApproved'))
        .thenAnswer({ body: { phase: 'awaiting_approval', approvals: 1, required_approvals: 2 } });
      expect([calls(run), legs(run)]).toEqual([[], 0]);
      foiled(run, approve('nora'), 'EDITOR_APPROVAL', 21_000);
    });

    it('a newer version that asks nobody still asks the person of the version it executed under', () => {
      const world = registry();
      world.contracts.append(
        'c',
        edited({
          by: 'nora',
          confirmedBy: 'nils',
          body: example({ version: 2, recovery_approval_mode: 'auto' }),
          version: 2,
        }),
      );
      const run = waiting({}, {}, world).then(planned({ decision: 'request_approval', required_approvals: 1 }), SHOWN);
      expect([calls(run), legs(run)]).toEqual([[], 0]);
      foiled(
        run,
        approve('olga', {
          digest: shown({ contract_digest: contractDigest(example({ version: 2, recovery_approval_mode: 'auto' })) }),
        }),
        'DIGEST_MISMATCH',
      );
    });

    it("an edit of the agent's own, to answer for nothing", () => {
      const world = registry();
      world.contracts.append(
        'c',
        edited({ by: 'agent:refund-agent', body: example({ version: 2, owner: 'x' }), version: 2 }),
      );
      foiled(waiting({}, {}, world), approve('refund-agent'), 'SELF_APPROVAL');
    });
  });

  describe('by what the log holds already:', () => {
    const run = (): CoreHarness => waiting();
    const recordOf = (from: CoreHarness) =>
      from
        .when(approve(), 20_000)
        .recorded()
        .find(({ type }) => type === 'StepApproved')?.body ?? {};

    it.each(['StepApproved', 'LegDispatched', 'CommandAnswered'])(
      'a %s record sent as if it were a command changes nothing',
      (type) => {
        const target = run();
        target
          .when(
            wire(COMMANDS, type, { ...recordOf(run()), envelope: envelope('olga', ['approver']) }, { key: RUN }),
            21_000,
          )
          .thenNothing();
        expect([target.outgoing(), legs(target), target.decision().answer]).toEqual([[], 0, undefined]);
      },
    );

    it('a StepApproved of our own log, fed back as an input, changes nothing', () => {
      const target = run();
      target
        .when(logged('recourse.recoveries', 'StepApproved', recordOf(run()), 2, { key: RUN }), 21_000)
        .thenNothing();
      expect([target.outgoing(), legs(target)]).toEqual([[], 0]);
    });

    it('an approval recorded in one step, its command turned to the step beside it', () => {
      const second = markedInput({
        terms: under(),
        mutation_id: SECOND,
        rollback_id: rollbackIdOf('acme', SECOND),
        ref: ref({ mutation_id: SECOND, idempotency_key: 'key-2' }),
        execution: execution({ effect_key: 'e-2', call_id: 'c-2' }),
      });
      const target = waiting().when(second, 11_000).when(approve(), 20_000);
      foiled(target, approve('olga', { stepId: SECOND_STEP }), 'DIGEST_MISMATCH', 21_000);
    });
  });

  describe('in the shape of a resolution:', () => {
    it.each([
      ['the initiator', 'ines', 'SELF_APPROVAL'],
      ['the agent', 'refund-agent', 'SELF_APPROVAL'],
      ['a service account', 'svc:refunds', 'APPROVER_NOT_A_PERSON'],
    ])('%s closes no item', (_who, by, code) => {
      foiled(waiting().when(deny(), 19_000), resolution('accepted', by), code);
    });
  });
});

const ARGS: Json = { order: '4711', amount_minor: 500_000 };
const OF = {
  tenant: TENANT,
  runId: RUN,
  effectKey: 'eff_1',
  capability: 'payments.issue_refund',
  contractDigest: EXECUTED.toString('hex'),
  subjectRef: 'order/4711',
  args: ARGS,
};
const QUESTION = forwardApprovalId(TENANT, RUN, 'eff_1', forwardDigest(OF));

function ask(more: Readonly<Record<string, unknown>> = {}, from: Partial<CommandEnvelope> = {}): RecordInput {
  return wire(
    COMMANDS,
    'RequestForwardApproval',
    {
      envelope: envelope('svc:refunds', ['agent'], { command_id: 'ask-1', ...from }),
      run_id: RUN,
      agent_id: 'refund-agent',
      initiator: 'ines',
      objective: 'settle ticket 99',
      capability: OF.capability,
      contract_digest: EXECUTED,
      effect_key: OF.effectKey,
      subject_ref: OF.subjectRef,
      mode: 'human',
      action_digest: Buffer.from(forwardDigest(OF), 'hex'),
      args: plainPayload(ARGS),
      rehearsal: null,
      ...more,
    },
    { key: RUN },
  );
}
function say(
  verdict: string,
  by = 'olga',
  more: { readonly of?: Partial<typeof OF>; readonly tenant?: string; readonly roles?: readonly string[] } = {},
): RecordInput {
  const body = {
    envelope: envelope(by, more.roles ?? ['approver'], { tenant: more.tenant ?? TENANT }),
    run_id: RUN,
    approval_id: QUESTION,
    action_digest: Buffer.from(forwardDigest({ ...OF, ...more.of }), 'hex'),
    verdict,
    reason: 'seen',
  };
  return wire(COMMANDS, 'DecideForwardApproval', body, { key: RUN });
}
function use(
  attempt = 1,
  more: {
    readonly of?: Partial<typeof OF>;
    readonly tenant?: string;
    readonly by?: string;
    readonly roles?: readonly string[];
  } = {},
): RecordInput {
  const body = {
    envelope: envelope(more.by ?? 'svc:refunds', more.roles ?? ['agent'], { tenant: more.tenant ?? TENANT }),
    run_id: RUN,
    approval_id: QUESTION,
    action_digest: Buffer.from(forwardDigest({ ...OF, ...more.of }), 'hex'),
    attempt,
  };
  return wire(COMMANDS, 'UseForwardApproval', body, { key: RUN });
}

describe.each(WAYS)('an attack on an approval before the effect, $way', ({ isRebuilt }) => {
  const asked = (more: Readonly<Record<string, unknown>> = {}, world = registry()): CoreHarness =>
    harness(core(), { isRebuilt, views: world }).when(ask(more), 10_000).then(fact('ForwardApprovalRequested'));

  /** Refused with this code; nothing recorded, so that no guard finds an approval to use. */
  function foiled(run: CoreHarness, attack: RecordInput, code: string, now = 20_000): void {
    const rows = JSON.stringify(run.rows());
    run.when(attack, now).thenNothing().thenAnswer({ status: 'rejected', code });
    expect([run.outgoing(), JSON.stringify(run.rows())]).toEqual([[], rows]);
  }

  it.each<[string, Partial<typeof OF>]>([
    ['other arguments', { args: { order: '4711', amount_minor: 500_001 } }],
    ['another tenant', { tenant: 'globex' }],
    ['another run', { runId: 'run-2' }],
    ['another effect', { effectKey: 'eff_2' }],
    ['another capability', { capability: 'payments.send_wire' }],
    ['another contract', { contractDigest: '00'.repeat(32) }],
    ['another subject', { subjectRef: 'order/1' }],
  ])('is given for %s', (_what, of) => {
    foiled(asked(), say('approve', 'olga', { of }), 'DIGEST_MISMATCH');
  });

  it.each<[string, string, string]>([
    ['who asks', 'svc:refunds', 'SELF_APPROVAL'],
    ['the agent', 'Refund-Agent', 'SELF_APPROVAL'],
    ['the initiator', 'INES', 'SELF_APPROVAL'],
    ['the initiator in full width', 'ＩＮＥＳ', 'APPROVER_NOT_A_PERSON'],
    ['another service', 'svc:other', 'APPROVER_NOT_A_PERSON'],
    ['another agent', 'agent:other', 'APPROVER_NOT_A_PERSON'],
    ['a role', 'role:approver', 'APPROVER_NOT_A_PERSON'],
    ['who wrote the contract', 'rosa', 'EDITOR_APPROVAL'],
    ['who confirmed it', 'Remo', 'EDITOR_APPROVAL'],
  ])('is given by %s', (_who, by, code) => {
    foiled(asked(), say('approve', by), code);
  });

  it('is given by who wrote a newer version a moment ago', () => {
    const world = registry();
    const run = asked({}, world);
    world.contracts.appendUnread(
      'c',
      edited({ by: 'olga', body: example({ version: 2, forward_approval: 'none' }), version: 2 }),
    );
    run.whenBehind(say('approve'), 20_000);
    world.contracts.catchUp();
    foiled(run, say('approve'), 'EDITOR_APPROVAL');
  });

  it('is given for another tenant, without the role, or with a word that is no verdict', () => {
    foiled(asked(), say('approve', 'olga', { tenant: 'globex' }), 'APPROVAL_UNKNOWN');
    foiled(asked(), say('approve', 'olga', { roles: ['operator', 'administrator'] }), 'ROLE_REQUIRED');
    foiled(asked(), say('APPROVE'), 'VERDICT_UNKNOWN');
  });

  it('is asked for and used by an agent alone, and used by no other one', () => {
    const approved = (): CoreHarness => asked().when(say('approve'), 19_000).then(fact('ForwardApprovalDecided'));
    foiled(approved(), use(1, { by: 'svc:others' }), 'APPROVAL_OF_ANOTHER');
    foiled(approved(), use(1, { roles: [] }), 'ROLE_REQUIRED');
    foiled(approved(), use(1, { roles: ['viewer', 'approver', 'administrator'] }), 'ROLE_REQUIRED');
    harness(core(), { isRebuilt, views: registry() })
      .when(ask({}, { roles: ['requester'] }), 10_000)
      .thenNothing()
      .thenAnswer({ status: 'rejected', code: 'ROLE_REQUIRED' });
  });

  it('is given twice by one human where two are asked', () => {
    foiled(
      asked({ mode: 'dual_control' }).when(say('approve'), 19_000).then(fact('ForwardApprovalDecided')),
      say('approve', 'user:OLGA'),
      'SAME_APPROVER',
    );
  });

  it('is given after the denial, after the end, and after it was used', () => {
    foiled(asked().when(say('deny', 'pia'), 19_000), say('approve'), 'APPROVAL_WRONG_PHASE');
    foiled(asked().whenDue(10_000 + REVIEW), say('approve'), 'APPROVAL_EXPIRED', 11_000 + REVIEW);
    foiled(asked().when(say('approve'), 18_000).when(use(), 19_000), say('approve', 'pia'), 'APPROVAL_WRONG_PHASE');
  });

  it('is used before it is given, half given, or denied', () => {
    foiled(asked(), use(), 'APPROVAL_WRONG_PHASE');
    foiled(asked({ mode: 'dual_control' }).when(say('approve'), 19_000), use(), 'APPROVAL_WRONG_PHASE');
    foiled(asked().when(say('deny'), 19_000), use(), 'APPROVAL_WRONG_PHASE');
  });

  it('is used by another attempt, for another action, by another tenant, or late', () => {
    const given = (): CoreHarness => asked().when(say('approve'), 18_000).then(fact('ForwardApprovalDecided'));
    foiled(given().when(use(1), 19_000), use(2), 'APPROVAL_USED');
    foiled(given(), use(1, { of: { args: { order: '4711', amount_minor: 1 } } }), 'DIGEST_MISMATCH');
    foiled(given(), use(1, { tenant: 'globex' }), 'APPROVAL_UNKNOWN');
    foiled(given(), use(1), 'APPROVAL_EXPIRED', 18_000 + 900_000);
  });

  it('is asked for one person where the contract says two', () => {
    const body = example({ forward_approval: 'dual_control' });
    const world = registry();
    world.contracts.append('c', edited({ by: 'rosa', body, version: 2 }));
    const of = { ...OF, contractDigest: contractDigest(body).toString('hex') };
    const run = harness(core(), { isRebuilt, views: world }).when(
      ask({
        mode: 'human',
        contract_digest: contractDigest(body),
        action_digest: Buffer.from(forwardDigest(of), 'hex'),
      }),
      10_000,
    );
    run.then(fact('ForwardApprovalRequested', { mode: 'dual_control', required_approvals: 2 }));
  });

  it('is asked in the name of nobody, which asks for two', () => {
    asked({ initiator: null }).then(fact('ForwardApprovalRequested', { mode: 'dual_control', required_approvals: 2 }));
  });
});
