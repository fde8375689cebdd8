// Worker of the little services: one SDK worker per adapter that ADAPTERS names, in one process.
import { join } from 'node:path';
import { answering, reachRecourse, readEnvironment, serve, untilReached } from '@recourse/example-drifted-refund';
import { createWorker, FileClaimStore, FilePositionStore, systemClock } from '@recourse/sdk';
import type { Worker, WorkerNote } from '@recourse/sdk';
import { ServicesClient } from './adapters/client.js';
import { heldTools, workerTools } from './adapters/tools.js';

/** Longest a call to a service may take; a contract may ask for less. */
const CALL_TIMEOUT_MS = 5_000;
/** Notes kept for whoever asks. */
const NOTES_MAX = 500;

const env = readEnvironment(
  'PORT',
  'DATA_DIR',
  'RECOURSE_KAFKA_BROKERS',
  'RECOURSE_REGISTRY_URL',
  'SERVICES_URL',
  'ADAPTERS',
);
const recourse = reachRecourse(env.RECOURSE_KAFKA_BROKERS, env.RECOURSE_REGISTRY_URL, 'little-worker');
const client = new ServicesClient(env.SERVICES_URL);
const notes: object[] = [];
const workers = env.ADAPTERS.map(workerOf);

await serve({
  port: env.PORT,
  isReady: () => workers.every((worker) => worker.isReady()),
  routes: (app) => {
    app.get(
      '/notes',
      answering(() => Promise.resolve({ notes })),
    );
  },
  stop: async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
  },
});
await Promise.all(workers.map((worker) => untilReached('join the workers', () => worker.start())));

function workerOf(adapter: string): Worker {
  return createWorker({
    ...recourse,
    adapter,
    tools: workerTools(client, adapter),
    forwardTools: heldTools(client, adapter),
    clock: systemClock,
    claimStore: new FileClaimStore(join(env.DATA_DIR, adapter, 'claims')),
    positions: new FilePositionStore(join(env.DATA_DIR, adapter, 'positions')),
    workerId: `little-${adapter}`,
    groupId: `${adapter}-workers`,
    callTimeoutMs: CALL_TIMEOUT_MS,
    onNote: (note) => {
      remember(adapter, note);
    },
  });
}

function remember(adapter: string, note: WorkerNote): void {
  const shown =
    note.type === 'trouble'
      ? { ...note, cause: note.cause instanceof Error ? note.cause.message : String(note.cause) }
      : note;
  notes.push({ adapter, ...shown, at: Date.now() });
  if (notes.length > NOTES_MAX) notes.shift();
}
