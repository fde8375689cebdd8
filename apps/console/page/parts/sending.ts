// A window's command on its way: sent, asked for where it was only taken, and told.
import { useEffect, useRef, useState } from 'react';
import { outcomeOfTaken } from '../api/clients.js';
import type { Outcome, Taken } from '../api/outcome.js';
import { ApiProblem } from '../api/problem.js';
import type { Phase } from './decision.phases.js';
import { newKey } from './key.js';

export interface Said {
  readonly reason: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly key: string;
}

interface Sending {
  readonly send: (said: Said) => Promise<Outcome>;
  readonly isChanged: boolean;
  readonly onPhase: (phase: Phase) => void;
  readonly onDone: () => void;
  /** What was typed is needed no more: it was done. */
  readonly forget: () => void;
}

/** Sends, and asks what came of it. */
export function useSending({ send: sendOnce, isChanged, onPhase, onDone, forget }: Sending) {
  const [problem, setProblem] = useState<unknown>(null);
  const [taken, setTaken] = useState<Taken | null>(null);
  const [key] = useState(newKey);
  const isHere = useIsHere();
  useEffect(() => {
    onPhase('asking');
  }, [onPhase]);
  const go = (phase: Phase): void => {
    if (isHere.current) onPhase(phase);
  };
  const outcome = async (said: Omit<Said, 'key'>): Promise<Outcome> => {
    const state = await sendOnce({ ...said, key });
    if (state === 'done') return state;
    setTaken(state);
    go('taken');
    return outcomeOfTaken(state);
  };
  const send = async (said: Omit<Said, 'key'>): Promise<void> => {
    go('sending');
    setProblem(null);
    try {
      if (isChanged) throw new ApiProblem('CHANGED_MEANWHILE', 409, '');
      const state = await outcome(said);
      if (state !== 'done') {
        go('unknown');
        return;
      }
      forget();
      go('asking');
      if (isHere.current) onDone();
    } catch (cause) {
      setProblem(cause);
      go('asking');
    }
  };
  return { problem, taken, send };
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
