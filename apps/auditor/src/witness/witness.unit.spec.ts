// A witness over HTTP: it signs what extends what it signed, remembers that across a kill, and refuses the rest.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  alarmNote,
  closingNote,
  HashTree,
  headsText,
  headText,
  isSignedBy,
  NodeList,
  noteSigner,
  noteText,
  parseNote,
} from '@recourse/audit';
import type { SignedHead } from '@recourse/audit';
import { sha256Hex } from '@recourse/kernel';
import { freshPem } from '../auditor.testing.js';
import { judgeRequest, parseRequest, requestText } from './witness.decisions.js';
import { witnessClient, witnessServer } from './witness.http.js';
import { WitnessState } from './witness-state.js';
import type { Grounds, Witness } from './cosigners.js';

const auditor = noteSigner('auditor.spec', 'log', freshPem());
const signer = noteSigner('witness.spec', 'witness', freshPem());
const folder = mkdtempSync(join(tmpdir(), 'recourse-witness-'));
const SEEN = { size: 8, root: Buffer.alloc(32, 8) };
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  rmSync(folder, { recursive: true, force: true });
});

function treeOf(count: number, mark = ''): HashTree {
  const tree = new HashTree(new NodeList());
  for (let n = 0; n < count; n += 1) tree.append(Buffer.from(sha256Hex(`${mark}${n}`), 'hex'));
  return tree;
}

const PLACE = { logId: 'log-1', topic: 'recourse.budgets', partition: 0 };

function headOf(tree: HashTree, size = tree.count, generation = 0): SignedHead {
  const of = { ...PLACE, generation };
  const head = {
    ...of,
    size,
    root: tree.rootAt(size),
    head: Buffer.alloc(32),
    nextOffset: size,
    firstOffset: 0,
    signedAt: 1,
  };
  const text = headText(head);
  return { ...head, note: noteText({ text, signatures: [auditor.sign(text, 0)] }) };
}

/** Another process of the witness, and a client that has not asked before. */
async function witness(): Promise<Witness> {
  const state = new WitnessState(folder);
  const server = witnessServer({ signer, keys: [auditor.key], state, now: () => 1_800_000_000_000 });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address with one.
  const { port } = server.address() as AddressInfo;
  return witnessClient({ url: `http://127.0.0.1:${port}`, key: signer.key, fetch, timeoutMs: 5_000 });
}
const groundsOf = (tree: HashTree, size: number, givenUp: string | null = null): Grounds => ({
  proofFrom: (from) => (from > size ? null : from === 0 ? [] : tree.consistency(from, size)),
  givenUp,
});
const cosigned = (one: Witness, tree: HashTree, size = tree.count): ReturnType<Witness['cosign']> =>
  one.cosign(headOf(tree, size), groundsOf(tree, size));

