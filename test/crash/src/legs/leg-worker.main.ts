// node leg-worker.main.js <adapter> <url of the tool>: the worker of one adapter of the crash runs of legs.
import { join } from 'node:path';
import { reachRecourse, readEnvironment, serve, untilReached } from '@recourse/example-drifted-refund';
import type { Json } from '@recourse/kernel';
import { createWorker, FileClaimStore, FilePositionStore, systemClock } from '@recourse/sdk';
import type { Tool } from '@recourse/sdk';
import { z } from 'zod';
import { lookOf, takeBackOf } from './leg-contracts.js';
import type { CallKind } from './leg.decisions.js';
import { KEY_HEADER, WORKER_HEADER } from './leg-tool.js';

const CALL_TIMEOUT_MS = 2_000;

const [, , adapter, toolUrl] = process.argv;
if (adapter === undefined || toolUrl === undefined) throw new Error('name an adapter and the address of its tool');
const env = readEnvironment('PORT', 'DATA_DIR', 'RECOURSE_KAFKA_BROKERS', 'RECOURSE_REGISTRY_URL');

/** Asks the tool about a thing, whose name is `<run>/<effect>`. */
async function ask(call: CallKind, thing: string, key: string | null = null): Promise<Json> {
  const response = await fetch(`${toolUrl ?? ''}/${call}/${thing}`, {
    method: call === 'act' ? 'POST' : 'GET',
    headers: { [WORKER_HEADER]: String(process.pid), ...(key === null ? {} : { [KEY_HEADER]: key }) },
  });
  if (!response.ok) throw new Error(`the tool answered ${String(response.status)}`);
  return z.json().parse(await response.json());
}

const look: Tool = (args, { phase }) => ask(phase === 'verify' ? 'verify' : 'look', thingIn(args));
const takeBackKeyless: Tool = (args) => ask('act', thingIn(args));
const takeBackKeyed: Tool = (args, { idempotencyKey }) => ask('act', thingIn(args), idempotencyKey);

const worker = createWorker({
  ...reachRecourse(env.RECOURSE_KAFKA_BROKERS, env.RECOURSE_REGISTRY_URL, `${adapter}-worker`),
  adapter,
  tools: {
    [lookOf(adapter)]: look,
    [takeBackOf(adapter, 'keyed')]: takeBackKeyed,
    [takeBackOf(adapter, 'keyless')]: takeBackKeyless,
  },
  clock: systemClock,
  claimStore: new FileClaimStore(join(env.DATA_DIR, 'claims')),
  positions: new FilePositionStore(join(env.DATA_DIR, 'positions')),
  workerId: `${adapter}-worker`,
  groupId: `${adapter}-workers`,
  callTimeoutMs: CALL_TIMEOUT_MS,
  onNote: (note) => {
    const shown = note.type === 'trouble' ? { ...note, cause: String(note.cause) } : note;
    process.stdout.write(`${JSON.stringify({ at: Date.now(), ...shown })}\n`);
  },
});

await serve({
  port: env.PORT,
  isReady: () => worker.isReady(),
  routes: () => undefined,
  stop: () => worker.stop(),
});
await untilReached('join the workers', () => worker.start());

function thingIn(args: Json): string {
  return z.object({ thing: z.string().min(1) }).parse(args).thing;
}
