// A built checkout of an earlier version: a folder that is one, or a commit, which is checked out and built once.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { keepDir, root } from '../../../../scripts/lib/paths.mjs';

const PROGRAM = 'apps/mutation-ledger/dist/main.js';
const BUILT = 'built';

/**
 * The folder of an earlier version, built.
 *
 * Shape:  `from` is a commit, a tag or the folder of a built checkout; what git does not know and no folder holds is refused.
 * Errors: Error with what git or npm said last.
 */
export function earlierVersion(from: string, say: (line: string) => void): string {
  const folder = isAbsolute(from) ? from : resolve(root, from);
  if (existsSync(join(folder, PROGRAM))) return folder;
  const { status, stdout } = spawnSync('git', ['rev-parse', '--verify', '--quiet', `${from}^{commit}`], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0)
    throw new Error(
      `--upgrade ${from}: no commit of this repository, and no folder with a built checkout; fetch its history, or name another`,
    );
  return builtAt(stdout.trim(), say);
}

/** Checks a commit out beside what is kept between runs, and builds it; what was not built to its end is begun anew. */
function builtAt(commit: string, say: (line: string) => void): string {
  const home = join(keepDir, 'earlier', commit.slice(0, 12));
  const checkout = join(home, 'checkout');
  if (existsSync(join(home, BUILT))) return checkout;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  const steps = [
    ['git', 'clone', '--quiet', '--no-checkout', root, checkout],
    ['git', '-C', checkout, 'checkout', '--quiet', commit],
    ['npm', '--prefix', checkout, 'ci', '--no-audit', '--no-fund'],
    ['npm', '--prefix', checkout, 'run', 'build'],
  ] as const;
  for (const [command, ...args] of steps) {
    say(`${command} ${args.filter((arg) => arg !== checkout).join(' ')} (${commit.slice(0, 12)})`);
    const done = spawnSync(command, args, { cwd: home, encoding: 'utf8', env: { ...process.env, CI: 'true' } });
    if (done.status !== 0)
      throw new Error(`${command} ${args.join(' ')} failed:\n${`${done.stdout}${done.stderr}`.slice(-2_000)}`);
  }
  writeFileSync(join(home, BUILT), '');
  return checkout;
}
