// A replay packet, replayed: ids, chunks, states, gate and release computed anew and compared with what was recorded (D58).
//
// Boundary: pure; nothing but the packet is read. No service, log or key is needed, and nothing takes effect.
//
// Invariants
//   C1. What is compared is computed from hashed material: where a part is missing the check is not made, and says so. Nothing is
//       `ok` as long as a check was not made: who strips a packet proves nothing with it.
//   C2. Whatever is tampered with makes one check differ, each with its own code.
import { admissionVerdict, reviewEntry } from '@recourse/contract';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { checkpointIn, commitIdOf, restoredState } from '@recourse/lineage';
import type { PackedCommit, PackedState, Packet, Restored } from '@recourse/lineage';
import type { LoggedRun } from './packet-log.js';
import { walkBack } from './packet-walk.js';
import type { Walked } from './packet-walk.js';

/** What a difference is called. */
export const PACKET_CODES = {
  id: 'PACKET_ID_DIFFERS',
  chunks: 'PACKET_CHUNKS_DIFFER',
  state: 'PACKET_STATE_DIFFERS',
  inputs: 'PACKET_INPUTS_DIFFER',
  before: 'PACKET_BEFORE_DIFFERS',
  policy: 'PACKET_POLICY_DIFFERS',
  verdict: 'PACKET_VERDICT_DIFFERS',
  release: 'PACKET_RELEASE_DIFFERS',
  proof: 'PACKET_PROOF_DIFFERS',
} as const;
type CheckName = keyof typeof PACKET_CODES;

/** One comparison. One that cannot be made has the code of what is missing; `none`: the commit has nothing of the kind. */
export interface Check {
  readonly check: CheckName;
  readonly commit_id: string;
  readonly outcome: 'equal' | 'differs' | 'not_made' | 'none';
  readonly code: string | null;
  readonly recorded: string | null;
  readonly replayed: string | null;
}

export interface PacketReplay {
  /** Everything was checked, and is equal. */
  readonly ok: boolean;
  /** `incomplete`: nothing differs, and something was left unchecked. */
  readonly outcome: 'equal' | 'differs' | 'incomplete';
  readonly commit_id: string;
  readonly checks: readonly Check[];
}

type Found = Readonly<Record<'recorded' | 'replayed', string>>;

/** Replays a packet. `logged` is what a log holds of its run; null where no log is at hand. */
export function replayPacket(packet: Packet, logged: LoggedRun | null): PacketReplay {
  const byId = new Map(packet.commits.map((commit) => [commit.commit_id, commit] as const));
  const target = byId.get(packet.commit_id);
  const checks =
    target === undefined
      ? []
      : [
          ...packet.commits.flatMap((commit) => [...ofCommit(commit), proofCheck(commit, logged)]),
          stateCheck(packet, target, byId),
          ...gateChecks(packet, target, byId, logged),
          releaseCheck(packet, target),
        ];
  const has = (one: Check['outcome']): boolean => checks.some(({ outcome }) => outcome === one);
  const outcome = has('differs') ? 'differs' : has('not_made') ? 'incomplete' : 'equal';
  return { ok: outcome === 'equal', outcome, commit_id: packet.commit_id, checks };
}

/** The id, and what the id is a hash of by hashes. */
function ofCommit(commit: PackedCommit): readonly Check[] {
  const { commit_id: id, checkpoint } = commit;
  const sums = checkpoint.state?.chunk_sha256s ?? [];
  const replayed = commitIdOf(checkpointIn(checkpoint));
  return [
    replayed !== id && isHashSealed(commit)
      ? missing('id', id, 'hash_unavailable')
      : compared('id', id, { recorded: id, replayed }),
    ...chunkChecks(commit, sums),
    ...inputChecks(commit),
  ];
}

function chunkChecks(
  { commit_id: id, checkpoint, chunks, state_code }: PackedCommit,
  sums: readonly string[],
): readonly Check[] {
  if (chunks !== null)
    return [
      compared('chunks', id, {
        recorded: shortened(sums),
        replayed: shortened(chunks.map((chunk) => sha256Hex(bytesOf(chunk)))),
      }),
    ];
  return checkpoint.state === null ? [] : [missing('chunks', id, state_code ?? 'chunks_missing')];
}

