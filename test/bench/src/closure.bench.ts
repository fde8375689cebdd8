// closure: what was made from a commit, from the graph in memory and from the database, on the same edges in the same run.
//
// The raw side is a recursive query over a table of nothing but edges, analysed, with an index that holds all it needs, warm, and it
// answers ids only. Ours answers the same ids as text; `closure_68k_ms` is the walk without making text of it, as limits ask for it.
// The edges lie in the ledger's own table of bindings, with its own indexes, and the graph is read back from there.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withCommonKinds } from '@recourse/event-log';
import { EdgeLines, LineageGraph } from '@recourse/lineage';
import { EDGES_COPY, mutationsCore } from '@recourse/mutation-ledger';
import { PostgresDatabase } from '@recourse/service';
import { Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { freshDatabase, say, withStack } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import type { Measured, Numbers } from './report.js';
import { median } from './rounds.js';

const LOG = 'recourse.mutations';
/** Two edges of three are the first of their commit; the third joins two that are there. */
const EDGES_PER_COMMIT = 1.5;
const MS_PER_S = 1_000;
const CTE =
  'WITH RECURSIVE walk(id) AS (SELECT $1::text COLLATE "C" UNION SELECT e.child FROM walk w JOIN edge e ON e.parent = w.id) SELECT id FROM walk';

export interface ClosureSize {
  /** Edges, and commits in the closure that is asked for. */
  readonly graphs: readonly (readonly [edges: number, closure: number])[];
  readonly rounds: number;
}

export const CLOSURE_FULL: ClosureSize = {
  graphs: [
    [1_000, 100],
    [10_000, 1_000],
    [100_000, 10_000],
    [1_500_000, 68_000],
  ],
  rounds: 15,
};
export const CLOSURE_QUICK: ClosureSize = {
  graphs: [
    [1_000, 100],
    [10_000, 1_000],
    [100_000, 10_000],
  ],
  rounds: 5,
};

interface Round {
  readonly edges: number;
  readonly closure: number;
  readonly walkMs: number;
  readonly idsMs: number;
  readonly cteMs: number;
  readonly rebuildS: number;
  readonly bytesPerEdge: number;
  readonly isEqual: boolean;
}

export async function benchClosure({ graphs, rounds }: ClosureSize): Promise<Measured> {
  return withStack(async (bench) => {
    const measured: Round[] = [];
    for (const [edges, closure] of graphs) measured.push(await measure(bench, edges, closure, rounds));
    return measuredOf(measured);
  });
}

async function measure(bench: BenchStack, edges: number, closure: number, rounds: number): Promise<Round> {
  const { url } = await freshDatabase(bench, `closure_${String(edges)}`);
  const database = await PostgresDatabase.open({ url }, [{ log: LOG, kinds: withCommonKinds(mutationsCore().kinds) }]);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    say(`${String(edges)} edges into the table`);
    await fill(client, edges, closure);
    const began = performance.now();
    const graph = await rebuilt(client);
    const rebuildS = (performance.now() - began) / MS_PER_S;
    const { walks, texts, queries, isEqual } = await compare(graph, client, rounds);
    say(
      `${String(edges)} edges: walk ${median(walks).toFixed(2)} ms, with ids ${median(texts).toFixed(2)} ms, query ${median(queries).toFixed(1)} ms, rebuilt in ${rebuildS.toFixed(2)} s`,
    );
    return {
      edges,
      closure: graph.sizeOf([idOf(0)]),
      walkMs: median(walks),
      idsMs: median(texts),
      cteMs: median(queries),
      rebuildS,
      bytesPerEdge: graph.bytes / graph.edges,
      isEqual: isEqual && graph.edges === edges,
    };
  } finally {
    await client.end();
    await database.close();
  }
}

interface Compared {
  readonly walks: readonly number[];
  readonly texts: readonly number[];
  readonly queries: readonly number[];
  /** Both sides found the same commits in every round. */
  readonly isEqual: boolean;
}

type Graph = Awaited<ReturnType<typeof rebuilt>>;

/** Walks the closure of the root in memory and in the database, in turns. Times are milliseconds. */
async function compare(graph: Graph, client: Client, rounds: number): Promise<Compared> {
  const root = idOf(0);
  const [walks, texts, queries]: [number[], number[], number[]] = [[], [], []];
  let isEqual = true;
  await client.query(CTE, [root]);
  for (let round = 0; round < rounds; round += 1) {
    walks.push(await timed(async () => graph.sizeOf([root])));
    const found: { ours: readonly string[]; theirs: readonly string[] } = { ours: [], theirs: [] };
    texts.push(
      await timed(async () => {
        found.ours = graph.closureOf([root]).ids();
      }),
    );
    queries.push(
      await timed(async () => {
        found.theirs = (await client.query<{ id: string }>(CTE, [root])).rows.map(({ id }) => id);
      }),
    );
    isEqual &&= isSame([root, ...found.ours], found.theirs);
  }
  return { walks, texts, queries, isEqual };
}

