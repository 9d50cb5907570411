import type { Readable } from 'node:stream'
import { lineCutter } from '@steward/base/line-cutter.ts'
import { longestLine } from './protocol.ts'

/** Yields whole lines of a stream. A line above the limit ends the stream with an error. */
export async function* streamLines(stream: Readable): AsyncGenerator<string, void, void> {
  const cutter = lineCutter()
  for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) {
    for (const line of cutter.read(piece)) if (line.trim() !== '') yield line
    if (cutter.waiting() > longestLine)
      throw new Error(`a line of more than ${longestLine} characters`)
  }
}
