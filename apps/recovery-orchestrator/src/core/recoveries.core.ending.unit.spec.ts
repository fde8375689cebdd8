// Every command that ends an item × everybody who may not: who did it, for whom it was done, who owns the agent, who made the contract,
// and whoever is no person (P5). One table, so that a command that is added without them shows.
import { describe, expect, it } from '@jest/globals';
import { contractDigest, plainPayload } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import { entrySaid, fact, harness, WAYS, wire } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { readFileSync } from 'node:fs';
import { taskIdOf } from '../rules/task/task.decider.js';
import {
  approval,
  core,
  digest,
  envelope,
  markedInput,
  ref,
  RUN,
  STEP,
  TENANT,
  terms,
  views,
} from '../recoveries.testing.js';
import { COMMANDS_WIRE } from './commands.js';

const AT = 10_000;
const BODY = readFileSync('examples/contracts/payments.issue_refund.json', 'utf8');
const EXECUTED = contractDigest(BODY);
const UNDER = terms({ contract_digest: EXECUTED });
const SAID = { message: 'm', safe_state: 's', user_visible_outcome: 'u' };

/** The contract was written by rosa and confirmed by remo; otto owns the agent. */
function world() {
  const both = views();
  both.contracts.append(
    'c',
    fact('ContractRegistered', {
      name: 'payments.issue_refund',
      version: 1,
      tenant: '*',
      digest: EXECUTED,
      body: BODY,
      registered_by: 'rosa',
      confirmed_by: 'remo',
    }),
  );
  const charter = { owner: 'otto', doc: 'd', agent: 'refund-agent', purpose: 'p', allowed: [], denied: [] };
  both.entries.append('a', entrySaid('agent_charter', { name: 'a', tenant: TENANT, body: charter }));
  return both;
}

const ROLES = ['approver', 'operator', 'administrator', 'requester', 'auditor'];
const command = (type: string, by: string, more: Readonly<Record<string, unknown>>): RecordInput =>
  wire(
    COMMANDS_WIRE,
    type,
    { envelope: envelope(by, ROLES), run_id: RUN, reason: 'looked at it', ...more },
    { key: RUN },
  );
const ofStep = (type: string, by: string, more: Readonly<Record<string, unknown>> = {}): RecordInput =>
  command(type, by, { step_id: STEP, ...more });
const shown = digest({ terms: UNDER });

type Given = (run: CoreHarness) => CoreHarness;
type Ends = (by: string, run: CoreHarness) => RecordInput;

/** What has to stand before, and the command. */
const ENDS: Readonly<Record<string, readonly [Given, Ends]>> = {
  ApproveStep: [(run) => run, (by) => approval({ digest: shown, by })],
  BreakGlass: [
    (run) => run,
    (by) => ofStep('BreakGlass', by, { action_digest: shown, valid_ms: 60_000, reason: 'the bank closes in a minute' }),
  ],
  AbandonStep: [(run) => run, (by) => ofStep('AbandonStep', by)],
  ResolveStep: [
    (run) => run.when(ofStep('DenyStep', 'olga', { action_digest: shown }), AT + 1),
    (by) => ofStep('ResolveStep', by, { resolution: 'accepted', evidence: plainPayload({}) }),
  ],
  CloseIncident: [
    (run) => run.when(ofStep('EscalateStep', 'olga', { severity: 'sev2', runbook: 'r' }), AT + 1),
    (by, run) =>
      command('CloseIncident', by, {
        incident_id: run.rows('incident')[0]?.key,
        summary: plainPayload({ cause: 'c' }),
      }),
  ],
  ...Object.fromEntries(
    (['correction', 'support', 'audit_note'] as const).map((kind) => [
      `CloseTask of a ${kind}`,
      [
        (run: CoreHarness) => run,
        (by: string) =>
          command('CloseTask', by, {
            task_id: taskIdOf(STEP, kind),
            outcome: 'done',
            content: plainPayload(SAID),
            correction_ref: null,
          }),
      ],
    ]),
  ),
};

const BARRED = [
  ['the agent', 'refund-agent', ['SELF_APPROVAL']],
  ['the agent by its prefix', 'agent:refund-agent', ['SELF_APPROVAL', 'AUTHOR_NOT_A_PERSON']],
  ['another agent', 'agent:other', ['APPROVER_NOT_A_PERSON', 'AUTHOR_NOT_A_PERSON']],
  ['whom it was done for', 'ines', ['SELF_APPROVAL']],
  ['who owns the agent', 'Otto', ['SELF_APPROVAL']],
  ['who wrote the contract', 'rosa', ['EDITOR_APPROVAL']],
  ['who confirmed it', 'remo', ['EDITOR_APPROVAL']],
] as const;

describe.each(WAYS)('an item, $way', ({ isRebuilt }) => {
  const waiting = (type: string): CoreHarness => {
    const isTask = type.startsWith('CloseTask');
    const marked = isTask
      ? markedInput({ ref: ref({ reversal_class: 'irreversible' }), terms: UNDER })
      : markedInput({ terms: UNDER });
    return harness(core(), { isRebuilt, views: world() }).when(marked, AT);
  };

  describe.each(Object.entries(ENDS).map(([type, [given, ends]]) => ({ type, given, ends })))(
    'is not ended with $type',
    ({ type, given, ends }) => {
      it.each(BARRED)('by %s', (_who, by, codes) => {
        const run = given(waiting(type));
        const rows = JSON.stringify(run.rows());
        run.when(ends(by, run), AT + 2).thenNothing();
        expect(codes).toContain(run.decision().answer?.code);
        expect(JSON.stringify(run.rows())).toBe(rows);
      });

      it('unless by somebody else', () => {
        const run = given(waiting(type));
        run.when(ends('pia', run), AT + 2).thenAnswer({ status: 'accepted' });
      });
    },
  );
});

it('has every command of people in its table that ends something, or says why it is not there', () => {
  const stops = ['DenyStep'];
  const endsNothing = ['RetryStep', 'CheckStep', 'EscalateStep'];
  const beforeTheEffect = ['RequestForwardApproval', 'DecideForwardApproval', 'UseForwardApproval'];
  const commandsHeard = core().inputs.flatMap(({ topic, types }) => (topic === COMMANDS_WIRE ? types : []));
  const named = Object.keys(ENDS).map((type) => type.split(' ')[0]);
  expect([...new Set([...named, ...stops, ...endsNothing, ...beforeTheEffect])].sort()).toEqual(
    [...commandsHeard].sort(),
  );
});
