// Registers the schemas of topics with a registry, whatever is there already.
import { createSchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';

/** Topics whose schemas are registered side by side; a cold registry takes no more. */
const REGISTER_AT_ONCE = 3;
const TIMEOUT_MS = 30_000;

/** Each topic has subjects of its own. `done` hears how many there are by now. */
export async function registerTopics(
  registry: Pick<Parameters<typeof createSchemaRegistry>[0], 'url' | 'writer'>,
  topics: readonly string[],
  done: (count: number) => void = () => undefined,
): Promise<void> {
  const codecs = createCodecs(createSchemaRegistry({ ...registry, timeoutMs: TIMEOUT_MS }));
  const waiting = [...topics];
  let count = 0;
  await Promise.all(
    Array.from({ length: REGISTER_AT_ONCE }, async () => {
      for (let topic = waiting.shift(); topic !== undefined; topic = waiting.shift()) {
        await codecs.prepareWriter(topic, { register: true });
        count += 1;
        done(count);
      }
    }),
  );
}
