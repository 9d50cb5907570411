import type { SandboxConnection } from '../connection.ts'
import { replyKinds, requestKinds } from '../frames.ts'
import type { OutputEnd } from './piece.ts'

/** The end of a running command's output. Undefined when the command has not begun, or has ended. */
export async function readOutputEnd(
  daemon: SandboxConnection,
  id: number,
  { most, known }: { most: number; known: number },
): Promise<OutputEnd | undefined> {
  const { type, payload, data } = await daemon.ask(daemon.nextId(), {
    type: requestKinds.peek,
    parts: [id, most, BigInt(known)],
    expects: replyKinds.done,
    budget: most,
  })
  if (type === replyKinds.failed) return undefined
  if (payload.length !== 16) daemon.broken('the state of an output that is none')
  const bytes = Buffer.concat(data)
  const total = Number(payload.readBigUInt64LE(0))
  if (bytes.length > total) daemon.broken('more output than there is')
  return { bytes, total, quietMs: Number(payload.readBigUInt64LE(8)) }
}
