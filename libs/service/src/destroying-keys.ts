// Destruction of keys, as the edge asks for it.
import type { KeyStore, Vault } from '@recourse/event-log';
import type { ServiceContext } from './service-context.js';

/** What a key that is gone had opened is handed out no more. */
export function destroying(keys: KeyStore, sealing: Vault): ServiceContext['keys'] {
  return {
    destroy: async (erasure) => {
      const count = await keys.destroy(erasure);
      sealing.forget();
      return count;
    },
    // Asked for again and again, mostly of what is gone already: only news is worth asking for every key anew.
    destroyUnits: async (units, by, reason) => {
      const count = await keys.destroyUnits(units, by, reason);
      if (count > 0) sealing.forget();
      return count;
    },
  };
}
