import { describe, expect, it } from '@jest/globals';
import { ESCALATION_REASONS } from '../rules/step/step.messages.js';
import { isUnprovable } from './reports.decisions.js';

describe('a reason', () => {
  it('is unprovable where nobody can say what happened', () => {
    expect(ESCALATION_REASONS.filter(isUnprovable)).toEqual([
      'KEY_LIFETIME_OVER',
      'FORWARD_UNRESOLVED',
      'HANDLE_ASKED',
      'VERIFICATION_FAILED',
      'OUTCOME_UNKNOWN',
      'STEP_RESULT_MISSING',
    ]);
  });
});
