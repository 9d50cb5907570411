/** For tests: listens to a topic of a channel. */
import { randomUUID } from 'node:crypto'
import type { Notifying } from '../core/notice.ts'
import type { Bus, BusMessage, Channel } from './bus.ts'
import { publishNotice } from './publish-notice.ts'

const probe = 'probe'

/** Publishes notices at once, as a unit does after its commit. */
export const unitOn = (bus: Bus): Notifying => ({
  afterCommit: (notice) => publishNotice(bus, notice),
})

/** Collects the messages of a topic. The returned functions wait for messages. */
export function listenToTopic(channel: Channel, topic: string) {
  const heard: BusMessage[] = []
  let wake = () => {}
  const quiet = channel.subscribe(topic, (message) => {
    if (probe in message) return
    heard.push(message)
    wake()
  })
  const until = async (isSo: (heard: BusMessage[]) => boolean) => {
    while (!isSo(heard)) await new Promise<void>((resolve) => (wake = resolve))
    return heard
  }
  return { heard, quiet, until }
}

/** Resolves when messages of `from` reach `to`. A new subscription takes a moment to be known. */
export async function awaitReach(from: Channel, to: Channel, topic: string): Promise<void> {
  const own = randomUUID()
  let isHeard = false
  const quiet = to.subscribe(topic, (message) => (isHeard ||= message[probe] === own))
  while (!isHeard) {
    from.publish(topic, { [probe]: own })
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  quiet()
}
