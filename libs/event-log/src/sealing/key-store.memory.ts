// Key store in memory, for specs and simulation.
import { keyIdOf, scopeId, storableName } from './keys.js';
import type { Erasure, KeyScope, KeyStore, StandingKey, StoredKey, Unit } from './key-store.port.js';

interface Held {
  readonly scope: KeyScope;
  readonly keyId: string;
  secret: Buffer | null;
}

/** Keys that live as long as the object. */
export class MemoryKeyStore implements KeyStore {
  readonly #scopes = new Map<string, Held[]>();
  readonly #byId = new Map<string, Held>();

  ensure(wanted: readonly { readonly scope: KeyScope; readonly candidate: Buffer }[]): Promise<readonly StandingKey[]> {
    return Promise.resolve(wanted.map(({ scope, candidate }) => this.#standing(scope, candidate)));
  }

  find(keyIds: readonly string[]): Promise<readonly StoredKey[]> {
    return Promise.resolve(
      keyIds.flatMap((id) => {
        const held = this.#byId.get(id);
        return held === undefined ? [] : [{ keyId: id, tenant: storableName(held.scope.tenant), secret: held.secret }];
      }),
    );
  }

  destroy({ tenant, subject, endedBy }: Erasure): Promise<number> {
    return Promise.resolve(
      this.#destroyed(
        (scope) =>
          scope.tenant === tenant &&
          (subject === undefined || scope.subject === subject) &&
          (endedBy === undefined || scope.windowEnd <= endedBy),
      ),
    );
  }

  destroyUnits(units: readonly Unit[], _by: string, _reason: string): Promise<number> {
    return Promise.resolve(
      this.#destroyed((scope) =>
        units.some(
          ({ tenant, subject, unit }) =>
            scope.unit === unit && scope.tenant === tenant && (subject === undefined || scope.subject === subject),
        ),
      ),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #destroyed(isMeant: (scope: KeyScope) => boolean): number {
    const meant = [...this.#byId.values()].filter(({ scope, secret }) => secret !== null && isMeant(scope));
    for (const held of meant) held.secret = null;
    return meant.length;
  }

  #standing(scope: KeyScope, candidate: Buffer): StandingKey {
    const id = scopeId(scope);
    const tenant = storableName(scope.tenant);
    const keys = this.#scopes.get(id) ?? [];
    const last = keys.at(-1);
    if (last !== undefined && last.secret !== null) return { keyId: last.keyId, tenant, secret: last.secret };
    const made: Held & { readonly secret: Buffer } = {
      scope,
      keyId: keyIdOf(id, keys.length + 1, candidate),
      secret: candidate,
    };
    this.#scopes.set(id, [...keys, made]);
    this.#byId.set(made.keyId, made);
    return { keyId: made.keyId, tenant, secret: candidate };
  }
}
