// Claims in memory: as durable as the object that holds them.
import type { Claim, ClaimStore } from './claim-store.port.js';

/** Claims in memory: they end with the process. For specs. */
export class MemoryClaimStore implements ClaimStore {
  private readonly taken = new Set<string>();

  claim({ id, attempt }: Claim): Promise<'granted' | 'taken'> {
    const key = JSON.stringify([id, attempt]);
    if (this.taken.has(key)) return Promise.resolve('taken');
    this.taken.add(key);
    return Promise.resolve('granted');
  }
}
