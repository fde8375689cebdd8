// What a guard does not know is no leave to act.
import { describe, expect, it } from '@jest/globals';
import { guardCompensation } from './compensation.js';
import { guard } from './guard.js';
import type { GuardMode, GuardOptions } from './guard.messages.js';
import { refund } from './guard.testing.js';

const { options } = refund();
/** Options as callers without types give them. */
const under = (mode: unknown): GuardOptions => ({ ...options, mode: mode as GuardMode });

describe('a guard', () => {
  it.each(['Enforce', '', 'enforced', 'toString', null, undefined, 1])('is none in the mode %j', (mode) => {
    const tool = { execute: () => Promise.resolve({}) };
    const none = { code: 'GUARD_INVALID', message: expect.stringContaining('off, observe, enforce') };
    expect(() => guard(tool, under(mode))).toThrow(expect.objectContaining(none));
    expect(() => guardCompensation(tool.execute, { ...under(mode), agentId: 'worker' })).toThrow(
      expect.objectContaining(none),
    );
  });

  it.each([undefined, null, {}, { execute: 5 }, 'tool'])('is none of the tool %j', (tool) => {
    // @ts-expect-error: no tool.
    expect(() => guard(tool, options)).toThrow(expect.objectContaining({ code: 'GUARD_INVALID' }));
  });
});
