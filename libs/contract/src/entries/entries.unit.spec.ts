import { describe, expect, it } from '@jest/globals';
import { reviewEntry } from './shapes.js';
import type { EntryBody } from './shapes.js';
import { killVerdict } from './kills.js';
import { charterFor, entryView, ownersEver, routinesFor } from './view.js';
import { admissionVerdict, recoveryVerdict, evidenceVerdict, intentVerdict, isInScope } from './verdicts.js';

const words = { owner: 'platform', doc: 'd' };
const policy: EntryBody<'policy_bundle'> = {
  ...words,
  admission: [
    { name: 'fresh', when: 'gate.age_ms < 1000', reason: 'evidence is stale' },
    { name: 'open', when: 'state.order == "open"', reason: 'the order is closed' },
  ],
  recovery: [
    { name: 'large', when: 'mutation.amount_minor > 1000', approval: 'dual_control', reason: 'large' },
    { name: 'small', when: 'mutation.amount_minor < 10', approval: 'auto', reason: 'small' },
  ],
};
const found = (kind: Parameters<typeof reviewEntry>[0], entry: unknown, tenant = 'acme') => {
  const review = reviewEntry(kind, typeof entry === 'string' ? entry : JSON.stringify(entry), tenant);
  return review.ok ? [] : review.problems.map(({ code, path }) => `${code} ${path}`);
};

describe('a policy bundle', () => {
  it.each([
    [{ gate: { age_ms: 5 }, state: { order: 'open' } }, null],
    [{ gate: { age_ms: 5_000 }, state: { order: 'open' } }, 'POLICY_REFUSED'],
    [{ gate: { age_ms: 5 }, state: { order: 'closed' } }, 'POLICY_REFUSED'],
    [{ gate: {}, state: { order: 'open' } }, 'POLICY_UNDECIDED'],
  ])('judges %j as %s', (facts, code) => {
    expect(admissionVerdict(policy, facts)).toMatchObject(
      code === null ? { admitted: true } : { admitted: false, code },
    );
  });

  it.each([
    [{ amount_minor: 5_000 }, { decided: true, approval: 'dual_control', rules: ['large'] }],
    [{ amount_minor: 500 }, { decided: true, approval: 'auto', rules: [] }],
    [{ amount_minor: 5 }, { decided: true, approval: 'auto', rules: ['small'] }],
    [{ amount_minor: 'x' }, { decided: false, rule: 'large' }],
    [{}, { decided: false, rule: 'large' }],
  ] as const)('says of the recovery of %j: %j', (mutation, said) => {
    expect(recoveryVerdict(policy, { mutation, evidence: {} })).toMatchObject(said);
  });

  it('does not register with an expression that cannot be judged', () => {
    expect(
      found('policy_bundle', {
        ...policy,
        admission: [
          { name: 'a', when: 'gate.x ==', reason: 'r' },
          { name: 'b', when: 'mutation.x == 1', reason: 'r' },
        ],
      }),
    ).toEqual(['ENTRY_CEL_INVALID /admission/0/when', 'ENTRY_CEL_INVALID /admission/1/when']);
  });

  it('does not register with an expression that takes too long to judge', () => {
    const when = 'gate.a.all(a, gate.b.all(b, gate.c.exists(c, c == a + b)))';
    expect(found('policy_bundle', { ...policy, admission: [{ name: 'a', when, reason: 'r' }] })).toEqual([
      'ENTRY_CEL_TOO_COSTLY /admission/0/when',
    ]);
  });
});