describe('a witness', () => {
  it('signs what extends what it signed before, and remembers it across a kill', async () => {
    const tree = treeOf(40);
    const first = await witness();
    const signature = await cosigned(first, tree, 7);
    const note = parseNote(headOf(tree, 7).note);
    expect(note !== null && isSignedBy({ ...note, signatures: [signature] }, signer.key)).toBe(true);
    await cosigned(first, tree, 20);
    await cosigned(await witness(), tree, 40);
    await expect(cosigned(await witness(), treeOf(41, 'other'))).rejects.toMatchObject({ code: 'WITNESS_REFUSED' });
  });

  it('refuses a head that does not extend the last one', async () => {
    const one = await witness();
    await cosigned(one, treeOf(8));
    await expect(cosigned(one, treeOf(9, 'other'))).rejects.toMatchObject({ code: 'WITNESS_REFUSED' });
    await expect(cosigned(await witness(), treeOf(5))).rejects.toMatchObject({ code: 'WITNESS_REFUSED' });
  });

  describe('that signed heads which were given up', () => {
    const RAISED = { ...PLACE, generation: 0, id: 'alm_1', finding: 'rewritten' };
    const CLOSED = { logId: 'log-1', id: 'alm_1', at: 7, by: 'ada' };
    const notes = (raised = RAISED, closed = CLOSED, by = auditor): string =>
      headsText([{ note: alarmNote(raised, by) }, { note: closingNote(closed, by) }]);
    const anew = (one: Witness, givenUp: string | null, generation = 1): ReturnType<Witness['cosign']> => {
      const tree = treeOf(3, 'anew');
      return one.cosign(headOf(tree, 3, generation), groundsOf(tree, 3, givenUp));
    };

    it('signs others with the notes of the alarm that a person closed, which it keeps, and without none (P11)', async () => {
      const one = await witness();
      await cosigned(one, treeOf(8));
      await expect(anew(one, null)).rejects.toMatchObject({ code: 'WITNESS_REFUSED' });
      expect(await anew(one, notes())).toMatchObject({ name: 'witness.spec' });
      await anew(await witness(), null);
      const kept = readFileSync(join(folder, `${sha256Hex('log-1/recourse.budgets/0#1')}.notes`), 'utf8');
      expect(kept).toBe(notes());
      await expect(anew(one, notes(), 2)).rejects.toMatchObject({ code: 'WITNESS_REFUSED' });
    });

    it('signs none with notes of another log, generation or alarm, of what contradicts nothing, that nobody closed, or of another key', async () => {
      const one = await witness();
      await cosigned(one, treeOf(8));
      const stranger = noteSigner('auditor.spec', 'log', freshPem());
      for (const other of [
        notes({ ...RAISED, partition: 1 }),
        notes({ ...RAISED, generation: 1 }),
        notes({ ...RAISED, finding: 'void_rate' }),
        notes(RAISED, { ...CLOSED, id: 'alm_2' }),
        notes(RAISED, { ...CLOSED, logId: 'log-2' }),
        notes(RAISED, { ...CLOSED, by: 'service:auditor' }),
        notes(RAISED, CLOSED, stranger),
        headsText([{ note: alarmNote(RAISED, auditor) }]),
        'noise',
      ])
        await expect(anew(one, other)).rejects.toMatchObject({ code: 'WITNESS_REFUSED' });
    });

    it('asks for none where it had signed no head of that log before', async () => {
      expect(await anew(await witness(), null, 4)).toMatchObject({ name: 'witness.spec' });
    });
  });

  it('signs nothing when what it remembered is damaged', async () => {
    await cosigned(await witness(), treeOf(8));
    writeFileSync(join(folder, `${sha256Hex('log-1/recourse.budgets/0')}.json`), '{"size":');
    await expect(cosigned(await witness(), treeOf(9))).rejects.toMatchObject({ code: 'WITNESS_UNAVAILABLE' });
  });

  it('keeps what it signed whole where a disk takes a few bytes at a time', () => {
    const sparing = new WitnessState(folder, (file, bytes, from) => writeSync(file, bytes, from, 10));
    sparing.keep('log-1/recourse.budgets/0', SEEN);
    expect(new WitnessState(folder).seenOf('log-1/recourse.budgets/0')).toEqual(SEEN);
  });

  it('has kept nothing where the disk is full, and remembers what it signed before, also at its next start', () => {
    new WitnessState(folder).keep('log-1/recourse.budgets/0', SEEN);
    const full = new WitnessState(folder, (file, bytes, from) => {
      if (from > 0) throw new Error('ENOSPC');
      return writeSync(file, bytes, from, 10);
    });
    expect(() => {
      full.keep('log-1/recourse.budgets/0', { ...SEEN, size: 9 });
    }).toThrow('ENOSPC');
    expect(full.seenOf('log-1/recourse.budgets/0')).toEqual(SEEN);
    expect(new WitnessState(folder).seenOf('log-1/recourse.budgets/0')).toEqual(SEEN);
  });

  it('has kept nothing where the disk takes no more and says so of nothing', () => {
    const silent = new WitnessState(folder, () => 0);
    expect(() => {
      silent.keep('log-1/recourse.budgets/0', SEEN);
    }).toThrow('takes no more');
    expect(new WitnessState(folder).seenOf('log-1/recourse.budgets/0')).toBeNull();
  });

  it('keeps what it signed where the file system syncs no folders', () => {
    for (const [at, code] of ['EINVAL', 'EISDIR', 'EPERM'].entries()) {
      const state = new WitnessState(folder, writeSync, () => {
        throw Object.assign(new Error('fsync'), { code });
      });
      const seen = { ...SEEN, size: SEEN.size + at };
      state.keep('log-1/recourse.budgets/0', seen);
      expect(new WitnessState(folder).seenOf('log-1/recourse.budgets/0')).toEqual(seen);
    }
  });

  it('fails where the disk fails to sync the folder, and goes on from what it has written', () => {
    const state = new WitnessState(folder, writeSync, () => {
      throw Object.assign(new Error('fsync'), { code: 'EIO' });
    });
    expect(() => {
      state.keep('log-1/recourse.budgets/0', SEEN);
    }).toThrow('fsync');
    expect(state.seenOf('log-1/recourse.budgets/0')).toEqual(SEEN);
    expect(new WitnessState(folder).seenOf('log-1/recourse.budgets/0')).toEqual(SEEN);
  });

  it('checks no signature of a note that holds more than auditor and witnesses make', () => {
    const { note } = headOf(treeOf(3));
    const { text, signatures } = parseNote(note) ?? { text: '', signatures: [] };
    const statusOf = (count: number): number => {
      const many = Array.from({ length: count }, () => signatures).flat();
      const asked = requestText({ oldSize: 0, proof: [], note: noteText({ text, signatures: many }) });
      return judgeRequest({ text: asked, givenUp: null }, [auditor.key], () => null).status;
    };
    expect([statusOf(1), statusOf(32), statusOf(33), statusOf(400)]).toEqual([200, 200, 400, 400]);
  });

  it('answers what is no request of a known auditor with a refusal', () => {
    const stranger = noteSigner('auditor.spec', 'log', freshPem());
    const head = headOf(treeOf(3));
    const text = parseNote(head.note)?.text ?? '';
    const forged = noteText({ text, signatures: [stranger.sign(text, 0)] });
    const status = (text: string): number => judgeRequest({ text, givenUp: null }, [auditor.key], () => null).status;
    expect(status(requestText({ oldSize: 0, proof: [], note: head.note }))).toBe(200);
    expect(status(requestText({ oldSize: 0, proof: [], note: forged }))).toBe(403);
    expect(status(requestText({ oldSize: 2, proof: [], note: head.note }))).toBe(409);
    expect(status(requestText({ oldSize: 4, proof: [], note: head.note }))).toBe(400);
    fc.assert(fc.property(fc.string(), (noise) => parseRequest(noise) === null));
  });
});

