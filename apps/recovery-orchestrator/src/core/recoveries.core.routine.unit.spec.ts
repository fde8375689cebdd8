// Routine rules of policy bundles: what goes without the person its contract asks before it, within which caps, and what never does.
import { describe, expect, it } from '@jest/globals';
import { contractByName, contractDigest, forwardApprovalId, forwardDigest, plainPayload } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { entrySaid, fact, harness, WAYS, wire } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { RECOVERIES_LOG } from '../core.js';
import { breaker, core, envelope, TENANT, views } from '../recoveries.testing.js';
import { capShare } from '../rules/forward/routine.decisions.js';
import { recoveryMeasures } from './measures.js';

type Json = Readonly<Record<string, unknown>>;
const COMMANDS = 'recourse.recovery-commands';
const POST = 'channels.post_message';
const AGENT = 'status-agent';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const shipped = JSON.parse(readFileSync(`examples/contracts/${POST}.json`, 'utf8')) as Json;
const RULE = {
  name: 'status',
  capabilities: [POST],
  risk_max: 'medium',
  impacts: ['customer_visible'],
  window_ms: DAY,
  per_agent: 2,
  per_tenant: 3,
  reason: 'status lines are routine',
};

/** A world in which a contract stands and, unless told otherwise, one rule about it. */
function setting({
  terms = {},
  rules = [RULE],
  isRebuilt = false,
  partitionCount = 1,
  partition = 0,
}: {
  readonly terms?: Json;
  readonly rules?: readonly Json[];
  readonly isRebuilt?: boolean;
  readonly partitionCount?: number;
  readonly partition?: number;
} = {}) {
  const both = views();
  let version = 0;
  const contract = JSON.stringify({ ...shipped, ...terms });
  const stands = (body: string, more: Json = {}): void => {
    both.contracts.append(
      'c',
      fact('ContractRegistered', {
        name: POST,
        version: 1,
        tenant: '*',
        digest: contractDigest(body),
        body,
        registered_by: 'mira',
        ...more,
      }),
    );
  };
  const registers = (
    routine: readonly Json[],
    { name = 'notices', tenant = '*', by = 'ravi', accounts = [] }: Bundle = {},
  ): void => {
    version += 1;
    const body = JSON.stringify({ owner: 'ops', doc: 'd', admission: [], recovery: [], routine });
    both.entries.append(
      'e',
      fact('EntryRegistered', {
        kind: 'policy_bundle',
        tenant,
        name,
        version,
        digest: contractDigest(body),
        body,
        registered_by: by,
        accounts,
      }),
    );
  };
  stands(contract);
  if (rules.length > 0) registers(rules);
  return {
    run: harness(core(), { isRebuilt, views: both, partition, partitionCount }),
    both,
    contract,
    stands,
    registers,
  };
}
interface Bundle {
  readonly name?: string;
  readonly tenant?: string;
  readonly by?: string;
  readonly accounts?: readonly string[];
}

interface Asking {
  readonly n?: number;
  readonly contract?: string;
  readonly agent?: string;
  readonly by?: string;
  readonly accounts?: readonly string[];
  readonly args?: Json;
  readonly tenant?: string;
  readonly more?: Json;
}
const argsOf = (n: number): Json => ({ channel: 'status', text: `build ${String(n)} is done` });
const runOf = (n: number): string => `run-${String(n)}`;
function digestOf({ n = 1, contract = JSON.stringify(shipped), args, tenant = TENANT }: Asking): string {
  return forwardDigest({
    tenant,
    runId: runOf(n),
    effectKey: 'eff_1',
    capability: POST,
    contractDigest: contractDigest(contract).toString('hex'),
    subjectRef: 'channel/status',
    args: (args ?? argsOf(n)) as never,
  });
}
const idOf = (asking: Asking = {}): string =>
  forwardApprovalId(asking.tenant ?? TENANT, runOf(asking.n ?? 1), 'eff_1', digestOf(asking));
