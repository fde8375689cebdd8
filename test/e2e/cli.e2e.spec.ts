// The command line as a person or a script uses it: its own process against live services, tables and JSON, exit codes.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { INITIATOR, OPERATOR, System, TENANT } from './system.testing.js';
import type { Facts, OpenItem, Person } from './system.testing.js';

const ROOT = process.cwd();
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const LOGS = [
  'recourse.contracts',
  'recourse.assumptions',
  'recourse.mutations',
  'recourse.recoveries',
  'recourse.budgets',
];
const EXIT = { done: 0, found: 1, usage: 64, refused: 3 } as const;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly note: string;
}

let started: System | undefined;
let system: System;
let item: OpenItem;
let other: OpenItem;

beforeAll(async () => {
  started = await System.start();
  system = started;
  item = await system.openItem();
  other = await system.openItem();
}, 400_000);
afterAll(() => started?.close(), 60_000);

/** Runs the program without a terminal. */
function recourse(...args: readonly string[]): Promise<Ended> {
  const env: NodeJS.ProcessEnv = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('RECOURSE_') && name !== 'NODE_OPTIONS'),
  );
  env['NODE_COMPILE_CACHE'] = join(ROOT, '.cache', 'compile');
  return new Promise((resolve) => {
    const child = execFile(
      NODE,
      [join(ROOT, 'apps', 'cli', 'bin', 'recourse.mjs'), '--data-dir', system.dataDir, '--tenant', TENANT, ...args],
      { env },
      (_error, out, note) => {
        resolve({ code: child.exitCode ?? -1, out, note });
      },
    );
  });
}

const as = ({ subject, roles }: Person): readonly string[] => ['--as', subject, '--roles', roles.join(',')];

// Every command prints one object with --json; a spec that reads another shape fails.
const jsonIn = (text: string): Facts => JSON.parse(text) as Facts;
const itemsIn = (text: string): readonly Facts[] => jsonIn(text)['items'] as readonly Facts[];

/** The refusal of a --json call, which stands last on standard error. */
function refusalIn({ note }: Ended): Facts {
  const at = note.lastIndexOf('{\n  "error"');
  return at < 0 ? { none: note } : (jsonIn(note.slice(at))['error'] as Facts);
}

async function phaseOf({ stepId }: OpenItem): Promise<unknown> {
  return jsonIn((await recourse('recoveries', 'show', stepId, '--json'))['out'])['phase'];
}

describe('recourse recoveries list', () => {
  it('shows a script the steps that wait for a person, with the digest of what they propose', async () => {
    const { code, out } = await recourse('recoveries', 'list', '--state', 'open', '--json');
    const waiting = itemsIn(out).map((step) => [step['step_id'], step['phase'], step['action_digest']]);
    expect(waiting).toEqual(
      expect.arrayContaining([item, other].map(({ stepId, digest }) => [stepId, 'awaiting_approval', digest])),
    );
    expect(code).toBe(EXIT.done);
  });

  it('shows a person a table of them', async () => {
    const { code, out } = await recourse('recoveries', 'list', '--state', 'awaiting_approval');
    const [heading, ...lines] = out.trimEnd().split('\n');
    expect(heading).toMatch(/^STEP +TENANT +RUN +PHASE +REASON +OWNER +DEADLINE$/);
    for (const { stepId } of [item, other])
      expect(lines.filter((line) => line.startsWith(`${stepId} `))).toHaveLength(1);
    expect(code).toBe(EXIT.done);
  });

  it('shows one recovery per run', async () => {
    const { out } = await recourse('recoveries', 'list', '--json');
    expect(new Set(itemsIn(out).map(({ run_id }) => run_id)).size).toBe(2);
  });
});

