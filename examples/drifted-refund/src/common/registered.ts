// Contracts as the registry holds them.
import { contractDigest, parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { canonicalJson } from '@recourse/kernel';
import { ask } from './http.js';

export interface Registered {
  readonly contract: Contract;
  readonly digest: Buffer;
}

/** A contract as the registry holds it, with the digest of its canonical JSON checked. Errors: when there is none, or one that does not fit. */
export async function contractOf(
  registry: { readonly url: string; readonly token: () => Promise<string> },
  name: string,
): Promise<Registered> {
  const { status, body } = await ask(`${registry.url}/v1/contracts/${name}`, {
    headers: { authorization: `Bearer ${await registry.token()}` },
  });
  const stated = body['digest'];
  if (status !== 200 || typeof stated !== 'string')
    throw new Error(`the registry answered ${String(status)} for ${name}`);
  const held = body['body'] ?? body['contract'];
  const text = typeof held === 'string' ? held : canonicalJson(held);
  const parsed = parseContract(text);
  const digest = contractDigest(text);
  if (!parsed.ok || digest.toString('hex') !== stated)
    throw new Error(`the registry's contract ${name} does not fit its digest`);
  return { contract: parsed.contract, digest };
}
