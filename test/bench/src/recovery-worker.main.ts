// Worker of the recovery benches, a process of its own: its tool answers at once and remembers in which order it was asked.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { reachRecourse, readEnvironment, untilReached } from '@recourse/example-drifted-refund';
import { createWorker, FileClaimStore, FilePositionStore, systemClock } from '@recourse/sdk';
import type { Tool } from '@recourse/sdk';
import { ADAPTER, LOOK, TAKE_BACK } from './recovery-actions.js';

const CALL_TIMEOUT_MS = 2_000;
/** Runs that are worked on at once: as many as the benches have under way. */
const CONCURRENCY_MAX = 256;

const env = readEnvironment('PORT', 'DATA_DIR', 'RECOURSE_KAFKA_BROKERS', 'RECOURSE_REGISTRY_URL');
/** Things in the order in which they were taken back; a key counts once, as at any provider that keeps them. */
const taken: string[] = [];
const gone = new Set<string>();
const keys = new Map<string, number>();

const takeBack: Tool = (args, { idempotencyKey }) => {
  const thing = nameIn(args);
  const requests = (keys.get(idempotencyKey) ?? 0) + 1;
  keys.set(idempotencyKey, requests);
  if (requests === 1) taken.push(thing);
  gone.add(thing);
  return Promise.resolve({ thing, status: 'gone' });
};
const look: Tool = (args, { externalTransactionRef }) => {
  const thing = nameIn(args) || (externalTransactionRef ?? '');
  return Promise.resolve({ thing, status: gone.has(thing) ? 'gone' : 'there' });
};

const worker = createWorker({
  ...reachRecourse(env.RECOURSE_KAFKA_BROKERS, env.RECOURSE_REGISTRY_URL, 'bench-worker'),
  adapter: ADAPTER,
  tools: { [TAKE_BACK]: takeBack, [LOOK]: look },
  clock: systemClock,
  claimStore: new FileClaimStore(join(env.DATA_DIR, 'claims')),
  positions: new FilePositionStore(join(env.DATA_DIR, 'positions')),
  workerId: 'bench-worker',
  groupId: 'bench-workers',
  callTimeoutMs: CALL_TIMEOUT_MS,
  concurrencyMax: CONCURRENCY_MAX,
});
const server = createServer((request, response) => {
  const isHealth = request.url === '/health';
  response.writeHead(isHealth && !worker.isReady() ? 503 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(isHealth ? {} : { taken }));
});
server.listen(env.PORT, '127.0.0.1');
process.once('SIGTERM', () => {
  void worker.stop().finally(() => {
    process.exit(0);
  });
});
await untilReached('join the workers', () => worker.start());

function nameIn(args: unknown): string {
  const { thing } = args as { readonly thing?: unknown }; // arguments of this tool's contract are objects
  return typeof thing === 'string' ? thing : '';
}
