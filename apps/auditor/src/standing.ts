// How an auditor does, as it says of itself.

export interface Standing {
  readonly ready: boolean;
  /** What is in trouble, with the code of what is in the way. A witness that fails is told of, and is nobody's whom this process could wait for. */
  readonly trouble: Readonly<Record<string, string>>;
  /** Open alarms. */
  readonly alarms: number;
  /** For how many seconds each witness has been asked in vain; 0 for one that signs what it is asked for. */
  readonly witnesses: Readonly<Record<string, number>>;
}
