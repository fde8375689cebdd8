import { describe, expect, it } from '@jest/globals';
import type { SpeakerRole } from '@recourse/kernel';
import { muteProblem, speakerProblem } from './speakers.js';

const key = (role: SpeakerRole, name: string, tenants = ['acme']) => ({
  keyId: 'k',
  roles: [role],
  names: [name],
  tenants,
});
const SAID = { tenant: 'acme', agent_id: 'agent-7', source: 'critic' };

describe('what a key may say of an agent', () => {
  it.each([
    ['a critic under its name', key('critic', 'critic'), SAID, true],
    ['a source under its name', key('source', 'critic'), SAID, true],
    ['a service of ours', key('service', 'budget-accountant', ['*']), SAID, false],
    ['the agent, of itself', key('producer', 'agent-7'), { ...SAID, source: 'agent-7' }, false],
    ['a producer under the name of a critic', key('producer', '*'), SAID, false],
    ['a critic under another name', key('critic', 'other'), SAID, false],
    ['a critic of another tenant', key('critic', 'critic', ['globex']), SAID, false],
    ['a worker', key('worker', 'critic'), SAID, false],
    ['a consumer', key('consumer', 'critic'), SAID, false],
  ])('how it did: %s', (_who, speaker, body, is) => {
    expect(speakerProblem(speaker, 'AgentSignalled', body) === null).toBe(is);
  });

  it.each([
    ['a producer under its name', key('producer', 'platform'), { ...SAID, source: 'platform' }, true],
    ['a critic', key('critic', 'critic'), SAID, true],
    ['a producer under another name', key('producer', 'platform'), SAID, false],
    ['a worker', key('worker', 'critic'), SAID, false],
    ['a producer for another tenant', key('producer', 'critic', ['globex']), SAID, false],
  ])('what its work cost: %s', (_who, speaker, body, is) => {
    expect(speakerProblem(speaker, 'OutcomeRecorded', body) === null).toBe(is);
  });
});

describe('what a key may say of an agent’s work', () => {
  const by = (agent_id: string) => ({ tenant: 'acme', run_id: 'r', commit_id: 'cp', checkpoint: { agent_id } });

  it.each([
    ['its own agent', key('producer', 'agent-7'), by('agent-7'), true],
    ['every agent, where it speaks for all', key('producer', '*'), by('agent-7'), true],
    ['another agent', key('producer', 'agent-8'), by('agent-7'), false],
    ['nobody', key('producer', 'agent-7'), { tenant: 'acme', checkpoint: {} }, false],
  ])('is a checkpoint of %s', (_whom, speaker, body, is) => {
    expect(speakerProblem(speaker, 'CheckpointTaken', body) === null).toBe(is);
  });
});

describe('what a key may say of a handle', () => {
  it.each([
    ['a producer', key('producer', '*')],
    ['a source', key('source', '*')],
    ['a worker', key('worker', '*')],
    ['an observer', key('observer', '*')],
    ['a consumer', key('consumer', '*')],
    ['a critic', key('critic', '*')],
  ])('is nothing, whose it is: %s', (_who, speaker) => {
    expect(speakerProblem(speaker, 'HandleNamed', { ...SAID, envelope: undefined })).toContain('not for it to say');
  });
});

describe('what a key of a service may say', () => {
  const COMMAND = { envelope: { tenant: 'acme', principal: 'user:mira' } };
  const EDGES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant'];

  it.each(EDGES)('is a command, where an edge is its own: %s', (name) => {
    expect(speakerProblem(key('service', name, ['*']), 'ApproveStep', COMMAND)).toBeNull();
    expect(muteProblem(key('service', name, ['*']), ['ApproveStep'])).toBeNull();
  });

  it.each(['auditor', 'notifier', 'someone'])('is nothing on any wire: %s', (name) => {
    const service = key('service', name, ['*']);
    for (const type of ['ApproveStep', 'TriggerRollback', 'RedriveParked'])
      expect(speakerProblem(service, type, COMMAND)).toContain('not for it to say');
    for (const type of ['HandleNamed', 'AssumptionInvalidated', 'ToolExecuted', 'LegReported'])
      expect(speakerProblem(service, type, SAID)).toContain('not for it to say');
    expect(muteProblem(service, ['ApproveStep', 'HandleNamed', 'AssumptionDeclared'])).toContain('speaks as service');
  });

  it('is the answer about a handle of the ledger alone', () => {
    const may = EDGES.filter((name) => speakerProblem(key('service', name, ['*']), 'HandleNamed', SAID) === null);
    expect(may).toEqual(['mutation-ledger']);
    expect(muteProblem(key('service', 'mutation-ledger', ['*']), ['HandleNamed'])).toBeNull();
    expect(speakerProblem(key('producer', 'mutation-ledger', ['*']), 'HandleNamed', SAID)).not.toBeNull();
  });

  it.each([
    'ToolPlanned',
    'ToolExecuted',
    'CheckpointTaken',
    'StateChunk',
    'AssumptionDeclared',
    'AssumptionInvalidated',
    'AssumptionReaffirmed',
    'AgentSignalled',
    'OutcomeRecorded',
    'LegReported',
    'RollbackAcknowledged',
  ])('is no word of an agent, a source, a worker or a consumer: %s', (type) => {
    for (const name of [...EDGES, '*']) expect(speakerProblem(key('service', name, ['*']), type, SAID)).not.toBeNull();
  });
});
