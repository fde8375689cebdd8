import { describe, expect, it } from '@jest/globals';
import { LongPolls } from './long-polls.kafka.js';
import type { Poll } from './long-polls.kafka.js';

/** A broker that answers when told. */
class Broker {
  asked = 0;
  tell: (poll: Poll<string>) => void = () => undefined;
  refuse: (cause: Error) => void = () => undefined;

  readonly ask = (): Promise<Poll<string>> => {
    this.asked += 1;
    return new Promise((resolve, reject) => {
      this.tell = resolve;
      this.refuse = reject;
    });
  };
}

describe('long polls of several brokers', () => {
  const start = () => {
    const [a, b] = [new Broker(), new Broker()];
    const polls = new LongPolls<Broker, string>();
    const first = (named = 'from 7') => polls.first([a, b].map((broker) => ({ broker, named, ask: broker.ask })));
    return { a, b, first };
  };

  it('are over with the first news, and who asks again waits for the answer that is still out', async () => {
    const { a, b, first } = start();
    const heard = first();
    a.tell({ answer: 'a', isNews: true });
    expect(await heard).toEqual(['a']);
    const again = first();
    expect([a.asked, b.asked]).toEqual([2, 1]);
    b.tell({ answer: 'b', isNews: true });
    expect(await again).toEqual(['b']);
  });

  it('ask anew from another place, though an answer is out', async () => {
    const { a, b, first } = start();
    const heard = first();
    a.tell({ answer: 'a', isNews: true });
    await heard;
    const again = first('from 8');
    expect([a.asked, b.asked]).toEqual([2, 2]);
    b.tell({ answer: 'b', isNews: true });
    expect(await again).toEqual(['b']);
  });

  it('without news are what all said, and fail where one fails', async () => {
    const { a, b, first } = start();
    const quiet = first();
    a.tell({ answer: 'a', isNews: false });
    b.tell({ answer: 'b', isNews: false });
    expect(await quiet).toEqual(['a', 'b']);
    const failed = first();
    a.refuse(new Error('away'));
    await expect(failed).rejects.toThrow('away');
    b.refuse(new Error('away, too'));
    expect([a.asked, b.asked]).toEqual([2, 2]);
  });
});
