// What an agent has earned is its own however its name is spelt: another spelling neither escapes a rung nor makes a fresh one.
import { describe, expect, it } from '@jest/globals';
import { fact, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { accountant, KIND, praised, REFUNDS, signalled } from './budgets.autonomy.testing.js';
import { command, INR, recorded, reserve, TENANT } from './budgets.testing.js';
import { autonomyIdOf } from './rows/autonomy.rows.js';

const SPELLINGS = ['agent-7', 'Agent-7', 'agent:agent-7', 'user:AGENT-7', 'AGENT:user:Agent-7'];
/** Highest rung of the policy below: nobody asks. */
const POLICY = {
  thresholds: { recommend: 300, draft: 400, execute_with_approval: 500, auto_execute: 600 },
  rungs: { read: { forward_approval: 'human' } },
};

/** The rung that whoever reserves as this agent is told. */
function rungOf(desk: CoreHarness, agent: string): unknown {
  const values = [{ amount_minor: 1, currency: INR }];
  const asked = { run_id: `run-${agent}`, effect_key: agent, capability: REFUNDS, values, agent_id: agent };
  desk.when(command('ReserveBudget', asked, { principal: agent }), 5_000);
  return desk.decision().answer?.body['autonomy'];
}

describe.each(WAYS)('the rung of an agent, $way', ({ isRebuilt }) => {
  it.each(SPELLINGS)('that it earned as agent-7 is its rung as %s', (said) => {
    const { desk } = accountant(isRebuilt, POLICY);
    expect(rungOf(praised(desk), said)).toMatchObject({ rung: 'auto_execute' });
  });

  it.each(SPELLINGS.flatMap((praise) => SPELLINGS.map((blame) => [praise, blame] as const)))(
    'that it earned as %s falls with what is said of %s',
    (praise, blame) => {
      const { desk } = accountant(isRebuilt, POLICY);
      for (const signal of ['evidence_confidence', 'policy_confidence', 'eval_score', 'tool_reliability'])
        desk.when(signalled(signal, 1, { agent_id: praise }), 1_000);
      desk
        .when(signalled('safety_violation', null, { agent_id: blame, stated_at: 2 }), 2_000)
        .then(fact('AutonomyChanged', { agent_id: praise, cause: 'safety_violation' }));
      expect(desk.rows('autonomy')).toHaveLength(1);
      expect(rungOf(desk, praise)).toMatchObject({ rung: 'read' });
    },
  );

  it('falls with an execution that nobody reserved, however its record spells the agent', () => {
    const { desk, digest } = accountant(isRebuilt, POLICY);
    praised(desk)
      .when(recorded('a', 900, { agent: 'AGENT-7', capability: REFUNDS, digest }), 2_000)
      .then(
        fact('BudgetOverrun', {}),
        fact('AutonomyChanged', { agent_id: 'agent-7', cause: 'overrun', before: 'auto_execute' }),
      );
  });

  it('holds for what was reserved, however the record of the effect spells the agent', () => {
    const { desk, digest } = accountant(isRebuilt, POLICY);
    praised(desk)
      .when(reserve('a', 900, { capability: REFUNDS, who: { principal: 'Agent-7' } }), 1_500)
      .then(fact('BudgetReserved', { agent_id: 'Agent-7', forward_approval: null }))
      .when(signalled('safety_violation', null, { stated_at: 2 }), 2_000)
      .when(
        recorded('a', 900, { agent: 'agent-7', capability: REFUNDS, digest, actionDigest: Buffer.alloc(32) }),
        3_000,
      )
      .then(fact('BudgetSettled', { awaited: null }));
  });

  it('is told by none of its own names: of oneself nobody says how good one is', () => {
    const { desk } = accountant(isRebuilt, POLICY);
    for (const source of ['Agent-7', 'user:agent-7', 'agent:USER:agent-7'])
      desk
        .when(signalled('eval_score', 1, { source }), 1_000)
        .then(fact('SignalRefused', { code: 'SIGNAL_OF_ONESELF' }));
  });

  it('is the lowest that stands where it stood under two spellings before, and what is said counts at each', () => {
    const { desk } = accountant(isRebuilt, POLICY);
    praised(desk);
    const [first] = desk.rows('autonomy');
    const { autonomy_id: _id, agent_id: _agent, tenant, task_kind, ...standing } = first?.doc ?? {};
    const other = { autonomy_id: autonomyIdOf(TENANT, 'Agent-7', KIND), agent_id: 'Agent-7', tenant, task_kind };
    const unsaid = { source: null, event_id: null, content_hash: null, signal: null, run_id: null, mutation_id: null };
    const told = { by: null, reason: null, command_id: null, undoing_id: null, remaining: [] };
    const body = { ...other, ...unsaid, ...told, cause: 'signal', before: 'read' };
    desk.given({
      type: 'AutonomyChanged',
      body: { ...body, standing: { ...standing, pardoned: null, rung: 'read', earned: 'read' } },
    });
    for (const said of SPELLINGS) expect(rungOf(desk, said)).toMatchObject({ rung: 'read' });
    desk
      .when(signalled('operator_correction', null, { agent_id: 'user:agent-7', stated_at: 3 }), 6_000)
      .then(fact('AutonomyChanged', { agent_id: 'agent-7' }), fact('AutonomyChanged', { agent_id: 'Agent-7' }));
  });
});
