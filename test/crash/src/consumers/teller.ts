// Tells a graph as a producer does: batches of commits at an even pace, and the words against them between the batches.
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { createProducer } from '@recourse/sdk';
import type { StackFacts } from '@recourse/dev-stack';
import { pause } from '../edge.js';
import type { ToldGraph } from './told-graph.decisions.js';

export interface Telling {
  readonly tenant: string;
  readonly batches: number;
  readonly lastsMs: number;
  readonly onBatch: (batch: number) => void;
}

/** Resolves when the broker has everything. Errors: those of broker and registry. */
export async function tell(
  stack: StackFacts,
  { commits, falls }: ToldGraph,
  { tenant, batches, lastsMs, onBatch }: Telling,
): Promise<void> {
  const kafka = createKafka({ brokers: stack.kafka.brokers, clientId: 'crash-teller' });
  const producer = await createProducer({
    kafka,
    codecs: createCodecs(createSchemaRegistry({ url: stack.registryUrl })),
    source: 'crash-teller',
  });
  const size = Math.ceil(commits.length / batches);
  const startedAt = performance.now();
  try {
    for (let batch = 0; batch < batches; batch += 1) {
      await Promise.all(
        commits.slice(batch * size, (batch + 1) * size).map((commit) => producer.checkpointTaken(commit)),
      );
      const now = falls.filter((fall) => fall.batch === batch);
      await Promise.all(
        now.map(({ ref }) =>
          producer.assumptionInvalidated({
            tenant,
            ref,
            sourceKind: 'observation',
            statement: { counted: false },
            statedAt: Date.now(),
          }),
        ),
      );
      onBatch(batch + 1);
      await pause(Math.max(0, startedAt + ((batch + 1) * lastsMs) / batches - performance.now()));
    }
  } finally {
    await producer.close();
  }
}
