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
const RUN = 'run-1';
const HASH = Buffer.alloc(32, 9);
const STATEMENT = {
  content_type: 'application/json',
  encoding: 'sealed',
  key_id: 'k',
  body: Buffer.alloc(28),
  sha256: HASH,
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
});

/** The story, from services whose list of undos answers this, and the others nothing. */
async function opened(undos: readonly object[], ...args: readonly string[]) {
  const answers = ({ pathname }: { readonly pathname: string }): Response =>
    Response.json({ items: pathname === '/v1/undos' ? undos : [], next_cursor: null });
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

  it('asks for what is of its tenant, whichever tenants the token speaks for', async () => {
    const { asked } = await opened([], '--tenant', '*');
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter(({ path }) => !path.includes('tenant=acme'))).toEqual([]);
  });

  it('says by its code that payloads stay sealed for whoever asks, and whom they are opened for', async () => {
    const sealed = [undo({ body: 'ab'.repeat(28), opens_with: ['payload_reader'] })];
    const { code, out, note } = await opened(sealed, '--tenant', '*');
    expect(code).toBe(0);
    expect(out).toContain('(sealed, sha256 090909090909)');
    expect(note).toMatch(/^PAYLOADS_SEALED: .*acme.*payload_reader[^]*What to do: .*token of that tenant/u);
    const { error } = JSON.parse((await opened(sealed, '--json')).note) as { error: { code: string } };
    expect(error.code).toBe('PAYLOADS_SEALED');
  });

  it('says nothing of what was erased: the story itself does', async () => {
    expect((await opened([undo({ body: 'ab'.repeat(28) })])).note).toBe('');
  });
});
