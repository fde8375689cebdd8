// What waits for workers, adapter by adapter.
import { describe, expect, it } from '@jest/globals';
import { adaptersOf, waitsOf } from './workers.rules.js';

const CATALOGUE = [{ name: 'payments.issue_refund' }, { name: 'mail.send_mail' }, { name: 'payments.get_refund' }];
const ASKED = [{ adapter: 'payments', tenant: 'demo', asked: 3, silent: 1, oldest_at: 1_000 }];

describe('workers', () => {
  it('are listed by adapter, what waits longest first, and those of whom nothing is asked after them', () => {
    const adapters = adaptersOf(CATALOGUE, ASKED);
    expect(adapters).toEqual(['mail', 'payments']);
    expect(waitsOf(adapters, ASKED)).toEqual([
      { adapter: 'payments', tenant: 'demo', asked: 3, silent: 1, oldestAt: 1_000 },
      { adapter: 'mail', tenant: null, asked: 0, silent: 0, oldestAt: null },
    ]);
  });

  it('that are asked without a contract in sight are listed all the same', () => {
    expect(adaptersOf([], ASKED)).toEqual(['payments']);
  });
});
