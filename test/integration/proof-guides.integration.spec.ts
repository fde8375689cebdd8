// Runs docs/guides/gate-your-agent-in-ci.md, who-approved-what.md and is-my-agent-ready.md: every command of their shell blocks against a running
// system with a rehearsed agent, and the probes against the same system weakened on purpose: each weakening is named.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cli, commandsIn, put, runCommand, yamlIn } from './guide.testing.js';
import type { Ran } from './guide.testing.js';
import { AGENT, rehearse } from './rehearsal.testing.js';
import type { Rehearsal } from './rehearsal.testing.js';
import { EDITOR, executed, EXECUTIONS, itemsOf, TENANT, until } from './system.testing.js';
import type { Facts, Person } from './system.testing.js';

/** Everything a probe asks: reads of the tenant, and what only a token for all sees. */
const AUDITOR: Person = { subject: 'vera', roles: ['auditor', 'administrator'], tenant: '*' };

/** Reads payloads of the tenant, and is on record for it. */
const READER: Person = { subject: 'vera', roles: ['payload_reader', 'auditor'], tenant: TENANT };

/** As the stack sets them. */
const SETTINGS = 'RECOURSE_LEASE_MS=5000\nRECOURSE_SOURCE_TRUST=off\nRECOURSE_STORM_LIMIT=0\nRECOURSE_CLOSURE_MAX=0\n';

let rehearsal: Rehearsal;
beforeAll(async () => {
  rehearsal = await rehearse();
  await rehearsal.refund('run-refund', '4711');
  put(rehearsal.folder, 'suite.yaml', yamlIn('gate-your-agent-in-ci'));
  const contract = JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as Facts;
  put(rehearsal.folder, 'contracts/stricter.json', { ...contract, reversal_window_ms: 60_000 });
  put(rehearsal.folder, 'settings.env', SETTINGS);
  put(rehearsal.folder, 'policies/stricter.json', { owner: 'otto', doc: 'Of refunds.', admission: [], recovery: [] });
  put(rehearsal.folder, 'tools.yaml', '[payments.issue_refund]');
}, 400_000);
afterAll(async () => {
  await rehearsal.stop();
}, 60_000);

const variables: Record<string, string> = { RUN: 'run-rehearsal' };
const runOfGuide = async (guide: string, person: Person): Promise<readonly (readonly [string, Ran])[]> => {
  const { system, folder } = rehearsal;
  const ran: (readonly [string, Ran])[] = [];
  for (const command of commandsIn(guide))
    ran.push([command, await runCommand(command, { system, person, folder, variables })]);
  return ran;
};
const asked = (...args: readonly string[]): Promise<Ran> => cli(rehearsal.system, AUDITOR, rehearsal.folder, ...args);
const report = async (...args: readonly string[]): Promise<Facts> =>
  JSON.parse((await asked(...args, '--json')).out) as Facts;
const lackingIn = (controls: unknown): readonly string[] =>
  (controls as readonly Facts[])
    .filter(({ result }) => result !== 'pass')
    .map(({ id, evidence }) => `${String(id)}: ${String(evidence)}`);
const lackingInSystem = async (): Promise<readonly string[]> =>
  ((await report('harness', 'audit'))['outcomes'] as readonly Facts[]).flatMap(({ controls }) => lackingIn(controls));

describe('docs/guides/gate-your-agent-in-ci.md', () => {
  it('runs as it stands, on a run that went as it should (D52)', async () => {
    const ran = await runOfGuide('gate-your-agent-in-ci', READER);
    expect(ran.map(([command, { code, note }]) => [command, code, note])).toEqual(
      ran.map(([command]) => [command, 0, '']),
    );
    expect(ran[0]?.[1].out).toContain('support agent: 1 passed, 0 failed, trajectory_score=1.000');
    expect(readFileSync(join(rehearsal.folder, 'report.xml'), 'utf8')).toContain('name="refund_path"/>');
  });

  it('stops at a run that refunded twice, whatever it answered (D49)', async () => {
    await rehearsal.refund('run-twice', 'twice');
    await rehearsal.refund('run-twice', 'twice', { reason: 'it came late, too' });
    const { system, folder } = rehearsal;
    const { code, out } = await cli(system, READER, folder, 'eval', 'suite.yaml', '--run', 'refund_path=run-twice');
    expect([code, out]).toEqual([1, expect.stringContaining('unexpected:payments.issue_refund')]);
  });
});

