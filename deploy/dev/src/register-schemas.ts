// Registers the schemas of topics with a registry, once per content and data directory.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSchemaRegistry } from '@recourse/kafka';
import { createCodecs, SCHEMAS, TOPICS } from '@recourse/messages';
import type { StackFacts } from './stack.js';
import { writerOf } from './users.js';

/** Topics whose schemas are registered side by side; a cold registry takes no more. */
const REGISTER_AT_ONCE = 3;

interface Registering {
  readonly dataDir: string;
  readonly topics: readonly string[];
  readonly say: (line: string) => void;
}

/** Registers the schemas of every topic: each has subjects of its own. */
export async function registerSchemas(stack: StackFacts, { dataDir, topics, say }: Registering): Promise<void> {
  const wanted = createHash('sha256')
    .update(JSON.stringify([SCHEMAS, TOPICS, topics, stack.kafka.clusterId]))
    .digest('hex');
  const marker = join(dataDir, 'schemas-registered');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  const writer = writerOf(stack);
  const codecs = createCodecs(
    createSchemaRegistry({ url: stack.registryUrl, timeoutMs: 30_000, ...(writer === null ? {} : { writer }) }),
  );
  const waiting = [...topics];
  let done = 0;
  await Promise.all(
    Array.from({ length: REGISTER_AT_ONCE }, async () => {
      for (let topic = waiting.shift(); topic !== undefined; topic = waiting.shift()) {
        await codecs.prepareWriter(topic, { register: true });
        done += 1;
        say(`registered schemas of ${String(done)}/${String(topics.length)} topics`);
      }
    }),
  );
  writeFileSync(marker, wanted);
}
