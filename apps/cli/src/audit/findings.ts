// What an audit can find, in words. Pure.
import type { Finding } from '@recourse/chain';
import { countText } from '../output/count-text.js';

/** A record that says something of another log. */
export type SaidBy = `record ${number} of ${string}`;

/** What knows of a log that is not there. */
export type LogNamedBy = 'an older head' | 'the other partitions' | 'the list of logs' | SaidBy;

/** The reader holds heads of a generation, and a newer one took its place. */
export interface HeadsGivenUp {
  readonly kind: 'heads_given_up';
  readonly generation: number;
  readonly newer: number;
}

/** What shows in the material itself, before any chain is followed. */
export type MaterialFinding =
  | { readonly kind: 'topic_missing' }
  /** `offset` is the first that the broker still has. */
  | { readonly kind: 'cut_front'; readonly offset: number }
  | { readonly kind: 'heads_missing' }
  | HeadsGivenUp
  /** Records of the newest head that the auditor signed, and of the newest that each named witness signed, too: 0 for none. */
  | { readonly kind: 'heads_unwitnessed'; readonly size: number; readonly witnessed: number }
  | { readonly kind: 'file_missing'; readonly file: string }
  | { readonly kind: 'log_missing'; readonly named_by: LogNamedBy }
  | { readonly kind: 'partition_repeated'; readonly file: string; readonly first: string }
  | { readonly kind: 'damaged_header'; readonly file: string }
  | { readonly kind: 'damaged_line'; readonly file: string; readonly line: number }
  | { readonly kind: 'signatures_missing'; readonly file: string }
  /** Void records that follow nothing, beyond those that are kept, and that no accepted loss explains. */
  | { readonly kind: 'unlisted'; readonly count: number }
  | { readonly kind: 'other_log'; readonly expected: string; readonly found: string };

/** A finding, and the record of another log that shows it, where one does. */
type ShownFinding = (Finding | MaterialFinding) & { readonly read_by?: SaidBy };

/** A finding with its sentence. */
export type NamedFinding = ShownFinding & { readonly message: string };

/** Says what a finding means. */
export function named(finding: ShownFinding): NamedFinding {
  return { ...finding, message: messageOf(finding) };
}

function messageOf(finding: ShownFinding): string {
  if (isMaterial(finding)) return ofMaterial(finding);
  switch (finding.kind) {
    case 'cut_tail':
    case 'restored_backup':
    case 'rewritten':
    case 'regrown':
    case 'forked':
    case 'inserted':
    case 'removed':
      return ofHeads(finding);
    default:
      return ofChain(finding);
  }
}

const MATERIAL = {
  topic_missing: true,
  cut_front: true,
  heads_missing: true,
  heads_given_up: true,
  heads_unwitnessed: true,
  file_missing: true,
  log_missing: true,
  partition_repeated: true,
  damaged_header: true,
  damaged_line: true,
  signatures_missing: true,
  unlisted: true,
  other_log: true,
} as const satisfies Readonly<Record<MaterialFinding['kind'], true>>;

const isMaterial = (finding: Finding | MaterialFinding): finding is MaterialFinding =>
  Object.hasOwn(MATERIAL, finding.kind);

function ofMaterial(finding: MaterialFinding): string {
  if (isOfCover(finding)) return ofCover(finding);
  switch (finding.kind) {
    case 'topic_missing':
      return 'the topic is not there';
    case 'cut_front':
      return `the front was cut: the broker holds nothing before offset ${finding.offset}, and a log is never trimmed`;
    case 'file_missing':
      return `${finding.file} is listed in the manifest and is not there`;
    case 'log_missing':
      return `nothing is there of this log, which ${finding.named_by} ${finding.named_by === 'the other partitions' ? 'name' : 'names'}`;
    case 'partition_repeated':
      return `${finding.file} holds this log a second time, beside ${finding.first}: one of the two was put there`;
    case 'damaged_header':
      return `${finding.file} does not begin with the log it is of, a partition of as many as the other files say`;
    case 'damaged_line':
      return `line ${finding.line} of ${finding.file} cannot be read`;
    case 'signatures_missing':
      return `${finding.file} holds no signature of any record, so that nobody can tell who wrote them: dump the log anew, or see who took them out`;
    case 'unlisted':
      return `${countText(finding.count, 'more piece', 'more pieces')} of evidence than are kept and named: nothing says that this is harmless`;
    case 'other_log':
      return `this is the log ${finding.found}, not ${finding.expected}`;
    default:
      throw new TypeError(`no words for ${JSON.stringify(finding satisfies never)}`);
  }
}

