// Packages that only this bench needs: apart from the project's own, installed into .recourse/peers when it is first run.
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { keepDir, root } from '../../../../scripts/lib/paths.mjs';
import { say } from '../bench-stack.js';

const FILES = ['package.json', 'package-lock.json'] as const;
/** Where they are installed; a built Temporal server is looked for in `bin`. */
export const PEERS_FOLDER = join(keepDir, 'peers');

/** Packages that are installed together: those that every run needs, and Temporal's, where its server is. */
export type PeerSet = 'base' | 'temporal';
const FOLDERS: Readonly<Record<PeerSet, string>> = { base: '', temporal: 'temporal' };

/** Installs them unless what is there is what the lockfile asks for. Errors: npm's own output. */
export async function installPeers(set: PeerSet): Promise<void> {
  const [wanted, there] = [join(root, 'test', 'bench', 'peers', FOLDERS[set]), join(PEERS_FOLDER, FOLDERS[set])];
  const textIn = (...path: readonly string[]): string | null =>
    existsSync(join(...path)) ? readFileSync(join(...path), 'utf8') : null;
  // npm writes its own list last, so that is the mark of a complete installation.
  const isComplete = textIn(there, 'node_modules', '.package-lock.json') !== null;
  if (isComplete && FILES.every((name) => textIn(there, name) === textIn(wanted, name))) return;
  say(`installing the packages of the peers (${set})`);
  mkdirSync(there, { recursive: true });
  for (const name of FILES) copyFileSync(join(wanted, name), join(there, name));
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', args, { cwd: there });
}

/** One of these packages; its types are not installed, so the caller states the part it uses. */
export async function peerModule<Part>(name: string, set: PeerSet = 'base'): Promise<Part> {
  const found = createRequire(join(PEERS_FOLDER, FOLDERS[set], 'package.json')).resolve(name);
  return (await import(pathToFileURL(found).href)) as Part; // stated by the caller
}

/** Version of one of these packages. */
export function peerVersion(name: string, set: PeerSet = 'base'): string {
  const file = join(PEERS_FOLDER, FOLDERS[set], 'node_modules', name, 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }; // every package has one
  return version;
}
