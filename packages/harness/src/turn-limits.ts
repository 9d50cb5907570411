/** Bounds of a turn, and what is said when one is reached. */
import { sessionError } from './retries.ts'
import type { KeptEvent, Turn } from './turn.ts'

/** Answers in a row whose calls cannot be read: a model that writes them so does not stop by itself. */
export const mostUnread = 5

export const neverRead = (turn: Turn): KeptEvent =>
  sessionError(turn, {
    type: 'tool_use_limit_reached_error',
    message: `the turn was ended after ${mostUnread} answers in a row whose calls were not whole JSON; send a message to go on, or choose another model`,
  })

export const tooMany = (turn: Turn): KeptEvent =>
  sessionError(turn, {
    type: 'tool_use_limit_reached_error',
    message: `the turn was ended after ${turn.maxRequests} model requests; send a message to go on`,
  })
