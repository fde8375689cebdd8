// Who approved what, on which facts: the records of a mutation, a rollback or a run as lines somebody can read who was not there. Pure.
import { z } from 'zod';
import { docOf } from '@recourse/sdk';
import { countText } from '../output/count-text.js';
import type { Accepted } from '../audit/accepted.js';
import { cellText } from '../output/table.js';
import { select } from './selection.js';
import type { Told } from './selection.js';
import { FACTS, isDecision, sentenceOf, WORDS } from './sentences.js';
import type { Words } from './sentences.js';
import type { Open } from './tellers.js';

const line = z.strictObject({
  number: z.int().min(1),
  at: z.iso.datetime(),
  who: z.string(),
  what: z.string(),
  type: z.string(),
  is_decision: z.boolean().describe('A person decided here.'),
  on_facts: z.array(z.int()).describe('Lines that whoever decided had to go by; empty where nobody did.'),
  log: z.string(),
  partition: z.int(),
  seq: z.int(),
  index: z.int().nullable().describe('Place within a record about several things; null where it is about one.'),
  record_hash: z.string().regex(/^[0-9a-f]{64}$/),
});

/** What `recourse audit story --json` prints. */
export const storyShape = z.strictObject({
  schema: z.literal('urn:recourse:story:1'),
  about: z.strictObject({
    kind: z.enum(['mutation', 'rollback', 'run']),
    tenant: z.string().optional().describe('Whose it is; absent in packets of older versions.'),
    id: z.string(),
  }),
  words: z
    .literal([2, WORDS])
    .optional()
    .describe('Version of the words it is told in; absent in packets of older versions.'),
  lines: z.array(line).min(1),
});
export type Story = Readonly<z.infer<typeof storyShape>>;
export type StoryLine = Story['lines'][number];

/** What a story is about, in words; of packets of older versions nobody knows whose it is. */
export const titleOf = ({ kind, id, tenant }: Story['about']): string =>
  `Story of ${kind} ${id}${tenant === undefined ? '' : ` of tenant ${tenant}`}`;

/** How long a story is: a record about several things is told in a line for each. */
export function countedIn(lines: readonly StoryLine[]): string {
  const records = new Set(lines.map(({ record_hash }) => record_hash)).size;
  const decisions = lines.filter(({ is_decision }) => is_decision).length;
  return `${countText(lines.length, 'line')} of ${countText(records, 'record')}; ${countText(decisions, 'line is', 'lines are')} what people decided.`;
}

/** The story, with the records it is told from; null where the logs hold nothing under that name, or several tenants have it and none is named. */
export function storyOf(
  records: readonly Accepted[],
  id: string,
  opened: ReadonlyMap<string, unknown> = new Map(),
  { tenant = null, words = WORDS }: { readonly tenant?: string | null; readonly words?: Words } = {},
): { readonly story: Story; readonly records: readonly Accepted[] } | null {
  const found = select(records, { id, tenant });
  if (found === null || found.told.length === 0) return null;
  const open = opener(opened);
  const lines = found.told.map((told, at) => lineOf(told, at + 1, found.told, { open, words }));
  return {
    story: {
      schema: 'urn:recourse:story:1',
      about: { ...found.about },
      ...(words === 1 ? {} : { words }),
      lines,
    },
    records: [...new Set(found.told.map(({ record }) => record))],
  };
}

/** How it is told. */
interface Telling {
  readonly open: Open;
  readonly words: Words;
}

function lineOf(
  { record, index, says, at }: Told,
  number: number,
  all: readonly Told[],
  { open, words }: Telling,
): StoryLine {
  const { who, what } = sentenceOf(record.type, withLook(record.type, says, all), open, words);
  const isDecided = isDecision(record.type, says, words);
  return {
    number,
    at: new Date(at).toISOString(),
    who,
    what,
    type: record.type,
    is_decision: isDecided,
    on_facts: isDecided ? factsBefore(number, says, all) : [],
    log: record.log,
    partition: record.partition,
    seq: record.seq,
    index,
    record_hash: record.hash,
  };
}

/** An answer to a look names it by its leg alone: who had it taken, and why, its own record says. */
function withLook(type: string, says: Told['says'], all: readonly Told[]): Told['says'] {
  if (type !== 'LookAnswered') return says;
  const asked = all.find((one) => one.record.type === 'LookDispatched' && one.says['leg_id'] === says['leg_id']);
  return asked === undefined ? says : { ...says, look: asked.says };
}

/** Facts on record before a decision that are about the same effect, or about what it relied on. */
function factsBefore(number: number, says: Readonly<Record<string, unknown>>, all: readonly Told[]): number[] {
  return all.slice(0, number - 1).flatMap(({ record, says: fact }, at) => {
    const isSame = (field: string): boolean => typeof says[field] === 'string' && fact[field] === says[field];
    const isAbout =
      record.type === 'AssumptionStated' || ['mutation_id', 'step_id', 'approval_id', 'escalation_id'].some(isSame);
    return FACTS.has(record.type) && isAbout ? [at + 1] : [];
  });
}

const SHOWN_MAX = 400;

/** Plain payloads as they are, sealed ones as somebody with their keys showed them, by their hash. */
function opener(opened: ReadonlyMap<string, unknown>): Open {
  return (payload) => {
    const { encoding, body, sha256 } = docOf(payload);
    if (encoding === undefined) return cellText(payload);
    if (encoding === 'plain' && Buffer.isBuffer(body)) return shortened(body.toString('utf8'));
    const hash = Buffer.isBuffer(sha256) ? sha256.toString('hex') : cellText(sha256);
    const shown = opened.get(hash);
    return shown === undefined ? `(sealed, sha256 ${hash.slice(0, 12)})` : shortened(JSON.stringify(shown));
  };
}

const shortened = (text: string): string => (text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`);
