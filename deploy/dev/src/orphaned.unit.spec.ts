import { describe, expect, it } from '@jest/globals';
import { whenOrphaned } from '../../../scripts/lib/orphaned.mjs';

/** A process whose parent is 7, until it is not; `look` is what it does every so often. */
function below(event: string) {
  const seen = { parent: 7, acts: 0, looks: 0, isOver: false };
  let look = (): void => undefined;
  whenOrphaned(
    () => {
      seen.acts += 1;
    },
    {
      event,
      parent: () => seen.parent,
      every: (each) => {
        seen.looks += 1;
        look = each;
        return () => {
          seen.isOver = true;
        };
      },
    },
  );
  return { seen, look: () => look() };
}

describe('a stack below npm start', () => {
  it('stops once npm is gone, which passes no signal on', () => {
    const { seen, look } = below('start');
    look();
    expect(seen).toMatchObject({ acts: 0, isOver: false });
    seen.parent = 1;
    look();
    expect(seen).toMatchObject({ acts: 1, isOver: true });
  });

  it('is left alone where npm did not start it: others may leave it running on purpose', () => {
    expect(below('e2e').seen).toMatchObject({ looks: 0 });
  });
});
