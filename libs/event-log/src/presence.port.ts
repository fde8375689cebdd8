// Who runs a service now, told by something that notices a death at once: long before a consumer group does.

/**
 * Instances of one service, by the names they have in its group.
 *
 * Implementations MUST stop telling of a name within moments of the death of its process.
 * Implementations MUST NOT tell of a name as gone because they themselves were cut off: then they fail.
 * Errors: Failure(DATABASE_UNAVAILABLE); what was shown is shown again by then, or at the next call.
 */
export interface Presence {
  /** From now on the others see this name and no earlier one of this process. */
  show(name: string): Promise<void>;
  /** Those of the names that are here. */
  here(names: readonly string[]): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
}
