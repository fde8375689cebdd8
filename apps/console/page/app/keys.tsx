// Keys of the inbox and the review, and the window that lists them.
import { Dialog } from 'radix-ui';
import { useEffect } from 'react';
import type { ReactNode } from 'react';

const KEYS = [
  ['j', 'next item, or next review'],
  ['k', 'the one before'],
  ['Enter', 'open the item'],
  ['a', 'approve: opens the window that says what will happen'],
  ['d', 'deny: opens the window that says what will happen'],
  ['i', 'back to the inbox'],
  ['?', 'this list'],
] as const;

/** Where keys are typed, not meant. A window that is closing is none any more, though it may still have the focus. */
const TYPED_INTO = 'input, textarea, select, :is([role=dialog], [role=alertdialog])[data-state=open]';

/** Calls what belongs to a key, unless somebody types into a field or a window is open. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { target, key, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey || event.defaultPrevented) return;
      if (target instanceof Element && target.closest(TYPED_INTO)) return;
      const act = keys[key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('keydown', onKey);
    };
  }, [keys]);
}

export function KeysHelp({
  isOpen,
  onOpen,
}: {
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
}): ReactNode {
  useKeys({
    '?': () => {
      onOpen(true);
    },
  });
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpen}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="window" aria-describedby={undefined}>
          <Dialog.Title>Keys</Dialog.Title>
          <dl className="facts">
            {KEYS.map(([key, says]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{says}</dd>
              </div>
            ))}
          </dl>
          <Dialog.Close className="button">Close</Dialog.Close>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
