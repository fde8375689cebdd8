// recourse audit …: verifies the logs, from Kafka or from a dump, and proves what stands in them.
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { noteSigner, verifierText } from '@recourse/audit';
import type { NoteRole } from '@recourse/audit';
import type { Signing } from '@recourse/kafka';
import { Option } from 'commander';
import type { Command } from 'commander';
import { withCoverage } from '../audit/coverage.js';
import { auditDump } from '../audit/dump.js';
import { createDump } from '../audit/dump-writer.js';
import {
  headsInFile,
  headsOfEarlier,
  knownOf,
  startsOfEarlier,
  startsOfSigned,
  startsWithRoots,
} from '../audit/heads.js';
import type { AuditStart } from '../audit/partition-audit.js';
import { auditReport, describeReport } from '../audit/report.js';
import type { AuditReport, KnownHeads, PartitionReport } from '../audit/report.js';
import { withScratch } from '../audit/scratch.js';
import { auditTopics, CAUSES_LAST, LOG_TOPICS } from '../audit/topics.js';
import { OPERATOR } from '../config.js';
import { kafkaAs } from '../kafka.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { addProving } from './audit-prove.command.js';
import { cluster, dumpIn, logIdOf, ofLogs, trustOf, trustOfTopics, WITNESS_KEY } from './audit-trust.js';
import type { Trusted, TrustOptions } from './audit-trust.js';
import type { Act } from './options.js';
import { addReadings } from './readings.command.js';
import { addReplayStory } from './replay-story.command.js';
import { addStory } from './story.command.js';

interface VerifyOptions extends TrustOptions {
  readonly against?: string;
  readonly log?: string;
}

export function addAudit(program: Command, act: Act): void {
  const audit = program
    .command('audit')
    .description('verifies the logs from their records alone, whatever services and databases say');
  addVerify(audit, act);
  addReadings(audit, act);
  audit
    .command('dump')
    .description('writes all logs to a folder that can be verified without a network')
    .argument('<folder>', 'a new folder')
    .action(
      act(async (session, _options, folder) =>
        finish(session, await dump(session, resolve(session.folder, folder ?? ''))),
      ),
    );
  addProving(audit, act);
  addStory(audit, act);
  addReplayStory(audit, act);
  audit
    .command('new-key')
    .description('makes the key of an auditor or of a witness; its verifier key is printed')
    .argument('<name>', 'name of the key, as signed heads bear it')
    .addOption(new Option('--role <role>', 'what it signs').choices(['log', 'witness']).default('log'))
    .requiredOption('--out <file>', 'file of the private key; it must not be there')
    .action(
      act<{ readonly role: NoteRole; readonly out: string }>((session, { role, out }, name = '') => {
        makeKey(session, { name, role, file: resolve(session.folder, out) });
        return Promise.resolve();
      }),
    );
}

function addVerify(audit: Command, act: Act): void {
  audit
    .command('verify')
    .description('verifies the chains of all logs and derived logs from offset 0, and names what was tampered with')
    .option('--dump <folder>', 'verify a dump, without any network')
    .option(
      '--against <file>',
      'heads of an earlier `audit verify --json`: shows a cut tail and an altered last record',
    )
    .option('--auditor-key <key>', 'verifier key of the auditor, or its file: its signed heads are compared with')
    .addOption(WITNESS_KEY())
    .option('--heads <file>', 'signed heads kept elsewhere, beside those in the log of heads')
    .option(
      '--from-head <file>',
      'begin behind trusted heads: signed ones, or, as with --witness-key, an earlier `audit verify --json`',
    )
    .addOption(new Option('--log <topic>', 'one log only').choices(LOG_TOPICS))
    .action(act<VerifyOptions>(async (session, options) => finish(session, await verify(session, options))));
}

function finish(session: Session, report: AuditReport): ExitKind {
  session.show(report, () => describeReport(report));
  return report.ok ? 'done' : 'found';
}

async function verify(session: Session, options: VerifyOptions): Promise<AuditReport> {
  const trusted = await (options.dump === undefined
    ? trustOfTopics(session, options, topicsOf(options.log))
    : trustOf(session, options));
  const earlier = options.against === undefined ? new Map() : headsOfEarlier(resolve(session.folder, options.against));
  const heads = merged(trusted === null ? new Map() : knownOf(trusted), earlier);
  const starts = startsIn(session, options, trusted);
  const onProgress = progressOf(session);
  try {
    return await withScratch(async (scratch) => {
      const common = { known: heads, starts, scratch, onProgress, trusted };
      return options.dump === undefined
        ? verifyTopics(session, options.log, common)
        : verifyDump(session, { folder: resolve(session.folder, options.dump), only: options.log ?? null }, common);
    });
  } finally {
    session.terminal.progress?.(null);
  }
}

