import { describe, expect, it } from '@jest/globals';
import { pinnedVersion } from '../../../scripts/lib/artifacts.mjs';
import { checkPrerequisites, findJava, javaMajor, mavenVersion } from '../../../scripts/lib/prerequisites.mjs';
import { parseStartOptions } from '../../../scripts/lib/start-options.mjs';

describe('the version of a Java', () => {
  it.each([
    ['openjdk version "25.0.1" 2025-10-21 LTS', 25],
    ['openjdk version "21-ea" 2023-09-19', 21],
    ['java version "1.8.0_392"', 8],
    ['IMPLEMENTOR="Eclipse Adoptium"\nJAVA_VERSION="21.0.5"\n', 21],
    ['openjdk 17.0.15 2025-04-15', 17],
  ])('is read out of %j', (text, major) => {
    expect(javaMajor(text)).toBe(major);
  });

  it('is unknown when nothing names one', () => {
    expect(javaMajor('command not found')).toBeNull();
  });

  it('is not found in places that hold no Java', () => {
    expect(findJava({ candidates: ['/nowhere/bin/java'] })).toEqual({ java: null, seen: [] });
  });
});

describe('the version of Maven', () => {
  it('is read out of what mvn -v says', () => {
    expect(mavenVersion('\u001b[1mApache Maven 3.8.7\u001b[m\nMaven home: /usr/share/maven')).toEqual([3, 8]);
    expect(mavenVersion('Error: JAVA_HOME is not defined')).toBeNull();
  });
});

describe('the version that a pom pins', () => {
  it('is its own, not that of a plugin or dependency', () => {
    expect(
      pinnedVersion(
        '<!-- <version>0</version> --><project><version>4.3.1</version><dependency><version>9</version></dependency></project>',
      ),
    ).toBe('4.3.1');
  });

  it('is missed when there is none', () => {
    expect(() => pinnedVersion('<project/>')).toThrow('no version');
  });
});

describe('the check before the start', () => {
  it('names an old Node together with whatever else is wrong', () => {
    const codes = checkPrerequisites({ nodeVersion: '18.20.4', dataDir: '/proc/no-such-place' }).map(
      (problem) => problem.code,
    );
    expect(codes).toEqual(expect.arrayContaining(['NODE', 'DATA_DIR']));
  });
});

describe('the flags of npm start', () => {
  it('have defaults', () => {
    expect(parseStartOptions([])).toMatchObject({
      once: false,
      scenario: 'drifted-refund',
      breakWhat: null,
      secure: false,
      reset: false,
      help: false,
    });
  });

  it('take a scenario, a break and a data directory', () => {
    expect(
      parseStartOptions([
        ...['--once', '--secure', '--scenario', 'window-closed', '--break', 'phantom-undo', '--data-dir', '/tmp/x'],
      ]),
    ).toMatchObject({
      once: true,
      secure: true,
      scenario: 'window-closed',
      breakWhat: 'phantom-undo',
      dataDir: '/tmp/x',
    });
  });

  it('leave the data where RECOURSE_DATA_DIR says, where the command line looks for it, unless a flag says otherwise', () => {
    const environment = { RECOURSE_DATA_DIR: '/tmp/here' };
    expect(parseStartOptions([], environment).dataDir).toBe('/tmp/here');
    expect(parseStartOptions(['--data-dir', '/tmp/there'], environment).dataDir).toBe('/tmp/there');
    expect(parseStartOptions([], { RECOURSE_DATA_DIR: '' }).dataDir).toMatch(/\.recourse\/data$/);
  });

  it('refuse what does not exist and say what does', () => {
    expect(() => parseStartOptions(['--scenario', 'nonsense'])).toThrow('drifted-refund, window-closed');
    expect(() => parseStartOptions(['--nonsense'])).toThrow('--nonsense');
  });

  it.each(['', ' '])('refuse a data directory %j: the folder they are called in would hold the stack', (empty) => {
    expect(() => parseStartOptions(['--data-dir', empty])).toThrow('--data-dir is empty');
  });
});
