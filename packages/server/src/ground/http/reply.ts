import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Protocol } from './switching.ts'
import type { Texts } from './write.ts'

/** An answer that is not a JSON body with status 200. */
export type Reply =
  | { reply: 'json'; status: number; body: object | null; headers?: Record<string, string> }
  | { reply: 'empty'; status: number; headers?: Record<string, string> }
  /** JSON that is text already, in the caller's dialect. */
  | { reply: 'text'; text: string }
  | { reply: 'stream'; frames: Texts }
  /** JSON that is too long to be held: its text in pieces. */
  | { reply: 'texts'; texts: Texts }
  /** Bytes as they are. `ours`: nobody else looks at a piece of them once it was handed over. */
  | {
      reply: 'raw'
      status: number
      headers: [name: string, value: string][]
      body: Readable
      ours?: boolean
    }
  /** The connection itself, from then on: to a caller that asked for this protocol and no other. */
  | { reply: 'switch'; protocol: Protocol; take: (connection: Socket) => void }

export const json = (status: number, body: object | null): Reply => ({
  reply: 'json',
  status,
  body,
})
export const jsonText = (text: string): Reply => ({ reply: 'text', text })
export const empty = (status: number): Reply => ({ reply: 'empty', status })
export const stream = (frames: Texts): Reply => ({ reply: 'stream', frames })
export const pieces = (texts: Texts): Reply => ({ reply: 'texts', texts })

export const isReply = (value: object): value is Reply =>
  'reply' in value && typeof value.reply === 'string'
