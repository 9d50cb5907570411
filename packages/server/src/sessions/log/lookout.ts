/**
 * Looks at the heads of all sessions that are followed in this process, with the pace of a stream's keep-alive: a
 * notification may be lost between two processes, and no follower is to stay behind for it.
 */
import type { Job } from '../../ground/core/jobs.ts'
import type { Reads } from '../../ground/database/database.ts'

export type Follower = {
  sessionId: string
  /** The newest event that it knows of. */
  seen: number
  /** The head's newest number that it was last woken for; 0 when what it read then was not all. */
  wokenFor: number
  wake: () => void
}

const everyMs = 15_000
/** Both databases bound the parameters of one statement. */
const headsAtOnce = 500
const followed = new Map<Reads, Set<Follower>>()

/** The returned function ends it. */
export function watchHead(read: Reads, follower: Follower): () => void {
  const followers = followed.get(read) ?? new Set()
  followed.set(read, followers.add(follower))
  return () => {
    followers.delete(follower)
    if (followers.size === 0 && followed.get(read) === followers) followed.delete(read)
  }
}

export const headJob: Job = {
  name: 'look for events that followers missed',
  everyMs,
  async run() {
    await lookAtHeads()
    return true
  },
}

/** Wakes every follower whose session's log has grown past it. A database that is away is looked at the next time. */
export async function lookAtHeads(): Promise<void> {
  const looks = [...followed].map(([read, followers]) => lookAt(read, [...followers]))
  await Promise.allSettled(looks)
}

async function lookAt(read: Reads, followers: Follower[]): Promise<void> {
  const ids = [...new Set(followers.map(({ sessionId }) => sessionId))]
  const newest = new Map<string, number>()
  for (let at = 0; at < ids.length; at += headsAtOnce) {
    const heads = await read
      .selectFrom('session_heads')
      .select(['session_id', 'next_seq'])
      .where('session_id', 'in', ids.slice(at, at + headsAtOnce))
      .execute()
    for (const { session_id, next_seq } of heads) newest.set(session_id, next_seq)
  }
  for (const follower of followers) {
    const head = newest.get(follower.sessionId) ?? 0
    // Events that a follower leaves out put the head ahead of it for good: once is enough for the same head.
    if (head <= follower.seen || head === follower.wokenFor) continue
    follower.wokenFor = head
    follower.wake()
  }
}
