// npm runs this after `npm install` and `npm ci`: tells git where the hooks of this repository are.
//
// Never fails an installation: outside a git checkout, in CI, without git, or where hooks are set up already, it does nothing.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/paths.mjs';

const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });

const isCheckout = existsSync(join(root, '.git'));
const isCi = (process.env.CI ?? '') !== '';
if (isCheckout && !isCi && git('config', '--get', 'core.hooksPath').stdout?.trim() === '')
  git('config', '--local', 'core.hooksPath', '.githooks');
