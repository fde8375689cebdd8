// The browser that the console is worked in: Chromium where it stands, or Debian's package where this process may install it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Where Debian's package and others put it. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const APT = '/usr/bin/apt-get';
const INSTALL_MS_MAX = 300_000;

/** @returns {string | null} the browser of CHROMIUM_PATH, or of this machine */
export function findChromium(env = process.env, exists = existsSync) {
  return env.CHROMIUM_PATH ?? PLACES.find((path) => exists(path)) ?? null;
}

const ON_THIS_MACHINE = {
  env: process.env,
  exists: existsSync,
  isRoot: process.getuid?.() === 0,
  /** @param {readonly string[]} args @returns {boolean} whether it ended well */
  apt: (args) =>
    spawnSync(APT, args, {
      stdio: 'ignore',
      timeout: INSTALL_MS_MAX,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0,
};

/**
 * Sees to it that there is a browser: installed only where none is, and by root alone.
 *
 * @param {Partial<typeof ON_THIS_MACHINE>} [given]
 * @returns {string | null} why there is none; null where there is one
 */
export function lackOfChromium(given = {}) {
  const { env, exists, isRoot, apt } = { ...ON_THIS_MACHINE, ...given };
  const isThere = () => findChromium(env, exists) !== null;
  if (isThere()) return null;
  if (!exists(APT)) return 'no Chromium here, and no apt-get to install it: name one in CHROMIUM_PATH';
  if (!isRoot) return 'no Chromium here: `apt-get install -y chromium` as root, or name one in CHROMIUM_PATH';
  const isDone = apt(['update']) && apt(['install', '-y', '--no-install-recommends', 'chromium']);
  return isDone && isThere() ? null : 'no Chromium here, and `apt-get install -y chromium` failed';
}
