// Names of what a statement or a binding is about, as one text: no two scopes share a name, none is above 512 bytes.
import { sha256Hex } from '@recourse/kernel';

/** Longest group or key of a row, bytes. */
const NAME_BYTES_MAX = 512;

/** A ref of a tenant. */
export function refScope(tenant: string, ref: string): string {
  return bounded(`${escaped(tenant)}|${ref}`);
}

/** An event about a ref of a tenant: the natural key of a statement (L12). */
export function eventScope(tenant: string, ref: string, eventId: string): string {
  return bounded(`${escaped(tenant)}|${escaped(eventId)}|${ref}`);
}

/** Commits under a policy bundle, or those of them in one block of places: whatever their tenant, since a bundle may be one of all. */
export function bundleScope(bundle: string, block: number | null = null): string {
  return bounded(`${escaped(bundle)}|${block === null ? '' : String(block)}`);
}

/** What a statement holds for: a ref in one run of a tenant, or (null) in all of them. */
export function verdictScope(tenant: string, ref: string, runId: string | null): string {
  return runId === null ? `all|${escaped(tenant)}|${ref}` : `run|${escaped(tenant)}|${escaped(runId)}|${ref}`;
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('|', '%7C');
}

/** A hashed name holds no bar, so it is nobody else's. */
function bounded(name: string): string {
  return Buffer.byteLength(name) <= NAME_BYTES_MAX ? name : `sha256:${sha256Hex(name)}`;
}
