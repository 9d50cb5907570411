/** The stream of an attached container: each frame says whether its bytes are stdout or stderr. */
import { Transform } from 'node:stream'
import type { Duplex, Readable } from 'node:stream'

const headerBytes = 8
const streams = { output: 1, errors: 2 }

/** Returns the container's stdout. Its stderr goes to `onErrors`. */
export function demultiplexOutput(attached: Duplex, onErrors: (bytes: Buffer) => void): Readable {
  const header = Buffer.alloc(headerBytes)
  let filled = 0
  let left = 0
  const output = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let at = 0
      while (at < chunk.length) {
        if (left === 0) {
          const taken = chunk.copy(header, filled, at, at + headerBytes - filled)
          at += taken
          filled += taken
          if (filled < headerBytes) break
          filled = 0
          left = header.readUInt32BE(4)
          continue
        }
        const piece = chunk.subarray(at, at + left)
        at += piece.length
        left -= piece.length
        if (header[0] === streams.output) this.push(piece)
        else if (header[0] === streams.errors) onErrors(piece)
      }
      done()
    },
  })
  attached.once('error', (error) => output.destroy(error))
  attached.once('close', () => output.end())
  output.once('close', () => attached.destroy())
  return attached.pipe(output)
}
