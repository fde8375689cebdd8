// Entries as files: one document an entry, its name beside its fields. And kinds as people type them. Pure.
import { ENTRY_KINDS } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';
import { docOf } from '@recourse/sdk';
import { withoutSchemaLink } from '../contracts/files.js';
import type { FileDocument } from '../contracts/files.js';
import { CliProblem } from '../problem.js';

/** What is sent for one entry; the registry says what is wrong with its fields. */
export interface EntryRequest {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

/** A kind, spelled with hyphens or underscores, in the singular or the plural. Errors: CliProblem(ENTRY_KIND_UNKNOWN). */
export function entryKind(text: string): EntryKind {
  const asked = text.toLowerCase().replaceAll('-', '_');
  const kind = ENTRY_KINDS.find((each) => each === asked || pluralOf(each) === asked);
  if (kind !== undefined) return kind;
  throw new CliProblem('ENTRY_KIND_UNKNOWN', `there is no kind ${text}`, 'usage', {
    remedy: `Use one of ${ENTRY_KINDS.map((each) => each.replaceAll('_', '-')).join(', ')}.`,
  });
}

/** The requests of some documents. `name` stands for one without a name of its own. Errors: CliProblem(ENTRY_NAME_MISSING). */
export function entryRequests(documents: readonly FileDocument[], name: string | undefined): readonly EntryRequest[] {
  return documents.map(({ file, value }) =>
    requestOf(file, withoutSchemaLink(value), documents.length === 1 ? name : undefined),
  );
}

function requestOf(file: string, value: Json, given: string | undefined): EntryRequest {
  const { name: own, ...entry } = docOf(value);
  const name = given ?? own;
  if (typeof name === 'string' && name !== '') return { name, entry };
  throw new CliProblem('ENTRY_NAME_MISSING', `${file} names no entry`, 'usage', {
    remedy: 'Give it a field `name`, or pass --name for a single entry.',
  });
}

function pluralOf(kind: string): string {
  return `${kind}${kind.endsWith('switch') ? 'es' : 's'}`;
}
