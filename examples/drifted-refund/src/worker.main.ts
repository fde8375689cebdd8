// Worker of the adapter payments: reverses refunds and observes them, or observes alone what another reversed.
import { join } from 'node:path';
import { createWorker, FileClaimStore, FilePositionStore, kafkaAccessIn, spanFile, systemClock } from '@recourse/sdk';
import type { WorkerNote } from '@recourse/sdk';
import { GET_REFUND, REVERSE_REFUND } from './common/contracts.js';
import { readEnvironment } from './common/environment.js';
import { reachRecourse, untilReached } from './common/recourse.js';
import { answering, serve } from './common/serve.js';
import { paymentTools } from './worker/payment-tools.js';

/** Notes kept for whoever asks. */
const NOTES_MAX = 200;

const env = readEnvironment(
  'PORT',
  'DATA_DIR',
  'RECOURSE_KAFKA_BROKERS',
  'RECOURSE_REGISTRY_URL',
  'PROVIDER_URL',
  'OBSERVES',
  'WORKER_ID',
  'CALL_TIMEOUT_MS',
  'RECOURSE_KAFKA_VIA',
  'RECOURSE_TRACE_FILE',
);
const notes: object[] = [];
const { reverseRefund, getRefund } = paymentTools(env.PROVIDER_URL, 2 * env.CALL_TIMEOUT_MS);
const worker = createWorker({
  ...reachRecourse(env.RECOURSE_KAFKA_BROKERS, env.RECOURSE_REGISTRY_URL, env.WORKER_ID, {
    ...kafkaAccessIn(process.env),
    via: env.RECOURSE_KAFKA_VIA,
  }),
  adapter: 'payments',
  isObserver: env.OBSERVES,
  tools: env.OBSERVES ? { [GET_REFUND]: getRefund } : { [REVERSE_REFUND]: reverseRefund, [GET_REFUND]: getRefund },
  clock: systemClock,
  claimStore: new FileClaimStore(join(env.DATA_DIR, 'claims')),
  positions: new FilePositionStore(join(env.DATA_DIR, 'positions')),
  workerId: env.WORKER_ID,
  groupId: env.OBSERVES ? 'payments-observers' : 'payments-workers',
  callTimeoutMs: env.CALL_TIMEOUT_MS,
  onNote: remember,
  ...(env.RECOURSE_TRACE_FILE === undefined
    ? {}
    : {
        onSpan: spanFile({
          file: env.RECOURSE_TRACE_FILE,
          service: 'payments-worker',
          instance: env.WORKER_ID,
          onError: (cause) => {
            remember({ type: 'trouble', doing: 'trace', cause });
          },
        }),
      }),
});

await serve({
  port: env.PORT,
  isReady: () => worker.isReady(),
  routes: (app) => {
    app.get(
      '/notes',
      answering(() => Promise.resolve({ notes })),
    );
  },
  stop: () => worker.stop(),
});
await untilReached('join the workers', () => worker.start());

function remember(note: WorkerNote): void {
  const shown =
    note.type === 'trouble'
      ? { ...note, cause: note.cause instanceof Error ? note.cause.message : String(note.cause) }
      : note;
  notes.push({ ...shown, at: Date.now() });
  if (notes.length > NOTES_MAX) notes.shift();
}