function inputChecks({ commit_id: id, checkpoint: { gate }, inputs, inputs_code }: PackedCommit): readonly Check[] {
  if (inputs !== null)
    return [
      compared('inputs', id, { recorded: gate?.inputs_sha256 ?? 'no gate', replayed: sha256Hex(bytesOf(inputs)) }),
    ];
  return gate === null ? [] : [missing('inputs', id, inputs_code ?? 'inputs_missing')];
}

/** The log holds this very commit where the packet says. */
function proofCheck({ commit_id: id, proof }: PackedCommit, logged: LoggedRun | null): Check {
  if (logged === null) return missing('proof', id, 'no_log');
  const found = logged.commits.get(id) ?? null;
  if (found === null) return missing('proof', id, 'not_in_log');
  return compared('proof', id, {
    recorded: `${id} ${proof.recorded_hash}`,
    replayed: `${found.commit_id} ${found.recorded_hash}`,
  });
}

/** The log keeps the hash of what rode in a record of its own only as long as it can be opened: then the id cannot be computed. */
function isHashSealed({ checkpoint: { state }, chunks, state_code, inputs, inputs_code }: PackedCommit): boolean {
  const isStateGone = state?.chunk_sha256s.length === 1 && chunks === null && state_code === 'state_unavailable';
  return isStateGone || (inputs === null && inputs_code === 'inputs_unavailable');
}

function stateCheck({ commit_id: id, state }: Packet, { checkpoint }: PackedCommit, byId: Commits): Check {
  if (state.code === 'no_state' && checkpoint.state === null) return none('state', id, 'no_state');
  if (state.code !== null) return missing('state', id, state.code);
  const replayed = hashOf(stateIn(id, byId));
  return compared('state', id, { recorded: state.sha256 ?? 'no hash', replayed });
}

/** The state before, the policy, and the verdict on both. */
function gateChecks(packet: Packet, target: PackedCommit, byId: Commits, logged: LoggedRun | null): readonly Check[] {
  const { gate } = target.checkpoint;
  if (gate === null) return [none('verdict', packet.commit_id, 'no_gate')];
  const before = beforeCheck(packet, byId, walkBack(packet, target, byId, logged));
  const verdict =
    before.outcome === 'not_made' && before.code !== null
      ? missing('verdict', packet.commit_id, before.code)
      : verdictCheck(packet, target, byId);
  return [before, policyCheck(packet, gate), verdict];
}

/** R2: the walk is made again over what is in the packet; a verdict on a state that nobody proves to be the one before is none. */
function beforeCheck({ commit_id: id, before }: Packet, byId: Commits, walked: Walked): Check {
  const { before: found, unproved, altered } = walked;
  if (found.isTooFar) return missing('before', id, 'state_too_far');
  if (before?.commit_id === found.commitId && before.code !== null) return missing('before', id, before.code);
  const state = found.commitId === null ? null : hashOf(stateIn(found.commitId, byId));
  const at = altered === null ? '' : `, and ${altered} was made from others`;
  const replay = compared('before', id, {
    recorded: before === null ? 'none' : placed(before.commit_id, before.sha256),
    replayed: `${placed(found.commitId, state)}${at}`,
  });
  return replay.outcome === 'equal' && unproved !== null ? missing('before', id, unproved) : replay;
}

function policyCheck({ commit_id: id, policy }: Packet, gate: Gate): Check {
  if (policy === null) return missing('policy', id, 'policy_unknown');
  const recorded = `${gate.bundle} version ${String(gate.bundle_version)} ${gate.bundle_digest}`;
  const digest = sha256Hex(policy.body);
  const isWhole =
    digest === policy.digest &&
    policy.admitted_it === (policy.digest === gate.bundle_digest) &&
    policy.name === gate.bundle;
  const replayed = `${policy.name} version ${String(policy.version)} ${digest}`;
  if (isWhole && !policy.admitted_it && policy.version !== gate.bundle_version)
    return { ...missing('policy', id, 'other_version'), recorded, replayed };
  return compared('policy', id, {
    recorded,
    replayed: isWhole ? replayed : `${replayed}, said to be ${policy.digest}`,
  });
}

