// The entries of the contracts log, as a part of the registry's core: commands in, versions out.
//
// Boundary: translates between the loop and the entry decider. A row holds the newest version; older ones are in the log.
import { accepted, refused } from '@recourse/event-log';
import type { AcceptedRecord, Change, Decision, Doc, Input, KindSpec, StateView } from '@recourse/event-log';
import type { RegisterEntry, RetireEntry } from '@recourse/messages';
import { decideEntry } from '../domain/entry/entry.decider.js';
import { ENTRY_REJECTIONS } from '../domain/entry/entry.messages.js';
import type { EntryAnswer, EntryCommand, EntryVersion } from '../domain/entry/entry.messages.js';
import { entryPhaseAfter } from '../domain/entry/entry.transitions.js';

/** Kind of the rows: group is kind and tenant, key the name. */
export const ENTRY_KIND = 'entry';

export const ENTRY_COMMANDS = ['RegisterEntry', 'RetireEntry'] as const;

export const entryKind: KindSpec = {
  kind: ENTRY_KIND,
  table: 'entries',
  columns: [
    { name: 'kind', type: 'text', of: (row) => versionOf(row.doc).kind },
    { name: 'name', type: 'text', of: (row) => versionOf(row.doc).name },
    { name: 'tenant', type: 'text', of: (row) => versionOf(row.doc).tenant },
    { name: 'version', type: 'bigint', of: (row) => versionOf(row.doc).version },
    { name: 'retired', type: 'boolean', of: (row) => versionOf(row.doc).retired },
  ],
  indexes: [['kind', 'tenant', 'name']],
};

/** The command of an input; null when it is about something else. */
export function entryCommandOf(input: Input): EntryCommand | null {
  if (input.source !== 'wire' || !ENTRY_COMMANDS.some((type) => type === input.type)) return null;
  // The codec made the body from the schema of this type.
  const { envelope, kind, name, body, reason } = input.body as unknown as RegisterEntry & RetireEntry;
  const asker = {
    commandId: envelope.command_id,
    tenant: envelope.tenant,
    principal: envelope.principal,
    roles: envelope.roles,
  };
  return input.type === 'RegisterEntry'
    ? { type: 'RegisterEntry', asker, kind, name, body }
    : { type: 'RetireEntry', asker, kind, name, reason };
}

export function decideEntryCommand(state: StateView, command: EntryCommand): Decision {
  const doc =
    command.name.length > NAME_MAX
      ? undefined
      : state.get(ENTRY_KIND, groupOf(command.kind, command.asker.tenant), command.name);
  return answered(
    decideEntry(
      command,
      doc === undefined ? undefined : versionOf(doc),
      command.kind === 'subscription' ? othersOf(state, command) : 0,
    ),
  );
}

/** Subscriptions of the tenant that stand, this one left out. */
function othersOf(state: StateView, { kind, name, asker }: EntryCommand): number {
  return state
    .list(ENTRY_KIND, groupOf(kind, asker.tenant))
    .map(versionOf)
    .filter((one) => !one.retired && one.name !== name).length;
}

/** Rows an accepted record of entries changes; none for other records. */
export function evolveEntry(state: StateView, { type, body, decidedAt }: AcceptedRecord): readonly Change[] {
  if (type !== 'EntryRegistered' && type !== 'EntryRetired') return [];
  const [kind, tenant, name] = [String(body['kind']), String(body['tenant']), String(body['name'])];
  const group = groupOf(kind, tenant);
  const standing = state.get(ENTRY_KIND, group, name);
  const phase = entryPhaseAfter(
    standing === undefined ? 'absent' : versionOf(standing).retired ? 'retired' : 'standing',
    type,
  );
  const doc =
    type === 'EntryRegistered'
      ? // Avro fixed fields are Buffers.
        {
          kind,
          name,
          tenant,
          version: body['version'],
          digest: (body['digest'] as Buffer).toString('hex'),
          body: body['body'],
          registered_by: body['registered_by'],
          registered_at: decidedAt,
        }
      : { ...standing, retired_by: body['retired_by'], retired_at: decidedAt, reason: body['reason'] };
  return [
    {
      op: 'put',
      row: { kind: ENTRY_KIND, group, key: name, dueAt: null, doc: { ...doc, retired: phase === 'retired' } },
    },
  ];
}

/** Longest name that can be a row's key. */
const NAME_MAX = 128;

function groupOf(kind: string, tenant: string): string {
  return `${kind}/${tenant}`;
}

function answered(answer: EntryAnswer): Decision {
  switch (answer.kind) {
    case 'recorded':
      return accepted(answer.event.type === 'EntryRegistered' ? 201 : 200, { ...answer.entry }, answer.event);
    case 'unchanged':
      return accepted(200, { ...answer.entry });
    case 'rejected': {
      const { code, message, ...more } = answer.rejection;
      return refused(ENTRY_REJECTIONS[code], code, message, more);
    }
  }
}

function versionOf(doc: Doc): EntryVersion {
  // Rows of this kind are written by evolveEntry alone.
  return doc as unknown as EntryVersion;
}
