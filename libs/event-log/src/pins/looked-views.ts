// Views as they may have stood when a decision was made, and what it looked at of them.
import { partitionForKey } from '@recourse/kernel';
import type { Doc } from '../service-core.js';
import type { PinnedEntry, PinnedPosition } from './pin.messages.js';
import type { PinSource } from './pin-source.js';
import type { ViewSource } from './pin-state.js';

/** What a decision looked at of views. */
export interface LookedAt {
  readonly entries: readonly PinnedEntry[];
  readonly positions: readonly PinnedPosition[];
}

export class LookedViews implements ViewSource {
  readonly #entries = new Map<string, PinnedEntry>();
  readonly #positions = new Map<string, PinnedPosition>();

  /** `age`: how many records more than there were at that time each view has, or fewer. */
  constructor(
    private readonly source: Pick<PinSource, 'core' | 'views' | 'partitionCountOf'>,
    private readonly now: number,
    private readonly age: number,
  ) {}

  looked(): LookedAt {
    return { entries: [...this.#entries.values()], positions: [...this.#positions.values()] };
  }

  readonly entryOf = (view: string, key: string): Doc | undefined => {
    const history = this.source.views.get(view);
    const found = history?.entry(key, history.countAt(this.now) + this.age);
    this.#entries.set(`${view}\u0000${key}`, { view, key, records: found?.by ?? [] });
    return found?.doc;
  };

  readonly positionOf = (view: string, partition: number): number => {
    const history = this.source.views.get(view);
    const seq = history?.position(partition, history.countAt(this.now) + this.age) ?? 0;
    this.#positions.set(`${view}/${String(partition)}`, { view, partition, seq });
    return seq;
  };

  readonly partitionOf = (view: string, key: string): number => {
    const topic = this.source.core.views.find(({ name }) => name === view)?.topic;
    return topic === undefined ? 0 : partitionForKey(key, this.source.partitionCountOf(topic));
  };
}
