// What is remembered of an object, at the object itself.
//
// Boundary: what a WeakMap is for, without its price: the collector walks the entries of WeakMaps again and again, and with a
// hundred thousand of them a service does little else. Nobody else sees what is kept: no copy takes it along, no loop finds it.

/** Gives a derived class the object to put its private field at: what a constructor returns is `this` to those derived from it. */
// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- nothing else can be extended to return what it was given
class Host {
  constructor(object: object) {
    return object;
  }
}

/** Values by object, for as long as the object is held. */
export interface KeptAt<K extends object, V> {
  get(object: K): V | undefined;
  set(object: K, value: V): void;
}

/** Each call remembers apart from the others. */
export function keptAt<K extends object, V>(): KeptAt<K, V> {
  return class Kept extends Host {
    #value: V;

    private constructor(object: K, value: V) {
      super(object);
      this.#value = value;
    }

    static get(object: object): V | undefined {
      return #value in object ? object.#value : undefined;
    }

    static set(object: K, value: V): void {
      if (#value in object) object.#value = value;
      else new Kept(object, value);
    }
  };
}

/** The newest values by object: between `max` and twice as many. */
export class Recent<K extends object, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(private readonly max: number) {}

  get(object: K): V | undefined {
    return this.#young.get(object) ?? this.#old.get(object);
  }

  set(object: K, value: V): void {
    if (this.#young.size >= this.max) [this.#old, this.#young] = [this.#young, new Map<K, V>()];
    this.#young.set(object, value);
  }
}