/** The n-th message, each in a run of its own. */
function ask(asking: Asking = {}): RecordInput {
  const {
    n = 1,
    contract = JSON.stringify(shipped),
    agent = AGENT,
    by = 'svc:status',
    accounts = [],
    args = argsOf(n),
    tenant = TENANT,
    more = {},
  } = asking;
  return wire(
    COMMANDS,
    'RequestForwardApproval',
    {
      envelope: envelope(by, ['agent'], { tenant, accounts, command_id: `ask-${String(n)}` }),
      run_id: runOf(n),
      agent_id: agent,
      initiator: 'ines',
      capability: POST,
      contract_digest: contractDigest(contract),
      effect_key: 'eff_1',
      subject_ref: 'channel/status',
      objective: 'tell the channel',
      mode: 'human',
      action_digest: Buffer.from(digestOf(asking), 'hex'),
      args: plainPayload(args as never),
      rehearsal: null,
      ...more,
    },
    { key: runOf(n) },
  );
}
const say = (verdict: 'approve' | 'deny', by = 'olga'): RecordInput =>
  wire(
    COMMANDS,
    'DecideForwardApproval',
    {
      envelope: envelope(by, ['approver']),
      run_id: runOf(1),
      approval_id: idOf(),
      action_digest: Buffer.from(digestOf({}), 'hex'),
      verdict,
      reason: 'seen',
    },
    { key: runOf(1) },
  );
const use = (attempt = 1): RecordInput =>
  wire(
    COMMANDS,
    'UseForwardApproval',
    {
      envelope: envelope('svc:status', ['agent']),
      run_id: runOf(1),
      approval_id: idOf(),
      action_digest: Buffer.from(digestOf({}), 'hex'),
      attempt,
    },
    { key: runOf(1) },
  );
/** Left to a person, with why the rule did not let it go. */
const left = (code: string, detail?: string) =>
  fact('ForwardApprovalRequested', {
    decided_by: null,
    not_routine: [{ rule: 'notices@1/status', code, ...(detail === undefined ? {} : { detail }) }],
    owner: 'role:approver',
  });

