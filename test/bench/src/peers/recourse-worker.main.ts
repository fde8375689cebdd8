// The user's own process: the worker that takes back, and the agent of the saga, whose steps go through the guard.
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { parseContract } from '@recourse/contract';
import { reachRecourse, readEnvironment, untilReached } from '@recourse/example-drifted-refund';
import {
  createProducer,
  createWorker,
  FileClaimStore,
  FilePositionStore,
  guard,
  systemClock,
  ToolRejected,
} from '@recourse/sdk';
import type { GuardedTool, Tool } from '@recourse/sdk';
import { ADAPTER, LOOK, TAKE_BACK } from '../recovery-actions.js';
import { argsOf, handleOf, PUT_CONTRACT, resultOf, sagaContext, stepOf } from './recourse-actions.js';
import { openTools } from './tool-client.js';
import { Refused, STEPS } from './work.js';
import type { Variant } from './work.js';

const CALL_TIMEOUT_MS = 10_000;
/** Runs that are worked on at once: more than the bench has under way. */
const CONCURRENCY_MAX = 512;

const env = readEnvironment('PORT', 'DATA_DIR', 'RECOURSE_KAFKA_BROKERS', 'RECOURSE_REGISTRY_URL');
const [toolPort = 0, gatePort = 0] = process.argv.slice(2).map(Number);
const reach = reachRecourse(env.RECOURSE_KAFKA_BROKERS, env.RECOURSE_REGISTRY_URL, 'bench-worker');
const { tools } = await openTools(toolPort, gatePort);

const takeBack: Tool = async (args) => {
  const { variant, run, step } = stepOf(args);
  await tools[variant].takeBack(run, step);
  return resultOf({ variant, run, step }, true);
};
const look: Tool = async (args) => {
  const { variant, run, step } = stepOf(args);
  return resultOf({ variant, run, step }, await tools[variant].look(run, step));
};

const worker = createWorker({
  ...reach,
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

let guarded: GuardedTool | null = null;

/** The registry's digest of the contract comes with the first call: it is registered after this process has started. */
async function guardedTool(digest: string): Promise<GuardedTool> {
  if (guarded !== null) return guarded;
  const parsed = parseContract(PUT_CONTRACT ?? '');
  if (!parsed.ok) throw new Error(JSON.stringify(parsed));
  const producer = await createProducer({ ...reach, source: 'bench-agent' });
  guarded = guard(
    {
      execute: async (args) => {
        const { variant, run, step } = stepOf(args);
        await tools[variant].act(run, step).catch((cause: unknown) => {
          throw cause instanceof Refused ? new ToolRejected('REJECTED', cause.message) : cause;
        });
        return resultOf({ variant, run, step }, false);
      },
      externalTransactionRef: (result) => (result as { readonly thing: string }).thing, // resultOf made it
    },
    {
      contract: parsed.contract,
      contractDigest: Buffer.from(digest, 'hex'),
      mode: 'enforce',
      producer,
      clock: systemClock,
      claims: new FileClaimStore(join(env.DATA_DIR, 'forward-claims')),
    },
  );
  return guarded;
}

/** Twelve guarded steps, of which the last is refused; nobody asks for what follows. */
async function saga(run: string, variant: Variant, digest: string): Promise<void> {
  const call = await guardedTool(digest);
  for (let step = 1; step <= STEPS; step += 1) {
    const args = argsOf(variant, run, step);
    const { kind } = await call({
      run: sagaContext(run),
      stepId: `step-${String(step)}`,
      args,
      target: handleOf(args),
      assumptionRefs: [],
    });
    if (kind !== (step < STEPS ? 'succeeded' : 'failed')) throw new Error(`step ${String(step)} of ${run} ${kind}`);
  }
}

async function answerTo({ url = '' }: IncomingMessage): Promise<number> {
  const [, what, run = '', variant = '', digest = ''] = url.split('/');
  if (what === 'saga') await saga(run, variant as Variant, digest); // the driver names no other
  return what === 'health' && !worker.isReady() ? 503 : 200;
}

createServer((request, response) => {
  void answerTo(request)
    .catch((cause: unknown) => {
      process.stderr.write(`${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`);
      return 500;
    })
    .then((status) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end('{}');
    });
}).listen(env.PORT, '127.0.0.1');
process.once('SIGTERM', () => {
  void worker.stop().finally(() => {
    process.exit(0);
  });
});
await untilReached('join the workers', () => worker.start());
