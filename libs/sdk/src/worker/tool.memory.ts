// Tools in memory: a provider of things that can be made and taken back, once per key. For specs, and to try a drill.
import { happened, notHappened } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { ForwardTool } from '../guard/guard.messages.js';
import { ToolRejected } from '../tool/tool.js';
import type { Tool } from '../tool/tool.js';

const MAKE = 'memory.make_thing';
const UNDO = 'memory.undo_thing';
const LOOK = 'memory.get_thing';

/** A provider in memory: `forward` makes a thing, its tools undo it and look at it. Everything ends with the process. */
export class MemoryTools {
  /** Effects that really were, in order. */
  readonly effects: { readonly kind: 'made' | 'undone'; readonly key: string; readonly id: string }[] = [];

  readonly forward: ForwardTool = {
    execute: (_args, { idempotencyKey }) =>
      Promise.resolve(this.shown(this.once('made', idempotencyKey, () => `thing-${String(this.effects.length + 1)}`))),
    externalTransactionRef: (result) => idIn(result),
  };

  /** By capability, as a worker takes them. */
  readonly tools: Readonly<Record<string, Tool>> = {
    [UNDO]: (args, { idempotencyKey }) => this.undo(idIn(args), idempotencyKey),
    [LOOK]: (args, { phase, idempotencyKey }) =>
      Promise.resolve(
        phase === 'reconcile' && idIn(args) === null ? this.found(idempotencyKey) : this.shown(idIn(args)),
      ),
  };

  /** How often something took effect under a key. */
  effectsUnder(key: string): Promise<number> {
    return Promise.resolve(this.effects.filter((effect) => effect.key === key).length);
  }

  private undo(id: string | null, key: string): Promise<Json> {
    if (id === null || !this.effects.some((effect) => effect.id === id))
      return Promise.reject(new ToolRejected('THING_UNKNOWN', 'there is no such thing'));
    return Promise.resolve(this.shown(this.once('undone', key, () => id)));
  }

  private once(kind: 'made' | 'undone', key: string, make: () => string): string {
    const known = this.effects.find((effect) => effect.kind === kind && effect.key === key);
    if (known !== undefined) return known.id;
    const id = make();
    this.effects.push({ kind, key, id });
    return id;
  }

  private shown(id: string | null): Json {
    if (id === null || !this.effects.some((effect) => effect.id === id))
      throw new ToolRejected('THING_UNKNOWN', 'there is no such thing');
    return {
      id,
      status: this.effects.some((effect) => effect.kind === 'undone' && effect.id === id) ? 'undone' : 'made',
    };
  }

  private found(key: string): Json {
    const made = this.effects.find((effect) => effect.kind === 'made' && effect.key === key);
    return made === undefined ? notHappened() : happened(this.shown(made.id), made.id);
  }
}

function idIn(value: Json): string | null {
  // Anything may be asked for its id.
  const id = typeof value === 'object' && value !== null ? (value as { readonly id?: Json }).id : null;
  return typeof id === 'string' ? id : null;
}

const THING = {
  type: 'object',
  properties: { id: { type: 'string' }, status: { type: 'string' } },
  required: ['id', 'status'],
};
const ID = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false };

/** Contracts of the tools in memory. */
export const MEMORY_CONTRACTS: readonly Contract[] = [
  {
    name: LOOK,
    owner: 'specs',
    effect: 'Reads a thing.',
    impact: 'read',
    approval_mode: 'read_only',
    args_schema: { type: 'object' },
    result_schema: THING,
  },
  {
    name: UNDO,
    owner: 'specs',
    effect: 'Takes a thing back.',
    impact: 'write',
    approval_mode: 'delegated',
    args_schema: ID,
    result_schema: THING,
    reversal_class: 'irreversible',
    compensation_mode: { mode: 'not_supported', reason: 'It is made anew.', accepted_by: 'specs' },
    forward_approval: 'human',
  },
  {
    name: MAKE,
    owner: 'specs',
    effect: 'Makes a thing.',
    impact: 'write',
    approval_mode: 'delegated',
    args_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    result_schema: THING,
    reversal_class: 'compensable',
    compensation_mode: { mode: 'approval_required', reason: 'Somebody may need the thing.' },
    compensation_capability: UNDO,
    reversal_args: { id: { from: 'external_ref' } },
    requires_external_handle: true,
    reversal_window_ms: 60_000,
    reconcile_capability: LOOK,
    stale_check: {
      observe_capability: LOOK,
      compares: 'status',
      condition: 'observed.status == "made"',
      check_act_gap: 'None in memory.',
    },
    verification: {
      verify_capability: LOOK,
      success_condition: 'observed.status == "undone" && observed.id == bound.args.id',
      max_attempts: 2,
      delay_ms: 10,
    },
    idempotency: { mechanism: 'By key.', key_lifetime_ms: 60_000 },
    call_timeout_ms: 10_000,
  },
];
