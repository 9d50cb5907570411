/** Changes headers of requests and answers. */
import { onwardHeaders, settledHere } from '@steward/gate/heads.ts'
import type { HeaderPairs } from '@steward/gate/outbound.ts'

export const headerValue = (headers: HeaderPairs, wanted: string): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1]

export const dropHeaders = (headers: HeaderPairs, ...names: string[]): HeaderPairs =>
  headers.filter(([name]) => !names.includes(name.toLowerCase()))

/** Headers hold one byte a character: text beyond ASCII is sent as UTF-8 bytes. */
export const onTheWire = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** Replaces all headers of this name, in any case, by one value. */
export const withHeader = (headers: HeaderPairs, name: string, value: string): HeaderPairs => [
  ...dropHeaders(headers, name.toLowerCase()),
  [name, value],
]

export const headersForUpstream = (headers: HeaderPairs): HeaderPairs =>
  onwardHeaders(headers, settledHere)
export const headersForCaller = (headers: HeaderPairs): HeaderPairs => onwardHeaders(headers)
