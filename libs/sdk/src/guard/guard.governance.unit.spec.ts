import { describe, expect, it } from '@jest/globals';
import { EdgeProblem } from '../edge/edge.js';
import { MemoryEntries } from '../entries/entries.memory.js';
import { MemoryBudget } from './budget.memory.js';
import type { Budget } from './budget.port.js';
import { refund, refundCall } from './guard.testing.js';
import type { RefundScene } from './guard.testing.js';

const words = { owner: 'ops', doc: 'd' };
const killSwitch = (
  scope: { over: 'tenant' } | { over: 'agent'; agent: string } | { over: 'capability'; capability: string },
) => ({ ...words, scope, severity: 'sev1', runbook: 'r', reason: 'double refunds' }) as const;
const charter = { ...words, agent: 'agent', purpose: 'p', allowed: ['payments.*'], denied: [] as string[] };
const bundle = (...when: readonly string[]) => ({
  ...words,
  admission: when.map((each, at) => ({ name: `rule-${at + 1}`, when: each, reason: 'because' })),
  recovery: [],
});
function scene(more: RefundScene = {}) {
  const entries = new MemoryEntries();
  return { entries, ...refund({ ...more, options: { entries, ...more.options } }) };
}

describe('a guarded tool under a kill switch', () => {
  it.each([
    [{ over: 'tenant' }, 'acme'],
    [{ over: 'tenant' }, '*'],
    [{ over: 'agent', agent: 'agent' }, 'acme'],
    [{ over: 'capability', capability: 'payments.issue_refund' }, '*'],
  ] as const)('over %j of %s does nothing and tells nobody, until it is lifted', async (scope, tenant) => {
    const { entries, run, calls, told } = scene();
    entries.register('kill_switch', tenant, 'stop', killSwitch(scope));
    expect(await run()).toMatchObject({ kind: 'refused', code: 'KILL_SWITCH', mutation_refs: [] });
    expect([calls(), told()]).toEqual([0, []]);
    entries.retire('kill_switch', tenant, 'stop');
    expect(await run()).toMatchObject({ kind: 'succeeded' });
  });

  it.each([
    [{ over: 'tenant' }, 'globex'],
    [{ over: 'agent', agent: 'other' }, 'acme'],
    [{ over: 'capability', capability: 'mail.send_message' }, 'acme'],
  ] as const)('over %j of %s goes on', async (scope, tenant) => {
    const { entries, run } = scene();
    entries.register('kill_switch', tenant, 'stop', killSwitch(scope));
    expect(await run()).toMatchObject({ kind: 'succeeded' });
  });

  it('stops compensations too, and only speaks where the guard observes', async () => {
    const { entries, run, calls } = scene();
    entries.register('kill_switch', 'acme', 'stop', killSwitch({ over: 'tenant' }));
    expect(await run({ recovery: { callId: 'rev_1', idempotencyKey: 'rev_1', attempt: 1 } })).toMatchObject({
      code: 'KILL_SWITCH',
    });
    expect(calls()).toBe(0);
    const observed = scene({ options: { mode: 'observe', entries } });
    expect(await observed.run()).toMatchObject({ kind: 'succeeded' });
    expect(observed.troubles).toEqual(['KILL_SWITCH']);
  });

  it('is not called while nobody can say whether one stands', async () => {
    const budget = new MemoryBudget(500_000);
    const { entries, run, calls } = scene({ options: { budget } });
    entries.isAway = true;
    expect(await run()).toMatchObject({ kind: 'refused', code: 'REGISTRY_UNAVAILABLE' });
    expect(calls()).toBe(0);
    const observed = scene({ options: { mode: 'observe', entries } });
    expect(await observed.run()).toMatchObject({ kind: 'succeeded' });
    expect(observed.troubles).toEqual(['REGISTRY_UNAVAILABLE']);
  });
});

describe('a guarded tool that waits before it is called', () => {
  const changed = {
    'a kill switch is thrown': (entries: MemoryEntries) => {
      entries.register('kill_switch', 'acme', 'stop', killSwitch({ over: 'tenant' }));
      return 'KILL_SWITCH';
    },
    'its charter denies it': (entries: MemoryEntries) => {
      entries.register('agent_charter', 'acme', 'c', { ...charter, denied: ['payments.*'] });
      return 'INTENT_DENIED';
    },
    'a bundle no longer admits it': (entries: MemoryEntries) => {
      entries.register('policy_bundle', 'acme', 'b', bundle('false'));
      return 'POLICY_REFUSED';
    },
    'the registry is out of reach': (entries: MemoryEntries) => {
      entries.isAway = true;
      return 'REGISTRY_UNAVAILABLE';
    },
    'the registry throws': (entries: MemoryEntries) => {
      entries.standing = () => Promise.reject(new Error('socket hang up'));
      return 'REGISTRY_UNAVAILABLE';
    },
  } as const satisfies Record<string, (entries: MemoryEntries) => string>;

  it.each(Object.keys(changed) as (keyof typeof changed)[])(
    'does nothing, and gives back what was reserved, where %s meanwhile',
    async (what) => {
      const memory = new MemoryBudget(500_000);
      let released = 0;
      const budget: Budget = {
        reserve: (request) => memory.reserve(request),
        release: (request) => {
          released += 1;
          return memory.release(request);
        },
      };
      let code = '';
      const { entries, run, calls, told } = scene({
        contract: { forward_approval: 'human' },
        options: {
          budget,
          policyBundles: ['b'],
          approvals: {
            ask: ({ actionDigest }) => {
              code = changed[what](entries);
              return Promise.resolve({ kind: 'approved', actionDigest });
            },
          },
        },
      });
      entries.register('policy_bundle', 'acme', 'b', bundle('true'));
      const answer = await run();
      expect([answer, calls(), told(), released]).toEqual([
        expect.objectContaining({ kind: 'refused', code, mutation_refs: [] }),
        0,
        [],
        1,
      ]);
    },
  );

  it('gives back what it staged where a kill switch was thrown while it staged', async () => {
    const undone: string[] = [];
    const entries = new MemoryEntries();
    const { run, told } = refund({
      contract: {
        commit_hold_ms: 60_000,
        cancel_capability: 'payments.cancel_refund',
        techniques: { reservation: true },
      },
      tool: {
        execute: () => Promise.reject(new Error('never')),
        stage: () => {
          changed['a kill switch is thrown'](entries);
          return Promise.resolve('staged-1');
        },
        unstage: (_args, { stagedRef }) => {
          undone.push(stagedRef ?? 'nothing');
          return Promise.resolve();
        },
      },
      options: { entries },
    });
    expect([await run(), undone, told()]).toEqual([expect.objectContaining({ code: 'KILL_SWITCH' }), ['staged-1'], []]);
  });
});

