import { describe, expect, it } from '@jest/globals';
import { TOPICS } from './generated/index.js';
import { bodyIn, recordIn } from './records.js';

describe('a wire', () => {
  it.each(TOPICS.filter(({ kind }) => kind === 'wire').map(({ name, config }) => [name, config] as const))(
    '%s keeps what was sent by when the broker got it: no time of a stranger makes it older',
    (_name, config) => {
      expect(config).toMatchObject({ 'message.timestamp.type': 'LogAppendTime' });
    },
  );
});

describe('a decoded record', () => {
  const released = { type: 'BudgetReleased', body: { reservation_id: 'res_1' } };

  it('is typed by its topic', () => {
    const record = recordIn('recourse.budgets', released);
    expect(record.type === 'BudgetReleased' ? record.body.reservation_id : null).toBe('res_1');
    expect(bodyIn('recourse.budgets', 'BudgetReleased', released).reservation_id).toBe('res_1');
  });

  it('of another topic is a bug', () => {
    expect(() => {
      recordIn('recourse.mutations', released);
    }).toThrow('recourse.mutations holds no BudgetReleased');
    expect(() => {
      bodyIn('recourse.budgets', 'BudgetOpened', released);
    }).toThrow('BudgetReleased where BudgetOpened was expected');
  });
});
