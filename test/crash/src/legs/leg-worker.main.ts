// node leg-worker.main.js <adapter> <url of the tool>: the worker of one adapter of the crash runs of legs.
import { join } from 'node:path';
import { reachRecourse, readEnvironment, serve, untilReached } from '@recourse/example-drifted-refund';
import type { Json } from '@recourse/kernel';
import { createWorker, FileClaimStore, FilePositionStore, systemClock } from '@recourse/sdk';
import type { Tool } from '@recourse/sdk';
import { lookOf, takeBackOf } from './leg-contracts.js';

const CALL_TIMEOUT_MS = 2_000;

const [, , adapter, toolUrl] = process.argv;
if (adapter === undefined || toolUrl === undefined) throw new Error('name an adapter and the address of its tool');
const env = readEnvironment('PORT', 'DATA_DIR', 'RECOURSE_KAFKA_BROKERS', 'RECOURSE_REGISTRY_URL');

/** Effects are named by their things: `<run>/<effect>`. */
async function ask(path: string, init: RequestInit = {}): Promise<Json> {
  const response = await fetch(`${toolUrl ?? ''}/${path}`, {
    ...init,
    headers: { ...init.headers, 'x-worker': String(process.pid) },
  });
  if (!response.ok) throw new Error(`the tool answered ${String(response.status)}`);
  return (await response.json()) as Json; // what was parsed is JSON
}

const look: Tool = (args, { phase, externalTransactionRef }) =>
  ask(`${phase === 'verify' ? 'verify' : 'look'}/${thingIn(args) ?? externalTransactionRef ?? ''}`);
const takeBackKeyless: Tool = (args) => ask(`act/${thingIn(args) ?? ''}`, { method: 'POST' });
const takeBackKeyed: Tool = (args, { idempotencyKey }) =>
  ask(`act/${thingIn(args) ?? ''}`, { method: 'POST', headers: { 'idempotency-key': idempotencyKey } });

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

function thingIn(args: Json): string | null {
  const { thing } = args as { readonly thing?: unknown }; // arguments of these contracts are objects
  return typeof thing === 'string' ? thing : null;
}
