// Records that a service could not take: which logs hold them, and how many wait for a person.
import { docOf, EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { SERVICES } from '../config.js';
import type { Service } from '../config.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';

/** A log, with the service that owns it. */
export interface OwnedLog {
  readonly service: Service;
  readonly log: string;
}

/** What was found in the logs of the services that answer; the others are named with what is in the way. */
export interface Looked<Found> {
  readonly found: readonly Found[];
  readonly away: readonly { readonly service: Service; readonly code: string }[];
}

/** Looks into each log of each service; those that are away keep nobody from the others. Errors: the first, where none answers. */
export async function lookInto<Found>(
  session: Session,
  look: (owned: OwnedLog) => Promise<Found>,
): Promise<Looked<Found>> {
  const asked = await Promise.allSettled(SERVICES.map((service) => lookIntoOne(session, service, look)));
  const failed = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  const [first] = failed;
  const isBug = (cause: unknown): boolean => !(cause instanceof EdgeProblem) && !(cause instanceof CliProblem);
  if (failed.some(isBug) || failed.length === SERVICES.length) throw failed.find(isBug) ?? first;
  return {
    found: asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])),
    away: asked.flatMap((one, at) => {
      const service = SERVICES[at];
      return one.status === 'fulfilled' || service === undefined ? [] : [{ service, code: codeOf(one.reason) }];
    }),
  };
}

/** Each service says which logs it owns. */
async function lookIntoOne<Found>(
  session: Session,
  service: Service,
  look: (owned: OwnedLog) => Promise<Found>,
): Promise<readonly Found[]> {
  const { logs: names } = await session.service(service).get('/v1/status');
  return Promise.all((Array.isArray(names) ? names : []).map((log) => look({ service, log: String(log) })));
}

function codeOf(cause: unknown): string {
  return cause instanceof EdgeProblem || cause instanceof CliProblem ? cause.code : 'INTERNAL';
}

/** What is said of services that did not answer; null where all did. Pure. */
export function awayText({ away }: Pick<Looked<unknown>, 'away'>): string | null {
  if (away.length === 0) return null;
  return `not asked: ${away.map(({ service, code }) => `${service} (${code})`).join(', ')}`;
}

/** Parked records of one log, each with its service and log. */
export async function parkedIn(
  session: Session,
  { service, log }: OwnedLog,
  open: boolean,
  limit: number,
): Promise<{ readonly items: readonly Doc[]; readonly more: boolean }> {
  const { items, more } = await session.service(service).list('/v1/parked', { log, open: String(open) }, limit);
  return { items: items.map((item) => ({ ...docOf(item), service, log })), more };
}

/** Open records that are counted in one log. */
const COUNTED_MAX = 500;

/** Parked records that wait for a person, of the services that say; `code`: why one does not, null where all do. */
export interface ParkedCount {
  readonly open: number;
  /** There are more than were counted. */
  readonly more: boolean;
  readonly code: string | null;
}

/** Counts what waits. Whoever may not read parked records, or does not reach a service, is told so instead. */
export async function countParked(session: Session): Promise<ParkedCount> {
  try {
    const { found: lists, away } = await lookInto(session, (owned) => parkedIn(session, owned, true, COUNTED_MAX));
    const open = lists.reduce((sum, { items }) => sum + items.length, 0);
    return { open, more: lists.some(({ more }) => more), code: away[0]?.code ?? null };
  } catch (problem) {
    if (!(problem instanceof EdgeProblem) && !(problem instanceof CliProblem)) throw problem;
    return { open: 0, more: false, code: problem.code };
  }
}

/** What is said of them below a list that names `listed` of them; null where it names all. Pure. */
export function parkedText({ open, more, code }: ParkedCount, listed = 0): string | null {
  const others = Math.max(open - listed, 0);
  if (others === 0)
    return code === null ? null : `whether parked records wait, too, is not known here (${code}): recourse parked list`;
  const count = `${more ? 'more than ' : ''}${String(others)}${listed === 0 ? '' : ' more'}`;
  const waits = `${count} parked ${others === 1 && !more ? 'record waits' : 'records wait'}, too`;
  return `${waits}${code === null ? '' : `, and not every service could be asked (${code})`}: recourse parked list`;
}
