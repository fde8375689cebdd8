// node examples/resumable-agent/dist/live.main.js <brokers> <schema registry> <ledger> <contract registry> <order>
//
// Drives the run of an order on running services, from wherever it stands, and says what it did. The token is in RECOURSE_TOKEN.
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import {
  cachedEntries,
  createProducer,
  endPlainly,
  HttpEntries,
  HttpResume,
  kafkaAccessIn,
  systemClock,
} from '@recourse/sdk';
import { drive } from './agent.js';

endPlainly();
const [, , brokers, registryUrl, ledgerUrl, contractsUrl, order] = process.argv;
const held = process.env['RECOURSE_TOKEN'];
if (
  brokers === undefined ||
  registryUrl === undefined ||
  ledgerUrl === undefined ||
  contractsUrl === undefined ||
  order === undefined ||
  held === undefined
)
  throw new Error('name brokers, schema registry, ledger, contract registry and order, and set RECOURSE_TOKEN');
const token = (): Promise<string> => Promise.resolve(held);
const codecs = createCodecs(createSchemaRegistry({ url: registryUrl }));
const producer = await createProducer({
  kafka: createKafka({ brokers: brokers.split(','), clientId: 'delivery-planner', ...kafkaAccessIn(process.env) }),
  codecs,
  source: 'delivery-planner',
});

try {
  const run = {
    tenant: process.env['RECOURSE_TENANT'] ?? 'acme',
    runId: `delivery-${order}`,
    agentId: 'delivery-planner',
    initiator: null,
    objective: `deliver order ${order}`,
  };
  const entries = cachedEntries(new HttpEntries({ url: contractsUrl, token }), { clock: systemClock });
  const driven = await drive({
    source: new HttpResume({ url: ledgerUrl, token }),
    producer,
    entries,
    clock: systemClock,
    run,
    order,
  });
  process.stdout.write(`${JSON.stringify(driven)}\n`);
} finally {
  await producer.close();
}