describe('recourse recoveries show', () => {
  it('shows a person what was done, why it should not stand and what is proposed', async () => {
    const { out } = await recourse('recoveries', 'show', item.stepId);
    for (const part of ['What was done', 'Why it should not stand', 'What is proposed', item.digest, item.refundId])
      expect(out).toContain(part);
  });

  it('shows a recovery with its steps when asked for a run', async () => {
    const step = jsonIn((await recourse('recoveries', 'show', item.stepId, '--json')).out);
    const { code, out } = await recourse('recoveries', 'show', String(step['run_id']), '--json');
    expect((jsonIn(out)['steps'] as readonly Facts[]).map(({ step_id }) => step_id)).toEqual([item.stepId]);
    expect(code).toBe(EXIT.done);
  });

  it('refuses a name that nothing has', async () => {
    const ended = await recourse('recoveries', 'show', 'nothing', '--json');
    expect([ended.code, refusalIn(ended)['code']]).toEqual([EXIT.refused, 'NOT_FOUND']);
  });
});

/** What is asked without a terminal. */
const ASKED = ['--yes', '--json', '--reason', 'seen'] as const;

describe('recourse recoveries approve', () => {
  it('is refused to the initiator, with the remedy, and nothing is done', async () => {
    const ended = await recourse('recoveries', 'approve', item.stepId, ...ASKED, ...as(INITIATOR));
    expect([ended.code, refusalIn(ended)]).toEqual([
      EXIT.refused,
      expect.objectContaining({
        code: 'SELF_APPROVAL',
        exit_code: EXIT.refused,
        remedy: expect.stringContaining('Somebody else'),
      }),
    ]);
    expect(await phaseOf(item)).toBe('awaiting_approval');
  });

  it('is refused without the role', async () => {
    const ended = await recourse(
      'recoveries',
      'approve',
      item.stepId,
      ...ASKED,
      ...as({ subject: 'guest', roles: ['auditor'] }),
    );
    expect([ended.code, refusalIn(ended)['code']]).toEqual([EXIT.refused, 'ROLE_REQUIRED']);
  });

  it('does nothing when nobody is there to confirm', async () => {
    const ended = await recourse('recoveries', 'approve', item.stepId, ...as(OPERATOR));
    expect([ended.code, ended.note]).toEqual([EXIT.usage, expect.stringContaining('CONFIRMATION_NEEDED')]);
    expect(await phaseOf(item)).toBe('awaiting_approval');
  });

  it('does nothing when the action is not the one that was meant', async () => {
    const ended = await recourse(
      'recoveries',
      'approve',
      item.stepId,
      '--yes',
      '--json',
      '--digest',
      other.digest,
      ...as(OPERATOR),
    );
    expect([ended.code, refusalIn(ended)['code']]).toEqual([EXIT.refused, 'DIGEST_MISMATCH']);
  });

  it('shows the action, approves it, and it is undone once', async () => {
    const ended = await recourse(
      'recoveries',
      'approve',
      item.stepId,
      '--yes',
      '--reason',
      'the goods left',
      ...as(OPERATOR),
    );
    expect(ended.note).toContain('What is proposed');
    expect([ended.code, ended.out]).toEqual([EXIT.done, expect.stringContaining(item.stepId)]);
    expect(await system.restOf(item)).toBe('compensated');
    expect((await recourse('recoveries', 'show', item.stepId)).out).toMatch(/approved by +mira at .*: the goods left/);
  }, 90_000);

  it('is refused a second time, and nothing is undone again', async () => {
    const again = await recourse(
      'recoveries',
      'approve',
      item.stepId,
      ...ASKED,
      ...as({ subject: 'tomas', roles: ['approver'] }),
    );
    expect([again.code, refusalIn(again)['code']]).toEqual([EXIT.refused, 'APPROVAL_USED']);
    expect(await system.reversalsOf(item)).toBe(1);
  });
});

