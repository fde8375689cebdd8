// Contracts as the registry holds them, looked up by name.
import { contractDigest, parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { bodyOf, EdgeProblem } from '../edge/edge.js';
import type { Doc, EdgeAnswer, EdgeClient } from '../edge/edge.js';
import { ConnectProblem } from './connect.problem.js';

/** A contract with the digest the registry gave it. */
export interface RegisteredContract {
  readonly contract: Contract;
  /** SHA-256 of its canonical JSON. */
  readonly contractDigest: Buffer;
}

/** As many names as a person reads. */
const NAMED_MAX = 50;

/** Asks once whether the registry answers and takes the token. Errors: ConnectProblem(CONTRACTS_UNREACHABLE, TOKEN_REFUSED). */
export async function greetRegistry(registry: EdgeClient): Promise<void> {
  taken(await asked(registry, '/v1/contracts?limit=1'));
}

/**
 * The contract that binds a tenant: its own, or the platform's where that is stricter.
 *
 * Errors: ConnectProblem(CONTRACTS_UNREACHABLE, TOKEN_REFUSED, CONTRACT_UNKNOWN, CONTRACT_RETIRED, CONTRACT_UNREADABLE).
 */
export async function registeredContract(
  registry: EdgeClient,
  tenant: string,
  name: string,
): Promise<RegisteredContract> {
  const answer = await asked(
    registry,
    `/v1/contracts/${encodeURIComponent(name)}?tenant=${encodeURIComponent(tenant)}`,
  );
  if (answer.status === 404) throw await unknown(registry, name);
  const { body, digest, retired } = taken(answer);
  if (retired === true) throw new ConnectProblem('CONTRACT_RETIRED', `${name} is retired`);
  const parsed = typeof body === 'string' ? parseContract(body) : null;
  if (typeof body !== 'string' || parsed?.ok !== true)
    throw new ConnectProblem('CONTRACT_UNREADABLE', `the registry's contract ${name} cannot be read`);
  const own = contractDigest(body);
  if (own.toString('hex') !== digest)
    throw new ConnectProblem('CONTRACT_UNREADABLE', `the registry's contract ${name} does not fit its digest`);
  return { contract: parsed.contract, contractDigest: own };
}

/** Names what there is, so that a slip of the pen shows. */
async function unknown(registry: EdgeClient, name: string): Promise<ConnectProblem> {
  const { items, more } = await registry.list('/v1/contracts', { retired: 'false' }, NAMED_MAX);
  const names = [...new Set(items.map((item) => String(item['name'])))].sort();
  const there =
    names.length === 0 ? 'none is registered' : `registered are ${names.join(', ')}${more ? ' and more' : ''}`;
  return new ConnectProblem('CONTRACT_UNKNOWN', `no contract ${name} stands for this tenant; ${there}`);
}

async function asked(registry: EdgeClient, path: string): Promise<EdgeAnswer> {
  try {
    return await registry.ask({ method: 'GET', path });
  } catch (cause) {
    if (!(cause instanceof EdgeProblem)) throw cause;
    throw new ConnectProblem('CONTRACTS_UNREACHABLE', `${cause.from}: ${cause.detail}`, { cause });
  }
}

function taken(answer: EdgeAnswer): Doc {
  try {
    return bodyOf(answer);
  } catch (cause) {
    const { status, from } = answer;
    const why = cause instanceof EdgeProblem ? `${cause.code}: ${cause.detail}` : String(cause);
    throw status === 401 || status === 403
      ? new ConnectProblem('TOKEN_REFUSED', `${from} refuses the token: ${why}`, { cause })
      : new ConnectProblem('CONTRACTS_UNREACHABLE', `${from}: ${why}`, { cause });
  }
}