interface Common {
  readonly known: KnownHeads;
  readonly starts: ReadonlyMap<string, AuditStart>;
  readonly scratch: { readonly folder: string };
  readonly onProgress: (records: number) => void;
  readonly trusted: Trusted | null;
}

const topicsOf = (log: string | undefined): readonly string[] => (log === undefined ? LOG_TOPICS : [log]);

/** What was read, by the heads it was compared with. */
function judged(
  logId: string | null,
  reports: readonly PartitionReport[],
  { trusted, signing }: { readonly trusted: Trusted | null; readonly signing: Signing | null },
): AuditReport {
  const compared = trusted === null ? reports : withCoverage(reports, trusted);
  const witnesses = trusted?.witnesses.map(({ name }) => name) ?? [];
  return auditReport(logId, compared, { signing, auditor: trusted?.key.name ?? null, witnesses });
}

async function verifyTopics(
  session: Session,
  log: string | undefined,
  { trusted, ...common }: Common,
): Promise<AuditReport> {
  const { kafka, registry, logId, signing } = cluster(session);
  const reports = await auditTopics({ kafka, registry, logId, topics: topicsOf(log), ...common });
  return judged(logId, reports, { trusted, signing });
}

/** All files are of one deployment: the one that the command line names, not that of a stack that happens to run here. */
async function verifyDump(
  session: Session,
  { folder, only }: { readonly folder: string; readonly only: string | null },
  { trusted, ...common }: Common,
): Promise<AuditReport> {
  const logId = logIdOf(session, folder);
  const { signing } = dumpIn(session, folder);
  const reports = await auditDump({ folder, logId, topics: LOG_TOPICS, only, signing, ...common });
  return judged(logId, reports, { trusted, signing });
}

function startsIn(session: Session, options: VerifyOptions, trusted: Trusted | null): ReadonlyMap<string, AuditStart> {
  if (options.fromHead === undefined) return new Map();
  const file = resolve(session.folder, options.fromHead);
  if (trusted === null) return startsOfEarlier(file);
  if (trusted.witnesses.length > 0) return startsWithRoots(file);
  return startsOfSigned(ofLogs(headsInFile(file, trusted.key), session, options));
}

function merged(some: KnownHeads, others: KnownHeads): KnownHeads {
  const names = new Set([...some.keys(), ...others.keys()]);
  return new Map([...names].map((name) => [name, [...(some.get(name) ?? []), ...(others.get(name) ?? [])]]));
}

/** A line that counts, where somebody can see it. */
function progressOf({ terminal, clock }: Session): (records: number) => void {
  let [count, shownAt] = [0, 0];
  return (records) => {
    count += records;
    if (clock.now() - shownAt < 500) return;
    shownAt = clock.now();
    terminal.progress?.(`${count.toLocaleString('en')} records`);
  };
}

async function dump(session: Session, folder: string): Promise<AuditReport> {
  const { registry, logId, signing } = cluster(session);
  // What nobody vouches for is evidence: it is written as it lies, and judged beside that.
  const kafka = kafkaAs(session.settings, OPERATOR, { signing: null });
  const writer = createDump(folder, registry);
  const dumped = { kafka, registry, logId, topics: CAUSES_LAST, known: new Map(), dump: { writer, signing } };
  const reports = await withScratch((scratch) => auditTopics({ ...dumped, scratch }));
  writer.close();
  session.terminal.note(`The dump is in ${folder}.`);
  const inOrder = LOG_TOPICS.flatMap((topic) => reports.filter((report) => report.topic === topic));
  return auditReport(logId, inOrder, { signing, auditor: null });
}

function makeKey(
  session: Session,
  { name, role, file }: { readonly name: string; readonly role: NoteRole; readonly file: string },
): void {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const verifier = verifierText(noteSigner(name, role, pem).key);
  try {
    writeFileSync(file, pem, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    throw new CliProblem('KEY_NOT_WRITTEN', `${file} cannot be written, or is there already`, 'usage', {
      cause,
      remedy: 'Name a file that is not there: heads signed with a key that is overwritten prove nothing more.',
    });
  }
  session.terminal.note(`The private key is in ${file}. Give the verifier key to whoever checks.`);
  session.show({ file, verifier_key: verifier }, () => verifier);
}