describe.each(WAYS)('a routine message, $way', ({ isRebuilt }) => {
  it('goes without a person within the caps of a rule, which the decision and its use name', () => {
    const { run } = setting({ isRebuilt });
    run
      .when(ask(), 1_000)
      .then(
        fact('ForwardApprovalRequested', { decided_by: 'policy:notices@1', not_routine: [], required_approvals: 1 }),
        fact('ForwardApprovalDecided', {
          verdict: 'approve',
          by: 'policy:notices@1',
          reason: RULE.reason,
          expires_at: 901_000,
          routine: {
            bundle: 'notices',
            version: 1,
            rule: 'status',
            registered_by: 'ravi',
            counted: [
              { scope: 'agent', name: AGENT, count: 1, share: 2, cap: 2, window_ms: DAY },
              { scope: 'agent', name: 'svc:status', count: 1, share: 2, cap: 2, window_ms: DAY },
              { scope: 'tenant', name: TENANT, count: 1, share: 3, cap: 3, window_ms: DAY },
            ],
          },
        }),
      )
      .thenAnswer({
        httpStatus: 201,
        body: { status: 'approved', decided_by: 'policy:notices@1', routine: { rule: 'status' }, not_routine: [] },
      })
      .when(ask({ more: {} }), 1_500)
      .thenNothing()
      .thenAnswer({ httpStatus: 200, body: { status: 'approved' } })
      .when(use(), 2_000)
      .then(fact('ForwardApprovalUsed', { agreed_by: ['policy:notices@1/status'] }));
    expect(run.rows('forward')).toMatchObject([
      { doc: { phase: 'used', approvals: [{ by: 'policy:notices@1' }], routine: { rule: 'status' } } },
    ]);
  });

  it('is a person’s once a cap is reached, with what was counted, and goes again once its window has passed', () => {
    const { run } = setting({ isRebuilt });
    run.when(ask({ n: 1 }), 1_000).when(ask({ n: 2 }), 2_000);
    run
      .when(ask({ n: 3 }), 3_000)
      .then(left('CAP_REACHED', `2 of 2 in 24 h for agent ${AGENT}`))
      .thenAnswer({ httpStatus: 201, body: { status: 'pending', not_routine: [{ code: 'CAP_REACHED' }] } })
      .when(ask({ n: 4, agent: 'another', by: 'svc:another' }), 4_000)
      .then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided'))
      .when(ask({ n: 5, agent: 'a-third', by: 'svc:a-third' }), 5_000)
      .then(left('CAP_REACHED', `3 of 3 in 24 h for tenant ${TENANT}`))
      .when(ask({ n: 6 }), 1_000 + DAY)
      .then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided'))
      .when(ask({ n: 7 }), 1_001 + DAY)
      .then(left('CAP_REACHED'));
  });

  it('counts what a rule let go under its name, whatever becomes of the version and the window', () => {
    const { run, registers } = setting({ isRebuilt, rules: [{ ...RULE, window_ms: HOUR }] });
    run.when(ask({ n: 1 }), 1_000).when(ask({ n: 2 }), 1_000 + 2 * HOUR);
    registers([RULE]);
    run.when(ask({ n: 3 }), 1_000 + 4 * HOUR).then(
      fact('ForwardApprovalRequested', {
        not_routine: [{ rule: 'notices@2/status', code: 'CAP_REACHED', detail: `2 of 2 in 24 h for agent ${AGENT}` }],
      }),
    );
  });

  it('counts each tenant by itself under a rule for all of them', () => {
    const { run, registers } = setting({ isRebuilt, rules: [] });
    registers([{ ...RULE, per_agent: 1 }], { tenant: '*' });
    run.when(ask({ n: 1 }), 1_000).then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided'));
    run
      .when(ask({ n: 2, tenant: 'globex' }), 2_000)
      .then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided'));
    run.when(ask({ n: 3 }), 3_000).then(fact('ForwardApprovalRequested', { decided_by: null }));
  });

  it('is asked about as ever where no rule is about it, or the bundle was retired', () => {
    const { run } = setting({ isRebuilt, rules: [{ ...RULE, capabilities: ['mail.send_notice'] }] });
    run.when(ask({ n: 1 }), 1_000).then(fact('ForwardApprovalRequested', { decided_by: null, not_routine: [] }));
    const other = setting({ isRebuilt });
    other.both.entries.append('e', fact('EntryRetired', { kind: 'policy_bundle', tenant: '*', name: 'notices' }));
    other.run.when(ask({ n: 1 }), 1_000).then(fact('ForwardApprovalRequested', { decided_by: null, not_routine: [] }));
  });

  it('goes by the first rule that lets it, and names every one that did not', () => {
    const { run } = setting({
      isRebuilt,
      rules: [
        { ...RULE, name: 'quiet', when: 'args.channel == "quiet"' },
        { ...RULE, name: 'loud', when: 'args.channel == "status"', per_agent: 1 },
      ],
    });
    run
      .when(ask({ n: 1 }), 1_000)
      .then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided', { routine: { rule: 'loud' } }))
      .when(ask({ n: 2 }), 2_000)
      .then(
        fact('ForwardApprovalRequested', {
          not_routine: [
            { rule: 'notices@1/quiet', code: 'CONDITION_FALSE', detail: 'args.channel == "quiet"' },
            { rule: 'notices@1/loud', code: 'CAP_REACHED' },
          ],
        }),
      );
  });

  it('that people have denied, or are deciding, is decided by no rule', () => {
    const { run, registers } = setting({ isRebuilt, rules: [] });
    run.when(ask(), 1_000).then(fact('ForwardApprovalRequested', { decided_by: null }));
    registers([RULE]);
    run
      .when(ask(), 2_000)
      .thenNothing()
      .thenAnswer({ body: { status: 'pending' } });
    run.when(say('deny'), 3_000);
    run
      .when(ask(), 4_000)
      .thenNothing()
      .thenAnswer({ body: { status: 'denied' } });
  });

  it('is let go anew for another attempt, and counted anew', () => {
    const { run } = setting({ isRebuilt });
    run
      .when(ask(), 1_000)
      .when(use(), 2_000)
      .when(ask(), 3_000)
      .then(
        fact('ForwardApprovalRequested', { round: 2 }),
        fact('ForwardApprovalDecided', { round: 2, routine: { counted: [{ count: 2 }, { count: 2 }, { count: 2 }] } }),
      );
  });
});

