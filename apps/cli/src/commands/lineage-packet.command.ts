// recourse lineage packet … and replay-packet …: a commit taken away from its log, and reproduced where no service is.
import type { PackedPolicy, Packet } from '@recourse/lineage';
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { replayPacket } from '../lineage/packet-checks.js';
import type { Check, PacketReplay } from '../lineage/packet-checks.js';
import { packetIn, readPacket, writePacket } from '../lineage/packet-file.js';
import { loggedRun } from '../lineage/packet-log.js';
import { formatTable } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { dumpIn } from './audit-trust.js';
import type { Act } from './options.js';

/** Standing bundles of one name: the tenant's and the one for all. */
const BUNDLES_MAX = 10;
const COLUMNS: readonly Column<Check>[] = [
  { title: 'CHECK', of: ({ check }) => check },
  { title: 'OUTCOME', of: ({ outcome }) => outcome.replace('_', ' ') },
  { title: 'CODE', of: ({ code }) => code },
  { title: 'COMMIT', of: ({ commit_id: id }) => id },
];

/** Adds both commands to `recourse lineage`. */
export function addPackets(lineage: Command, act: Act): void {
  addPacket(lineage, act);
  addReplay(lineage, act);
}

function addPacket(lineage: Command, act: Act): void {
  lineage
    .command('packet')
    .description(
      'writes everything needed to reproduce a commit without its log: states, gate inputs, policy, release and proof, in the clear',
    )
    .argument('<commit>', 'commit id')
    .option('--out <file>', 'a new file for it, instead of the terminal')
    .action(
      act<{ out?: string }>(async (session, { out }, commit = '') => {
        const made = await packetOf(session, commit);
        if (out === undefined) {
          session.terminal.out(JSON.stringify(made, null, 2));
          return;
        }
        writePacket(made, out, session.folder);
        session.show(
          { commit_id: made.commit_id, file: out, state_code: made.state.code },
          () =>
            `${out} holds ${made.commit_id}${made.state.code === null ? '' : `, without its state (${made.state.code})`}`,
        );
      }),
    );
}

function addReplay(lineage: Command, act: Act): void {
  lineage
    .command('replay-packet')
    .description(
      'reproduces a commit from a packet, offline, and says whether ids, states, gate verdict, release and proof are equal',
    )
    .argument('<file>', 'a packet')
    .option(
      '--dump <folder>',
      'what `audit dump` wrote: the proofs, and steps that the packet does not prove, are looked up in it; without it they stay unchecked',
    )
    .action(
      act<{ dump?: string }>(async (session, { dump }, file = '') => {
        const packet = readPacket(file, session.folder);
        const replay = replayPacket(packet, dump === undefined ? null : await loggedRun(packet, dumpIn(session, dump)));
        session.show(replay, () => replayText(replay));
        return EXIT_OF[replay.outcome];
      }),
    );
}

/** What a script is told. */
const EXIT_OF = { equal: 'done', differs: 'found', incomplete: 'unproved' } as const satisfies Record<
  PacketReplay['outcome'],
  ExitKind
>;

async function packetOf(session: Session, commit: string): Promise<Packet> {
  const packet = packetIn(
    await session.service('ledger').get(`/v1/commits/${encodeURIComponent(commit)}/packet`, { tenant: session.tenant }),
  );
  const checkpoint = packet.commits.find(({ commit_id: id }) => id === packet.commit_id)?.checkpoint;
  if (checkpoint === undefined || checkpoint.gate === null) return packet;
  const { items } = await session
    .service('contracts')
    .list('/v1/entries/policy_bundle', { name: checkpoint.gate.bundle, tenant: session.tenant }, BUNDLES_MAX);
  return { ...packet, policy: policyOf(items, checkpoint.tenant, checkpoint.gate.bundle_digest) };
}

/** The version that admitted it where the registry still gives it, else the one that stands: the tenant's own before the one for all. */
function policyOf(items: readonly Doc[], tenant: string, digest: string): PackedPolicy | null {
  const candidates = items.filter((one) => one['tenant'] === tenant || one['tenant'] === '*');
  const standing = candidates.filter((one) => one['retired'] !== true).sort((a) => (a['tenant'] === tenant ? -1 : 1));
  const found = candidates.find((one) => one['digest'] === digest) ?? standing[0];
  if (found === undefined) return null;
  return {
    name: String(found['name']),
    tenant: String(found['tenant']),
    version: Number(found['version']),
    digest: String(found['digest']),
    body: String(found['body']),
    admitted_it: found['digest'] === digest,
  };
}

const WORDS = {
  equal: 'replays to equal decisions',
  differs: 'does not replay',
  incomplete: 'differs nowhere, and was not checked as a whole',
} as const satisfies Record<PacketReplay['outcome'], string>;

function replayText({ outcome: ended, commit_id: id, checks }: PacketReplay): string {
  const counted = (outcome: Check['outcome']): readonly Check[] => checks.filter((one) => one.outcome === outcome);
  const unlike = checks
    .filter(({ recorded, replayed }) => recorded !== replayed)
    .map(
      ({ check, code, recorded, replayed }) =>
        `${code ?? check}: recorded ${recorded ?? '-'}, replayed ${replayed ?? '-'}`,
    );
  const open = counted('not_made').length === 0 ? '' : `, ${String(counted('not_made').length)} not made`;
  return [
    formatTable(COLUMNS, checks),
    ...(unlike.length === 0 ? [] : ['', ...unlike]),
    '',
    `${id} ${WORDS[ended]}: ${String(counted('equal').length)} equal, ${String(counted('differs').length)} differ${open}`,
  ].join('\n');
}