describe('a routine rule', () => {
  const rule = {
    name: 'status',
    capabilities: ['channels.post_message'],
    risk_max: 'low',
    impacts: ['customer_visible'],
    window_ms: 86_400_000,
    per_agent: 20,
    per_tenant: 100,
    reason: 'status lines are routine',
  };
  const at = (more: object): readonly string[] =>
    found('policy_bundle', {
      ...policy,
      routine: [
        { ...rule, name: 'other' },
        { ...rule, ...more },
      ],
    });

  it.each([
    [{}, []],
    [{ when: 'args.text.size() < 200 && action.agent_id == "status-agent"' }, []],
    [{ amount_max: { amount_minor: 500, currency: 'EUR' }, exposure_max: 1 }, []],
    [{ risk_max: 'medium', impacts: ['read', 'write', 'customer_visible'] }, []],
    [{ risk_max: 'high' }, ['ROUTINE_FORBIDDEN /routine/1']],
    [{ impacts: ['write', 'financial'] }, ['ROUTINE_FORBIDDEN /routine/1']],
    [{ impacts: ['destructive'] }, ['ROUTINE_FORBIDDEN /routine/1']],
    [{ impacts: ['security_sensitive'] }, ['ROUTINE_FORBIDDEN /routine/1']],
    [{ name: 'other' }, ['ROUTINE_NAME_TAKEN /routine/1/name']],
    [{ when: 'gate.x == 1' }, ['ENTRY_CEL_INVALID /routine/1/when']],
    [{ when: 'args.text ==' }, ['ENTRY_CEL_INVALID /routine/1/when']],
    [{ when: 'args.a.all(a, args.b.all(b, args.c.exists(c, c == a + b)))' }, ['ENTRY_CEL_TOO_COSTLY /routine/1/when']],
    [{ capabilities: [] }, ['ENTRY_FIELD_INVALID /routine/1/capabilities']],
    [{ capabilities: ['channels.*'] }, ['ENTRY_FIELD_INVALID /routine/1/capabilities/0']],
    [{ per_agent: 0 }, ['ENTRY_FIELD_INVALID /routine/1/per_agent']],
    [{ per_tenant: 1_001 }, ['ENTRY_FIELD_INVALID /routine/1/per_tenant']],
    [{ window_ms: 59_999 }, ['ENTRY_FIELD_INVALID /routine/1/window_ms']],
    [{ window_ms: 32 * 86_400_000 }, ['ENTRY_FIELD_INVALID /routine/1/window_ms']],
    [{ per_agent: undefined }, ['ENTRY_FIELD_INVALID /routine/1/per_agent']],
  ])('with %j has the problems %j', (more, problems) => {
    expect(at(more)).toEqual(problems);
  });
});

describe('an agent in the view', () => {
  const kept = new Map<string, Readonly<Record<string, unknown>>>();
  const register = (kind: string, name: string, entry: object): void => {
    const body = { kind, name, tenant: 'acme', version: 1, body: JSON.stringify(entry) };
    for (const [key, doc] of entryView.fold({ type: 'EntryRegistered', body }, (each) => kept.get(each)))
      if (doc !== null) kept.set(key, doc);
  };
  register('agent_charter', 'c', {
    owner: 'otto',
    doc: 'd',
    agent: 'refund-agent',
    purpose: 'p',
    allowed: ['a.b_c'],
    denied: [],
  });
  const scope = { over: 'agent', agent: 'refund-agent' };
  register('kill_switch', 'k', { owner: 'o', doc: 'd', scope, severity: 'sev1', runbook: 'b', reason: 'r' });

  it.each(['refund-agent', 'agent:refund-agent', 'Refund-Agent', 'user:REFUND-AGENT'])(
    'has an owner and is stopped, however it spells its name: %s',
    (agent) => {
      expect(charterFor(kept, 'acme', agent)?.owner).toBe('otto');
      expect(killVerdict(kept, { tenant: 'acme', agent, capability: 'a.b_c' })).toMatchObject({ code: 'KILLED' });
    },
  );
});

