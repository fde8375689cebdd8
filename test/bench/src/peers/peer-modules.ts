// Packages that only this bench needs: apart from the project's own, installed into .recourse/peers when it is first run.
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { keepDir, root } from '../../../../scripts/lib/paths.mjs';
import { say } from '../bench-stack.js';

const WANTED = join(root, 'test', 'bench', 'peers');
const FILES = ['package.json', 'package-lock.json'] as const;
/** Where they are installed; also where a built Temporal server is looked for, in `bin`. */
export const PEERS_FOLDER = join(keepDir, 'peers');
const MANIFEST = join(PEERS_FOLDER, 'package.json');
/** npm writes this one last, so it is the mark of a complete installation. */
const INSTALLED = join(PEERS_FOLDER, 'node_modules', '.package-lock.json');

/** Installs them unless what is there is what the lockfile asks for. Errors: npm's own output. */
export async function installPeers(): Promise<void> {
  const isThere =
    existsSync(INSTALLED) &&
    FILES.every(
      (name) =>
        existsSync(join(PEERS_FOLDER, name)) &&
        readFileSync(join(PEERS_FOLDER, name), 'utf8') === readFileSync(join(WANTED, name), 'utf8'),
    );
  if (isThere) return;
  say('installing the packages of the peers');
  mkdirSync(PEERS_FOLDER, { recursive: true });
  for (const name of FILES) copyFileSync(join(WANTED, name), join(PEERS_FOLDER, name));
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', args, { cwd: PEERS_FOLDER });
}

/** One of these packages; its types are not installed, so the caller states the part it uses. */
export async function peerModule<Part>(name: string): Promise<Part> {
  const found = createRequire(MANIFEST).resolve(name);
  return (await import(pathToFileURL(found).href)) as Part; // stated by the caller
}

/** Version of one of these packages. */
export function peerVersion(name: string): string {
  const file = join(PEERS_FOLDER, 'node_modules', name, 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }; // every package has one
  return version;
}
