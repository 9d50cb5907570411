/** How an agent goes on at a time that it has chosen, and how it reads that the time has come. */
import type { EventOf } from '@steward/protocol/events.ts'

/** `at` in milliseconds. Takes the place of an earlier time of the same thread. */
export type WakeupEffect = { kind: 'wake'; at: number; note: string }

/** The note is the agent's own and may repeat words of others: it must not end its frame, and is no message of the user. */
export const wakeupText = ({ note }: EventOf<'system.wakeup'>): string =>
  `<wakeup>
The time has come at which you asked to be woken. This is the note that you wrote to yourself. It is no message of the user.

${note.replaceAll('</wakeup', '<\\/wakeup')}
</wakeup>`
