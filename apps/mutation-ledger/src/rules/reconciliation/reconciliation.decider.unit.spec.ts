import { describe, expect, it } from '@jest/globals';
import type { CommitRef, ReconcileLineage, RuntimeCommit } from '@recourse/messages';
import { namesFit, reconcile } from './reconciliation.decider.js';
import type { FallOf } from './reconciliation.decider.js';

const ref = (id: string): CommitRef => ({ run_id: `run-${id}`, commit_id: id });
const held = (id: string, from: readonly string[] = [], changes: Partial<RuntimeCommit> = {}): RuntimeCommit => ({
  ...ref(id),
  derived_from: from.map(ref),
  stands: true,
  reached_user_at: null,
  ...changes,
});
const fallOf: FallOf = ({ commit_id: id }) =>
  id.startsWith('F') ? { rollback_id: `rb-${id}`, rolled_back_at: 5_000 } : null;
const command = (commits: readonly RuntimeCommit[]): ReconcileLineage => ({
  runtime: 'reports',
  commits,
  envelope: {
    command_id: 'cmd-1',
    tenant: 'acme',
    principal: 'dana',
    accounts: [],
    roles: ['operator'],
    route: 'r',
    idempotency_key: 'k',
    body_sha256: Buffer.alloc(32),
    issued_at: 0,
    signature: Buffer.alloc(0),
  },
});
const found = (...commits: readonly RuntimeCommit[]) =>
  reconcile(command(commits), fallOf, 9).contaminated.map(
    ({ commit_id, cause, fallen }) => `${commit_id} ${cause} ${fallen.commit_id}`,
  );

describe('a runtime compared with what fell', () => {
  it('holds what fell, and what it made from that, to the end of its own chain', () => {
    expect(found(held('F1'), held('A', ['F1']), held('B', ['A']), held('C', ['X']))).toEqual([
      'F1 fallen F1',
      'A derived F1',
      'B derived F1',
    ]);
  });

  it('diverges by what rests on a fall it never held itself', () => {
    expect(found(held('A', ['F9']))).toEqual(['A derived F9']);
  });

  it('does not diverge by what it gave up, and does by what it made from that', () => {
    expect(found(held('F1', [], { stands: false }), held('A', ['F1'], { stands: false }), held('B', ['A']))).toEqual([
      'B derived F1',
    ]);
  });

  it('takes a name under another run for another commit', () => {
    expect(
      found(held('A', [], { derived_from: [{ run_id: 'elsewhere', commit_id: 'B' }] }), held('B', ['F1'])),
    ).toEqual(['B derived F1']);
  });

  it('ends on a cycle', () => {
    expect(found(held('A', ['B', 'F1']), held('B', ['A']))).toEqual(['A derived F1', 'B derived F1']);
  });

  it('says when it reached users and when it had fallen', () => {
    const { contaminated, ...rest } = reconcile(command([held('F1', [], { reached_user_at: 7_000 })]), fallOf, 9);
    expect(contaminated).toEqual([
      {
        ...ref('F1'),
        cause: 'fallen',
        fallen: ref('F1'),
        rollback_id: 'rb-F1',
        rolled_back_at: 5_000,
        reached_user_at: 7_000,
      },
    ]);
    expect(rest).toEqual({
      agents: [],
      initiators: [],
      contract_digests: [],
      owner: 'role:operator',
      deadline_at: 9,
      tenant: 'acme',
      runtime: 'reports',
      reconciliation_id: expect.stringMatching(/^rcn_[0-9a-f]{32}$/),
      compared: 1,
      by: 'dana',
      command_id: 'cmd-1',
    });
  });

  it('names agents and people as long as they fit its record', () => {
    const names = (count: number): readonly string[] => Array.from({ length: count }, () => 'n'.repeat(200));
    expect(namesFit({ agents: names(500), initiators: names(500) })).toBe(true);
    expect(namesFit({ agents: names(500), initiators: names(501) })).toBe(false);
  });
});
