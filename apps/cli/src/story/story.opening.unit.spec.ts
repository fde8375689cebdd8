// What `--open` asks the services for, and what is said of payloads that stay sealed for whoever asks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { chained, writeLog } from '../audit/signed-dump.testing.js';
import { desk } from '../desk.testing.js';

const LOG = 'recourse.mutations';
const RECOVERIES = 'recourse.recoveries';
const RUN = 'run-1';
const HASH = Buffer.alloc(32, 9);
const STATEMENT = {
  content_type: 'application/json',
  encoding: 'sealed',
  key_id: 'k',
  body: Buffer.alloc(28),
  sha256: HASH,
};
const ARGS = Buffer.alloc(32, 8);
const QUESTION = {
  ...{ approval_id: 'fwd/1', tenant: 'acme', run_id: RUN, round: 1, agent_id: 'refund-agent', brief: { missing: [] } },
  ...{ capability: 'payments.issue_refund', contract_digest: HASH, effect_key: 'e', mode: 'human' },
  ...{ action_digest: HASH, args: { ...STATEMENT, sha256: ARGS }, required_approvals: 1, requested_by: 'guard' },
  ...{ owner: 'role:approver', deadline_at: 2, command_id: 'c' },
};
const folder = mkdtempSync(join(tmpdir(), 'recourse-opening-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

beforeAll(async () => {
  const registry = new MemoryRegistry().forActor('owner');
  const codecs = createCodecs(registry);
  await codecs.prepareWriter(LOG, { register: true });
  const write = chained(codecs, LOG);
  const said = { kind: 'human', event_id: 'c', ref: null, source: 'ursula', statement: STATEMENT, stated_at: 1 };
  const evidence = { ...said, partition: -1, position: -1, root: null };
  const undo = { undo_id: 'undo_1', tenant: 'acme', run_id: RUN, command_id: 'c', begun_by: null, asked_ids: [] };
  const { line } = write(
    'UndoListed',
    { ...undo, evidence, mutation_ids: ['mut_1'], unknown_ids: [], is_last: true },
    RUN,
  );
  await writeLog(join(folder, `${LOG}-0.jsonl`), { topic: LOG, lines: [line] }, registry);
  await codecs.prepareWriter(RECOVERIES, { register: true });
  const { line: asked } = chained(codecs, RECOVERIES)('ForwardApprovalRequested', QUESTION, RUN);
  await writeLog(join(folder, `${RECOVERIES}-0.jsonl`), { topic: RECOVERIES, lines: [asked] }, registry);
});

/** The story, from services whose list of undos answers this, whose question is this one, and which know nothing else. */
async function opened(undos: readonly object[], args: readonly string[] = [], question: object | null = null) {
  const answers = ({ host, pathname }: { readonly host: string; readonly pathname: string }): Response => {
    if (pathname.startsWith('/v1/forward-approvals'))
      return question !== null && host === 'recoveries.test' && pathname === '/v1/forward-approvals/fwd%2F1'
        ? Response.json(question)
        : Response.json({ code: 'NOT_FOUND', detail: 'nothing' }, { status: 404 });
    return Response.json({ items: pathname === '/v1/undos' ? undos : [], next_cursor: null });
  };
  const { call, asked, out, note } = desk(answers, { folder });
  const code = await call('audit', 'story', RUN, '--dump', '.', '--open', ...args);
  return { code, out: out(), note: note(), asked };
}
const undo = (statement: object): object => ({
  evidence: { statement: { encoding: 'sealed', sha256: HASH.toString('hex'), ...statement } },
});

describe('a story whose payloads are opened', () => {
  it('shows why somebody asked for an undo', async () => {
    const { code, out, note } = await opened([undo({ body: { reason: 'not what I meant' } })]);
    expect([code, note]).toEqual([0, '']);
    expect(out).toContain('asked to undo the run, which reaches mut_1: {"reason":"not what I meant"}');
  });

  it('shows what people were asked about before an effect, and says whom it stays sealed for', async () => {
    const question = (args: object): object => ({
      args: { encoding: 'sealed', sha256: ARGS.toString('hex'), ...args },
      status: 'used',
    });
    const shown = await opened([], [], question({ body: { order_id: 'first' } }));
    expect([shown.code, shown.note]).toEqual([0, '']);
    expect(shown.out).toContain('asked people before calling payments.issue_refund with {"order_id":"first"}');
    const sealed = await opened([], [], question({ body: 'ab'.repeat(28), opens_with: ['payload_reader'] }));
    expect(sealed.out).toContain('with (sealed, sha256 080808080808)');
    expect(sealed.note).toMatch(/^PAYLOADS_SEALED: .*payload_reader/u);
  });

  it('asks for what is of its tenant, whichever tenants the token speaks for', async () => {
    const { asked } = await opened([], ['--tenant', '*']);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter(({ path }) => !path.includes('tenant=acme'))).toEqual([]);
  });

  it('says by its code that payloads stay sealed for whoever asks, and whom they are opened for', async () => {
    const sealed = [undo({ body: 'ab'.repeat(28), opens_with: ['payload_reader'] })];
    const { code, out, note } = await opened(sealed, ['--tenant', '*']);
    expect(code).toBe(0);
    expect(out).toContain('(sealed, sha256 090909090909)');
    expect(note).toMatch(/^PAYLOADS_SEALED: .*acme.*payload_reader[^]*What to do: .*token of that tenant/u);
    const { error } = JSON.parse((await opened(sealed, ['--json'])).note) as { error: { code: string } };
    expect(error.code).toBe('PAYLOADS_SEALED');
  });

  it('says nothing of what was erased: the story itself does', async () => {
    expect((await opened([undo({ body: 'ab'.repeat(28) })])).note).toBe('');
  });
});
