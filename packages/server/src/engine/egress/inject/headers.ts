/** Headers of requests and answers. */
import { onward, settledHere } from '@steward/gate/heads.ts'
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

export const towardsUpstream = (headers: Headers): Headers => onward(headers, settledHere)
export const towardsCaller = (headers: Headers): Headers => onward(headers)
