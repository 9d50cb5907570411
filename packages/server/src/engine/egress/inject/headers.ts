/** Headers of requests and answers. */
import { onward, settledHere } from '@steward/gate/heads.ts'
import type { Headers } from '@steward/gate/outbound.ts'

export const valueOf = (headers: Headers, wanted: string): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1]

export const without = (headers: Headers, ...names: string[]): Headers =>
  headers.filter(([name]) => !names.includes(name.toLowerCase()))

/** Headers hold one byte a character: text beyond ASCII is sent as UTF-8 bytes. */
export const onTheWire = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** Replaces all headers of this name, in any case, by one value. */
export const overwritten = (headers: Headers, name: string, value: string): Headers => [
  ...without(headers, name.toLowerCase()),
  [name, value],
]

export const towardsUpstream = (headers: Headers): Headers => onward(headers, settledHere)
export const towardsCaller = (headers: Headers): Headers => onward(headers)
