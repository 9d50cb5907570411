/** The events of a session with all its threads, and what they say while they say it. [stream/workspace/events] */
import { parseObject } from '@steward/base/json-object.ts'
import type { Bus } from '../../../ground/bus/bus.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { EventRow } from '../../log/log.ts'
import { readLogPage } from '../../log/log.ts'
import type { TailItem, TailPage } from '../../log/tail.ts'
import { tailLog } from '../../log/tail.ts'
import { nameThread } from '../../log/threads/own-stream.ts'
import { threadStore } from '../../log/threads/store.ts'
import type { LiveWords, MissedNotice } from '../../log/topics.ts'
import { listenToLiveWords, listenToOutput } from '../../log/topics.ts'

type SessionSource = { read: Reads; bus: Bus; tenant: string; session: string }
type FollowOptions = { after: number; chunks: boolean; signal: AbortSignal }
type Hear = (words: LiveWords | MissedNotice) => void

/** Yields all events after `after`, of every thread, then new ones and live words, until `signal` aborts. */
export async function followSession(
  { read, bus, tenant, session }: SessionSource,
  { after, chunks, signal }: FollowOptions,
): Promise<AsyncGenerator<TailItem>> {
  const live = liveWords(bus, session, chunks)
  for (const thread of await threadStore(read).openChildren(tenant, session)) live.add(thread)
  return tailLog({ read, bus }, tenant, session, {
    after,
    extensions: true,
    dialect: 'interface',
    signal,
    live: (hear) => live.listen(hear),
    async readRows(page: TailPage) {
      const { rows, more } = await readLogPage(read, tenant, session, { ...page, allThreads: true })
      for (const row of rows)
        if (row.type === 'session.thread_created') live.add(threadIn(row))
        else if (row.type === 'session.thread_status_terminated') live.drop(threadIn(row))
      return { rows: rows.map(nameThread), more }
    },
  })
}

const threadIn = ({ data }: EventRow): string => String(parseObject(data)['session_thread_id'])

/** The live words of a session and of its child threads, which are added as they begin. */
function liveWords(bus: Bus, session: string, chunks: boolean) {
  const threads = new Map<string, (() => void) | undefined>()
  let hearing: Hear | undefined

  function add(thread: string): void {
    if (!chunks || threads.has(thread)) return
    threads.set(thread, hearing && listenToThread(thread, hearing))
  }

  function drop(thread: string): void {
    threads.get(thread)?.()
    threads.delete(thread)
  }

  function listenToThread(thread: string, hear: Hear): () => void {
    const leaves = [
      listenToLiveWords(bus, thread, (words) =>
        hear(
          words.kind === 'frames'
            ? { ...words, frames: words.frames.map((frame) => ({ ...frame, thread })) }
            : words,
        ),
      ),
      listenToOutput(bus, thread, (words) =>
        hear({ ...words, output: Object.assign({ thread }, words.output) }),
      ),
    ]
    return () => leaves.forEach((leave) => leave())
  }

  return {
    add,
    drop,
    listen(hear: Hear): () => void {
      hearing = hear
      const leave = listenToLiveWords(bus, session, hear)
      const leaveOutput = chunks ? listenToOutput(bus, session, hear) : () => {}
      for (const thread of threads.keys()) threads.set(thread, listenToThread(thread, hear))
      return () => {
        leave()
        leaveOutput()
        for (const leaveThread of threads.values()) leaveThread?.()
        hearing = undefined
      }
    },
  }
}
