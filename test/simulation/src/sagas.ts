// Runs of several effects that are taken back together: decisions about many at once, and legs of many steps.
import type { EffectKind } from './contracts.js';
import { EFFECT_KINDS } from './contracts.js';
import type { Random } from './random.js';
import type { World } from './world.js';

/** Effects of one run, at the least and at the most. */
const EFFECTS_MIN = 2;
const EFFECTS_MAX = 9;
/** Part of the effects that people have to agree to, or whose tool takes no key. */
const MIXED = 0.12;
/** Longest between two effects, and from the last to the end, milliseconds. */
const PAUSE_MS = 120;
const REST_MS = 1_500;

/** An effect of a run that is still to be made. */
export interface Planned {
  readonly tenant: string;
  readonly run: string;
  readonly kind: EffectKind;
  readonly refs: readonly string[];
  /** The step that failed for good; the run says that all before it is to be taken back. */
  readonly isFailure: boolean;
}

export interface SagaParts {
  readonly tenant: () => string;
  readonly ref: (tenant: string) => string;
  readonly id: (prefix: string) => string;
  readonly make: (planned: Planned) => Promise<void>;
  readonly undo: (tenant: string, run: string) => void;
  readonly invalidate: (tenant: string, ref: string) => void;
}

export class Sagas {
  constructor(
    private readonly world: World,
    private readonly random: Random,
    private readonly parts: SagaParts,
  ) {}

  /** Tells a run from its first effect to its end: undone, failed at its last step, or built on what turned out wrong. */
  async tell(): Promise<void> {
    const { random, parts } = this;
    const tenant = parts.tenant();
    const run = parts.id(`${tenant}-saga`);
    const end = random.weighted({ undone: 4, failed: 4, contradicted: 4, kept: 1 } as const);
    const ref = parts.ref(tenant);
    const refs = end === 'contradicted' ? [ref] : [];
    for (let left = random.between(EFFECTS_MIN, EFFECTS_MAX); left > 0; left -= 1) {
      const kind = random.chance(MIXED) ? random.pick(EFFECT_KINDS) : 'credit';
      await parts.make({ tenant, run, kind, refs, isFailure: false });
      await this.wait(PAUSE_MS);
    }
    if (end === 'failed') await parts.make({ tenant, run, kind: 'credit', refs, isFailure: true });
    await this.wait(REST_MS);
    if (end === 'undone') parts.undo(tenant, run);
    if (end === 'contradicted') parts.invalidate(tenant, ref);
  }

  private async wait(ms: number): Promise<void> {
    await this.world.scheduler.sleep(this.world.actor('producer'), this.random.below(ms));
  }
}
