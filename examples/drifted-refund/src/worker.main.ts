// Worker of the adapter payments: reverses refunds and observes them.
import { join } from 'node:path';
import type { Json } from '@recourse/kernel';
import { createWorker, FileClaimStore, FilePositionStore, happened, notHappened, systemClock, ToolRejected } from '@recourse/sdk';
import type { Tool, WorkerNote } from '@recourse/sdk';
import { z } from 'zod';
import { GET_REFUND, REVERSE_REFUND } from './common/contracts.js';
import { readEnvironment } from './common/environment.js';
import { ask, wasNotSent } from './common/http.js';
import type { HttpAsk } from './common/http.js';
import { reachRecourse, untilReached } from './common/recourse.js';
import { answering, serve } from './common/serve.js';

const argsShape = z.object({ refund_id: z.string().min(1) });
const effectsShape = z.object({ effects: z.array(z.object({ kind: z.string(), key: z.string(), refund_id: z.string() })) });
/** Longest a call to the provider may take; a leg may ask for less. */
const CALL_TIMEOUT_MS = 2_000;
/** Notes kept for whoever asks. */
const NOTES_MAX = 200;

const env = readEnvironment('PORT', 'DATA_DIR', 'RECOURSE_KAFKA_BROKERS', 'RECOURSE_REGISTRY_URL', 'PROVIDER_URL', 'WORKER_ID');
const notes: object[] = [];
const worker = createWorker({
  ...reachRecourse(env.RECOURSE_KAFKA_BROKERS, env.RECOURSE_REGISTRY_URL, env.WORKER_ID),
  adapter: 'payments',
  tools: { [REVERSE_REFUND]: reverseRefund(), [GET_REFUND]: getRefund() },
  clock: systemClock,
  claimStore: new FileClaimStore(join(env.DATA_DIR, 'claims')),
  positions: new FilePositionStore(join(env.DATA_DIR, 'positions')),
  workerId: env.WORKER_ID,
  groupId: 'payments-workers',
  callTimeoutMs: CALL_TIMEOUT_MS,
  onNote: remember,
});

await serve({
  port: env.PORT,
  isReady: () => worker.isReady(),
  routes: (app) => { app.get('/notes', answering(() => Promise.resolve({ notes }))); },
  stop: () => worker.stop(),
});
await untilReached('join the workers', () => worker.start());

function reverseRefund(): Tool {
  return (args, { idempotencyKey }) => askProvider(`/refunds/${idOf(args)}/reverse`, { method: 'POST', headers: { 'idempotency-key': idempotencyKey } });
}

function getRefund(): Tool {
  return (args, { phase, idempotencyKey }) => (phase === 'reconcile' && !argsShape.safeParse(args).success ? findRefund(idempotencyKey) : askProvider(`/refunds/${idOf(args)}`));
}

/** Whether the refund of a forward call is there: the provider's list of effects names the key of each. */
async function findRefund(key: string): Promise<Json> {
  const { effects } = effectsShape.parse(await askProvider('/effects'));
  const made = effects.find((effect) => effect.kind === 'refund' && effect.key === key);
  return made === undefined ? notHappened() : happened(await askProvider(`/refunds/${encodeURIComponent(made.refund_id)}`), made.refund_id);
}

/** Only a refusal of the provider, or a request that never left, proves that nothing happened. */
async function askProvider(path: string, how: HttpAsk = {}): Promise<Json> {
  const { status, body } = await ask(`${env.PROVIDER_URL}${path}`, { ...how, timeoutMs: 2 * CALL_TIMEOUT_MS })
    .catch((error: unknown) => { throw wasNotSent(error) ? new ToolRejected('NOT_SENT', 'the provider does not listen', { cause: error }) : error; });
  if (status >= 400 && status < 500) throw new ToolRejected(String(body['code']), String(body['message']));
  if (status >= 500) throw new Error(`the provider answered ${String(status)}`);
  return z.record(z.string(), z.json()).parse(body);
}

function idOf(args: Json): string {
  const parsed = argsShape.safeParse(args);
  if (!parsed.success) throw new ToolRejected('ARGS_INVALID', 'refund_id is needed');
  return encodeURIComponent(parsed.data.refund_id);
}

function remember(note: WorkerNote): void {
  const shown = note.type === 'trouble' ? { ...note, cause: note.cause instanceof Error ? note.cause.message : String(note.cause) } : note;
  notes.push({ ...shown, at: Date.now() });
  if (notes.length > NOTES_MAX) notes.shift();
}
