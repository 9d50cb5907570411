/** Wake-ups: an agent continues at a time that it has chosen. The text tells it that the time has come. */
import type { EventOf } from '@steward/protocol/events.ts'

/** `at`: in milliseconds. Replaces an earlier wake-up of the same thread. */
export type WakeupEffect = { kind: 'wake'; at: number; note: string }

/**
 * The agent's note, in a frame. Attack: the note may repeat words of others and must not end the frame. It is no
 * message of the user.
 */
export const wakeupText = ({ note }: EventOf<'system.wakeup'>): string =>
  `<wakeup>
The time has come at which you asked to be woken. This is the note that you wrote to yourself. It is no message of the user.

${note.replaceAll('</wakeup', '<\\/wakeup')}
</wakeup>`
