/** Tools that an agent has in one session alone: what has begun the session gives them. */
import type { Tool } from '@steward/harness/turn.ts'
import type { TurnSessionRow } from '../../sessions/rows/sessions.ts'

/** `thread`: a child thread. */
export type GivenTools = (
  row: TurnSessionRow,
  thread: string | undefined,
) => Promise<readonly Tool[]>

/** All tools of a session. A tool of the agent that was made before its name was taken stays. */
export const withGiven = (
  declared: readonly Tool[],
  given: readonly Tool[],
  ofWorker: readonly Tool[],
): Tool[] => [
  ...declared,
  ...given.filter(({ name }) => !declared.some((tool) => tool.name === name)),
  ...ofWorker,
]
