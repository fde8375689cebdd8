import type { Break } from './break.js';

export const BREAKS: readonly Break[] = [
  {
    id: 'a4-cost-of-one-for-all',
    requirement: 'A4',
    spec: 'apps/cli/src/reports/reports.unit.spec.ts',
    test: 'report exposure shows what is open with its bounded cost, what fell, and what recoveries took beside their bound (A4)',
    file: 'apps/cli/src/reports/exposure.ts',
    find: "cost_at_most: typeof minor === 'number' && typeof open === 'number' ? { amount_minor: minor * open, currency } : null,",
    replace:
      "cost_at_most: typeof minor === 'number' && typeof open === 'number' ? { amount_minor: minor, currency } : null,",
  },
  {
    id: 'c13-diff-passes-in-ci',
    requirement: 'C13',
    spec: 'apps/cli/src/contracts/contracts.unit.spec.ts',
    test: 'comparing contracts exits with 1 when the newer is weaker, and says what becomes of what is open',
    file: 'apps/cli/src/commands/contracts.command.ts',
    find: "return Promise.resolve<ExitKind>(changes.weaker ? 'found' : 'done');",
    replace: "return Promise.resolve<ExitKind>(changes.weaker && open < 0 ? 'found' : 'done');",
  },
  {
    id: 'd58-packet-id-believed',
    requirement: 'D58',
    spec: 'apps/cli/src/lineage/packet.unit.spec.ts',
    test: 'a replay packet that was tampered with differs: the step of a commit',
    file: 'apps/cli/src/lineage/packet-checks.ts',
    find: "import { checkpointIn, commitBefore, commitIdOf, restoredState } from '@recourse/lineage'; import type { PackedCommit, PackedState, Packet, Restored } from '@recourse/lineage'; /** What a difference is called. */ export const PACKET_CODES = { id: 'PACKET_ID_DIFFERS', chunks: 'PACKET_CHUNKS_DIFFER', state: 'PACKET_STATE_DIFFERS', inputs: 'PACKET_INPUTS_DIFFER', before: 'PACKET_BEFORE_DIFFERS', policy: 'PACKET_POLICY_DIFFERS', verdict: 'PACKET_VERDICT_DIFFERS', release: 'PACKET_RELEASE_DIFFERS', } as const; type CheckName = keyof typeof PACKET_CODES; /** One comparison. A check that cannot be made has the code of what is missing. */ export interface Check { readonly check: CheckName; readonly commit_id: string; readonly outcome: 'equal' | 'differs' | 'not_made'; readonly code: string | null; readonly recorded: string | null; readonly replayed: string | null; } export interface PacketReplay { readonly ok: boolean; readonly commit_id: string; readonly checks: readonly Check[]; } type Found = Readonly<Record<'recorded' | 'replayed', string>>; /** Replays a packet. */ export function replayPacket(packet: Packet): PacketReplay { const byId = new Map(packet.commits.map((commit) => [commit.commit_id, commit] as const)); const target = byId.get(packet.commit_id); const checks = target === undefined ? [] : [ ...packet.commits.flatMap(ofCommit), stateCheck(packet, byId), ...gateChecks(packet, target, byId), releaseCheck(packet, target), ]; return { ok: checks.every(({ outcome }) => outcome !== 'differs'), commit_id: packet.commit_id, checks }; } /** The id, and what the id is a hash of by hashes. */ function ofCommit(commit: PackedCommit): readonly Check[] { const { commit_id: id, checkpoint, chunks, inputs } = commit; const sums = checkpoint.state?.chunk_sha256s ?? []; const replayed = commitIdOf(checkpointIn(checkpoint));",
    replace:
      "import { checkpointIn, commitBefore, restoredState } from '@recourse/lineage'; import type { PackedCommit, PackedState, Packet, Restored } from '@recourse/lineage'; /** What a difference is called. */ export const PACKET_CODES = { id: 'PACKET_ID_DIFFERS', chunks: 'PACKET_CHUNKS_DIFFER', state: 'PACKET_STATE_DIFFERS', inputs: 'PACKET_INPUTS_DIFFER', before: 'PACKET_BEFORE_DIFFERS', policy: 'PACKET_POLICY_DIFFERS', verdict: 'PACKET_VERDICT_DIFFERS', release: 'PACKET_RELEASE_DIFFERS', } as const; type CheckName = keyof typeof PACKET_CODES; /** One comparison. A check that cannot be made has the code of what is missing. */ export interface Check { readonly check: CheckName; readonly commit_id: string; readonly outcome: 'equal' | 'differs' | 'not_made'; readonly code: string | null; readonly recorded: string | null; readonly replayed: string | null; } export interface PacketReplay { readonly ok: boolean; readonly commit_id: string; readonly checks: readonly Check[]; } type Found = Readonly<Record<'recorded' | 'replayed', string>>; /** Replays a packet. */ export function replayPacket(packet: Packet): PacketReplay { const byId = new Map(packet.commits.map((commit) => [commit.commit_id, commit] as const)); const target = byId.get(packet.commit_id); const checks = target === undefined ? [] : [ ...packet.commits.flatMap(ofCommit), stateCheck(packet, byId), ...gateChecks(packet, target, byId), releaseCheck(packet, target), ]; return { ok: checks.every(({ outcome }) => outcome !== 'differs'), commit_id: packet.commit_id, checks }; } /** The id, and what the id is a hash of by hashes. */ function ofCommit(commit: PackedCommit): readonly Check[] { const { commit_id: id, checkpoint, chunks, inputs } = commit; const sums = checkpoint.state?.chunk_sha256s ?? []; const replayed = id;",
  },
  {
    id: 'd58-recorded-verdict-believed',
    requirement: 'D58',
    spec: 'apps/cli/src/lineage/packet.unit.spec.ts',
    test: 'a replay packet replays to equal decisions: ids, chunks, states, inputs, policy, verdict and release',
    file: 'apps/cli/src/lineage/packet-checks.ts',
    find: "return compared('verdict', id, { recorded: `${gate.verdict}${by}`, replayed: `${verdict.admitted ? 'admitted' : `${verdict.code}: ${verdict.reason}`}${by}`, });",
    replace: "return compared('verdict', id, { recorded: `${gate.verdict}${by}`, replayed: `${gate.verdict}${by}` });",
  },
  {
    id: 'd63-same-release-whatever-differs',
    requirement: 'D63/commits',
    spec: 'apps/cli/src/commits/commits.unit.spec.ts',
    test: 'commits are compared by the parts of the release they pin',
    file: 'apps/cli/src/commands/commits.command.ts',
    find: 'return { from, to, differences: releaseDiff(left, right), unpinned };',
    replace: 'return { from, to, differences: releaseDiff(left, left), unpinned };',
  },
  {
    id: 'e45-parts-forget',
    requirement: 'E45',
    spec: 'apps/cli/src/lineage/lineage.unit.spec.ts',
    test: 'the parts of a comparison carry what fell from one part into the next',
    file: 'apps/cli/src/lineage/reconcile.ts',
    find: 'return part.map((commit) => ({ ...commit, derived_from: [ ...commit.derived_from, ...commit.derived_from.flatMap((parent) => fallen.get(nameOf(parent)) ?? []), ], }));',
    replace: 'return part.map((commit) => ({ ...commit, derived_from: [...commit.derived_from, ...[]] }));',
  },
  {
    id: 'guides-opened-payloads-stay-hidden',
    requirement: 'guides/command-line',
    spec: 'apps/cli/src/program.unit.spec.ts',
    test: 'payloads of a step are shown as they were opened for the reader',
    file: 'apps/cli/src/commands/review-item.ts',
    find: "const isSealed = encoding !== undefined && encoding !== 'plain' && typeof body === 'string' && SEALED.test(body);",
    replace: "const isSealed = encoding !== undefined && encoding !== 'plain';",
  },
];
