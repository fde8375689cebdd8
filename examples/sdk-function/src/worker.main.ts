// node examples/sdk-function/dist/worker.main.js <brokers> <schema registry> <shop> <directory>
//
// Serves the adapter `inventory` until it is told to stop.
import { endPlainly, kafkaAccessIn } from '@recourse/sdk';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { stockWorker } from './stock.worker.js';

endPlainly();
const [, , brokers, registryUrl, shopUrl, dataDir] = process.argv;
if (brokers === undefined || registryUrl === undefined || shopUrl === undefined || dataDir === undefined)
  throw new Error('name brokers, schema registry, shop and directory');

const worker = stockWorker({
  kafka: createKafka({ brokers: brokers.split(','), clientId: 'stock-worker', ...kafkaAccessIn(process.env) }),
  codecs: createCodecs(createSchemaRegistry({ url: registryUrl })),
  shopUrl,
  dataDir,
  workerId: `stock-worker-${String(process.pid)}`,
});
await worker.start();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void worker.stop();
  });