describe('recourse recoveries deny', () => {
  it('leaves the effect to a person, and says who refused', async () => {
    const ended = await recourse(
      'recoveries',
      'deny',
      other.stepId,
      '--yes',
      '--reason',
      'the customer keeps it',
      ...as(OPERATOR),
    );
    expect([ended.code, ended.out]).toEqual([EXIT.done, expect.stringContaining(other.stepId)]);
    expect(await system.restOf(other)).toBe('manual_resolution_required');
    expect((await recourse('recoveries', 'show', other.stepId)).out).toMatch(/denied by +mira/);
    expect(await system.reversalsOf(other)).toBe(0);
  }, 90_000);

  it('makes a later approval void', async () => {
    const ended = await recourse('recoveries', 'approve', other.stepId, ...ASKED, ...as(OPERATOR));
    expect([ended.code, refusalIn(ended)['code']]).toEqual([EXIT.refused, 'STEP_WRONG_PHASE']);
  });
});

describe('recourse replay', () => {
  it.each(LOGS)('rebuilds %s to the state in the database', async (log) => {
    const { code, out, note } = await recourse('replay', log, '--compare', '--json');
    expect([code, note]).toEqual([EXIT.done, '']);
    const partitions = jsonIn(out)['partitions'] as readonly Facts[];
    expect(partitions.map(({ projected }) => (projected as Facts)['verdict'])).toEqual(partitions.map(() => 'same'));
    expect(partitions.map(({ seq, projected }) => seq === (projected as Facts)['seq'])).toEqual(
      partitions.map(() => true),
    );
  });

  it('shows a person one line for each partition', async () => {
    const all = await recourse('replay', 'recourse.mutations', '--compare');
    expect(all.out.split('\n')[0]).toMatch(/^LOG +RECORD +DECIDED +ROWS +STATE HASH +DATABASE$/);
    expect(all.out.match(/^recourse\.mutations\/\d+ .* [0-9a-f]{64} {2}same$/gm)).toHaveLength(2);
  });

  it('takes the one partition that was named, and stops where it is told to', async () => {
    const { out } = await recourse('replay', 'recourse.contracts/0', '--until', '3', '--json');
    const [third] = jsonIn(out)['partitions'] as readonly Facts[];
    expect(third).toMatchObject({ seq: 3, ended_by: 'bound', projected: null });
    const before = await recourse('replay', 'recourse.contracts/0', '--as-of', '2020-01-01T00:00:00Z', '--json');
    expect(jsonIn(before.out)['partitions']).toMatchObject([{ seq: 0, rows: 0, decided_at: null }]);
    const beyond = await recourse('replay', 'recourse.mutations/1', '--until', '1000000');
    expect(beyond.out.match(/^recourse\.mutations\/\d+ /gm)).toEqual([
      'recourse.mutations/1 ',
      'recourse.mutations/1 ',
    ]);
    expect(beyond.out).toMatch(/ends at record \d+, before 1000000/);
  });

  it.each([
    [['recourse.nothing'], 'LOG_UNKNOWN'],
    [['recourse.contracts/7'], 'PARTITION_UNKNOWN'],
    [['recourse.contracts/x'], 'PARTITION_UNKNOWN'],
    [['recourse.contracts', '--compare', '--until', '1'], 'BOUNDS_WITH_COMPARE'],
  ])('refuses %j', async (args, code) => {
    const ended = await recourse('replay', ...args, '--json');
    expect([ended.code, refusalIn(ended)['code']]).toEqual([EXIT.usage, code]);
  });

  // Last: what is deleted here is not put back.
  it('finds a row that is missing in the database', async () => {
    const client = new pg.Client({ connectionString: system.plan.databases['contract-registry'].url });
    await client.connect();
    const deleted = client
      .query('DELETE FROM contracts.contracts WHERE ctid = (SELECT min(ctid) FROM contracts.contracts)')
      .finally(() => client.end());
    expect((await deleted).rowCount).toBe(1);
    const { code, out } = await recourse('replay', 'recourse.contracts', '--compare');
    expect([code, out]).toEqual([EXIT.found, expect.stringMatching(/ differs: [0-9a-f]{64}$/m)]);
  });
});
