// npm run bench -- <name> [--quick] [--json FILE]; of peers also --engines, --rounds, --only, --profile
import { writeFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { APPEND_FULL, APPEND_QUICK, benchAppend } from './append.bench.js';
import { APPROVAL_FULL, APPROVAL_QUICK, benchApproval } from './approval.bench.js';
import { AUDIT_FULL, AUDIT_QUICK, benchAudit } from './audit.bench.js';
import { benchBlast, BLAST_FULL, BLAST_QUICK } from './blast.bench.js';
import { benchBudget, BUDGET_FULL, BUDGET_QUICK } from './budget.bench.js';
import { benchClosure, CLOSURE_FULL, CLOSURE_QUICK } from './closure.bench.js';
import { benchExpiry, EXPIRY_FULL, EXPIRY_QUICK } from './expiry.bench.js';
import { benchHop, HOP_FULL, HOP_QUICK } from './hop.bench.js';
import {
  benchIngest,
  benchIngestFull,
  benchIngestSealed,
  INGEST,
  INGEST_FULL,
  INGEST_FULL_QUICK,
  INGEST_QUICK,
} from './ingest.bench.js';
import { benchNotify, NOTIFY_FULL, NOTIFY_QUICK } from './notify.bench.js';
import { benchRecovery, RECOVERY_FULL, RECOVERY_QUICK } from './recovery.bench.js';
import { benchPeers, ENGINE_NAMES, PEERS_FULL, PEERS_PROFILE, PEERS_QUICK } from './peers/peers.bench.js';
import { failedGates, merged, reportOf, tableOf } from './report.js';
import type { Measured } from './report.js';
import { benchHopSigned, benchIngestSigned } from './signed.bench.js';
import { benchSpread, SPREAD_FULL, SPREAD_QUICK } from './spread.bench.js';
import { benchStart, START_FULL, START_QUICK } from './start.bench.js';

/** Installs packages of others, so it runs by its name alone. */
const PEERS = 'peers';

/** Options of the peers bench alone. */
interface PeersFlags {
  readonly engines: string;
  readonly rounds: string | undefined;
  readonly only: string;
  readonly profile: boolean;
}

const BENCHES: Readonly<Record<string, (isQuick: boolean, flags: PeersFlags) => Promise<Measured>>> = {
  append: (isQuick) => benchAppend(isQuick ? APPEND_QUICK : APPEND_FULL),
  audit: (isQuick) => benchAudit(isQuick ? AUDIT_QUICK : AUDIT_FULL),
  ingest: (isQuick) => benchIngest(isQuick ? INGEST_QUICK : INGEST),
  'ingest-signed': (isQuick) => benchIngestSigned(isQuick ? INGEST_QUICK : INGEST_FULL),
  'ingest-sealed': (isQuick) => benchIngestSealed(isQuick ? INGEST_QUICK : INGEST),
  'ingest-full': (isQuick) => benchIngestFull(isQuick ? INGEST_FULL_QUICK : INGEST_FULL),
  budget: (isQuick) => benchBudget(isQuick ? BUDGET_QUICK : BUDGET_FULL),
  expiry: (isQuick) => benchExpiry(isQuick ? EXPIRY_QUICK : EXPIRY_FULL),
  hop: (isQuick) => benchHop(isQuick ? HOP_QUICK : HOP_FULL),
  'hop-signed': (isQuick) => benchHopSigned(isQuick ? HOP_QUICK : HOP_FULL),
  recovery: (isQuick) => benchRecovery(isQuick ? RECOVERY_QUICK : RECOVERY_FULL),
  approval: (isQuick) => benchApproval(isQuick ? APPROVAL_QUICK : APPROVAL_FULL),
  blast: (isQuick) => benchBlast(isQuick ? BLAST_QUICK : BLAST_FULL),
  closure: (isQuick) => benchClosure(isQuick ? CLOSURE_QUICK : CLOSURE_FULL),
  spread: (isQuick) => benchSpread(isQuick ? SPREAD_QUICK : SPREAD_FULL),
  notify: (isQuick) => benchNotify(isQuick ? NOTIFY_QUICK : NOTIFY_FULL),
  start: (isQuick) => benchStart(isQuick ? START_QUICK : START_FULL),
  [PEERS]: (isQuick, { engines, rounds, only, profile }) => {
    const size = profile ? PEERS_PROFILE : isQuick ? PEERS_QUICK : PEERS_FULL;
    return benchPeers({ ...size, engines, only, isProfiled: profile, rounds: Number(rounds ?? size.rounds) });
  },
};

const HELP = `npm run bench -- <${Object.keys(BENCHES).join(' | ')} | all> [--quick] [--json FILE]

Each bench sets itself up, compares with a raw baseline in the same run, and checks that what it measured was right.
Exit code 1 when such a gate fails. See docs/benchmarks.md.

peers alone, which "all" leaves out:
  --engines LIST   of ${ENGINE_NAMES}
  --rounds N       rounds, in which the order of the engines rotates
  --only PATTERN   cells whose name it matches, for instance recover:http:(1|16)$
  --profile        Recourse alone, one cell, and a table of where each of its processes spent its time
`;

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      engines: { type: 'string', default: ENGINE_NAMES },
      rounds: { type: 'string' },
      only: { type: 'string', default: '' },
      profile: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [name = ''] = positionals;
  const names = name === 'all' ? Object.keys(BENCHES).filter((one) => one !== PEERS) : [name];
  if (values.help || positionals.length !== 1 || names.some((one) => BENCHES[one] === undefined)) {
    process.stdout.write(HELP);
    return values.help ? 0 : 1;
  }
  const measured: Measured[] = [];
  for (const one of names) {
    process.stderr.write(`bench ${one}${values.quick ? ', quick' : ''}\n`);
    const result = await BENCHES[one]?.(values.quick, { ...values, rounds: values.rounds });
    if (result !== undefined) measured.push(result);
  }
  const all = merged(measured);
  const report = reportOf(name, all);
  process.stdout.write(`${tableOf(report, all.notes)}\n`);
  if (values.json !== undefined) writeFileSync(fromCaller(values.json), `${JSON.stringify(report, null, 2)}\n`);
  const failed = failedGates(report.gates);
  if (failed.length > 0) process.stderr.write(`gates that failed: ${failed.join(', ')}\n`);
  return failed.length > 0 ? 1 : 0;
}

/** A relative file is meant from where the person stands; npm keeps that place in INIT_CWD. */
function fromCaller(file: string): string {
  return isAbsolute(file) ? file : resolve(process.env['INIT_CWD'] ?? process.cwd(), file);
}

process.exitCode = await run(process.argv.slice(2)).catch((cause: unknown) => {
  process.stderr.write(`${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`);
  return 1;
});
// Pools and clients of libraries may keep timers; the work is done.
process.exit();
