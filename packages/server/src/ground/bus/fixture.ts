/** For tests: what a topic of a channel brings. */
import { randomUUID } from 'node:crypto'
import type { BusMessage, Channel } from './bus.ts'

const probe = 'probe'

/** What one topic of a channel brings, and a way to wait for so much of it. */
export function ear(channel: Channel, topic: string) {
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

/** Resolves when the one hears the topic from the other: that it has a subscriber takes a moment to be known. */
export async function reach(from: Channel, to: Channel, topic: string): Promise<void> {
  const own = randomUUID()
  let isHeard = false
  const quiet = to.subscribe(topic, (message) => (isHeard ||= message[probe] === own))
  while (!isHeard) {
    from.publish(topic, { [probe]: own })
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  quiet()
}
