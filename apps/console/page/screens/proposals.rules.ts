// What waits for a second person at the registry: what it would change, and who may confirm it. Pure.
import { fieldIn, listIn, numberIn, textIn } from '../api/rows.js';
import type { Person, Row } from '../api/shapes.js';
import { inert } from '../parts/inert.js';

const ALL = '*';

export interface Change {
  readonly then: unknown;
  readonly now: unknown;
}

/** The contract that binds where a proposal is made, and the one that would; `versions` are those of its name. */
export function changeOf(proposal: Row, versions: readonly Row[]): Change {
  const own = standingOf(versions, textIn(proposal, 'tenant'));
  const platform = standingOf(versions, ALL);
  return {
    then: fieldIn(own ?? platform, 'contract'),
    now: retires(proposal) ? fieldIn(platform, 'contract') : fieldIn(proposal, 'contract'),
  };
}

/** Those of an owner, the newest first: tenants and platform count theirs each for themselves. */
export function versionsOf(versions: readonly Row[], owner: string | null): readonly Row[] {
  return versions
    .filter((row) => textIn(row, 'tenant') === owner)
    .toSorted((a, b) => (numberIn(b, 'version') ?? 0) - (numberIn(a, 'version') ?? 0));
}

/** Whose a contract is, in words. */
export function ownerWords(owner: string | null): string {
  return owner === ALL ? 'the platform' : inert(owner ?? 'nobody that is named');
}

/** Is a contract the one that binds whoever reads? The stricter of theirs and the platform's does. */
export function bindsWords(row: Row, binding: Row): string {
  if (binding['retired'] === true) return 'no: it is retired, and none binds';
  const isIt = (['tenant', 'version', 'digest'] as const).every((name) => row[name] === binding[name]);
  return isIt
    ? 'yes'
    : `no: version ${numberIn(binding, 'version') ?? ''} of ${ownerWords(textIn(binding, 'tenant'))} does`;
}

/** The newest of an owner; none where that is retired: an older one is never in force again. */
function standingOf(versions: readonly Row[], owner: string | null): Row | null {
  const [newest] = versionsOf(versions, owner);
  return newest === undefined || newest['retired'] === true ? null : newest;
}

const retires = (proposal: Row): boolean => proposal['retires'] === true;

/** Why somebody may not confirm a proposal; null where they may, as far as the page knows. */
export function refusedConfirm({ subject, tenant, roles }: Person, proposal: Row): string | null {
  const owner = textIn(proposal, 'tenant');
  if (owner === ALL && tenant !== ALL) return 'It is the platform’s: only its editors confirm it.';
  const editors = ['administrator', owner === ALL ? 'platform_editor' : 'contract_editor'];
  if (!editors.some((role) => roles.includes(role))) return 'None of your roles may do this.';
  return textIn(proposal, 'proposed_by') === subject ? 'You proposed it: a second person confirms it.' : null;
}

export function confirmHappens(proposal: Row): readonly string[] {
  const weaker = listIn(proposal, 'weakenings').flatMap((one) => (typeof one === 'string' ? [inert(one)] : []));
  return [
    retires(proposal)
      ? 'The contract is retired. From now on the platform’s binds, as it stands beside it on the screen.'
      : 'The proposal binds from now on: actions that begin later are undone, checked and agreed to as it says.',
    ...weaker.map((one) => `Weaker: ${one}.`),
    `Its digest is ${textIn(proposal, 'digest') ?? ''}.`,
  ];
}
