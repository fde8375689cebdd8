// What a person does about parked records: one is taken again or discarded, and those behind it follow in order (L15).
//
// Boundary: reads rows and says what happens; taking a record again and appending are the batch's.
import { PARKED_KIND } from './fold.js';
import { BEHIND, blocksKey, parkedAgain, TOO_LARGE } from './parking.decisions.js';
import { orderOfParked, waitsFor } from './parking-order.decisions.js';
import type { PlacedDecided, Problem } from './parking.decisions.js';
import type { Order } from './parking-order.decisions.js';
import type { CommandAnswer, Doc, RecordInput, StateView } from './service-core.js';

/** What the batch does for a command about parked records. */
export interface ParkingWork {
  readonly state: StateView;
  /** Takes a parked record as if it came now. Null: it was decided. */
  readonly redrive: (parked: Doc) => Problem | null;
  readonly record: (placed: PlacedDecided) => void;
  /** Does all that is recorded about one of them, or nothing where no batch holds it: then that is the problem. */
  readonly fitting: (about: () => Problem | null) => Problem | null;
}

/** Waits a record of this key and this order behind one that is parked? */
export function isHeldUp(state: StateView, key: string, order: Order): boolean {
  return state.list(PARKED_KIND, key).some((doc) => isBlocking(doc) && waitsFor(order, orderOfParked(doc)));
}

/** Open parked records of a key that are, or may be, of a tenant: whoever decides about the key is told that they are there. */
export function countParkedOf(state: Pick<StateView, 'list'>, key: string, tenant: string): number {
  return state.list(PARKED_KIND, key).filter((doc) => doc.open === true && (doc.tenant ?? tenant) === tenant).length;
}

function isBlocking(doc: Doc): boolean {
  return doc.open === true && blocksKey(String(doc.reason));
}

/** Open parked records of its key that one waits for, the first first. */
function beforeIt(state: StateView, doc: Doc): readonly Doc[] {
  const order = orderOfParked(doc);
  return openOf(state, doc).filter(
    (other) => placeOf(other) < placeOf(doc) && isBlocking(other) && waitsFor(order, orderOfParked(other)),
  );
}

/** Open parked records of its key that may go once it does: those that wait for it, and those that waited for any. */
function behindIt(state: StateView, doc: Doc): readonly Doc[] {
  const order = orderOfParked(doc);
  return openOf(state, doc).filter(
    (other) => placeOf(other) > placeOf(doc) && (other.reason === BEHIND || waitsFor(orderOfParked(other), order)),
  );
}

/** Open parked records of its key, as they came. */
function openOf(state: StateView, { record_key: key }: Doc): readonly Doc[] {
  return state
    .list(PARKED_KIND, String(key))
    .filter((doc) => doc.open === true)
    .sort((a, b) => placeOf(a) - placeOf(b));
}

const placeOf = ({ parked_seq: seq }: Doc): number => Number(seq);

/** What became of a parked record. */
export type ParkedAnswer = {
  readonly parked_id: string;
  /** Records that were taken again, it and those of its key behind it. */
  readonly redriven: number;
};

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
  const first = parkedBy(work.state, id);
  if (first === undefined)
    return refuse(404, 'PARKED_UNKNOWN', 'no open parked record of that id stands on this partition');
  const [before] = beforeIt(work.state, first);
  if (before !== undefined) return refuse(409, 'PARKED_BEHIND', `redrive or discard ${String(before.parked_id)} first`);
  const behind = behindIt(work.state, first);
  const isDiscard = type === 'DiscardParked';
  const close = (doc: Doc, resolution: 'redriven' | 'discarded'): void => {
    const { principal: by, command_id } = envelope;
    const closed = { parked_id: doc.parked_id, resolution, by, reason: body.reason, command_id };
    work.record({ decided: { type: 'ParkedResolved', body: closed }, key: String(doc.record_key) });
  };
  if (isDiscard) close(first, 'discarded');
  let redriven = 0;
  for (const doc of isDiscard ? behind.filter(({ reason }) => reason === BEHIND) : [first, ...behind]) {
    // What stays stands before what follows in its order, and before nothing else.
    if (doc !== first && beforeIt(work.state, doc).length > 0) continue;
    const problem = work.fitting(() => {
      const found = work.redrive(doc);
      if (found === null) close(doc, 'redriven');
      // Now it was looked at: what is wrong with it is its own, and somebody has to see to it.
      else if (doc !== first && doc.reason === BEHIND) work.record(parkedAgain(doc, found));
      return found;
    });
    if (problem !== null && doc === first) return refuse(409, problem.reason, problem.detail);
    // It may fit where it is the first: it stays as it is, and what waits for it does.
    if (problem === TOO_LARGE) break;
    if (problem !== null) continue;
    redriven += 1;
  }
  const told: ParkedAnswer = { parked_id: id, redriven };
  return { status: 'accepted', httpStatus: 200, code: null, body: told };
}

/** The open parked record of an id. */
function parkedBy(state: StateView, id: string): Doc | undefined {
  const key = state.get(PARKED_KIND, `#${id}`, id)?.record_key;
  const asked = typeof key === 'string' ? state.get(PARKED_KIND, key, id) : undefined;
  return asked?.open === true ? asked : undefined;
}
