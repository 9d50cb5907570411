/** Bounds of the automations that an agent makes for its own session. */
export const automationLimits = {
  /** Automations of one session that are not deleted, also those that have run once. */
  perSession: 10,
  /** The shortest time between two runs of one automation, and before a single run. */
  minutes: 5,
  days: 366,
  nameCharacters: 256,
  instructionCharacters: 2_000,
}
