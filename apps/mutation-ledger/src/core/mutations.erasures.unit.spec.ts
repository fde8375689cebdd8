// An erasure on record: who ordered it and why, and nothing of whose data it was.
import { describe, expect, it } from '@jest/globals';
import { subjectId } from '@recourse/contract';
import { fact, WAYS, wire } from '@recourse/testing';
import type { RecordInput } from '@recourse/event-log';
import { envelope, ledger, TENANT } from './ledger.testing.js';

const SUBJECT = 'customer/7';
const order = (roles: readonly string[], key = TENANT, ended_by: number | null = null): RecordInput =>
  wire(
    'recourse.ledger-commands',
    'OrderErasure',
    {
      envelope: envelope('ada', roles),
      subject_id: subjectId(TENANT, SUBJECT),
      ended_by,
      reason: 'asked to be forgotten',
    },
    { key },
  );

describe.each(WAYS)('an erasure, $way', ({ isRebuilt }) => {
  it('is on record with who ordered it, when and why, and does not name the subject', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(order(['administrator']), 500)
      .then(
        fact('ErasureOrdered', {
          erasure_id: 'cmd-ada',
          tenant: TENANT,
          subject_id: subjectId(TENANT, SUBJECT),
          ended_by: null,
          by: 'ada',
          reason: 'asked to be forgotten',
        }),
      )
      .thenAnswer({ httpStatus: 201, body: { erasure_id: 'cmd-ada' } });
    expect(JSON.stringify(run.records())).not.toContain(SUBJECT);
  });

  it('takes windows that have ended, and none that is still to end', () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(order(['administrator'], TENANT, 501), 500)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'COMMAND_INVALID' });
    run.when(order(['administrator'], TENANT, 501), 501).then(fact('ErasureOrdered', { ended_by: 501 }));
  });

  it("is an administrator's to order, in the tenant that it is about", () => {
    const { run } = ledger({ isRebuilt });
    run
      .when(order(['operator', 'approver']), 500)
      .then()
      .thenAnswer({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    run
      .when(order(['administrator'], 'globex'), 501)
      .then()
      .thenAnswer({ httpStatus: 422, code: 'KEY_MISMATCH' });
  });
});
