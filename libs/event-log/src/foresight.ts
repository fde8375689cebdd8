// What inputs of a type lacked before, so that it is brought for the next of them before they are decided.
//
// Boundary: saves time and decides nothing: what is not foreseen is lacked, brought, and the decision made again.
import type { Lacks } from './lacks.js';
import type { QueueItem } from './queue-item.js';
import { sealedUnder } from './sealing/sealing.js';
import type { Input, TimerInput } from './service-core.js';

export interface Foreseen {
  /** Views are to be read to their end. */
  readonly views: boolean;
  readonly keys: readonly string[];
}

const NOTHING: Foreseen = { views: false, keys: [] };

export class Foresight {
  readonly #views = new Set<string>();
  readonly #keys = new Set<string>();

  /** An input could not be decided at once. */
  learn(input: Input, lacks: Lacks): void {
    const name = nameOf(input);
    if (lacks.views) this.#views.add(name);
    if (lacks.keys.length > 0 && input.source !== 'timer') this.#keys.add(name);
  }

  /** Whether timers lacked the end of the views before. */
  viewsOf(timers: readonly TimerInput[]): boolean {
    return this.#views.size > 0 && timers.some((timer) => this.#views.has(nameOf(timer)));
  }

  /** What these will lack, as far as others of their type did. */
  of(items: readonly QueueItem[]): Foreseen {
    if (this.#views.size === 0 && this.#keys.size === 0) return NOTHING;
    const keys = new Set<string>();
    let views = false;
    for (const { what } of items) {
      if (what.kind !== 'record') continue;
      const name = nameOf(what.input);
      views ||= this.#views.has(name);
      // A wire is not believed when it names a key.
      if (what.input.source === 'log' && this.#keys.has(name))
        for (const key of sealedUnder(what.input.body)) keys.add(key);
    }
    return { views, keys: [...keys] };
  }
}

function nameOf(input: Input): string {
  return input.source === 'timer' ? `timer/${input.address.kind}` : `${input.topic}/${input.type}`;
}