describe('a witness that is asked', () => {
  /** A witness of somebody else, which answers as it likes. */
  async function stranger(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Witness> {
    const server = createServer(answer);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // A server that listens on a port has an address with one.
    const { port } = server.address() as AddressInfo;
    return witnessClient({ url: `http://127.0.0.1:${port}`, key: signer.key, fetch, timeoutMs: 5_000 });
  }

  it.each([200, 409])(
    'is read no further than an answer may be long, where it answers %s without an end',
    async (status) => {
      let sent = 0;
      const one = await stranger((_request, response) => {
        response.writeHead(status);
        const more = (): void => {
          while (!response.destroyed && sent < ENDLESS) {
            sent += PIECE.length;
            if (!response.write(PIECE)) break;
          }
          if (sent >= ENDLESS) response.end();
        };
        response.on('drain', more);
        more();
      });
      await expect(cosigned(one, treeOf(3))).rejects.toMatchObject({ code: 'WITNESS_UNAVAILABLE' });
      expect(sent).toBeLessThan(ENDLESS);
    },
  );

  it('leads its auditor to no other address', async () => {
    const asked: unknown[] = [];
    const one = await stranger(({ method, url }, response) => {
      asked.push([method, url]);
      response.writeHead(303, { location: '/admin' }).end();
    });
    await expect(cosigned(one, treeOf(3))).rejects.toMatchObject({ code: 'WITNESS_UNAVAILABLE' });
    expect(asked).toEqual([['POST', '/add-checkpoint']]);
  });
});

const PIECE = Buffer.alloc(1_024 * 1_024, 'a');
const ENDLESS = 64 * PIECE.length;
