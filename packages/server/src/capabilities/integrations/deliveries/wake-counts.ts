/** How often an agent was woken without a request of a person, so that it and a program do not wake each other for ever. */
import type { Wake, WakeCounts } from '../../../ground/database/tables/integrations.ts'
import type { HeardDelivery } from './allowed.ts'

/** The most times that one pull request wakes the agent until a person writes. */
export const mostWakes = 5
/** The most times that all pull requests of a thread do, so that an agent does not open one after the other. */
const mostOfThread = 20
const mostSeen = 50

const none: WakeCounts = { counts: {}, seen: [], told: [] }

const nameOf = ({ kind, pull_request, head }: Wake): string => `${kind} ${pull_request} ${head}`

/** A review is the word of a person. */
export const isOfPerson = ({ kind }: Wake): boolean => kind === 'changes_requested'

/** What has woken the agent after the delivery was given to it. */
export function wakesAfter(kept: WakeCounts | null, received: HeardDelivery): WakeCounts | null {
  const wake = received.kind === 'message' ? received.wake : undefined
  if (!wake || isOfPerson(wake)) return kept && { ...none, seen: kept.seen }
  const { counts, seen, told } = kept ?? none
  const count = (counts[wake.pull_request] ?? 0) + 1
  return {
    counts: { ...counts, [wake.pull_request]: count },
    seen: [...seen, nameOf(wake)].slice(-mostSeen),
    told,
  }
}

export const hasWoken = (kept: WakeCounts | null, wake: Wake): boolean =>
  kept?.seen.includes(nameOf(wake)) ?? false

/** How often the agent was woken, in words, where it is woken no more until a person writes. */
export function howUsedUp(kept: WakeCounts | null, { pull_request }: Wake): string | undefined {
  const { counts } = kept ?? none
  if ((counts[pull_request] ?? 0) >= mostWakes) return `${mostWakes} times by this pull request`
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return all >= mostOfThread ? `${mostOfThread} times by its pull requests` : undefined
}

/** The counts once people know that the agent waits for them; undefined where they know it already. */
export function toldOf(kept: WakeCounts | null, { pull_request }: Wake): WakeCounts | undefined {
  const { told, ...others } = kept ?? none
  return told.includes(pull_request) ? undefined : { ...others, told: [...told, pull_request] }
}