describe('charters of one agent', () => {
  const kept = new Map<string, Readonly<Record<string, unknown>>>();
  for (const [tenant, name, owner] of [
    ['acme', 'z', 'otto'],
    ['acme', 'a0', 'mallory'],
    ['*', 'p', 'pia'],
    ['acme', 'b', 'otto'],
  ] as const) {
    const entry = { owner, doc: 'd', agent: 'refund-agent', purpose: 'p', allowed: ['a.b_c'], denied: [] };
    const body = { kind: 'agent_charter', name, tenant, version: 1, body: JSON.stringify(entry) };
    for (const [key, doc] of entryView.fold({ type: 'EntryRegistered', body }, (each) => kept.get(each)))
      if (doc !== null) kept.set(key, doc);
  }
  it('name everybody who answers for it, the tenant’s and the platform’s; the first is shown', () => {
    expect(charterFor(kept, 'acme', 'refund-agent')).toMatchObject({
      owner: 'mallory',
      owners: ['mallory', 'otto', 'pia'],
    });
    expect(charterFor(kept, 'globex', 'refund-agent')).toMatchObject({ owner: 'pia', owners: ['pia'] });
    expect(charterFor(kept, 'acme', 'other')).toBeUndefined();
  });

  it('name everybody who ever owned it, also once it is handed over and its charters are retired', () => {
    const later = new Map(kept);
    const take = (type: string, name: string, owner: string): void => {
      const entry = { owner, doc: 'd', agent: 'Refund-Agent', purpose: 'p', allowed: ['a.b_c'], denied: [] };
      const body = { kind: 'agent_charter', name, tenant: 'acme', version: 2, body: JSON.stringify(entry) };
      for (const [key, doc] of entryView.fold({ type, body }, (each) => later.get(each)))
        if (doc === null) later.delete(key);
        else later.set(key, doc);
    };
    take('EntryRegistered', 'z', 'nora');
    for (const name of ['a0', 'b']) take('EntryRetired', name, 'otto');
    expect(charterFor(later, 'acme', 'refund-agent')?.owners).toEqual(['nora', 'pia']);
    expect(ownersEver(later, 'acme', 'agent:Refund-Agent')).toEqual(['mallory', 'nora', 'otto', 'pia']);
    expect(ownersEver(later, 'globex', 'refund-agent')).toEqual(['pia']);
    expect(ownersEver(later, 'acme', 'other')).toEqual([]);
  });
});

describe('routine rules in the view', () => {
  type Record = Parameters<typeof entryView.fold>[0];
  const view = () => {
    const kept = new Map<string, Readonly<globalThis.Record<string, unknown>>>();
    const take = (record: Record): void => {
      for (const [key, doc] of entryView.fold(record, (each) => kept.get(each)))
        if (doc === null) kept.delete(key);
        else kept.set(key, doc);
    };
    let version = 0;
    return {
      kept,
      register: (name: string, tenant: string, ...capabilities: readonly string[]): void => {
        version += 1;
        const routine = capabilities.map((capability) => ({
          name: capability,
          capabilities: [capability],
          risk_max: 'low',
          impacts: ['write'],
          window_ms: 60_000,
          per_agent: 1,
          per_tenant: 1,
          reason: 'r',
        }));
        const body = JSON.stringify({ ...words, admission: [], recovery: [], routine });
        const said = {
          kind: 'policy_bundle',
          name,
          tenant,
          version,
          digest: Buffer.alloc(32),
          body,
          registered_by: 'ravi',
        };
        take({ type: 'EntryRegistered', body: said });
      },
      retire: (name: string, tenant: string): void => {
        take({ type: 'EntryRetired', body: { kind: 'policy_bundle', name, tenant } });
      },
      of: (tenant: string, capability: string): readonly string[] =>
        routinesFor({ get: (key) => kept.get(key) }, tenant, capability).map(
          ({ bundle, version: at, rule }) => `${bundle}@${String(at)}/${rule.name}`,
        ),
    };
  };

  it('are found by what they let go, the own before those for all, which an own bundle of the name hides', () => {
    const { register, retire, of, kept } = view();
    register('b', 'acme', 'mail.send_note', 'chat.post_line');
    register('a', 'acme', 'mail.send_note');
    register('c', '*', 'mail.send_note');
    register('a', '*', 'mail.send_note');
    expect(of('acme', 'mail.send_note')).toEqual(['a@2/mail.send_note', 'b@1/mail.send_note', 'c@3/mail.send_note']);
    expect(of('globex', 'mail.send_note')).toEqual(['a@4/mail.send_note', 'c@3/mail.send_note']);
    expect(of('acme', 'chat.post_line')).toEqual(['b@1/chat.post_line']);
    register('b', 'acme', 'chat.post_line');
    register('a', 'acme');
    expect(of('acme', 'mail.send_note')).toEqual(['c@3/mail.send_note']);
    retire('a', 'acme');
    expect(of('acme', 'mail.send_note')).toEqual(['a@4/mail.send_note', 'c@3/mail.send_note']);
    for (const [name, tenant] of [
      ['b', 'acme'],
      ['c', '*'],
      ['a', '*'],
    ] as const)
      retire(name, tenant);
    expect([...kept.keys()].filter((key) => key.startsWith('routine/'))).toEqual([]);
  });
});

