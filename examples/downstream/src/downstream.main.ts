// The downstream service as a process: follows rollbacks until it is told to stop.
import { endPlainly, kafkaAccessIn } from '@recourse/sdk';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { startDownstream } from './downstream.js';

endPlainly(); // what cannot be reached is told in a line, not in a trace

const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
};

const downstream = await startDownstream({
  databaseUrl: env('DATABASE_URL'),
  kafka: createKafka({
    brokers: env('RECOURSE_KAFKA_BROKERS').split(','),
    clientId: 'refund-reports',
    ...kafkaAccessIn(process.env),
  }),
  codecs: createCodecs(createSchemaRegistry({ url: env('RECOURSE_REGISTRY_URL') })),
  logId: env('RECOURSE_LOG_ID'),
  partitionCount: Number(env('RECOURSE_PARTITIONS')),
  subscription: { consumer: env('CONSUMER'), scope: env('SCOPE') },
  onTrouble: (cause) => {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
  },
});
process.stdout.write('following\n');
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void downstream.stop().then(() => {
      process.exit(0);
    });
  });
