export type LaneSet = 'test' | 'ci' | 'all';
export interface Lane {
  readonly name: string;
  readonly script: string;
  readonly args?: readonly string[];
  readonly command: string;
  readonly test: readonly string[] | null;
  readonly ci: readonly string[] | null;
  readonly all: readonly string[] | null;
  readonly kind?: string;
  readonly needs?: 'chromium';
  readonly late?: readonly { readonly after: number; readonly args: readonly string[] | null }[];
  readonly takesTurns?: boolean;
  readonly usesSharedStack?: boolean;
}
export const LANES: readonly Lane[];
export function whenLate(
  lane: Lane,
  set: LaneSet,
  minutes: number,
  turn: number,
): { readonly lane: Lane | null; readonly why: string } | null;
export function turnOf(commit: string): number;
export function inTurn(lanes: readonly Lane[], set: LaneSet, turn: number): readonly Lane[];
export const ON_REQUEST: readonly { readonly command: string; readonly says: string }[];
export function lanesOf(set: LaneSet): readonly Lane[];
export function argumentsOf(lane: Lane, set: LaneSet): readonly string[];
export function commandOf(lane: Lane, set: LaneSet): string;
export function laneRows(
  done: readonly {
    readonly name: string;
    readonly passed: number;
    readonly failed: number;
    readonly seconds: number;
    readonly less?: string;
  }[],
  leftOut: readonly { readonly name: string; readonly why: string }[],
): readonly (readonly (string | number)[])[];
export function lanesTable(): string;
export function leftOutOf(set: LaneSet): readonly string[];