function verdictCheck(
  { commit_id: id, policy, before }: Packet,
  { checkpoint: { gate }, inputs, inputs_code }: PackedCommit,
  byId: Commits,
): Check {
  const reviewed = policy === null ? null : reviewEntry('policy_bundle', policy.body, policy.tenant);
  if (gate === null || policy === null || before === null)
    return missing('verdict', id, gate === null ? 'no_gate' : 'policy_unknown');
  if (reviewed?.ok !== true)
    return compared('verdict', id, { recorded: gate.verdict, replayed: 'the policy is no bundle' });
  if (before.is_too_far || before.code !== null) return missing('verdict', id, before.code ?? 'state_too_far');
  if (inputs === null) return missing('verdict', id, inputs_code ?? 'inputs_missing');
  const told = gateIn(bytesOf(inputs));
  const state: Restored = before.commit_id === null ? { ok: true, state: {} } : stateIn(before.commit_id, byId);
  if (told === undefined || !state.ok)
    return compared('verdict', id, {
      recorded: gate.verdict,
      replayed: told === undefined ? 'the inputs are no JSON' : 'no state to judge by',
    });
  const verdict = admissionVerdict(reviewed.entry, { gate: told, state: state.state });
  const by = policy.version === gate.bundle_version ? '' : ` (by version ${String(policy.version)})`;
  return compared('verdict', id, {
    recorded: `${gate.verdict}${by}`,
    replayed: `${verdict.admitted ? 'admitted' : `${verdict.code}: ${verdict.reason}`}${by}`,
  });
}

function releaseCheck({ commit_id: id, release }: Packet, { checkpoint }: PackedCommit): Check {
  if (release === null && checkpoint.release === null) return none('release', id, 'no_release');
  return compared('release', id, { recorded: released(checkpoint.release), replayed: released(release) });
}

type Commits = ReadonlyMap<string, PackedCommit>;
type Gate = NonNullable<PackedCommit['checkpoint']['gate']>;

/** A state from the packet alone. */
function stateIn(id: string, byId: Commits): Restored {
  try {
    return restoredState(id, (at) => {
      const commit = byId.get(at);
      return commit === undefined
        ? undefined
        : {
            state: checkpointIn(commit.checkpoint).state,
            isGivenUp: commit.state_code === 'state_unavailable',
            chunks: commit.chunks?.map(bytesOf) ?? null,
          };
    });
  } catch (cause) {
    if (cause instanceof SyntaxError) return { ok: false, code: 'state_incomplete' };
    throw cause;
  }
}

/** What the predicates read as `gate`; undefined where the bytes hold none. */
function gateIn(bytes: Buffer): Json | undefined {
  try {
    const told = JSON.parse(bytes.toString('utf8')) as Json; // what JSON.parse makes is JSON
    return typeof told === 'object' && told !== null && !Array.isArray(told)
      ? ((told as Readonly<Record<string, Json>>)['gate'] ?? {})
      : undefined; // neither a list nor null: members
  } catch {
    return undefined;
  }
}

function compared(check: CheckName, id: string, { recorded, replayed }: Found): Check {
  const isEqual = recorded === replayed;
  return {
    check,
    commit_id: id,
    outcome: isEqual ? 'equal' : 'differs',
    code: isEqual ? null : PACKET_CODES[check],
    recorded,
    replayed,
  };
}

function missing(check: CheckName, id: string, code: string): Check {
  return { check, commit_id: id, outcome: 'not_made', code, recorded: null, replayed: null };
}
function none(check: CheckName, id: string, code: string): Check {
  return { check, commit_id: id, outcome: 'none', code, recorded: null, replayed: null };
}
function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'base64');
}
function hashOf(restored: Restored): NonNullable<PackedState['sha256']> {
  return restored.ok ? sha256Hex(canonicalJson(restored.state)) : restored.code;
}
function placed(id: string | null, sum: string | null): string {
  return id === null ? 'empty, before the first' : `${id} ${sum ?? 'no hash'}`;
}
function released(release: Packet['release']): string {
  return release === null ? 'none' : canonicalJson({ ...release });
}
/** One hash stands for many, so that it can be shown. */
function shortened(sums: readonly string[]): string {
  return sums.length === 1 ? (sums[0] ?? '') : `${String(sums.length)} chunks ${sha256Hex(sums.join(' '))}`;
}
