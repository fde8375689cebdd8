// The browser of the console's lane, on machines that have it, may install it, or neither.
import { describe, expect, it } from '@jest/globals';
import { lackOfChromium } from '../../scripts/lib/chromium.mjs';
import type { Machine } from '../../scripts/lib/chromium.mjs';
import { laneRows, LANES, lanesOf } from '../../scripts/lib/lanes.mjs';

/** A machine with these files; installing puts the browser where Debian does, unless it fails. */
function machine(
  files: readonly string[],
  { isRoot = true, fails = false } = {},
): Machine & { readonly ran: string[] } {
  const [there, ran] = [new Set(files), [] as string[]];
  const apt = (args: readonly string[]): boolean => {
    ran.push(args[0] ?? '');
    if (args[0] === 'install' && !fails) there.add('/usr/bin/chromium');
    return !fails;
  };
  return { env: {}, exists: (path) => there.has(path), isRoot, apt, ran };
}

describe('a browser', () => {
  it('is used where it stands, and nothing is installed', () => {
    const there = machine(['/usr/bin/chromium', '/usr/bin/apt-get']);
    expect(lackOfChromium(there)).toBeNull();
    const named = machine([]);
    expect(lackOfChromium({ ...named, env: { CHROMIUM_PATH: '/opt/chrome' } })).toBeNull();
    expect([...there.ran, ...named.ran]).toEqual([]);
  });

  it('is installed by root where apt is, and lacks where that fails', () => {
    const bare = machine(['/usr/bin/apt-get']);
    expect(lackOfChromium(bare)).toBeNull();
    expect(bare.ran).toEqual(['update', 'install']);
    expect(lackOfChromium(machine(['/usr/bin/apt-get'], { fails: true }))).toContain('failed');
  });

  it('lacks with what to do about it where nobody may install it', () => {
    const others = machine(['/usr/bin/apt-get'], { isRoot: false });
    expect(lackOfChromium(others)).toContain('apt-get install -y chromium');
    expect(others.ran).toEqual([]);
    expect(lackOfChromium(machine([]))).toContain('CHROMIUM_PATH');
  });
});

describe('the lane of the console', () => {
  it('runs in .ci/run where there is a browser: what people decide, and every screen', () => {
    const lane = lanesOf('ci').find(({ name }) => name === 'console');
    expect([lane?.ci, lane?.needs]).toEqual([['decide', 'screens'], 'chromium']);
    expect(LANES.filter(({ needs }) => needs !== undefined)).toHaveLength(1);
  });

  it('stands in the table as left out, with the reason, and counts neither as passed nor as failed', () => {
    const done = [{ name: 'e2e', passed: 3, failed: 0, seconds: 9 }];
    expect(laneRows(done, [{ name: 'console', why: 'no Chromium here' }])).toEqual([
      ['e2e', 3, 0, 9],
      ['console', '-', '-', 'left out: no Chromium here'],
    ]);
  });
});