/** Bindings as the ledger has them, and the raw side's table of edges. Secondary indexes are made anew at the end: the same, in less time. */
async function fill(client: Client, edges: number, closure: number): Promise<void> {
  const indexes = (
    await client.query<{ indexname: string; indexdef: string }>(
      `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'mutations' AND tablename = 'binding' AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
    )
  ).rows;
  for (const { indexname } of indexes) await client.query(`DROP INDEX mutations."${indexname}"`);
  const columns =
    'log_partition, group_key, row_key, due_at, mutation_id, ref, parent_id, parent_run_id, tenant, run_id, doc';
  await pipeline(
    Readable.from(linesOf(edges, closure)),
    client.query(copyFrom(`COPY mutations.binding (${columns}) FROM STDIN`)),
  );
  for (const { indexdef } of indexes) await client.query(indexdef);
  await client.query('CREATE TABLE edge AS SELECT parent_id AS parent, mutation_id AS child FROM mutations.binding');
  await client.query('CREATE INDEX edge_down ON edge (parent, child)');
  await client.query('VACUUM ANALYZE edge');
  await client.query('VACUUM ANALYZE mutations.binding');
}

/** Commits below `closure` are made from commits below it, the others from others: the closure of the first is exactly those. */
function* linesOf(edges: number, closure: number): Generator<string> {
  const commits = Math.floor(edges / EDGES_PER_COMMIT);
  const random = chance();
  let made = 0;
  let lines: string[] = [];
  const line = (child: number, parent: number): void => {
    const [id, from] = [idOf(child), idOf(parent)];
    lines.push(
      `${String(made % 2)}\tbench|commit/${from}#stands\t${id}${String(made)}\t\\N\t${id}\tcommit/${from}#stands\t${from}\trun\tbench\trun\t{}\n`,
    );
    made += 1;
  };
  const parentOf = (child: number): number => {
    const low = child < closure + 1 ? 0 : closure + 1;
    return low + Math.floor(random() * (child - low));
  };
  for (let child = 1; made < edges; child += 1) {
    const one = child < commits ? child : 1 + Math.floor(random() * (commits - 1));
    if (one !== closure + 1) line(one, parentOf(one));
    if (lines.length >= 1_000) {
      yield lines.join('');
      lines = [];
    }
  }
  yield lines.join('');
}

async function rebuilt(client: Client): Promise<LineageGraph> {
  const graph = new LineageGraph();
  const lines = new EdgeLines(graph);
  for await (const chunk of client.query(copyTo(EDGES_COPY))) lines.take(chunk as Buffer); // the stream gives bytes
  graph.settle();
  return graph;
}

const ids: string[] = [];
/** Ids as the ledger derives them: hashes of something. */
function idOf(index: number): string {
  return (ids[index] ??= `mut_${createHash('sha256').update(String(index)).digest('hex').slice(0, 32)}`);
}

/** The same numbers in every run. */
function chance(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function isSame(ours: readonly string[], theirs: readonly string[]): boolean {
  const known = new Set(theirs);
  return ours.length === theirs.length && known.size === theirs.length && ours.every((id) => known.has(id));
}

function measuredOf(all: readonly Round[]): Measured {
  const largest = all.at(-1);
  const each = (pick: (round: Round) => number, word: string): Numbers =>
    Object.fromEntries(all.map((round) => [`closure_${nameOf(round.edges)}_${word}`, pick(round)]));
  const isFull = largest !== undefined && largest.edges >= 1_500_000;
  return {
    figures: {
      ...(isFull ? { closure_68k_ms: largest.walkMs, rebuild_1500k_edges_s: largest.rebuildS } : {}),
      closure_bytes_per_edge: largest?.bytesPerEdge ?? NaN,
      ...each(({ walkMs }) => walkMs, 'walk_ms'),
      ...each(({ idsMs }) => idsMs, 'ids_ms'),
      ...each(({ cteMs }) => cteMs, 'cte_ms'),
      ...each(({ rebuildS }) => rebuildS, 'rebuild_s'),
    },
    ratios: {
      closure_vs_cte: largest === undefined ? NaN : largest.cteMs / largest.walkMs,
      closure_ids_vs_cte: largest === undefined ? NaN : largest.cteMs / largest.idsMs,
    },
    counts: each(({ closure }) => closure, 'commits'),
    gates: { closure_equal_to_cte: all.every(({ isEqual }) => isEqual) },
    notes: [
      'closure: PostgreSQL, the broker of the stack and the bench share the cores; closure_vs_cte is of the walk, closure_ids_vs_cte with every id made text',
    ],
  };
}

function nameOf(edges: number): string {
  return edges >= 1_000 ? `${String(edges / 1_000)}k` : String(edges);
}