describe('a charter', () => {
  const charter: EntryBody<'agent_charter'> = {
    ...words,
    agent: 'a',
    purpose: 'p',
    allowed: ['payments.*', 'crm.get_contact'],
    denied: ['payments.send_*'],
  };
  it.each([
    ['payments.issue_refund', null],
    ['crm.get_contact', null],
    ['payments.send_wire', 'INTENT_DENIED'],
    ['crm.update_contact', 'INTENT_NOT_ALLOWED'],
  ])('answers %s with %s: deny wins (D59)', (intent, code) => {
    expect(intentVerdict(charter, intent)).toMatchObject(
      code === null ? { admitted: true } : { admitted: false, code },
    );
  });
  it('does not register when it allows and denies the same', () => {
    expect(found('agent_charter', { ...charter, allowed: ['payments.send_*'] })).toEqual([
      'CHARTER_CONTRADICTORY /allowed/0',
    ]);
  });
});

describe('a context source', () => {
  const source: EntryBody<'context_source'> = { ...words, sensitivity: 'internal', access: 'read', ttl_ms: 1_000 };
  it.each([
    [999, null],
    [1_000, 'EVIDENCE_STALE'],
    [-1, 'EVIDENCE_STALE'],
  ])('%i ms old gives evidence: %s (D56)', (age, code) => {
    expect(evidenceVerdict(source, 10_000 - age, 10_000)).toMatchObject(
      code === null ? { admitted: true } : { admitted: false, code },
    );
  });
  it('that is not registered gives none', () => {
    expect(evidenceVerdict(undefined, 0, 0)).toMatchObject({ code: 'SOURCE_UNKNOWN' });
  });
});

describe('a subscription', () => {
  const subscription = { ...words, consumer: 'mailer', scope: 'acme/agent-7', mode: 'async', commit_to_user_ms: 5_000 };
  it.each([
    [{}, []],
    [{ commit_to_user_ms: 999 }, ['SUBSCRIPTION_TOO_SLOW /mode']],
    [{ commit_to_user_ms: 999, mode: 'sync' }, []],
    [{ scope: 'globex' }, ['SUBSCRIPTION_FOREIGN /scope']],
    [{ scope: '*' }, ['SUBSCRIPTION_FOREIGN /scope']],
    [{ scope: 'acme//x' }, ['ENTRY_FIELD_INVALID /scope']],
    [{ scope: 'acme/a/r/order/4711' }, []],
    [{ scope: 'acme/a/r/s ' }, ['ENTRY_FIELD_INVALID /scope']],
    [{ scope: 'acme/a*' }, ['ENTRY_FIELD_INVALID /scope']],
    [{ scope: '1/2/3/4/5/6/7/8/9/10/11' }, ['ENTRY_FIELD_INVALID /scope']],
  ])('with %j has %j', (more, problems) => {
    expect(found('subscription', { ...subscription, ...more })).toEqual(problems);
  });

  const commit = { tenant: 'acme', agent: 'agent-7', run: 'run-1', subject: 'order/4711' };
  it.each([
    ['acme', true],
    ['acme/agent-7', true],
    ['acme/*/run-1', true],
    ['acme/agent-70', false],
    ['acme/*/run-2', false],
    ['globex', false],
    ['*', true],
    ['acme/*/*/order', true],
    ['acme/*/*/order/4711', true],
    ['acme/*/*/order/47', false],
    ['acme/*/*/order/4711/x', false],
    ['acme/agent', false],
    ['acme/*/*/order/*', true],
    ['acme/*/*/order/4711/*', false],
  ])('over %s hears of the commit: %s', (scope, hears) => {
    expect(isInScope(scope, commit)).toBe(hears);
  });
});

describe('any entry', () => {
  it.each(['', '[]', '{"owner":"\\u0000"}', '{"owner":"\\ud800"}'])('of %j is no JSON that could be kept', (body) => {
    expect(found('kill_switch', body)).toEqual(['ENTRY_NOT_JSON ']);
  });
  it('lists every problem at once', () => {
    expect(found('context_source', { owner: '', ttl_ms: 0 }).length).toBeGreaterThanOrEqual(4);
  });
});
