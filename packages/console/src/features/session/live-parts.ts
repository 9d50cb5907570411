/** What comes all the time and is no event: answers that are being written, and what running commands write. */
import type { LiveSessionEvent, SessionEvent } from '../../lib/api/types.ts'
import type { FollowedAnswers } from './live-answers.ts'
import { liveAnswers } from './live-answers.ts'
import type { FollowedOutputs } from './live-outputs.ts'
import { liveOutputs } from './live-outputs.ts'

/** Each is followed in its place alone. */
export type LiveParts = {
  /** What is being written. */
  live: FollowedAnswers
  /** What running commands have written so far. */
  outputs: FollowedOutputs
}

export function liveParts() {
  const answers = liveAnswers()
  const outputs = liveOutputs()
  let heardBehind = 0
  return {
    stores: { live: answers.store, outputs: outputs.store },
    /** Tells what has come since the last call. */
    show(): void {
      answers.show()
      outputs.show()
    },
    /** `last`: the newest event that the page has. */
    hear(event: LiveSessionEvent, last: number): void {
      heardBehind = last
      answers.hear(event)
      outputs.hear(event)
    },
    /** What ended before something was heard has not ended that. */
    end(event: SessionEvent): void {
      if ((event.seq ?? 0) > heardBehind) {
        answers.end(event)
        outputs.end(event)
      }
      outputs.settle(event)
    },
  }
}
