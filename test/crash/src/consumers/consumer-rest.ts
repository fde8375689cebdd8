// Waits until nothing of a run of consumers is missing: on record, announced, heard and acknowledged.
import type { Arena } from '../arena.js';
import { pause } from '../edge.js';
import type { Announced } from './announced.js';
import { CONSUMERS, heardBy, SUBSCRIBED } from './audience.js';
import type { Consumer, Place } from './audience.js';
import { answersOf } from './ledger-readings.js';
import type { Recorded } from './ledger-readings.js';
import type { ToldGraph } from './told-graph.decisions.js';

/** What a run plays with. */
export interface Scene {
  readonly arena: Arena;
  readonly place: Place;
  readonly graph: ToldGraph;
  readonly announced: Announced;
  readonly recorded: Recorded;
}

const LOOK_EVERY_MS = 1_000;
/** Nothing has moved for so long: what is missing does not come. */
const STILL_MS = 90_000;
/** What nobody expects has this long to come. */
const QUIET_MS = 3_000;

/** Resolves when nothing is missing, or when nothing has moved for too long. */
export async function waitForRest(scene: Scene, say: (line: string) => void): Promise<void> {
  const { graph, announced, recorded } = scene;
  const startedAt = performance.now();
  let [seen, seenAt] = ['', performance.now()];
  for (;;) {
    await recorded.look();
    await announced.look();
    const missing = await missingIn(scene);
    if (Object.values(missing).every((count) => count <= 0)) break;
    const now = JSON.stringify(missing);
    if (now !== seen) [seen, seenAt] = [now, performance.now()];
    if (performance.now() - seenAt > STILL_MS) {
      say(`  nothing moves any more: ${now}`);
      break;
    }
    await pause(LOOK_EVERY_MS);
  }
  say(
    `  at rest ${String(Math.round((performance.now() - startedAt) / 1_000))} s after the last strike: ${String(announced.fallen.size)} of ${String(graph.fallen.size)} falls announced`,
  );
  await pause(QUIET_MS);
  await announced.look();
  await recorded.look();
}

/** What has not happened yet, counted. */
async function missingIn({
  graph,
  announced,
  recorded,
  arena,
  place,
}: Scene): Promise<Readonly<Record<string, number>>> {
  const heard = CONSUMERS.map(async (consumer) => {
    const found = await heardBy(consumer, place).catch(() => []);
    return [consumer.name, announced.for(consumer).length - found.length] as const;
  });
  const owed = SUBSCRIBED.map(async (consumer) => {
    const { acknowledged } = await answersOf(arena, consumer.name);
    return [`answers of ${consumer.name}`, rollbacksFor(announced, consumer) - acknowledged] as const;
  });
  return {
    commits: graph.commits.length - recorded.times.size,
    falls: graph.fallen.size - announced.fallen.size,
    ...Object.fromEntries(await Promise.all(heard)),
    ...Object.fromEntries(await Promise.all(owed)),
  };
}

function rollbacksFor(announced: Announced, consumer: Consumer): number {
  return announced.for(consumer).filter(({ kind }) => kind === 'rollback').length;
}
