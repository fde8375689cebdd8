// recourse audit prove | check-proof | watch: a proof to hand on, and a look that does not end.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseProof, PROOF_PROBLEMS, readSignedHead } from '@recourse/audit';
import type { Proof } from '@recourse/audit';
import { Option } from 'commander';
import type { Command } from 'commander';
import { problemOfProof } from '../audit/check-proof.js';
import type { Place } from '../audit/dump-record.js';
import { knownOf } from '../audit/heads.js';
import { logInDump, logOnKafka, prove } from '../audit/prove.js';
import { signedText, toldHead } from '../audit/report.js';
import { withScratch } from '../audit/scratch.js';
import { LOG_TOPICS } from '../audit/topics.js';
import { watchTopics } from '../audit/watch.js';
import type { Look } from '../audit/watch.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { cluster, dumpIn, proofTrustIn, trustOf, trustOfTopics, WITNESS_KEY } from './audit-trust.js';
import type { TrustOptions } from './audit-trust.js';
import { positiveInteger } from './options.js';
import type { Act } from './options.js';

interface ProveOptions extends TrustOptions {
  readonly auditorKey: string;
  readonly out?: string;
}

interface WatchCommandOptions extends TrustOptions {
  readonly log?: string;
  readonly everyMs: number;
  readonly times?: number;
}

const EVERY_MS = 1_000;

export function addProving(audit: Command, act: Act): void {
  audit
    .command('prove')
    .description('proves that a record stands in a log as the auditor signed it; anybody can check the file')
    .argument('<record>', 'as <log>/<partition>/<seq>')
    .requiredOption('--auditor-key <key>', 'verifier key of the auditor, or its file')
    .addOption(WITNESS_KEY())
    .option('--dump <folder>', 'from a dump, without any network')
    .option('--heads <file>', 'signed heads kept elsewhere')
    .option('--out <file>', 'where the proof is written; it is printed without')
    .action(act<ProveOptions>((session, options, record = '') => proveRecord(session, options, placeIn(record))));
  audit
    .command('check-proof')
    .description('checks a proof; asks nobody')
    .argument('<file>', 'what `audit prove` wrote')
    .requiredOption('--auditor-key <key>', 'verifier key of the auditor, or its file')
    .addOption(WITNESS_KEY())
    .action(act<ProveOptions>((session, options, file = '') => check(session, options, file)));
  audit
    .command('watch')
    .description('verifies the logs as they grow, until it is stopped or finds something')
    .option('--auditor-key <key>', 'verifier key of the auditor, or its file: its signed heads are compared with')
    .addOption(WITNESS_KEY())
    .option('--heads <file>', 'signed heads kept elsewhere')
    .addOption(new Option('--log <topic>', 'one log only').choices(LOG_TOPICS))
    .addOption(new Option('--every-ms <ms>', 'pause between two looks').default(EVERY_MS).argParser(positiveInteger))
    .addOption(new Option('--times <n>', 'end after so many looks').argParser(positiveInteger))
    .action(act<WatchCommandOptions>(watch));
}

/** Errors: CliProblem(RECORD_UNKNOWN). */
function placeIn(text: string): Place {
  const [, log = '', partition = '', seq = ''] = /^([a-z0-9.-]+)\/(\d{1,6})\/([1-9]\d{0,15})$/.exec(text) ?? [];
  if (log !== '') return { log, partition: Number(partition), seq: Number(seq) };
  throw new CliProblem('RECORD_UNKNOWN', `${text} names no record`, 'usage', {
    remedy: 'Name it as <log>/<partition>/<seq>, such as recourse.mutations/0/17.',
  });
}

async function proveRecord(session: Session, options: ProveOptions, place: Place): Promise<ExitKind> {
  const trusted = await trustOf(session, options);
  const log = await (options.dump === undefined
    ? logOnKafka(cluster(session), place)
    : logInDump(dumpIn(session, options.dump), place));
  const proof = await withScratch((scratch) => prove(log, place, { heads: trusted?.heads ?? [], scratch }));
  if (options.out === undefined) {
    session.terminal.out(JSON.stringify(proof, null, 2));
    return 'done';
  }
  const file = resolve(session.folder, options.out);
  writeFileSync(file, `${JSON.stringify(proof, null, 2)}\n`);
  session.show(
    { file, ...summaryOf(proof) },
    () => `${file} proves record ${place.seq} by a head of ${proof.inclusion.size}.`,
  );
  return 'done';
}

function summaryOf({ record: { seq, leaf }, inclusion: { size } }: Proof): object {
  return { seq, leaf, size };
}

async function check(session: Session, options: ProveOptions, name: string): Promise<ExitKind> {
  const { keys, witnesses } = proofTrustIn(session, options);
  const value = jsonIn(resolve(session.folder, name));
  const problem = await problemOfProof(value, keys, { logId: session.flags.logId ?? null, witnesses });
  const of = problem === null ? parseProof(value) : null;
  const place = of === null ? null : { ...of.log, seq: of.record.seq };
  const head = of === null ? null : readSignedHead(of.head, keys);
  const signed = head === null ? null : toldHead(head);
  if (place !== null && signed !== null && !session.isJson)
    session.terminal.note(
      `It is record ${String(place.seq)} of ${place.topic}/${String(place.partition)} of the logs ${place.log_id}, signed to ${signedText(signed)}.`,
    );
  session.show({ ok: problem === null, problem, record: place, signed_head: signed }, () =>
    problem === null ? 'The proof holds.' : `The proof proves nothing: ${PROOF_PROBLEMS[problem]} (${problem}).`,
  );
  return problem === null ? 'done' : 'found';
}

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (cause) {
    throw new CliProblem('FILE_UNREADABLE', `${file} cannot be read as JSON`, 'usage', {
      cause,
      remedy: 'Name what `recourse audit prove` wrote.',
    });
  }
}

async function watch(session: Session, options: WatchCommandOptions): Promise<ExitKind> {
  const topics = options.log === undefined ? LOG_TOPICS : [options.log];
  const trusted = await trustOfTopics(session, options, topics);
  const { kafka, registry, logId } = cluster(session);
  const heads = trusted === null ? new Map() : knownOf(trusted);
  return withScratch(async (scratch) => {
    let looks = 0;
    for await (const look of watchTopics({ kafka, registry, logId, topics, known: heads, scratch, signed: trusted })) {
      looks += 1;
      tell(session, look);
      if (look.news.length > 0) return 'found';
      if (looks === options.times) return 'done';
      await new Promise((rest) => setTimeout(rest, options.everyMs));
    }
    return 'done';
  });
}

function tell({ terminal, isJson }: Session, { records, accepted, news }: Look): void {
  if (isJson) terminal.out(JSON.stringify({ records, accepted, findings: news }));
  else if (records > 0) terminal.out(`${records} more, ${accepted} accepted in all`);
  if (!isJson)
    for (const { partition, finding } of news) terminal.out(`${finding.kind} in ${partition}: ${finding.message}`);
}