describe('a guarded tool of an agent whose charter is registered', () => {
  it('does what some charter allows and none denies: deny wins', async () => {
    const { entries, run } = scene();
    entries.register('agent_charter', 'acme', 'one', { ...charter, allowed: ['crm.*'] });
    expect(await run()).toMatchObject({ code: 'INTENT_NOT_ALLOWED' });
    entries.register('agent_charter', 'acme', 'two', charter);
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    entries.register('agent_charter', 'acme', 'one', { ...charter, denied: ['payments.issue_*'] });
    expect(await run({ stepId: 'next' })).toMatchObject({ code: 'INTENT_DENIED' });
  });

  it("does nothing that the platform's charter does not allow, whatever the tenant's own says", async () => {
    const { entries, run } = scene();
    entries.register('agent_charter', '*', 'theirs', { ...charter, allowed: ['crm.*'] });
    entries.register('agent_charter', 'acme', 'own', charter);
    expect(await run()).toMatchObject({ code: 'INTENT_NOT_ALLOWED' });
  });

  it('is not bound by the charter of another agent, and is by one given in place', async () => {
    const { entries, run } = scene();
    entries.register('agent_charter', 'acme', 'other', { ...charter, agent: 'other', allowed: [] });
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect(await scene({ options: { entries, charter: { ...charter, denied: ['payments.*'] } } }).run()).toMatchObject({
      code: 'INTENT_DENIED',
    });
  });
});

describe('a guarded tool under a policy bundle', () => {
  const policyBundles = ['refunds'];

  it.each([
    ['gate.value.amount_minor <= 500000 && gate.capability == "payments.issue_refund"', null],
    ['gate.initiator == "asha" && gate.args.order == "4711"', null],
    ['gate.evidence_age_ms < 1000 && state.order == "open"', null],
    ['gate.value.amount_minor < 500000', 'POLICY_REFUSED'],
    ['gate.nothing_here == 1', 'POLICY_UNDECIDED'],
    ['state.order == "closed"', 'POLICY_REFUSED'],
  ])('that says %s: %s', async (when, code) => {
    const { entries, run, calls } = scene({ options: { policyBundles } });
    entries.register('policy_bundle', 'acme', 'refunds', bundle('true', when));
    expect(await run({ gate: { evidence_age_ms: 5 }, state: { order: 'open' } })).toMatchObject(
      code === null ? { kind: 'succeeded' } : { kind: 'refused', code },
    );
    expect(calls()).toBe(code === null ? 1 : 0);
  });

  it('lets no caller say something else of the call than it is', async () => {
    const { entries, run } = scene({ options: { policyBundles } });
    entries.register('policy_bundle', 'acme', 'refunds', bundle('gate.value.amount_minor < 500000'));
    expect(await run({ gate: { value: { amount_minor: 1 } } })).toMatchObject({ code: 'POLICY_REFUSED' });
  });

  it("is refused when nobody registered it, and takes the tenant's own beside the platform's, which it cannot loosen", async () => {
    const { entries, run } = scene({ options: { policyBundles } });
    expect(await run()).toMatchObject({ code: 'POLICY_UNKNOWN' });
    entries.register('policy_bundle', '*', 'refunds', bundle('false'));
    expect(await run()).toMatchObject({ code: 'POLICY_REFUSED' });
    entries.register('policy_bundle', 'acme', 'refunds', bundle());
    expect(await run()).toMatchObject({ code: 'POLICY_REFUSED' });
    entries.register('policy_bundle', '*', 'refunds', bundle());
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    entries.register('policy_bundle', 'acme', 'refunds', bundle('false'));
    expect(await run({ stepId: 'next' })).toMatchObject({ code: 'POLICY_REFUSED' });
  });

  it('does not hold up a recovery, which was admitted as one', async () => {
    const { entries, run } = scene({ options: { policyBundles } });
    entries.register('policy_bundle', 'acme', 'refunds', bundle('false'));
    expect(
      await run({ ...refundCall, recovery: { callId: 'rev_1', idempotencyKey: 'rev_1', attempt: 1 } }),
    ).toMatchObject({ kind: 'succeeded' });
  });
});

describe('a guarded call for a tenant that its token does not speak for', () => {
  it('is refused as such, and not as trouble with the registry', async () => {
    const cause = new EdgeProblem('TENANT_FOREIGN', 'the token speaks for another', {
      from: 'the registry',
      status: 403,
    });
    const entries = { standing: () => Promise.resolve({ kind: 'unavailable', cause } as const) };
    const { run, calls } = refund({ options: { entries } });
    expect(await run()).toMatchObject({ kind: 'refused', code: 'TENANT_FOREIGN' });
    expect(calls()).toBe(0);
  });
});