describe('the story of what was undone', () => {
  it('names who approved what on which facts, from the logs and from a dump of them, and checks without a service', async () => {
    variables['MUTATION'] = rehearsal.mutation;
    const ran = await runOfGuide('who-approved-what', READER);
    expect(ran.map(([, { code }]) => code)).toEqual([0, 0, 0, 8, 0, 8, 1, 0, 8, 1, 8, 0, 8]);
    expect(ran.at(-1)?.[1].out).toMatch(/: \d+ equal, 0 differ, 0 not made$/u);
    expect(ran.at(9)?.[1].out).toMatch(
      /Otherwise: another decision at recourse\.budgets\/\d seq \d+ \(type\)\. Then: BudgetReserved\./u,
    );
    expect(ran.at(6)?.[1].out).toMatch(
      /Under the other contract: another decision at recourse\.mutations\/\d seq \d+ \(reversal_window_ms\)\./u,
    );
    const [sealed, opened] = ran.map(([, { out }]) => out);
    expect(sealed).toMatch(
      /agent-7 for asha\n +meant to call payments\.issue_refund with \(sealed, sha256 [0-9a-f]{12}\)/u,
    );
    expect(opened).toMatch(
      /meant to call payments\.issue_refund with \{[^\n]*"order_id":"rehearsal"[^\n]*relying on order\/rehearsal#not_shipped/u,
    );
    expect(opened).toMatch(
      /mira {2}\(decides\)\n +approved exactly the action [0-9a-f]{12}: the parcel is on its way\n +on the facts of \d/u,
    );
    expect(opened).toMatch(/told every consumer what became of it: compensated/u);
    expect((await asked('audit', 'story', 'run-rehearsal', '--dump', 'dump')).out).toBe(sealed);
    expect(readFileSync(join(rehearsal.folder, 'story.html'), 'utf8')).toContain('class="decision"');
  }, 300_000);

  it('is found out where a line, a byte or a place of its packet was changed', async () => {
    const packet = JSON.parse(readFileSync(join(rehearsal.folder, 'story.json'), 'utf8')) as {
      story: { lines: { who: string }[] };
      records: { value: string; seq: number }[];
    };
    const codeOf = async (change: (copy: typeof packet) => void): Promise<string> => {
      const copy = structuredClone(packet);
      change(copy);
      put(rehearsal.folder, 'changed.json', copy);
      const { code, out } = await asked('audit', 'check-story', 'changed.json', '--dump', 'dump', '--json');
      const { problems } = JSON.parse(out) as { problems: { code: string }[] };
      return `${String(code)} ${[...new Set(problems.map((one) => one.code))].join(' ')}`;
    };
    expect(await codeOf(({ story: { lines } }) => lines.forEach((line) => (line.who = 'nobody')))).toBe(
      '1 STORY_LINES_DIFFER',
    );
    expect(
      await codeOf(({ records: [first] }) => {
        const value = Buffer.from(first?.value ?? '', 'base64');
        value[value.length - 1]! ^= 1;
        Object.assign(first ?? {}, { value: value.toString('base64') });
      }),
    ).toBe('1 STORY_HASH_DIFFERS STORY_LINES_DIFFER');
    expect(await codeOf(({ records: [first] }) => Object.assign(first ?? {}, { seq: 900 }))).toBe(
      '1 STORY_LINES_DIFFER STORY_PLACE_DIFFERS',
    );
    expect(await codeOf(({ records }) => records.pop())).toBe('1 STORY_LINES_DIFFER');
  });
});

describe('docs/guides/is-my-agent-ready.md', () => {
  it('runs as it stands: the rehearsed agent is ready, and the system around it sound', async () => {
    expect(await lackingInSystem()).toEqual([]);
    const ran = await runOfGuide('is-my-agent-ready', AUDITOR);
    expect(ran.map(([command, { out }]) => [command, out.split('\n').at(-1)])).toEqual(
      ran.map(([command]) => [
        command,
        command.includes('--json')
          ? '}'
          : command.includes('readiness')
            ? `${AGENT} is ready: 10 pass, 0 partial, 0 fail, score 1.000`
            : '40 pass, 0 partial, 0 fail, score 1.000',
      ]),
    );
  });

  it('names each weakening of the same system', async () => {
    const { system } = rehearsal;
    await system.send(
      EXECUTIONS,
      'run-bare',
      system.codecs.encode(
        EXECUTIONS,
        'ToolExecuted',
        executed('run-bare', {
          capability: 'mail.blast_all',
          contractDigest: null,
          agentId: AGENT,
          assumptionRefs: [],
        }),
      ),
    );
    await until(
      'the bare effect',
      async () => itemsOf(await system.get('ledger', '/v1/mutations?run_id=run-bare'))[0] ?? null,
    );
    for (const [kind, name] of [
      ['agent_charter', 'refunds'],
      ['context_source', 'spec'],
      ['subscription', 'loyalty'],
    ] as const) {
      const { status } = await system.post(
        'registry',
        `/v1/entries/${kind}/${name}/retire`,
        { reason: 'weakened on purpose' },
        { person: EDITOR, key: `retire-${name}` },
      );
      expect(status).toBe(200);
    }
    await system.processes.kill('recovery-orchestrator', 'SIGKILL');
    const readiness = await report('readiness', AGENT);
    expect(lackingIn(readiness['areas']).map((line) => line.split(':')[0])).toEqual(
      expect.arrayContaining(['classification', 'binding', 'recovery', 'governance']),
    );
    const lacking = (await lackingInSystem()).map((line) => line.split(':')[0]);
    expect(lacking).toEqual(
      expect.arrayContaining([
        'context.sources',
        'context.freshness',
        'context.reliance',
        'policy.charters',
        'tools.contracts',
        'observability.ready',
        'reversibility.loop',
        'reversibility.windows',
        'improvement.consumers',
        'improvement.tasks',
      ]),
    );
    expect((await asked('harness', 'audit', '--fail-under', '0')).code).toBe(2);
  });
});
