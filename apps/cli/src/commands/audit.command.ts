// recourse audit …: verifies the logs, from Kafka or from a dump.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Head } from '@recourse/chain';
import { createSchemaRegistry } from '@recourse/kafka';
import type { Kafka, SchemaRegistry } from '@recourse/kafka';
import { Option } from 'commander';
import type { Command } from 'commander';
import { z } from 'zod';
import { auditDump, createDump } from '../audit/dump.js';
import { auditReport, describeReport, partitionName } from '../audit/report.js';
import type { AuditReport, KnownHeads } from '../audit/report.js';
import { auditTopics, LOG_TOPICS } from '../audit/topics.js';
import { known, OPERATOR } from '../config.js';
import { kafkaAs } from '../kafka.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import type { Act } from './options.js';
import { addReadings } from './readings.command.js';

/** A registry that was just started answers its first requests slowly. */
const REGISTRY_TIMEOUT_MS = 20_000;

interface VerifyOptions {
  readonly dump?: string;
  readonly against?: string;
  readonly log?: string;
}

export function addAudit(program: Command, act: Act): void {
  const audit = program
    .command('audit')
    .description('verifies the logs from their records alone, whatever services and databases say');
  audit
    .command('verify')
    .description('verifies the chains of all logs and derived logs from offset 0, and names what was tampered with')
    .option('--dump <folder>', 'verify a dump, without any network')
    .option(
      '--against <file>',
      'heads of an earlier `audit verify --json`: shows a cut tail and an altered last record',
    )
    .addOption(new Option('--log <topic>', 'one log only').choices(LOG_TOPICS))
    .action(
      act<VerifyOptions>(async (session, options) => {
        const heads =
          options.against === undefined ? new Map<string, Head>() : headsIn(resolve(session.folder, options.against));
        return finish(
          session,
          await (options.dump === undefined
            ? verifyTopics(session, heads, options.log)
            : verifyDump(session, heads, resolve(session.folder, options.dump), options.log ?? null)),
        );
      }),
    );
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
}

function finish(session: Session, report: AuditReport): ExitKind {
  session.show(report, () => describeReport(report));
  return report.ok ? 'done' : 'found';
}

async function verifyTopics(session: Session, heads: KnownHeads, log: string | undefined): Promise<AuditReport> {
  const { kafka, registry, logId } = cluster(session);
  return auditReport(
    logId,
    await auditTopics({ kafka, registry, logId, topics: log === undefined ? LOG_TOPICS : [log], known: heads }),
  );
}

/** The log id of the command line is checked; that of a stack that happens to run here is not. */
async function verifyDump(
  session: Session,
  heads: KnownHeads,
  folder: string,
  only: string | null,
): Promise<AuditReport> {
  const reports = await auditDump({
    folder,
    logId: session.flags.logId ?? null,
    known: heads,
    topics: LOG_TOPICS,
    only,
  });
  return auditReport(session.flags.logId ?? null, reports);
}

async function dump(session: Session, folder: string): Promise<AuditReport> {
  const { kafka, registry, logId } = cluster(session);
  const written = createDump(folder, registry);
  const reports = await auditTopics({
    kafka,
    registry,
    logId,
    topics: LOG_TOPICS,
    known: new Map(),
    onPartition: written.add,
  });
  written.close();
  session.terminal.note(`The dump is in ${folder}.`);
  return auditReport(logId, reports);
}

function cluster({ settings }: Session): {
  readonly kafka: Kafka;
  readonly registry: SchemaRegistry;
  readonly logId: string;
} {
  const url = known(settings.registryUrl, 'where the schema registry is', '--registry');
  return {
    kafka: kafkaAs(settings, OPERATOR),
    registry: createSchemaRegistry({ url, timeoutMs: REGISTRY_TIMEOUT_MS }),
    logId: known(settings.logId, 'the id of the logs', '--log-id'),
  };
}

const earlier = z.object({
  partitions: z.array(
    z.object({
      topic: z.string(),
      partition: z.int(),
      head_seq: z.int(),
      head_hash: z.string().regex(/^([0-9a-f]{64})?$/),
    }),
  ),
});

function headsIn(file: string): KnownHeads {
  try {
    const { partitions } = earlier.parse(JSON.parse(readFileSync(file, 'utf8')));
    return new Map(
      partitions
        .filter(({ head_hash }) => head_hash !== '')
        .map(({ topic, partition, head_seq, head_hash }) => [
          partitionName(topic, partition),
          { seq: head_seq, hash: Buffer.from(head_hash, 'hex') },
        ]),
    );
  } catch (cause) {
    throw new CliProblem('FILE_UNREADABLE', `${file} holds no heads`, 'usage', {
      cause,
      remedy: 'Name what `recourse audit verify --json` printed, or the manifest.json of a dump.',
    });
  }
}
