// Memory reads: what an agent remembers is read only with consent and while it is fresh, and every query is on record (D60).
//
// Invariants
//   M1. Nothing is handed out that was not logged first: a log that cannot be written refuses.
//   M2. What has no consent for this purpose, or is older than its source's time to live, is refused, whatever it says.
import { evidenceVerdict } from '@recourse/contract';
import type { EntryBody } from '@recourse/contract';
import type { Clock, Json } from '@recourse/kernel';
import type { Entries } from '../entries/entries.port.js';
import { standingNamed } from '../entries/named.js';
import type { Consents } from './consents.port.js';
import type { MemoryQuery, MemoryRefusalCode } from './memory.messages.js';
import type { QueryLog } from './query-log.port.js';

/** Something remembered. */
export interface MemoryItem {
  readonly value: Json;
  /** Name of the context source it came from. */
  readonly source: string;
  /** Whose data it is: they agreed to the purpose, or it is not handed out. */
  readonly subject: string;
  /** When it was observed, epoch milliseconds. */
  readonly observedAt: number;
}

/** What a read of a memory gives, and what it withholds. */
export type MemoryRead =
  | { readonly kind: 'read'; readonly value: Json; readonly source: string; readonly observedAt: number }
  | { readonly kind: 'refused'; readonly code: MemoryRefusalCode };

/** Context sources by name. */
export type Sources = Readonly<Record<string, EntryBody<'context_source'>>>;

/** What gated reads of a memory need. */
export interface MemoryReadsOptions {
  readonly find: (query: MemoryQuery) => Promise<MemoryItem | null>;
  /** Context sources by name, or the registry, as cachedEntries reads it. */
  readonly sources: Sources | Entries;
  readonly clock: Clock;
  readonly consents: Pick<Consents, 'has'>;
  readonly log: Pick<QueryLog, 'append'>;
}

/** A memory read through consent and freshness. */
export type MemoryReads = (query: MemoryQuery) => Promise<MemoryRead>;

/** Reads under policy. Errors: none; what cannot be found out is refused. */
export function memoryReads(options: MemoryReadsOptions): MemoryReads {
  const { clock, log } = options;
  return async (query) => {
    const askedAt = clock.now();
    const answer = await look(query, options, askedAt);
    try {
      await log.append({ ...query, askedAt, code: answer.kind === 'read' ? null : answer.code });
    } catch {
      return { kind: 'refused', code: 'LOG_UNAVAILABLE' };
    }
    return answer;
  };
}

async function look(
  query: MemoryQuery,
  { find, sources, consents }: MemoryReadsOptions,
  now: number,
): Promise<MemoryRead> {
  let item: MemoryItem | null;
  try {
    item = await find(query);
  } catch {
    return { kind: 'refused', code: 'MEMORY_UNAVAILABLE' };
  }
  if (item === null) return { kind: 'refused', code: 'MEMORY_UNKNOWN' };
  const isAgreed = await agreed(consents, item, query);
  // Consent comes first: a refusal for age would say that it exists.
  if (isAgreed !== true)
    return { kind: 'refused', code: isAgreed === null ? 'CONSENTS_UNAVAILABLE' : 'CONSENT_MISSING' };
  const known = isRegistry(sources) ? await registered(sources, query.tenant) : sources;
  if (known === null) return { kind: 'refused', code: 'SOURCES_UNAVAILABLE' };
  const code = memoryRefusal(item, known, now);
  return code !== null
    ? { kind: 'refused', code }
    : { kind: 'read', value: item.value, source: item.source, observedAt: item.observedAt };
}

/** Whether the subject agreed to the purpose; null when nobody can tell. */
async function agreed(
  consents: MemoryReadsOptions['consents'],
  { subject }: MemoryItem,
  { tenant, purpose }: MemoryQuery,
): Promise<boolean | null> {
  try {
    return await consents.has({ tenant, subject, purpose });
  } catch {
    return null;
  }
}

/** A source is data; only the registry can be asked. */
function isRegistry(sources: Sources | Entries): sources is Entries {
  return typeof sources.standing === 'function';
}

/** What stands for a tenant, its own with what the platform's demands; null when the registry cannot be asked. */
async function registered(entries: Entries, tenant: string): Promise<Sources | null> {
  const answer = await entries.standing('context_source', tenant);
  if (answer.kind === 'unavailable') return null;
  const names = [...new Set(answer.entries.map(({ name }) => name))];
  return Object.fromEntries(
    names.flatMap((name) => {
      const standing = standingNamed('context_source', answer.entries, { tenant, name });
      return standing === undefined ? [] : [[name, standing.entry] as const];
    }),
  );
}

/** Why something remembered may not be read though its subject agreed; null when it may. Pure. */
export function memoryRefusal(item: MemoryItem, sources: Sources, now: number): MemoryRefusalCode | null {
  const verdict = evidenceVerdict(
    Object.hasOwn(sources, item.source) ? sources[item.source] : undefined,
    item.observedAt,
    now,
  );
  if (verdict.admitted) return null;
  return verdict.code === 'SOURCE_UNKNOWN' ? 'SOURCE_UNKNOWN' : 'EVIDENCE_STALE';
}
