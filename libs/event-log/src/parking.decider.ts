// What a person does about parked records: one is taken again or discarded, and those behind it follow in order (L15).
//
// Boundary: reads rows and says what happens; taking a record again and appending are the batch's.
import { PARKED_KIND } from './fold.js';
import { blocksKey, isOneOrder, orderOfParked } from './parking.decisions.js';
import type { Order, PlacedDecided, Problem } from './parking.decisions.js';
import type { CommandAnswer, Doc, RecordInput, StateView } from './service-core.js';

/** What the batch does for a command about parked records. */
export interface ParkingWork {
  readonly state: StateView;
  /** Takes a parked record as if it came now. Null: it was decided. */
  readonly redrive: (parked: Doc) => Problem | null;
  readonly record: (placed: PlacedDecided) => void;
}

/** Waits a record of this key and this order behind one that is parked? */
export function isHeldUp(state: StateView, key: string, order: Order): boolean {
  return state
    .list(PARKED_KIND, key)
    .some((doc) => doc.open === true && blocksKey(String(doc.reason)) && isOneOrder(orderOfParked(doc), order));
}

function isBehindAnother(state: StateView, doc: Doc): boolean {
  return state
    .list(PARKED_KIND, String(doc.record_key))
    .filter((other) => Number(other.parked_seq) < Number(doc.parked_seq))
    .some((other) => other.open === true && blocksKey(String(other.reason)) && isSameOrder(other, doc));
}

function isSameOrder(one: Doc, other: Doc): boolean {
  return isOneOrder(orderOfParked(one), orderOfParked(other));
}

/** Answers RedriveParked and DiscardParked. */
export function decideParkedCommand({ type, body }: RecordInput, envelope: Doc, work: ParkingWork): CommandAnswer {
  const id = String(body.parked_id);
  const refuse = (httpStatus: number, code: string, message: string): CommandAnswer => ({
    status: 'rejected',
    httpStatus,
    code,
    body: { code, message, parked_id: id },
  });
  if (!(envelope.roles as readonly string[]).includes('administrator'))
    return refuse(403, 'ROLE_MISSING', 'only an administrator redrives or discards parked records');
  const [first, ...behind] = queueOf(work.state, id);
  if (first === undefined)
    return refuse(404, 'PARKED_UNKNOWN', 'no open parked record of that id stands on this partition');
  if (first.parked_id !== id)
    return refuse(409, 'PARKED_BEHIND', `redrive or discard ${String(first.parked_id)} first`);
  const isDiscard = type === 'DiscardParked';
  const close = (doc: Doc, resolution: 'redriven' | 'discarded'): void => {
    const { principal: by, command_id } = envelope;
    const closed = { parked_id: doc.parked_id, resolution, by, reason: body.reason, command_id };
    work.record({ decided: { type: 'ParkedResolved', body: closed }, key: String(doc.record_key) });
  };
  if (isDiscard) close(first, 'discarded');
  let redriven = 0;
  for (const doc of isDiscard ? behind.filter(({ reason }) => reason === 'BEHIND') : [first, ...behind]) {
    // What stays stands before what follows in its order, and before nothing else.
    if (doc !== first && isBehindAnother(work.state, doc)) continue;
    const problem = work.redrive(doc);
    if (problem !== null && doc === first) return refuse(409, problem.reason, problem.detail);
    if (problem !== null) continue;
    close(doc, 'redriven');
    redriven += 1;
  }
  return { status: 'accepted', httpStatus: 200, code: null, body: { parked_id: id, redriven } };
}

/** Open parked records of the key and the order that one stands in, as they came; none when that one is not open. */
function queueOf(state: StateView, id: string): readonly Doc[] {
  const key = state.get(PARKED_KIND, `#${id}`, id)?.record_key;
  const asked = typeof key === 'string' ? state.get(PARKED_KIND, key, id) : undefined;
  if (typeof key !== 'string' || asked?.open !== true) return [];
  return state
    .list(PARKED_KIND, key)
    .filter((doc) => doc.open === true && isSameOrder(doc, asked))
    .sort((a, b) => Number(a.parked_seq) - Number(b.parked_seq));
}