type CoverFinding = Extract<MaterialFinding, { kind: 'heads_missing' | 'heads_given_up' | 'heads_unwitnessed' }>;

const isOfCover = (finding: MaterialFinding): finding is CoverFinding => finding.kind.startsWith('heads_');

/** What the heads themselves show. */
function ofCover(finding: CoverFinding): string {
  switch (finding.kind) {
    case 'heads_missing':
      return 'no head that this auditor signed says anything of it: the auditor has not come to it yet, the key is of another, or heads were taken out';
    case 'heads_given_up':
      return `the auditor signs generation ${finding.newer}, and you hold heads of generation ${finding.generation}: somebody gave those up, and the history that they are of. Ask who closed which alarm, and why. What you hold is compared all the same; once you know, hand over heads of generation ${finding.newer} alone`;
    case 'heads_unwitnessed':
      return `the auditor signed a head of ${countText(finding.size, 'record')} that a named witness did not sign; ${finding.witnessed === 0 ? 'no head of this log bears the signature of each' : `the newest that each signed is of ${finding.witnessed}`}. A witness that was silent signs the next head; one that refuses has signed another: ask whoever runs it`;
    default:
      throw new TypeError(`no words for ${JSON.stringify(finding satisfies never)}`);
  }
}

function ofChain(finding: Exclude<Finding, HeadFinding>): string {
  switch (finding.kind) {
    case 'flipped':
      return `record ${finding.seq} (offset ${finding.offset}) was altered: the record after it commits to other bytes`;
    case 'rekeyed':
      return `record ${finding.seq} (offset ${finding.offset}) was given another key: with one of this log it has the hash that is committed to`;
    case 'schema_swapped':
      return `the frame of record ${finding.seq} (offset ${finding.offset}) names another schema than it was written with`;
    case 'reordered':
      return `record ${finding.seq} (offset ${finding.offset}) stands before the record it follows: records were moved`;
    case 'missing':
      return `${records(finding.seq, finding.lastSeq)} taken out: the record at offset ${finding.offset} follows what is not there`;
    case 'foreign_genesis':
      return `the record at offset ${finding.offset} begins another chain: it belongs to another log id, topic, partition or partition count`;
    case 'unreadable':
      return `the record at offset ${finding.offset} is no log record, or none that its owner signed: it was put there, or damaged`;
    case 'unknown_schema':
      return `the schema ${finding.id} of the record at offset ${finding.offset} is not known: nothing after it could be verified`;
    case 'stray':
      return `the record at offset ${finding.offset} follows no record of this log, and the chain goes on without it: it was put there`;
    default:
      throw new TypeError(`no words for ${JSON.stringify(finding satisfies never)}`);
  }
}

type HeadFinding = Extract<
  Finding,
  { kind: 'cut_tail' | 'restored_backup' | 'rewritten' | 'regrown' | 'forked' | 'inserted' | 'removed' }
>;

/** What only a head that somebody kept can show, or whoever read the log. */
function ofHeads(finding: HeadFinding & Pick<ShownFinding, 'read_by'>): string {
  switch (finding.kind) {
    case 'cut_tail':
      return `the tail was cut: ${records(finding.seq, finding.lastSeq)} known to have existed and gone${readTo(finding)}`;
    case 'restored_backup':
      return `a backup was restored: ${records(finding.seq, finding.lastSeq)} known to have existed and gone, as in other logs at once${readTo(finding)}`;
    case 'rewritten':
      if (finding.read_by !== undefined)
        return `record ${finding.seq} is not the one that was read there, as ${finding.read_by} says: history was rewritten`;
      return `record ${finding.seq} is not the one that an older head commits to, and no head before it holds: history was rewritten`;
    case 'regrown':
      return `the log holds up to record ${finding.seq - 1} at least and then has others than a head of ${finding.lastSeq} commits to: it was cut and grew on`;
    case 'forked':
      return `heads of ${countText(finding.seq, 'record')} differ: two readers were shown two logs`;
    case 'inserted':
      return `record ${finding.seq} stands ${finding.count} further behind than when its head was signed: records were put in before it`;
    case 'removed':
      return `record ${finding.seq} stands ${finding.count} less far behind than when its head was signed: records were taken out before it`;
    default:
      throw new TypeError(`no words for ${JSON.stringify(finding satisfies never)}`);
  }
}

function readTo({ read_by: by, lastSeq }: Pick<ShownFinding, 'read_by'> & { readonly lastSeq: number }): string {
  return by === undefined ? '' : `; ${by} says that the log was read up to record ${lastSeq}`;
}

function records(first: number, last: number): string {
  return first === last ? `record ${first} was` : `records ${first} to ${last} were`;
}
