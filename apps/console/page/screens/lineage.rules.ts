// A lineage as it is drawn: what stands on each box. Pure.
import { codeWords } from '../words/kinds.js';
import type { Lineage, LineageBox } from './lineage.query.js';

export interface Box {
  readonly id: string;
  /** Run that a click opens or closes. */
  readonly run: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** The state that most wants looking at, of those in it. */
  readonly state: string;
  readonly isFound: boolean;
}

export interface Arrow {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: string;
}

export interface Drawn {
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
}

/** What most wants looking at stands first. */
const GRAVE = ['beyond', 'rolled_back', 'reattached', 'unrecorded', 'stands'];

export function drawn({ boxes, arrows }: Pick<Lineage, 'boxes' | 'arrows'>): Drawn {
  return {
    boxes: boxes.map(drawnBox),
    arrows: arrows.map(({ from, to, kind }) => ({ id: `${from} ${to}`, from, to, kind })),
  };
}

function drawnBox(box: LineageBox): Box {
  const { id, run_id: run, found } = box;
  const lines = [box.agents.join(', '), ...countsIn(box), ...heardIn(box)].filter((line) => line !== '');
  return { id, run, title: titleOf(box), lines, state: gravestIn(box), isFound: found > 0 };
}

export function titleOf({ commits, label, kind }: LineageBox): string {
  return commits === 1 ? (label ?? codeWords(kind)) : `${commits.toLocaleString('en')} commits`;
}

/** Only where there is more than one: the state of a single commit stands on its box. */
function countsIn({ commits, states }: LineageBox): readonly string[] {
  return commits === 1 ? [] : states.map((one) => `${one.commits.toLocaleString('en')} ${codeWords(one.state)}`);
}

function heardIn({ told, silent }: LineageBox): readonly string[] {
  return [
    ...(told.length > 0 ? [`told: ${told.join(', ')}`] : []),
    ...(silent.length > 0 ? [`silent: ${silent.join(', ')}`] : []),
  ];
}

export function gravestIn({ states }: LineageBox): string {
  return GRAVE.find((grave) => states.some(({ state }) => state === grave)) ?? states[0]?.state ?? '';
}
