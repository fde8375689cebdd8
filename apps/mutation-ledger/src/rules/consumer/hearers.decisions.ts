// Who hears of many commits at once: the subscriptions of a tenant, cut once into a tree of the parts of their scopes.
//
// Invariants
//   H1. A commit is heard of by the consumers that `dueConsumers` names for it, whatever the scopes are.
//   H2. Commits that the same scopes cover have one list of hearers, so that who counts them counts lists and not names.
import type { StandingSubscription } from '@recourse/contract';
import type { Scoped } from './consumer.messages.js';

/** A part of scopes. */
interface Place {
  readonly id: number;
  readonly below: Map<string, Place>;
  /** Consumers whose scope ends here. */
  readonly consumers: Set<string>;
}

/** Stands for any part. */
const ANY = '*';

/** Consumers by what their scopes cover, of one tenant. */
export class Hearers {
  readonly #root: Place = { id: 0, below: new Map(), consumers: new Set() };
  readonly #lists = new Map<string, readonly string[]>();
  #places = 1;

  constructor(subscriptions: readonly Pick<StandingSubscription, 'scope' | 'consumer'>[]) {
    for (const { scope, consumer } of subscriptions) this.#at(scope.split('/')).consumers.add(consumer);
  }

  /** Consumers whose scope covers a commit, each once, in order of their names. */
  of({ tenant, agent, run, subject }: Scoped): readonly string[] {
    const covering: Place[] = [];
    let reached: readonly Place[] = [this.#root];
    for (const part of [tenant, agent, run, ...subject.split('/')]) {
      reached = reached.flatMap(({ below }) =>
        [below.get(part), part === ANY ? undefined : below.get(ANY)].filter((one) => one !== undefined),
      );
      if (reached.length === 0) break;
      covering.push(...reached.filter(({ consumers }) => consumers.size > 0));
    }
    return this.#listOf(covering);
  }

  #listOf(covering: readonly Place[]): readonly string[] {
    const name = covering.map(({ id }) => id).join(' ');
    const known = this.#lists.get(name);
    if (known !== undefined) return known;
    const list = [...new Set(covering.flatMap(({ consumers }) => [...consumers]))].sort();
    this.#lists.set(name, list);
    return list;
  }

  #at(parts: readonly string[]): Place {
    return parts.reduce((place, part) => {
      const below = place.below.get(part) ?? { id: this.#places++, below: new Map(), consumers: new Set() };
      place.below.set(part, below);
      return below;
    }, this.#root);
  }
}
