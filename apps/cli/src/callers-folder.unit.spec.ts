import { expect, it } from '@jest/globals';
import { callersFolder } from './callers-folder.js';

it.each([
  ['a script of npm', { INIT_CWD: '/repo/docs', npm_config_local_prefix: '/repo' }, '/repo', '/repo/docs'],
  [
    'a script of npm that went elsewhere',
    { INIT_CWD: '/repo', npm_config_local_prefix: '/repo' },
    '/repo/sub',
    '/repo/sub',
  ],
  ['whatever another program left in INIT_CWD', { INIT_CWD: '/elsewhere' }, '/repo', '/repo'],
  ['npx', { INIT_CWD: '/repo/docs', npm_config_local_prefix: '/repo' }, '/repo/docs', '/repo/docs'],
  ['a person', {}, '/home/asha', '/home/asha'],
])('a relative path under %s is meant from where the person stands', (_who, environment, current, meant) => {
  expect(callersFolder(environment, current)).toBe(meant);
});
