// A window's command on its way: sent, asked for where it was only taken, and told.
import { useEffect, useRef, useState } from 'react';
import { outcomeOfTaken } from '../api/clients.js';
import type { Outcome, Taken } from '../api/outcome.js';
import { holds } from '../live/holds.js';
import type { Phase } from './decision.phases.js';
import { newKey } from './key.js';
import { sent, wrongWith } from './sending.rules.js';
import type { Said } from './sending.rules.js';

interface Sending {
  readonly still?: (() => Promise<void>) | undefined;
  readonly send: (said: Said) => Promise<Outcome>;
  readonly isChanged: boolean;
  readonly onPhase: (phase: Phase) => void;
  readonly onDone: () => void;
  /** What was typed is needed no more: the command was taken. */
  readonly forget: () => void;
  readonly write: (name: string, text: string) => void;
}

/** Sends, and asks what came of it. */
export function useSending({ still, send: sendOnce, isChanged, onPhase, onDone, forget, write }: Sending) {
  const [problem, setProblem] = useState<unknown>(null);
  const [taken, setTaken] = useState<Taken | null>(null);
  const [key] = useState(newKey);
  const [isLost, setLost] = useState(false);
  const isHere = useIsHere();
  const hold = useHold();
  useEffect(() => {
    onPhase('asking');
  }, [onPhase]);
  const go = (phase: Phase): void => {
    if (isHere.current) onPhase(phase);
  };
  const onTaken = (state: Taken): void => {
    setTaken(state);
    go('taken');
  };
  const onLost = (): void => {
    setLost(true);
  };
  const way = { isLost, isChanged, still, send: sendOnce, settle: outcomeOfTaken, onLost, onTaken, forget, write };
  const send = async (said: Omit<Said, 'key'>): Promise<void> => {
    hold();
    go('sending');
    setProblem(null);
    try {
      const state = await sent({ ...said, key }, way);
      if (state !== 'done') {
        go('unknown');
        return;
      }
      go('asking');
      if (isHere.current) onDone();
    } catch (cause) {
      setProblem(cause);
      go('asking');
    }
  };
  return { ...wrongWith(problem, isChanged), taken, send };
}

/** Holds the page until this window is closed, so that what came of its command is read. */
function useHold(): () => void {
  const letGo = useRef<(() => void) | null>(null);
  useEffect(
    () => () => {
      letGo.current?.();
      letGo.current = null;
    },
    [],
  );
  return () => {
    letGo.current ??= holds.take();
  };
}

/** Whoever closed the window meanwhile may have opened another: that one is left alone. */
function useIsHere(): { readonly current: boolean } {
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  return isHere;
}
