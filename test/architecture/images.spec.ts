// The stage that installs what an image runs, on copies of the manifests: what npm is told before it fetches anything. The whole
// of it, with what it fetches, is test/deploy/images.deploy.spec.ts.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { root } from '../../scripts/lib/paths.mjs';
import { containerStages, stageOf } from '../deploy/containers.testing.js';
import { filesBelow } from './tree.testing.js';

const MANIFESTS = ['package.json', ...['libs', 'apps'].flatMap((folder) => filesBelow(folder))].filter((path) =>
  /^((libs|apps)\/[^/]+\/)?package\.json$/.test(path),
);
const steps = stageOf(containerStages(), 'installed')
  .run.join(' && ')
  .split(' && ')
  .map((step) => step.trim());
const app = mkdtempSync(join(tmpdir(), 'recourse-image-'));

beforeAll(() => {
  for (const path of MANIFESTS) {
    mkdirSync(dirname(join(app, path)), { recursive: true });
    copyFileSync(join(root, path), join(app, path));
  }
  for (const step of steps.filter((each) => each.startsWith('npm pkg ')))
    execFileSync('sh', ['-c', step], { cwd: app });
});

afterAll(() => {
  rmSync(app, { recursive: true });
});

describe('the stage that installs what an image runs', () => {
  it('installs from manifests that ask for nothing else: npm makes no bill of a tree that lacks what a manifest asks for', () => {
    const asking = MANIFESTS.filter((path) => {
      const manifest = JSON.parse(readFileSync(join(app, path), 'utf8')) as Readonly<Record<string, unknown>>;
      return ['devDependencies', 'optionalDependencies'].some((kind) => manifest[kind] !== undefined);
    });
    expect(MANIFESTS.length).toBeGreaterThan(15);
    expect(asking).toEqual([]);
  });

  it('makes the bill last, of what it installed', () => {
    expect(steps.slice(-2)).toEqual([
      'npm ci --omit=dev --ignore-scripts --no-audit --no-fund',
      'npm sbom --omit=dev --sbom-format cyclonedx > sbom.cdx.json',
    ]);
  });
});
