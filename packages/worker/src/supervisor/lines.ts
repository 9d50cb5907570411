import type { Readable } from 'node:stream'
import { longestLine } from './protocol.ts'

/** Yields whole lines of a stream. A line above the limit ends the stream with an error. */
export async function* linesOf(stream: Readable): AsyncGenerator<string, void, void> {
  let rest = ''
  for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield line
    if (rest.length > longestLine) throw new Error(`a line of more than ${longestLine} characters`)
  }
}
