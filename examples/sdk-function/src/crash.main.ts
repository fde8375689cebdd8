// node examples/sdk-function/dist/crash.main.js <directory> [hang]
//
// Makes one guarded call against files of a directory. With `hang` the tool takes effect and never answers, so that whoever
// started this process can kill it between intent and outcome.
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FileClaimStore, guard, systemClock } from '@recourse/sdk';
import { readStockContract } from './stock.js';
import { fileProducer, FileStanding } from './wire.file.js';

const [, , directory, how] = process.argv;
if (directory === undefined) throw new Error('name a directory');
const wire = join(directory, 'wire.jsonl');

const reserve = guard(
  {
    execute: async (_args, { idempotencyKey }) => {
      await appendFile(join(directory, 'effects.txt'), `${idempotencyKey}\n`);
      process.stdout.write('called\n');
      if (how === 'hang')
        await new Promise((resolve) => {
          setTimeout(resolve, 60_000);
        });
      return { reservation_id: 'rsv-1' };
    },
    externalTransactionRef: () => 'rsv-1',
  },
  {
    ...(await readStockContract()),
    mode: 'enforce',
    producer: fileProducer(wire),
    clock: systemClock,
    standing: new FileStanding(wire),
    claims: new FileClaimStore(join(directory, 'claims')),
  },
);

const answer = await reserve({
  run: { tenant: 'shop', runId: 'run-1', agentId: 'stock-agent', initiator: null, objective: 'serve order 7' },
  stepId: 'reserve',
  args: { sku: 'pen', quantity: 3 },
  target: null,
  assumptionRefs: [],
});
process.stdout.write(`${JSON.stringify(answer)}\n`);
