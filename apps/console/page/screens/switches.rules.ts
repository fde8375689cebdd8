// Kill switches: whose they are, who may set and lift them, what each halts, and what is sent for one. Pure.
import { fieldIn, textIn } from '../api/rows.js';
import type { Person, Row } from '../api/shapes.js';
import { inert } from '../parts/inert.js';

/** Of a switch that is over all tenants. */
const ALL = '*';

const OVERS = ['capability', 'agent', 'tenant'] as const;
export type Over = (typeof OVERS)[number];

/** What somebody wants stopped. */
export interface Stopping {
  /** A tenant, or `*`; empty while nobody has said whose. */
  readonly owner: string;
  readonly over: Over;
  /** The agent or the capability. */
  readonly what: string;
  /** Over an agent: is what it did not undone either? */
  readonly haltsUndoing: boolean;
}

/** What somebody typed, field by field, of whoever they are: who is of one tenant stops there. */
export function stoppingIn(typed: Readonly<Record<string, string>>, tenant: string): Stopping {
  const over = overIn(typed['over'] ?? '');
  return {
    owner: tenant === ALL ? (typed['tenant'] ?? '').trim() : tenant,
    over,
    what: typed['what'] ?? '',
    haltsUndoing: over === 'agent' && typed['undoing'] === 'halts',
  };
}

export function overIn(text: string): Over {
  return OVERS.find((over) => over === text) ?? 'capability';
}

export function ownerWords(owner: string): string {
  return owner === ALL ? 'ALL tenants' : inert(owner);
}

/** Why somebody may not set or lift a switch of this owner; null where they may, as far as their roles say. */
export function refusedSwitch({ tenant, roles }: Pick<Person, 'tenant' | 'roles'>, owner: string): string | null {
  const isOneOf = (...wanted: readonly string[]): boolean => wanted.some((role) => roles.includes(role));
  if (owner !== ALL)
    return isOneOf('operator', 'administrator') ? null : 'Only an operator or administrator stops and lifts here.';
  return tenant === ALL && isOneOf('platform_editor', 'administrator')
    ? null
    : 'It is over all tenants: only an editor or administrator of the platform stops and lifts so much.';
}

/** A name of its own for whatever is stopped, as the registry takes names: two scopes are two switches. */
export function nameOf({ over, what, haltsUndoing }: Stopping): string {
  const said = over === 'tenant' ? 'stop-tenant' : `${haltsUndoing ? 'stop-undoing' : 'stop'}-${over}-${what.trim()}`;
  const name = said.replaceAll(/[^\w.:@-]/g, '-');
  if (name === said && name.length <= NAME_MAX) return name;
  const tail = `-${hashOf(said)}`;
  return `${name.slice(0, NAME_MAX - tail.length)}${tail}`;
}
const NAME_MAX = 128;

/** Tells texts apart that are written alike: FNV-1a of 64 bits, 16 hex digits. It keeps no secret and proves nothing. */
function hashOf(text: string): string {
  const hash = new TextEncoder()
    .encode(text)
    .reduce((sum, byte) => BigInt.asUintN(64, (sum ^ BigInt(byte)) * FNV_PRIME), FNV_BASIS);
  return hash.toString(16).padStart(16, '0');
}
const FNV_PRIME = 0x100000001b3n;
const FNV_BASIS = 0xcbf29ce484222325n;

/** What is typed to be sure, so that nobody stops or lifts at another tenant than they think. */
export function typedOf(name: string, owner: string): string {
  return `${name} of ${ownerWords(owner)}`;
}

/** What a switch stops, whosever it is. */
export function scopeWords(row: Row): string {
  const over = textIn(row, 'entry', 'scope', 'over');
  if (over === 'tenant') return 'everything';
  const what = `${over ?? 'something'} ${inert(textIn(row, 'entry', 'scope', over ?? '') ?? '')}`;
  return fieldIn(row, 'entry', 'scope', 'halts_recovery') === true ? `${what}, and the undoing of what it did` : what;
}

export function liftHappens(row: Row): readonly string[] {
  return [
    `What it stops goes on at once: ${scopeWords(row)}, of ${ownerWords(textIn(row, 'tenant') ?? '')}.`,
    'Halted steps are decided again.',
  ];
}

const HALTS: Readonly<Record<Over, string>> = {
  tenant: 'Compensations that would go out halt and appear in the inbox. Windows go on closing meanwhile.',
  capability: 'Compensations that would call it halt and appear in the inbox. Windows go on closing meanwhile.',
  agent: 'What it did is still undone.',
};
const UNDOING_HALTS = 'What it did is not undone either while this stands. Windows go on closing meanwhile.';

export function stopHappens({ owner, over, what, haltsUndoing }: Stopping): readonly string[] {
  const whose = ownerWords(owner);
  return [
    over === 'tenant'
      ? `Nothing of ${whose} is dispatched any more, forward or back.`
      : `Nothing of the ${over} ${inert(what.trim())} is dispatched any more, of ${whose}.`,
    haltsUndoing ? UNDOING_HALTS : HALTS[over],
    'It stands until somebody lifts it.',
  ];
}

/** Why the button cannot be pressed yet; null where it can. */
export function notYet({ owner, over, what }: Stopping, person: Pick<Person, 'tenant' | 'roles'>): string | null {
  if (owner === '') return 'Say whose first: a tenant, or * for all.';
  if (over !== 'tenant' && what.trim() === '') return 'Say what to stop first.';
  return refusedSwitch(person, owner);
}

/** What is sent. */
export function entryOf(
  { over, what, haltsUndoing }: Stopping,
  {
    by,
    reason,
    fields,
  }: { readonly by: string; readonly reason: string; readonly fields: Readonly<Record<string, string>> },
) {
  const named = over === 'tenant' ? { over } : { over, [over]: what.trim() };
  return {
    owner: by,
    doc: reason,
    scope: haltsUndoing ? { ...named, halts_recovery: true } : named,
    severity: fields['severity'] ?? 'sev3',
    runbook: fields['runbook'] ?? '',
    reason,
  };
}
