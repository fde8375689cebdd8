// A broker that flushes each append to disk before it acknowledges it.
import type { BenchStack } from '../bench-stack.js';

/** A resource of Kafka's admin protocol; the only broker of the stack is number 1. */
const BROKER = { type: 4, name: '1' } as const;
const SETTING = 'log.flush.interval.messages';

/** Errors: Error when the broker does not say that it does. */
export async function flushEachAppend({ raw }: BenchStack): Promise<void> {
  const admin = raw.admin();
  await admin.connect();
  try {
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ ...BROKER, configEntries: [{ name: SETTING, value: '1' }] }],
    });
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ ...BROKER, configNames: [SETTING] }],
    });
    const value = resources[0]?.configEntries[0]?.configValue;
    if (value !== '1') throw new Error(`${SETTING} of the broker is ${String(value)} after it was set to 1`);
  } finally {
    await admin.disconnect();
  }
}
