/**
 * Compares the heads of all sessions that this process follows with their followers, as often as a stream sends its
 * keep-alive. A notification between two processes may be lost; without this check the follower would stay behind.
 */
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Reads } from '../../ground/database/database.ts'

export type Follower = {
  sessionId: string
  /** The `seq` of the newest event that the follower has read. */
  seen: number
  /** The `next_seq` for which the follower was last woken; 0 when it could not read all events then. */
  wokenFor: number
  wake: () => void
}

const everyMs = 15_000
/** Both databases bound the parameters of one statement. */
const headsAtOnce = 500
const followed = new Map<Reads, Set<Follower>>()

/** Adds a follower. The returned function removes it. */
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
  run: lookAtHeads,
}

/** Wakes every follower whose log has newer events. Skips a database that does not answer until the next time. */
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
    // A follower may leave events out and then stays behind the head. Wake it once for each head.
    if (head <= follower.seen || head === follower.wokenFor) continue
    follower.wokenFor = head
    follower.wake()
  }
}
