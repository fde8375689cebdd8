// Schema registry in this process: ids from 1, shared by actors, and unavailable on demand.
import { Failure } from '@recourse/kernel';
import type { SchemaRegistry } from '../kafka.port.js';
import { Actor } from '../memory/actor.memory.js';
import { openGate } from '../memory/gate.memory.js';
import type { Gate } from '../memory/gate.memory.js';
import { PromiseCache } from './promise-cache.js';

export class MemoryRegistry {
  /** While false every request fails with REGISTRY_UNAVAILABLE. What an actor has cached stays known to it. */
  available = true;
  private readonly schemas: (string | null)[] = [];
  private readonly subjects = new Map<string, Set<number>>();
  private readonly actors = new Set<Actor>();

  constructor(private readonly gate: Gate = openGate) {}

  /** A handle with a cache of its own, for a new incarnation of an actor. */
  forActor(name: string): SchemaRegistry {
    const actor = new Actor(name, this.gate);
    this.actors.add(actor);
    const schemas = new PromiseCache<string>();
    const ids = new PromiseCache<number>();
    return {
      schemaById: (id) => schemas.get(String(id), () => this.ask(actor, () => this.schemaOf(id))),
      idOf: (subject, schema, { register = false } = {}) =>
        ids.get(`${String(register)} ${subject} ${schema}`, () =>
          this.ask(actor, () => this.idOf(subject, schema, register)),
        ),
    };
  }

  /** Forgets every subject and every schema; ids are not given again. */
  loseAll(): void {
    this.subjects.clear();
    this.schemas.fill(null);
  }

  /** Kills all incarnations of an actor: no promise of theirs settles any more. */
  crash(actorName: string): void {
    for (const actor of this.actors)
      if (actor.name === actorName) {
        actor.alive = false;
        this.actors.delete(actor);
      }
  }

  private ask<T>(actor: Actor, act: () => T): Promise<T> {
    return actor.ask(
      { kind: 'registry' },
      () => {
        if (!this.available) throw new Failure('REGISTRY_UNAVAILABLE', 'the registry is set unavailable');
        return act();
      },
      'REGISTRY_UNAVAILABLE',
    );
  }

  private schemaOf(id: number): string {
    const schema = this.schemas[id - 1];
    if (schema === undefined || schema === null) throw new Failure('UNKNOWN_SCHEMA', `schema ${String(id)}`);
    return schema;
  }

  /** The same text has one id, whatever subjects it is registered under. */
  private idOf(subject: string, schema: string, register: boolean): number {
    const known = this.schemas.indexOf(schema) + 1;
    const registered = this.subjects.get(subject) ?? new Set();
    if (!register) {
      if (known === 0 || !registered.has(known)) throw new Failure('UNKNOWN_SCHEMA', `subject ${subject}`);
      return known;
    }
    const id = known === 0 ? this.schemas.push(schema) : known;
    this.subjects.set(subject, registered.add(id));
    return id;
  }
}
