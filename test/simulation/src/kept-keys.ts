// The key store of a world: the one in memory, which also tells whose each key was and since when nobody can have it any more.
import { MemoryKeyStore } from '@recourse/event-log';
import type { Erasure, KeyScope, KeyStore, StandingKey, StoredKey, Unit } from '@recourse/event-log';

/** A key that was destroyed. */
export interface Destroyed {
  readonly scope: KeyScope;
  /** Place in the one order of everything that took effect: the key was there before it. */
  readonly order: number;
}

export class KeptKeys implements KeyStore {
  readonly destroyed = new Map<string, Destroyed>();
  /** From where in that order on nobody believes in a destroyed key any more. */
  readonly knownSince = new Map<string, number>();
  readonly #kept = new MemoryKeyStore();
  readonly #scopes = new Map<string, KeyScope>();

  constructor(private readonly order: () => number) {}

  async ensure(wanted: Parameters<KeyStore['ensure']>[0]): Promise<readonly StandingKey[]> {
    const standing = await this.#kept.ensure(wanted);
    for (const [index, { scope }] of wanted.entries()) this.#scopes.set(standing[index]?.keyId ?? '', scope);
    return standing;
  }

  find(keyIds: readonly string[]): Promise<readonly StoredKey[]> {
    return this.#kept.find(keyIds);
  }

  destroy(erasure: Erasure): Promise<number> {
    return this.#noting(this.#kept.destroy(erasure));
  }

  destroyUnits(units: readonly Unit[], by: string, reason: string): Promise<number> {
    return this.#noting(this.#kept.destroyUnits(units, by, reason));
  }

  close(): Promise<void> {
    return this.#kept.close();
  }

  async #noting(destroying: Promise<number>): Promise<number> {
    const count = await destroying;
    for (const { keyId, secret } of await this.#kept.find([...this.#scopes.keys()])) {
      const scope = this.#scopes.get(keyId);
      if (secret === null && scope !== undefined && !this.destroyed.has(keyId))
        this.destroyed.set(keyId, { scope, order: this.order() });
    }
    return count;
  }
}
