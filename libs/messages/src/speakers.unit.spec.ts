import { describe, expect, it } from '@jest/globals';
import type { SpeakerRole } from '@recourse/kernel';
import { speakerProblem } from './speakers.js';

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
    ['a service of ours', key('service', 'budget-accountant', ['*']), SAID, true],
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
