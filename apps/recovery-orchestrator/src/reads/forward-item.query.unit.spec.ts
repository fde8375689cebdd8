import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { ForwardDoc } from '../rules/forward/forward.messages.js';
import { forwardItem } from './forward-item.query.js';

const ASKED: ForwardDoc = {
  approval_id: 'apr_1',
  tenant: 'acme',
  run_id: 'run-1',
  round: 1,
  phase: 'awaiting',
  agent_id: 'status-agent',
  initiator: 'ines',
  answerable_to: 'otto',
  brief: { objective: 'tell the channel', compensation: null, missing: [] },
  capability: 'channels.post_message',
  contract_digest: Buffer.alloc(32),
  effect_key: 'eff_1',
  subject_ref: null,
  mode: 'dual_control',
  action_digest: Buffer.alloc(32),
  args: plainPayload({}),
  rehearsal: null,
  required_approvals: 2,
  requested_by: 'svc:status',
  approvals: [{ by: 'olga', approval_id: 'a_1', at: 1, reason: 'seen' }],
  decided_by: null,
  routine: null,
  not_routine: [],
  denied_by: null,
  reason: null,
  owner: 'role:approver',
  deadline_at: 9,
  expires_at: null,
  mutation_id: null,
  attempt: null,
  requested_at: 0,
  updated_at: 0,
};

describe('a question before an effect', () => {
  it('marks names of different people that read alike, the reader among them, beside its row and status', () => {
    const shown = { ...ASKED, args: { ...ASKED.args, content: Buffer.from('{}') } };
    expect(forwardItem(ASKED, shown, 'Ines')).toEqual({ ...shown, status: 'pending', lookalikes: [] });
    expect(forwardItem(ASKED, shown, '1nes')).toMatchObject({ lookalikes: [['1nes', 'ines']] });
    expect(forwardItem(ASKED, shown, '0lga')).toMatchObject({ lookalikes: [['0lga', 'olga']] });
    expect(forwardItem({ ...ASKED, requested_by: 'ott0' }, shown, 'rita')).toMatchObject({
      lookalikes: [['ott0', 'otto']],
    });
  });
});
