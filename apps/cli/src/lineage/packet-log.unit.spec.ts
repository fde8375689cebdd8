// What a dump tells of the run of a packet, read from a pinned history.
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { packedCheckpoint } from '@recourse/lineage';
import { PACKET_FORMAT } from '@recourse/lineage';
import type { Packet } from '@recourse/lineage';
import { bodyIn } from '@recourse/messages';
import type { CheckpointRecorded, CommitRef } from '@recourse/messages';
import { acceptedInDump } from '../audit/accepted.js';
import { loggedRun } from './packet-log.js';

const LOG = 'recourse.mutations';
const dump = { folder: join(import.meta.dirname, '../../../../test/histories/0.1.0'), signing: null };

/** A commit of the history whose run also has effects. */
interface Found {
  readonly packet: Packet;
  readonly commit: Pick<CheckpointRecorded, 'commit_id' | 'checkpoint'>;
  readonly hash: string;
  readonly effects: ReadonlyMap<string, readonly CommitRef[]>;
}
let found: Found;

beforeAll(async () => {
  const records = await acceptedInDump(dump, [LOG]);
  const effects = records.flatMap(({ type, body }) => {
    if (type !== 'MutationRecorded') return [];
    const { mutation_id: id, execution } = bodyIn(LOG, type, { type, body: body as object });
    return [{ id, run: execution.run_id, parents: execution.derived_from }];
  });
  found = records.flatMap(({ type, body, partition, seq, hash }): Found[] => {
    if (type !== 'CheckpointRecorded') return [];
    const commit = bodyIn(LOG, type, { type, body: body as object });
    const own = effects.filter(({ run, parents }) => run === commit.checkpoint.run_id && parents.length > 0);
    const packed = {
      commit_id: commit.commit_id,
      checkpoint: packedCheckpoint(commit.checkpoint),
      chunks: null,
      state_code: null,
      inputs: null,
      inputs_code: null,
      proof: { log: LOG, partition, seq, recorded_hash: hash },
    };
    const packet: Packet = {
      format: PACKET_FORMAT,
      commit_id: commit.commit_id,
      release: null,
      state: { code: null, sha256: null },
      before: null,
      commits: [packed],
      effects: [],
      policy: null,
    };
    return own.length === 0
      ? []
      : [{ packet, commit, hash, effects: new Map(own.map((one) => [one.id, one.parents])) }];
  })[0]!;
});

/** What the dump holds for a commit of the history, recorded so many records later. */
const loggedLater = ({ packet }: Found, by: number) => {
  const [commit] = packet.commits;
  const { proof } = commit!;
  return loggedRun({ ...packet, commits: [{ ...commit!, proof: { ...proof, seq: proof.seq + by } }] }, dump);
};

describe('what a dump holds of the run of a packet', () => {
  it('is its commits where their proofs say, and each step of the run with what it was made from', async () => {
    const { packet, commit, hash, effects } = found;
    const { commits } = await loggedRun(packet, dump);
    expect([...commits]).toEqual([[commit.commit_id, { commit_id: commit.commit_id, recorded_hash: hash }]]);
    const { steps } = await loggedLater(found, 1_000_000);
    expect(steps.get(commit.commit_id)).toEqual({
      hasState: commit.checkpoint.state !== null,
      parents: commit.checkpoint.parents,
      seq: packet.commits[0]?.proof.seq,
    });
    for (const [id, parents] of effects) expect(steps.get(id)).toEqual({ hasState: false, parents, seq: 0 });
  });

  it('holds no step that was recorded after the commit', async () => {
    expect((await loggedLater(found, 0)).steps.has(found.commit.commit_id)).toBe(true);
    expect((await loggedLater(found, -1)).steps.has(found.commit.commit_id)).toBe(false);
  });

  it('has no step of another run, nor of the run of another tenant', async () => {
    const stepsOf = async (more: Partial<Packet['commits'][number]['checkpoint']>) => {
      const [commit] = found.packet.commits;
      const other = { ...commit!, checkpoint: { ...commit!.checkpoint, ...more } };
      return (await loggedRun({ ...found.packet, commits: [other] }, dump)).steps;
    };
    expect([(await stepsOf({})).size > 0, (await stepsOf({ tenant: 'nobody' })).size]).toEqual([true, 0]);
    expect((await stepsOf({ run_id: 'nowhere' })).size).toBe(0);
  });
});
