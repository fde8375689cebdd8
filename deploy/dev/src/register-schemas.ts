// Registers the schemas of a system's topics with the registry of its stack, once per content and data directory.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMAS, TOPICS } from '@recourse/messages';
import { registerTopics } from './register-topics.js';
import type { StackFacts } from './stack.js';
import { writerOf } from './users.js';

interface Registering {
  readonly dataDir: string;
  readonly topics: readonly string[];
  readonly say: (line: string) => void;
}

/** Registers the schemas of every topic but those the registry began with. */
export async function registerSchemas(stack: StackFacts, { dataDir, topics, say }: Registering): Promise<void> {
  const wanted = createHash('sha256')
    .update(JSON.stringify([SCHEMAS, TOPICS, topics, stack.kafka.clusterId]))
    .digest('hex');
  const marker = join(dataDir, 'schemas-registered');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  const { begunWith = [], registryUrl: url } = stack;
  const left = topics.filter((topic) => !begunWith.includes(topic));
  const writer = writerOf(stack);
  await registerTopics({ url, ...(writer === null ? {} : { writer }) }, left, (count) => {
    say(`registered schemas of ${String(count)}/${String(left.length)} topics`);
  });
  writeFileSync(marker, wanted);
}