describe.each(WAYS)('a message that no rule lets go, $way', ({ isRebuilt }) => {
  it.each([
    ['asks two people', { forward_approval: 'dual_control' }, RULE, 'TWO_PEOPLE_ASKED'],
    [
      'asks nobody',
      { forward_approval: 'policy', commit_hold_ms: 5_000, cancel_capability: 'channels.drop_post' },
      RULE,
      'ASKED_BY_CALLER',
    ],
    ['is of high risk', { risk_level: 'high' }, RULE, 'NEVER_ROUTINE'],
    ['moves money', { impact: 'financial' }, RULE, 'NEVER_ROUTINE'],
    ['destroys', { impact: 'destructive' }, RULE, 'NEVER_ROUTINE'],
    ['calls itself destructive', { approval_mode: 'destructive' }, RULE, 'NEVER_ROUTINE'],
    ['touches security', { impact: 'security_sensitive' }, RULE, 'NEVER_ROUTINE'],
    ['binds in law', { consequence: { comms: '1', regulatory: '1' } }, RULE, 'NEVER_ROUTINE'],
    ['is of a higher risk than the rule', {}, { ...RULE, risk_max: 'low' }, 'OUTSIDE_RULE'],
    ['is of another impact than the rule', {}, { ...RULE, impacts: ['write'] }, 'OUTSIDE_RULE'],
    ['discloses', { consequence: { comms: '1', exposure: '1' } }, RULE, 'EXPOSURE_ABOVE_RULE'],
  ] as const)('is a person’s: its contract %s', (_what, terms, rule, code) => {
    const { run, contract } = setting({ isRebuilt, terms, rules: [rule] });
    run.when(ask({ contract }), 1_000).then(left(code));
  });

  it('is a person’s where its arguments say that they are personal, and the rule lets nothing be disclosed', () => {
    const args = { ...plainPayload(argsOf(1) as never), content_type: 'application/json; sensitivity=personal' };
    setting({ isRebuilt })
      .run.when(ask({ more: { args } }), 1_000)
      .then(left('EXPOSURE_ABOVE_RULE', '1, of 0'));
    setting({ isRebuilt, rules: [{ ...RULE, exposure_max: 1 }] })
      .run.when(ask({ more: { args } }), 1_000)
      .then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided'));
  });

  it.each([
    ['the caller', { mode: 'dual_control' }],
    ['nobody being answerable', { initiator: null }],
  ])('is for two people, because of %s', (_what, more) => {
    const { run } = setting({ isRebuilt });
    run.when(ask({ more }), 1_000).then(left('TWO_PEOPLE_ASKED'));
  });

  it('is a person’s where the contract is stricter by now, or was retired', () => {
    const tightened = setting({ isRebuilt });
    tightened.stands(JSON.stringify({ ...shipped, risk_level: 'high' }), { version: 2 });
    tightened.run.when(ask(), 1_000).then(left('NEVER_ROUTINE'));
    const doubled = setting({ isRebuilt });
    doubled.stands(JSON.stringify({ ...shipped, forward_approval: 'dual_control' }), { version: 2 });
    doubled.run.when(ask(), 1_000).then(left('TWO_PEOPLE_ASKED'));
    const retired = setting({ isRebuilt });
    retired.both.contracts.append(
      'c',
      fact('ContractRetired', { name: POST, version: 1, tenant: '*', digest: contractDigest(retired.contract) }),
    );
    retired.run.when(ask(), 1_000).then(left('CONTRACT_NOT_STANDING'));
  });

  it.each(['Status-Agent', 'STATUS-agent', 'agent:status-agent', 'user:agent:Status-agent'])(
    'is a person’s once the cap of its agent is reached, also where that calls itself %s',
    (other) => {
      const { run } = setting({ isRebuilt });
      for (const [n, agent] of [AGENT, other].entries()) run.when(ask({ n, agent, by: `svc:${String(n)}` }), 1_000 + n);
      run.then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided'));
      run.when(ask({ n: 2, agent: other, by: 'svc:2' }), 2_000).then(left('CAP_REACHED'));
      run.when(ask({ n: 3, by: 'svc:3' }), 2_000).then(left('CAP_REACHED'));
    },
  );

  it.each([
    ['it names another agent each time', { by: 'svc:status' }],
    ['another account of its asks', { by: 'svc:other', accounts: ['SVC:status'] }],
    ['another calls itself that', { by: 'status-two', agent: 'svc:status' }],
  ])('is a person’s once the cap of who asks is reached: %s', (_how, asking) => {
    const { run } = setting({ isRebuilt });
    for (const [n, agent] of ['one', 'two'].entries()) run.when(ask({ n, agent }), 1_000 + n);
    run.then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided'));
    run
      .when(ask({ n: 2, agent: 'three', ...asking }), 2_000)
      .then(left('CAP_REACHED', '2 of 2 in 24 h for agent svc:status'));
    run.when(ask({ n: 3, agent: 'three', by: 'svc:another' }), 2_000);
    run.then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided'));
  });

  it.each([
    ['reads what is not there', 'args.no_such == "x"', 'RULE_UNJUDGED'],
    ['says neither', 'args.channel', 'RULE_UNJUDGED'],
    ['does not hold', 'args.channel == "quiet" && action.agent_id == "status-agent"', 'CONDITION_FALSE'],
  ])('is a person’s: the condition %s', (_what, when, code) => {
    const { run } = setting({ isRebuilt, rules: [{ ...RULE, when }] });
    run.when(ask(), 1_000).then(left(code));
  });

  it.each([
    ['more than the rule lets go', 501, { amount_minor: 500, currency: 'EUR' }, false],
    ['as much as the rule lets go', 500, { amount_minor: 500, currency: 'EUR' }, true],
    ['another currency', 1, { amount_minor: 500, currency: 'USD' }, false],
    ['money, of which the rule says nothing', 1, undefined, false],
    ['money nobody can read', 'much', { amount_minor: 500, currency: 'EUR' }, false],
  ] as const)('may move %s', (_what, amount, amount_max, isLetGo) => {
    const args_schema = {
      type: 'object',
      properties: { channel: { type: 'string' }, text: { type: 'string' }, amount: { type: 'integer' } },
    };
    const terms = { args_schema, value: { amount: '/amount', currency: 'EUR' } };
    const { run, contract } = setting({ isRebuilt, terms, rules: [{ ...RULE, amount_max }] });
    run.when(ask({ contract, args: { ...argsOf(1), amount } }), 1_000);
    expect(run.records().map(({ type }) => type)).toEqual(
      isLetGo ? ['ForwardApprovalRequested', 'ForwardApprovalDecided'] : ['ForwardApprovalRequested'],
    );
    if (!isLetGo) run.then(left('AMOUNT_ABOVE_RULE'));
  });

  it.each([
    ['who it is for', { by: 'ines' }],
    ['another account of who it is for', { by: 'i.nes', accounts: ['ines'] }],
    ['its agent', { by: `agent:${AGENT}` }],
    ['whoever asks', { by: 'svc:status' }],
    ['who edited its contract', { by: 'Mira' }],
  ])('is a person’s where %s registered the rule (P5)', (_who, bundle) => {
    const { run, registers } = setting({ isRebuilt, rules: [] });
    registers([RULE], bundle);
    run.when(ask(), 1_000).then(left('RULE_OF_CONCERNED'));
  });

  describe('of a tenant, where', () => {
    const OWN = JSON.stringify({ ...shipped, tenant: TENANT });
    const OWN_IT = { tenant: TENANT, name: 'own' };
    const refused = fact('ForwardApprovalRequested', {
      decided_by: null,
      not_routine: [{ rule: 'own@1/status', code: 'PLATFORM_ASKS' }],
    });
    const letGo = fact('ForwardApprovalDecided', { routine: { bundle: 'own' } });

    it.each([
      ['the contract that asks is the platform’s', shipped, {}],
      ['its own contract asks what the platform’s asks too', shipped, { contract: OWN }],
      ['the platform asks two by now', { ...shipped, forward_approval: 'dual_control' }, { contract: OWN }],
    ])('%s, goes by no rule of the tenant', (_what, platform, asking) => {
      const { run, both, stands, registers } = setting({ isRebuilt, rules: [] });
      stands(OWN, { tenant: TENANT });
      if (platform !== shipped) stands(JSON.stringify(platform), { version: 2 });
      registers([RULE], OWN_IT);
      expect(contractByName(both.contracts, '*', POST)).toBeDefined();
      run.when(ask(asking), 1_000);
      if (platform === shipped) run.then(refused);
      else run.then(fact('ForwardApprovalRequested', { decided_by: null, not_routine: [{ rule: 'own@1/status' }] }));
    });

    it('its own contract alone asks, goes by its own rule', () => {
      const { run, both, stands, registers, contract } = setting({ isRebuilt, rules: [] });
      stands(OWN, { tenant: TENANT });
      const digest = contractDigest(contract);
      both.contracts.append('c', fact('ContractRetired', { name: POST, version: 1, tenant: '*', digest }));
      registers([RULE], OWN_IT);
      run.when(ask({ contract: OWN }), 1_000).then(fact('ForwardApprovalRequested'), letGo);
    });

    it('the platform’s contract lets everybody go, goes by its own rule', () => {
      const { run, stands, registers } = setting({ isRebuilt, rules: [] });
      const lenient = {
        ...shipped,
        forward_approval: 'policy',
        commit_hold_ms: 5_000,
        cancel_capability: 'channels.drop_post',
      };
      stands(JSON.stringify(lenient), { version: 2 });
      stands(OWN, { tenant: TENANT });
      registers([RULE], OWN_IT);
      run.when(ask({ contract: OWN }), 1_000).then(fact('ForwardApprovalRequested'), letGo);
    });

    it('a rule of the platform lets go too, goes by that one, within its caps', () => {
      const { run, registers } = setting({ isRebuilt, rules: [] });
      registers([{ ...RULE, per_tenant: 9, per_agent: 9 }], OWN_IT);
      registers([{ ...RULE, per_agent: 1 }]);
      run
        .when(ask({ n: 1 }), 1_000)
        .then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided', { routine: { bundle: 'notices' } }));
      run.when(ask({ n: 2 }), 2_000).then(
        fact('ForwardApprovalRequested', {
          not_routine: [{ code: 'PLATFORM_ASKS' }, { rule: 'notices@2/status', code: 'CAP_REACHED' }],
        }),
      );
    });
  });

  it.each([
    [
      'a kill switch',
      'kill_switch',
      { owner: 'o', doc: 'd', scope: { over: 'agent', agent: AGENT }, severity: 'sev1', runbook: 'r', reason: 'r' },
    ],
    [
      'its charter',
      'agent_charter',
      { owner: 'otto', doc: 'd', agent: AGENT, purpose: 'p', allowed: ['mail.*'], denied: [] },
    ],
  ])('is a person’s while %s stops it', (_what, kind, body) => {
    const { run, both } = setting({ isRebuilt });
    both.entries.append('s', entrySaid(kind, { name: 's', tenant: TENANT, body }));
    run.when(ask(), 1_000).then(left('STOPPED'));
  });

  it.each([
    [
      'kill_switch',
      { owner: 'o', scope: { over: 'agent', agent: 'status' }, severity: 'sev1', runbook: 'r', reason: 'r' },
    ],
    ['agent_charter', { owner: 'otto', agent: 'status', purpose: 'p', allowed: ['mail.*'], denied: [] }],
  ])('is a person’s while a %s stops who asks, whatever agent they name', (kind, entry) => {
    const { run, both } = setting({ isRebuilt });
    both.entries.append('s', entrySaid(kind, { name: 's', tenant: TENANT, body: { doc: 'd', ...entry } }));
    const asking = (principal: string) => ({
      more: { envelope: { ...envelope(principal, ['agent'], { tenant: TENANT, command_id: 'c' }) } },
    });
    run.when(ask(asking('agent:Status')), 1_000).then(left('STOPPED'));
  });

  it('is a person’s where its agent’s charter of the platform stops it, whatever the tenant’s own allows', () => {
    const { run, both } = setting({ isRebuilt });
    const words = { owner: 'otto', doc: 'd', agent: AGENT, purpose: 'p', denied: [] };
    for (const [tenant, allowed] of [
      [TENANT, [POST]],
      ['*', ['mail.*']],
    ] as const)
      both.entries.append('s', entrySaid('agent_charter', { name: 's', tenant, body: { ...words, allowed } }));
    run.when(ask(), 1_000).then(left('STOPPED'));
  });

  it('is a person’s where its rule is of who owns the agent that asks, whatever agent it names', () => {
    const { run, both } = setting({ isRebuilt });
    const words = { owner: 'ravi', doc: 'd', agent: 'svc:status', purpose: 'p', allowed: [POST], denied: [] };
    both.entries.append('s', entrySaid('agent_charter', { name: 's', tenant: TENANT, body: words }));
    run.when(ask(), 1_000).then(left('RULE_OF_CONCERNED'));
  });

  it('is a person’s while a breaker over its capability is open', () => {
    const { run } = setting({ isRebuilt });
    run
      .when(breaker('BreakerOpened', { name: POST }), 500)
      .when(ask(), 1_000)
      .then(left('STOPPED'));
  });

  it('is not used once something stops it, whatever a rule agreed to before', () => {
    const { run, both } = setting({ isRebuilt });
    run.when(ask(), 1_000).whenBehind(use(), 1_500);
    const scope = { over: 'capability', capability: POST };
    const body = { owner: 'o', doc: 'd', scope, severity: 'sev1', runbook: 'r', reason: 'r' };
    both.entries.append('s', entrySaid('kill_switch', { name: 's', tenant: TENANT, body }));
    run
      .when(use(), 2_000)
      .thenNothing()
      .thenAnswer({ status: 'rejected', httpStatus: 409, code: 'ROUTINE_STOPPED' })
      .whenDue(901_000)
      .then(fact('ForwardApprovalExpired', { reason: 'NOT_USED' }))
      .when(ask(), 902_000)
      .then(left('STOPPED'))
      .when(say('approve'), 903_000)
      .when(use(), 904_000)
      .then(fact('ForwardApprovalUsed', { agreed_by: ['olga'] }));
  });

  it('is decided by what stands at its time: the registry is read to its end before', () => {
    const { run } = setting({ isRebuilt });
    run.whenBehind(ask(), 1_000);
  });
});

