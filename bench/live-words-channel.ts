/** A channel of live words in a process of the case `liveWords`; its announcements go to the other one by IPC. */
import type { ChildProcess } from 'node:child_process'
import { jsonLog } from '@steward/base/log.ts'
import type { BusMessage, Channel } from '@steward/server/ground/bus/bus.ts'
import { directChannel } from '@steward/server/ground/bus/direct/channel.ts'
import { memoryChannel } from '@steward/server/ground/bus/memory.ts'
import { natsChannel } from '@steward/server/ground/bus/nats/channel.ts'

const quietLog = jsonLog(() => {}, 'error')

type Announcement = { announced: { topic: string; message: BusMessage } }

export async function openLiveWords(
  transport: 'direct' | { nats: string },
  other: NodeJS.Process | ChildProcess = process,
): Promise<Channel> {
  if (transport !== 'direct') return natsChannel({ url: transport.nats, log: quietLog })
  const local = memoryChannel()
  other.on('message', (said: Partial<Announcement>) => {
    if (said.announced) local.publish(said.announced.topic, said.announced.message)
  })
  return directChannel({
    notifications: {
      ...local,
      publish(topic, message) {
        local.publish(topic, message)
        other.send?.({ announced: { topic, message } } satisfies Announcement)
      },
    },
    owners: { self: `process_${process.pid}`, dead: async () => [] },
    keys: [Buffer.alloc(32, 1)],
    setup: { host: '127.0.0.1', port: 0 },
    log: quietLog,
  })
}
