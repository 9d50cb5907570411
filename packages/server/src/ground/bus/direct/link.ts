/** Either end of a direct connection: decodes frames, sends heartbeats, and ends when the other side sends none. */
import type { TLSSocket } from 'node:tls'
import type { z } from 'zod'
import { emptyFrame, frameDecoder } from './frames.ts'
import type { PeerLimits } from './limits.ts'

/** Calls `hear` with each frame, and `end` once, after the last of them. */
export function watchLink<Said>(
  socket: TLSSocket,
  form: z.ZodType<Said>,
  { heartbeatMs }: PeerLimits,
  { hear, end }: { hear: (said: Said) => void; end: (error: Error | undefined) => void },
): void {
  const decode = frameDecoder(form, hear)
  let heardAt = performance.now()
  let lost: Error | undefined
  socket.setNoDelay(true)
  socket.on('data', (bytes: Buffer) => {
    heardAt = performance.now()
    try {
      decode(bytes)
    } catch (error) {
      socket.destroy(error as Error)
    }
  })
  socket.on('error', (error) => (lost = error))
  const beating = setInterval(() => {
    if (performance.now() - heardAt > 3 * heartbeatMs)
      socket.destroy(new Error('it gave no sign of life'))
    else if (!socket.writableNeedDrain) socket.write(emptyFrame)
  }, heartbeatMs)
  beating.unref()
  socket.once('close', () => {
    clearInterval(beating)
    end(lost)
  })
}
