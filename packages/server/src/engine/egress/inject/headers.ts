/** Which headers go on and which concern one hop alone. RFC 9110 7.6.1 */
import { ofOneHop, settledHere } from '@steward/gate/heads.ts'
import type { Headers } from '@steward/gate/outbound.ts'

export const valueOf = (headers: Headers, wanted: string): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1]

export const without = (headers: Headers, ...names: string[]): Headers =>
  headers.filter(([name]) => !names.includes(name.toLowerCase()))

/** Header values travel as bytes, one a character: text beyond ASCII goes as its UTF-8. */
export const onTheWire = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** The one value of this name, whatever came under it in any case, once or more often. */
export const overwritten = (headers: Headers, name: string, value: string): Headers => [
  ...without(headers, name.toLowerCase()),
  [name, value],
]

function withoutHop(headers: Headers, more?: ReadonlySet<string>): Headers {
  const named = new Set<string>()
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'connection') continue
    for (const part of value.split(',')) named.add(part.trim().toLowerCase())
  }
  return headers.filter(([name]) => {
    const lower = name.toLowerCase()
    return !ofOneHop.has(lower) && !named.has(lower) && !more?.has(lower)
  })
}

export const towardsUpstream = (headers: Headers): Headers => withoutHop(headers, settledHere)
export const towardsCaller = (headers: Headers): Headers => withoutHop(headers)
