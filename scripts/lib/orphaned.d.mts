export function whenOrphaned(
  act: () => void,
  from?: {
    readonly event?: string;
    readonly parent?: () => number;
    readonly every?: (look: () => void) => () => void;
  },
): void;
