// One decision made again, as far as keys open what it looks into. Pure.
import { Lacking } from '../lacks.js';
import { mapPayloads, withHashes } from '../sealing/payload-walk.js';
import { asStored } from '../sealing/sealing.js';
import type { PayloadDoc } from '../sealing/sealing.js';
import type { DecideContext, Decided, Decision, Doc, Input, Owns, ServiceCore } from '../service-core.js';
import { nameOf } from './payload-keys.js';
import type { Closed, PayloadKeys } from './payload-keys.js';
import { NotPinned, opening, PayloadClosed, stateOver, viewsOver } from './pin-state.js';
import type { Looked, RowSource, ViewSource } from './pin-state.js';

/** What a decision is made over. */
export interface RemakeContext {
  readonly core: ServiceCore;
  readonly rows: RowSource;
  readonly views: ViewSource;
  readonly keys: PayloadKeys;
  readonly now: number;
  readonly partition: number;
  readonly partitions: number;
  readonly owns: Owns;
}

export type Remade =
  | {
      readonly kind: 'made';
      readonly decided: readonly Decided[];
      readonly isParked: boolean;
      /** It took the hash of a sealed payload for that of an opened one. */
      readonly isHashed: boolean;
      /** Names of the payloads that it opened. */
      readonly opened: readonly string[];
    }
  | { readonly kind: Closed }
  | { readonly kind: 'not_pinned'; readonly what: string }
  | { readonly kind: 'failed'; readonly what: string };

/** Makes a decision; the answer of a command stands behind its records, as the loop writes it. Errors: Lacking, for a key that has to be loaded. */
export function remake(made: RemakeContext, input: Input): Remade {
  const { core, rows, views, keys, now, partition, partitions, owns } = made;
  const looked: Looked = { into: null, atHash: false, opened: new Map() };
  const shown = (doc: Doc): Doc => opening(doc, looked, keys);
  const state = stateOver(rows, core.kinds, shown);
  const context: DecideContext = { state, views: viewsOver(views), now, partition, partitions, owns };
  const told = input.source === 'timer' ? input : { ...input, body: shown(input.body) };
  try {
    const decision = core.decide(context, told);
    if (looked.into !== null) return { kind: looked.into };
    const decided = recordsOf(decision, input, looked);
    const opened = [...looked.opened.keys()];
    return { kind: 'made', decided, isParked: decision.park !== undefined, isHashed: looked.atHash, opened };
  } catch (cause) {
    if (cause instanceof Lacking) throw cause;
    if (looked.into !== null || cause instanceof PayloadClosed) return { kind: looked.into ?? 'payload_sealed' };
    const what = cause instanceof Error ? cause.message : String(cause);
    return { kind: cause instanceof NotPinned ? 'not_pinned' : 'failed', what };
  }
}

function recordsOf({ records, answer }: Decision, input: Input, { opened }: Looked): readonly Decided[] {
  const stored = records.map(({ type, body }) => ({ type, body: storedIn(body, opened) }));
  if (answer === undefined || input.source === 'timer') return stored;
  const { command_id, body_sha256 } = input.body.envelope as Doc; // only commands are answered
  const { status, httpStatus: http_status, code, body } = answer;
  const fields = { command_id, body_sha256, status, http_status, code, answer: JSON.stringify(body) };
  return [...stored, { type: 'CommandAnswered', body: fields }];
}

/** The body with its payloads as they are stored; a field that repeats the hash of an opened one follows it, as sealing has it. */
function storedIn(body: Doc, opened: ReadonlyMap<string, PayloadDoc>): Doc {
  const hashes = new Map<string, Buffer>();
  const stored = mapPayloads(body, (payload) => {
    const was = asStored(payload) as PayloadDoc; // what opens on use was stored as a payload
    const plain = was === payload ? undefined : opened.get(nameOf(was));
    if (plain !== undefined) hashes.set(plain.sha256.toString('latin1'), was.sha256);
    return was;
  }) as Doc;
  return hashes.size === 0 ? stored : (withHashes(stored, (hash) => hashes.get(hash)) as Doc);
}
