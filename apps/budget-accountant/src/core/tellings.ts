// What sources say on the wire of agents, told apart by source and event: said again it changes nothing, said otherwise it is a
// conflict (L12).
import { sha256 } from '@recourse/chain';
import { append, NOTHING } from '@recourse/event-log';
import type { Decided, Decision, RecordInput, StateView } from '@recourse/event-log';
import { canonicalJson, deriveId, isTenant } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { AgentSignalled, OutcomeRecorded } from '@recourse/messages';
import type { SignalRefusal } from '../rules/autonomy/autonomy.messages.js';
import { refusalText } from '../rules/autonomy/signal.decider.js';
import { tellings, toldIdOf } from '../rows/autonomy.rows.js';

type Telling = AgentSignalled | OutcomeRecorded;

/** Hash of what was said, whatever it is: numbers that JSON knows none of are told by their names. */
export function hashOfSaid(body: Telling): Buffer {
  const plain = Object.entries(body).map(([name, value]): Json => [name, plainly(value)]);
  return sha256(canonicalJson(plain));
}

function plainly(value: unknown): Json {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([name, member]): Json => [name, plainly(member)]);
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

/** Was it said before? Null when it was not. */
export function toldBefore(
  state: StateView,
  { tenant, source, event_id }: Pick<Telling, 'tenant' | 'source' | 'event_id'>,
  hash: Buffer,
): 'same' | 'other' | null {
  const before = tellings.find(state, toldIdOf(tenant, source, event_id));
  if (before === null) return null;
  return before.content_hash === hash.toString('hex') ? 'same' : 'other';
}

/** What lies under the key of another tenant than it names counts for neither; null where it lies right. */
export function misplacedTelling({ key }: RecordInput, body: Telling, signal: string): Decision | null {
  if (key === body.tenant) return null;
  const detail = 'the record key must be the tenant';
  if (!isTenant(key)) return { ...NOTHING, park: { reason: 'KEY_MISMATCH', detail } };
  // Under an id of its own, so that what its tenant's source says under that id is heard all the same.
  const told_id = deriveId('tld', 'forged', key, body.tenant, body.source, body.event_id);
  const { type, body: record } = refusedTelling({ ...body, tenant: key, signal }, hashOfSaid(body), 'TENANT_FORGED');
  return append({ type, body: { ...record, told_id } });
}

/** The record of what does not count. */
export function refusedTelling(
  said: Pick<Telling, 'tenant' | 'agent_id' | 'source' | 'event_id'> & {
    readonly task_kind?: string;
    readonly signal: string;
  },
  content_hash: Buffer,
  code: SignalRefusal,
): Decided {
  const { tenant, agent_id, source, event_id, task_kind = null, signal } = said;
  const told_id = toldIdOf(tenant, source, event_id);
  const body = { told_id, tenant, agent_id, task_kind, source, event_id, content_hash, signal, code };
  return { type: 'SignalRefused', body: { ...body, detail: refusalText(code) } };
}
