// Mutants of erasures: each takes what was erased for something that can still be read, called or kept.
import { isErased, readPayload } from '@recourse/contract';
import type { DecideContext, Doc, ServiceCore } from '@recourse/event-log';
import type { Payload } from '@recourse/messages';
import type { Bias } from './bias.js';
import { asking, MUTATIONS, reading, RECOVERIES } from './core-mutations.js';
import type { Mutation } from './mutation.js';

/** Many effects that are held or taken back, and many whose data is erased meanwhile; nobody is frozen, who would know of no erasure. */
const ERASING: Bias = {
  profile: {
    eraseEveryMs: 250,
    toolTrouble: 0.25,
    chaos: { crash: 8, zombie: 2, freeze: 0, snapshot: 1, restore: 1, wipe: 0, clock: 1 },
  },
  stories: { hold: 20, saga: 12, undo: 8, person: 30 },
};

/** The rules, by name. */
export const ERASURE_MUTANTS: Readonly<Record<string, { readonly mutation: Mutation; readonly bias: Bias }>> = {
  'erased-told': { mutation: { core: (core) => telling(core) }, bias: ERASING },
  'erased-sent': { mutation: { core: (core) => heedless(core, RECOVERIES, 'step') }, bias: ERASING },
  'erased-asked': { mutation: { core: (core) => heedless(core, MUTATIONS, 'mutation') }, bias: ERASING },
  'erased-believed': { mutation: { believedMs: Infinity }, bias: ERASING },
};

/** What a held effect was called with is read again when its time comes. */
function telling(core: ServiceCore): ServiceCore {
  return asking(core, MUTATIONS, (context, input) =>
    input.source !== 'timer' || input.address.kind !== 'mutation'
      ? context
      : {
          ...context,
          state: reading(context.state, 'mutation', (doc) => {
            // Rows of this kind have an execution.
            if (doc['mutation_id'] === input.address.key)
              readPayload((doc['execution'] as { readonly args: Payload }).args);
            return doc;
          }),
        },
  );
}

/** Whatever was erased passes for something that somebody can open. */
function heedless(core: ServiceCore, log: string, kind: string): ServiceCore {
  const blinded = (context: DecideContext): DecideContext => ({
    ...context,
    state: reading(context.state, kind, (doc) => openable(doc) as Doc),
  });
  return asking(core, log, blinded);
}

function openable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(openable);
  if (!isPayload(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, openable(one)]));
  if (!isErased(value)) return value;
  const { content_type, encoding, key_id, body, sha256 } = value;
  return { content_type, encoding, key_id, body, sha256, content: body };
}

function isPayload(value: object): value is Payload {
  return 'encoding' in value && 'sha256' in value && 'body' in value;
}