describe('the caps of a routine rule', () => {
  it('are shared by the partitions, to the last one and no further', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 64 }), (cap, partitions) => {
        const shares = Array.from({ length: partitions }, (_, at) => capShare(cap, at, partitions));
        expect(shares.reduce((sum, each) => sum + each, 0)).toBe(cap);
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('say what this partition may let go of them', () => {
    const { run } = setting({ partition: 1, partitionCount: 2 });
    run.when(ask({ n: 1 }), 1_000).then(fact('ForwardApprovalRequested'), fact('ForwardApprovalDecided'));
    run
      .when(ask({ n: 2 }), 2_000)
      .then(left('CAP_REACHED', `1 of 1 in 24 h for agent ${AGENT}, this partition's part of 2`));
  });

  it('let go as many as they say in every window and no more, however often the rows are rebuilt from the log', () => {
    const asked = fc.record({ agent: fc.constantFrom('a', 'b', 'c'), wait: fc.integer({ min: 0, max: HOUR }) });
    fc.assert(
      fc.property(
        fc.array(asked, { maxLength: 24 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 6 }),
        (all, per_agent, per_tenant) => {
          for (const isRebuilt of [false, true]) {
            const { run } = setting({ isRebuilt, rules: [{ ...RULE, window_ms: HOUR, per_agent, per_tenant }] });
            expect(letGoIn(run, all)).toEqual(expectedOf(all, per_agent, per_tenant));
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

type Questions = readonly { readonly agent: string; readonly wait: number }[];

/** Which of a row of questions the rule let go. */
function letGoIn(run: CoreHarness, all: Questions): readonly boolean[] {
  let now = 1_000;
  return all.map(({ agent, wait }, n) => {
    now += wait;
    const before = run.records().length;
    return run.when(ask({ n, agent, by: agent }), now).records().length - before === 2;
  });
}

/** The same by a list of all that went. */
function expectedOf(all: Questions, perAgent: number, perTenant: number): readonly boolean[] {
  const went: { readonly agent: string; readonly at: number }[] = [];
  let now = 1_000;
  return all.map(({ agent, wait }) => {
    now += wait;
    const within = went.filter(({ at }) => at > now - HOUR);
    const isLetGo = within.length < perTenant && within.filter((each) => each.agent === agent).length < perAgent;
    if (isLetGo) went.push({ agent, at: now });
    return isLetGo;
  });
}

it('is no answer of a person: how long people took is not told of it (C71)', () => {
  const { run } = setting();
  run.when(ask(), 1_000);
  expect(run.records().flatMap((record) => recoveryMeasures(record, run.changedBy(record)))).toEqual([]);
});

it('records of routine messages fit their schemas', async () => {
  const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
  await codecs.prepareWriter(RECOVERIES_LOG, { register: true });
  const { run } = setting({ rules: [{ ...RULE, per_agent: 1 }] });
  run
    .when(ask(), 1_000)
    .when(use(), 2_000)
    .when(ask({ n: 2 }), 3_000);
  for (const { type, body, seq, decidedAt } of run.records())
    expect(
      codecs.encode(RECOVERIES_LOG, type, { ...body, seq, prev_hash: Buffer.alloc(32), decided_at: decidedAt }).length,
    ).toBeGreaterThan(5);
});
