// One name for a handle, however it is spelt. Pure.
import { HANDLE_PREFIX, sha256Hex } from '@recourse/kernel';

/** One name for a handle of an adapter, whatever the tenant, the capability and the spelling: what is undone by it is one thing. */
export function handleRef(adapter: string, handle: string): string {
  return `${HANDLE_PREFIX}${sha256Hex(JSON.stringify([adapter, asRead(handle)]))}`;
}

/** White space, and what nobody sees. */
const UNSEEN = /[\s\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** A handle as a provider may read it: no case, width, escape or blank makes a second one of it. */
function asRead(handle: string): string {
  return unescaped(handle).normalize('NFKC').replace(UNSEEN, '').toLowerCase();
}

function unescaped(handle: string): string {
  try {
    return decodeURIComponent(handle);
  } catch {
    return handle;
  }
}
