// What a fall or an undo leads to was weighed by flat rates: a commit beyond a bound counted as one record where it is two, its parents, the
// runs that are named and letters of several bytes counted for nothing. A decision then fitted no batch, and a spread stood still for ever.
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { Decided, Input, RecordInput, ServiceCore } from '@recourse/event-log';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Payload } from '@recourse/messages';
import { harness, memoryView } from '@recourse/testing';
import type { CoreHarness, MemoryView } from '@recourse/testing';
import { contractView, entryView } from '@recourse/contract';
import { assumptionView, fallenView, mutationsCore } from '../../apps/mutation-ledger/src/core.js';
import { commit, committed, rollback, told } from '../../apps/mutation-ledger/src/core/commits.testing.js';
import { command, envelope, executed, NOW, refund, RUN } from '../../apps/mutation-ledger/src/core/ledger.testing.js';

/** What a batch takes (L4). */
const BYTES_MAX = 900_000;
const RECORDS_MAX = 1_000;
const CHAIN = { seq: 1, prev_hash: Buffer.alloc(32), decided_at: NOW };

/** A ledger whose decisions are kept. */
class Watched {
  readonly decisions: (readonly Decided[])[] = [];
  readonly fallen: MemoryView = memoryView(fallenView);
  readonly run: CoreHarness;

  constructor(boundMs?: number) {
    const core = mutationsCore(boundMs === undefined ? {} : { boundMs });
    const watched: ServiceCore = {
      ...core,
      decide: (context, input: Input) => {
        const decision = core.decide(context, input);
        this.decisions.push(decision.records);
        return decision;
      },
    };
    const [assumptions, contracts, entries] = [assumptionView, contractView, entryView].map((one) => memoryView(one));
    if (assumptions === undefined || contracts === undefined || entries === undefined) throw new Error('no views');
    this.run = harness(watched, { views: { assumptions, contracts, fallen: this.fallen, entries } });
  }

  /** All that follows until nothing is due. */
  spread(first: RecordInput, at: number): void {
    this.run.when(first, at);
    for (const notice of told(this.run, this.fallen)) this.run.when(notice, at + 1);
    this.run.whenDue(at + 2);
  }
}

interface Fall {
  readonly what: string;
  readonly commits: number;
  readonly isBeyond: boolean;
  /** Parents of each that stand. */
  readonly parents: number;
  /** Letters more in the name of each run. */
  readonly longer: number;
}

const FALLS: readonly Fall[] = [
  { what: 'of many beyond its bound', commits: 520, isBeyond: true, parents: 0, longer: 0 },
  { what: 'of some beyond its bound with many parents', commits: 100, isBeyond: true, parents: 98, longer: 0 },
  { what: 'of many in runs with long names', commits: 460, isBeyond: false, parents: 0, longer: 490 },
];

function falling({ commits, isBeyond, parents, longer }: Fall): Watched {
  const on = new Watched(isBeyond ? 1_500 : undefined);
  const longName = 'r'.repeat(longer);
  const root = commit('root', { run: `run-root${longName}` });
  const others = Array.from({ length: parents }, (_, at) => ({
    run_id: `run-0a1b2c3d-0000-4000-8000-${String(at).padStart(12, '0')}`,
    commit_id: `cp_${String(at).padStart(64, '0')}`,
  }));
  on.run.when(committed(root), NOW);
  for (let at = 0; at < commits; at += 1)
    on.run.when(
      committed(commit(`old-${String(at)}`, { run: `run-${String(at)}${longName}`, parents: [root.ref, ...others] })),
      NOW + 1,
    );
  on.decisions.length = 0;
  on.spread(rollback(root), NOW + 2_000);
  return on;
}

/** The longest reason that an edge takes, of letters of three bytes. */
function undoing(): Watched {
  const on = new Watched();
  const args: Payload = plainPayload({ amount: 1 });
  for (let at = 0; at < 200; at += 1) {
    const named = { effect_key: String(at), event_id: `ev-${String(at)}`, call_id: `call-${String(at)}`, args };
    on.run.when(executed(refund({ ...named, contract_digest: null, assumption_refs: [] })), NOW);
  }
  on.decisions.length = 0;
  const from = envelope('ursula', ['requester'], { command_id: 'cmd-undo' });
  on.run.when(command('UndoRun', from, { run_id: RUN, mutation_ids: [], reason: '撤'.repeat(2_000) }), NOW + 1);
  on.run.whenDue(NOW + 1);
  return on;
}

async function expectFitting({ decisions }: Watched): Promise<void> {
  const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
  await codecs.prepareWriter('recourse.mutations', { register: true });
  for (const records of decisions) {
    const bytes = records.map(({ type, body }) => {
      const runId = body['run_id'];
      const value = codecs.encode('recourse.mutations', type, { ...body, ...CHAIN });
      return value.length + (typeof runId === 'string' ? runId.length : 0) + 100;
    });
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(BYTES_MAX);
    expect(records.length).toBeLessThan(RECORDS_MAX);
  }
}

/** Commits and effects that records of a type are about. */
function named({ decisions }: Watched, type: string): number {
  const about = decisions.flat().flatMap((one) => {
    const { body } = one;
    const members = (body['members'] ?? [body]) as readonly Readonly<Record<string, unknown>>[];
    return one.type === type ? members.map((member) => member['mutation_id'] ?? member['commit_id']) : [];
  });
  return new Set(about).size;
}

describe('a fall', () => {
  it.each(FALLS)('fits the decisions that it leads to, and reaches all: $what', async (fall) => {
    const on = falling(fall);
    await expectFitting(on);
    const reached = named(on, fall.isBeyond ? 'RollbackOutOfBand' : 'CheckpointRolledBack');
    expect(reached).toBe(fall.commits + (fall.isBeyond ? 0 : 1));
  });
});

describe('an undo', () => {
  it('fits the decisions that it leads to, and reaches all, however long its reason is', async () => {
    const on = undoing();
    await expectFitting(on);
    expect(named(on, 'MutationsFell')).toBe(200);
  });
});
